/** Corrects claims in a model's prose that contradict the log (context-engine §8). Pure. */

const openWords =
  /\b(open|pending|unfinished|incomplete|remain(s|ing)?|not (yet )?(done|finished|complete)|still to)\b/i;
const doneWords = /\b(done|finished|completed?|closed|ready)\b/i;
const passWords = /\b(pass(es|ed)?|succe(eds|eded|ss)|green|exit(s|ed)?( status| code| with)* 0)\b/i;
const failWords = /\b(fail(s|ed|ing|ure)?|red|exit(s|ed)?( status| code| with)* [1-9]\d*)\b/i;

/** The newest command and its exit code. */
export type Check = { command: string; exitCode: number };

/** Returns a sentence for each wrong claim. `tasks`: the list as Markdown, "" when there is none. */
export function contradictions(prose: string, { tasks, check }: { tasks: string; check?: Check }): string[] {
  const claims = prose.split(/[.,;!?]\s|\n/).filter((claim) => claim.trim() !== "");
  const wrong = tasksOf(tasks).flatMap((task) =>
    claims.some((claim) => belies(claim, task)) ? [truth(task)] : [],
  );
  const misled = check && claims.some((claim) => isWrongAbout(claim, check));
  return misled
    ? [...wrong, `\`${check.command}\` ended with exit ${check.exitCode} when it ran last`]
    : wrong;
}

type Listed = { number: number; text: string; done: boolean };

function tasksOf(list: string): Listed[] {
  return [...list.matchAll(/^\s*[-*] \[([ >xX])\] (.+)$/gm)].map(([, mark, text = ""], index) => ({
    number: index + 1,
    text: text.trim(),
    done: mark === "x" || mark === "X",
  }));
}

function belies(claim: string, { number, text, done }: Listed): boolean {
  const byNumber = new RegExp(`\\b(item|task|todo) #?${number}\\b`, "i");
  if (!byNumber.test(claim) && !claim.toLowerCase().includes(text.toLowerCase())) return false;
  const saysOpen = openWords.test(claim) || claim.includes("[ ]");
  return done ? saysOpen : !saysOpen && doneWords.test(claim);
}

function truth({ number, text, done }: Listed): string {
  return `item ${number}, "${text.slice(0, 80).toWellFormed()}", is ${done ? "done" : "not done"}`;
}

function isWrongAbout(claim: string, { command, exitCode }: Check): boolean {
  const isMeant = claim.includes(command) || /\blast (command|check|test|run)\b/i.test(claim);
  return isMeant && (exitCode === 0 ? failWords : passWords).test(claim);
}
