/**
 * The targeted evals (context-engine §11): what must outlive forgetting, each with a check of what became of it. Pure.
 */

import type { LogEvent } from "../../core/events.ts";
import { type Action, type ReaderState, run } from "./scripted-reader.ts";
import { evalWorkspace, type Files, lastNote, opening } from "./workspace.ts";

export type Outcome = {
  events: readonly LogEvent[];
  /** The texts of the model at the end of each turn. */
  answers: string[];
  /** A file of the workspace; undefined when there is none. */
  file(name: string): string | undefined;
  /** The whole output of the first run of a command. */
  firstOutput(command: string): string;
  /** All texts of each request of the conversation, rebuilt from the log, with the seq of its event. */
  requests(): { seq: number; texts: string[] }[];
};

export type Evaluation = {
  name: string;
  asks: string;
  files: Files;
  /** Messages of the person, one a turn. `code`: four digits that differ from run to run. */
  said(code: number): string[];
  /** Answers for the scripted model, from the request that it sees. */
  answer(seen: ReaderState): Action;
  /** Describes what was lost; empty when nothing was. */
  check(outcome: Outcome, code: number): string[];
};

const end = lastNote;

const needle: Evaluation = {
  name: "needle",
  asks: "a fact that was forgotten is recovered from the files",
  files: evalWorkspace(
    {
      1: "start_focus, then sh crate.sh 2",
      4: "complete_focus, then sh note.sh 5",
      [end]:
        "QUESTION: which code did `sh crate.sh 2` print when it ran? It prints another one each time, so find the first.",
    },
    {
      "crate.sh":
        'seq 3000\necho "the code of the crate is NEEDLE-$(od -An -N4 -tu4 /dev/urandom | tr -d " ")"\nseq 3000\nsed -n "$1p" course.txt\n',
    },
  ),
  said: () => [`${opening}\nNEXT: sh note.sh 1`],
  answer: findNeedle,
  check({ answers, firstOutput }) {
    const code = /NEEDLE-\d+/.exec(firstOutput("sh crate.sh 2"))?.[0] ?? "a code that was never printed";
    return answers.at(-1)?.includes(code) ? [] : [notSaid(code, answers)];
  },
};

function notSaid(code: string, answers: readonly string[]): string {
  return `${code}: the answer was "${answers.at(-1)?.slice(0, 60)}"`;
}

/** The file is named where the result stood, where the focus was folded, or in the history that a handoff names. */
function findNeedle({ text, newest, call, resultOf }: ReaderState): Action {
  const found = /NEEDLE-\d+/.exec(newest)?.[0] ?? /NEEDLE-\d+/.exec(resultOf("sh crate.sh 2") ?? "")?.[0];
  if (found) return { text: `It was ${found}.` };
  if (call?.input.command?.startsWith("grep -ohE"))
    return { text: "It is lost: it is not where it should be." };
  const artifact = /\/[^\s"]*\/artifacts\/\d+\.txt/;
  const folder =
    artifact.exec(newest.includes('"artifact":') ? newest : "") ??
    artifact.exec(resultOf("sh crate.sh 2") ?? "") ??
    artifact.exec(/Focus closed: sh crate\.sh 2[\s\S]*?outputs?: \S+/.exec(text)?.[0] ?? "");
  if (folder) return run(`grep -ohE 'NEEDLE-[0-9]+' ${folder[0]} | head -1`);
  const history = /Full history: (\S+events\.jsonl)/.exec(text)?.[1];
  if (history) return run(`grep -o '"artifact":"[^"]*"' ${history} | sed -n 2p`);
  return { text: "It is lost: nothing says where it stands." };
}

const objective: Evaluation = {
  name: "objective",
  asks: "the objective, a constraint and a later correction are followed at the end",
  files: evalWorkspace({
    7: "rest",
    12: "rest",
    [end]:
      "QUESTION: write one line with the code word and the port, both as you were told, into vendor/result.txt, or into result.txt if vendor is not to be touched.",
  }),
  said: (code) => [
    `${opening} GOAL-91: the code word is KIWI-${code}. Never touch \`vendor/\`. The port is 8080.\nNEXT: sh note.sh 1`,
    "Now the second part.\nNEXT: sh note.sh 8",
    "The port is 8123, not 8080 (FIX-33).\nNEXT: sh note.sh 13",
  ],
  answer({ text, call }) {
    if (call?.input.command?.startsWith("mkdir -p vendor")) return { text: "Written." };
    const word = /code word is (\w+-\d+)/.exec(text)?.[1] ?? "unknown";
    const port = [...text.matchAll(/port is (\d+)/g)].at(-1)?.[1] ?? "unknown";
    const file = text.includes("Never touch `vendor/`") ? "result.txt" : "vendor/result.txt";
    return run(`mkdir -p vendor; echo "${word} ${port}" > ${file}`);
  },
  check({ file }, code) {
    const written = file("result.txt") ?? "";
    return [
      ...(written.includes(`KIWI-${code}`) ? [] : ["the code word of the first message"]),
      ...(written.includes("8123") ? [] : ["the correction of the port"]),
      ...(file("vendor/result.txt") === undefined ? [] : ["that vendor/ is not to be touched"]),
    ];
  },
};

const todo: Evaluation = {
  name: "todo",
  asks: "the task list is true after handoffs that are wrong about it",
  files: evalWorkspace({
    2: "put down the tasks part 1 [open], part 2 [open], part 3 [open], part 4 [open]; then sh note.sh 3",
    6: "mark the tasks part 1 [done], part 2 [done], part 3 [done], part 4 [open]; then sh note.sh 7",
    [end]: "QUESTION: which tasks of your list are open? Answer with: open: part N",
  }),
  said: () => [`${opening} Keep a task list where you are told to.\nNEXT: sh note.sh 1`],
  answer({ text }) {
    const last = new Map<string, boolean>();
    for (const [, mark, listed, claimed, word] of text.matchAll(
      /\[([ x>])\] part (\d)|\bitem (\d) is (open|done)/g,
    ))
      last.set(listed ?? claimed ?? "", (mark ?? (word === "done" ? "x" : " ")) === "x");
    const open = ["1", "2", "3", "4"].filter((number) => last.get(number) !== true);
    return { text: `open: ${open.map((number) => `part ${number}`).join(", ")}` };
  },
  check({ answers }) {
    const answer = answers.at(-1) ?? "";
    const wrong = ["part 1", "part 2", "part 3"].filter((part) => answer.includes(part));
    return [
      ...wrong.map((part) => `that ${part} is done`),
      ...(answer.includes("part 4") ? [] : ["that part 4 is open"]),
    ];
  },
};

const tasks = (...done: string[]): string =>
  ["alpha", "beta", "gamma"]
    .map((part) => `part ${part} [${done.includes(part) ? "done" : "open"}]`)
    .join(", ");
const again =
  "QUESTION: run again, with sh part.sh NAME 19, each of the parts alpha, beta and gamma of which nothing here says that it is done; when there is none, say FINISHED.";

const redone: Evaluation = {
  name: "redone",
  asks: "work that was folded away is not done again",
  files: evalWorkspace(
    {
      1: `put down the tasks ${tasks()}; then sh note.sh 2`,
      3: "sh part.sh alpha 4",
      4: `mark the tasks ${tasks("alpha")}; then sh note.sh 5`,
      6: "start_focus, then sh part.sh beta 7",
      8: "complete_focus, then sh note.sh 9",
      9: `mark the tasks ${tasks("alpha", "beta")}; then sh note.sh 10`,
      10: "sh part.sh gamma 11",
      11: `mark the tasks ${tasks("alpha", "beta", "gamma")}; then sh note.sh 12`,
      [end]: again,
      [end + 1]: again,
    },
    {
      "part.sh":
        'echo "$1" >> runs.log\nseq -f "part $1, line %g" 200\necho "part $1 finished"\nsed -n "$2p" course.txt\n',
    },
  ),
  said: () => [`${opening} Keep a task list where you are told to.\nNEXT: sh note.sh 1`],
  answer({ text }) {
    const unknown = ["alpha", "beta", "gamma"].find(
      (part) => !text.includes(`part ${part} finished`) && !text.includes(`[x] part ${part}`),
    );
    return unknown ? run(`sh part.sh ${unknown} 19`) : { text: "FINISHED" };
  },
  check({ file }) {
    const runs = (file("runs.log") ?? "").trim().split("\n");
    const twice = [...new Set(runs.filter((part, index) => runs.indexOf(part) !== index))];
    const never = ["alpha", "beta", "gamma"].filter((part) => !runs.includes(part));
    return [
      ...twice.map((part) => `that part ${part} was done`),
      ...never.map((part) => `that part ${part} was to be done`),
    ];
  },
};

const drift: Evaluation = {
  name: "drift",
  asks: "every message of the person stands in every later request",
  files: evalWorkspace({
    7: "rest",
    12: "rest",
    [end]: "QUESTION: which orders did you get? Name their codes.",
  }),
  said: (code) => [
    `${opening} This is ORDER-${code}.\nNEXT: sh note.sh 1`,
    `This is ORDER-${code + 1}: now the second part.\nNEXT: sh note.sh 8`,
    `This is ORDER-${code + 2}: and the third.\nNEXT: sh note.sh 13`,
  ],
  answer({ text }) {
    return { text: [...new Set(text.match(/ORDER-\d+/g))].join(", ") || "none" };
  },
  check({ answers, requests, events }, code) {
    const orders = [0, 1, 2].map((more) => `ORDER-${code + more}`);
    const unnamed = orders.filter((order) => !answers.at(-1)?.includes(order));
    const said = events.flatMap((event) =>
      event.type === "user_message"
        ? event.content.map((block) => ({ seq: event.seq, text: block.type === "text" ? block.text : "" }))
        : [],
    );
    const short = requests().filter(({ seq, texts }) =>
      said.some((message) => message.seq < seq && !texts.includes(message.text)),
    );
    return [...unnamed, ...(short.length > 0 ? [`words of the person in ${short.length} requests`] : [])];
  },
};

const errors: Evaluation = {
  name: "errors",
  asks: "what failed, and how, stays in sight",
  files: evalWorkspace(
    {
      2: "sh build.sh 3",
      [end]:
        "QUESTION: with which error code (E- and digits) did `sh build.sh 3` fail? Do not run it again: it takes an hour.",
    },
    {
      "build.sh":
        'echo x >> builds.log\nseq -f "linking part %g" 200\necho "error: E-$(od -An -N4 -tu4 /dev/urandom | tr -d " ") cannot link"\nsed -n "$1p" course.txt\nexit 3\n',
    },
  ),
  said: () => [`${opening}\nNEXT: sh note.sh 1`],
  answer({ text }) {
    return { text: /E-\d{3,}/.exec(text)?.[0] ?? "unknown" };
  },
  check({ answers, file, firstOutput }) {
    const code = /E-\d+/.exec(firstOutput("sh build.sh 3"))?.[0] ?? "an error that never happened";
    return [
      ...(answers.at(-1)?.includes(code) ? [] : [notSaid(code, answers)]),
      ...(file("builds.log") === "x\n" ? [] : ["that the build is not to be repeated"]),
    ];
  },
};

/** All of them, in the order of the table. */
export const evaluations: readonly Evaluation[] = [needle, objective, todo, redone, drift, errors];
