/** The page of evidence: what each technique does to size and cost on real recordings, beside what was published. */

import { formatPercent, formatTokens, signedPercent } from "../../context/report/amounts.ts";
import { importRecordings, type Recording } from "../recordings/import.ts";
import { replayFiles } from "../replay/jobs.ts";
import type { ReplayRow } from "../replay/run.ts";
import { brokenText, type Figures, figuresOf, missRate, nameOf, optimumName } from "../replay/table.ts";
import { checkUsage } from "../replay/usage-check.ts";
import { isApart } from "../value/learn.ts";
import { knownLimits, published, readingNotes, successPlan } from "./published.ts";

export type EvidenceOptions = {
  files: readonly string[];
  jobs: number;
  onProgress?: (done: number, all: number, label: string) => void;
};

/** Read and write price as shares of the input price; the first is that of the paper, with free writes. */
const shares = [".4/1", ".1/1", ".1/1.25", ".05/1.25", ".025/1.25"];
const batched = "masking:maskBatch=20";
const schedules = ["raw", "masking", batched, "turns", "economist"];

const models = [
  "anthropic/claude-fable-5-2",
  "anthropic/claude-sonnet-5-5",
  "anthropic/claude-haiku-5-5",
  "anthropic/claude-sonnet-4-6",
  "openai/deepseek-flash",
];
const techniques = [
  "raw",
  "ingest",
  "supersede",
  "masking",
  batched,
  "summary",
  "hybrid",
  "focus-auto",
  "focus-top-auto",
  "turns",
  "economist",
  "economist+ingest",
  "economist-auto+ingest",
];

/** Compared on both kinds of history at the same prices. */
const compared = ["raw", "masking", batched, "step-lines:lineBlock=20", "turns", "economist"];
const dearWrites = [".1/1.25", ".05/1.25", ".025/1.25"];
const bothHistories = [...dearWrites, ...dearWrites.map((prices) => `${prices}/bound`)];

export type Evidence = {
  /** The page as Markdown. The same recordings give the same bytes. */
  page: string;
  /** One sentence each: recordings that could not be replayed, and stacks under which a request would be refused. */
  problems: string[];
};

/** Replays the recordings under every technique at every price, on both kinds of history. */
export async function evidenceOf({ files, jobs, onProgress }: EvidenceOptions): Promise<Evidence> {
  const { recordings, problems: unread } = importRecordings(files);
  const common = {
    files: recordings.map(({ file }) => file),
    jobs,
    gaps: "recorded" as const,
    ...(onProgress ? { onProgress } : {}),
  };
  const first = await replayFiles({ ...common, contexts: schedules, prices: shares });
  const second = await replayFiles({ ...common, contexts: techniques, prices: models });
  const third = await replayFiles({ ...common, contexts: compared, prices: bothHistories });
  const rows = [...first.rows, ...second.rows, ...third.rows];
  const parts = [
    "# Evidence",
    "",
    "`npm run lab` writes this page from recordings of real sessions. Every figure of ours is computed in that run.",
    "",
    recordingsPart(recordings, first.rows),
    schedulesPart(figuresOf(first.rows)),
    techniquesPart(figuresOf(second.rows)),
    historiesPart(third.rows),
    legalPart(rows),
    knownLimits,
    successPlan,
  ];
  const problems = new Set([
    ...unread,
    ...first.problems,
    ...second.problems,
    ...third.problems,
    ...brokenText(rows),
  ]);
  return { page: parts.join("\n"), problems: [...problems] };
}

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, index) => (index === 0 ? "---" : "--:"));
  return [row(head), row(rule), ...lines.map(row), ""].join("\n");
}

function recordingsPart(recordings: readonly Recording[], rows: readonly ReplayRow[]): string {
  const lines = recordings.map(({ file, format, events }) => {
    const raw = rows.find((row) => row.file === file && row.context === "raw");
    const check = checkUsage(events);
    const usage = check
      ? [
          `${formatTokens(check.missing)} + ${check.factor.toFixed(2)} ×`,
          formatPercent(check.median),
          formatPercent(check.p95),
        ]
      : ["no usage", "", ""];
    return [
      nameOf(file),
      format,
      String(raw?.steps ?? 0),
      formatTokens(Math.max(0, ...(raw?.sizes ?? []))),
      ...usage,
    ];
  });
  return [
    "## The recordings, and how accurate the token estimates are",
    "",
    "Peak is the largest request if nothing were ever forgotten, at four bytes per token. Where a recording has the provider's",
    "usage, a straight line calibrates the estimate: a constant for tokens that the recording lacks (system prompt, tools),",
    "plus a factor. The last two columns show the error of the calibrated estimate.",
    "",
    table(["recording", "format", "steps", "peak", "counted ≈ estimated", "median error", "p95"], lines),
  ].join("\n");
}

/** All recordings together under one stack at one price; the one recording where there is no other. */
function figureOf(figures: readonly Figures[], prices: string, context: string): Figures | undefined {
  const all = figures.filter((figure) => figure.prices === prices && figure.context === context);
  return all.find(({ recording }) => recording === "all") ?? all[0];
}

/** A cost against raw, and the same with re-reads where misses are known: `-38.2 / -36.0 %`. */
function changeText(alone: number | undefined, withRereads: number | undefined): string {
  if (alone === undefined) return "";
  if (withRereads === undefined) return signedPercent(alone - 1);
  return `${signedPercent(alone - 1).replace(" %", "")} / ${signedPercent(withRereads - 1)}`;
}

/** Misses of 100 steps at the prices where there are fewest and most. */
function missText(figures: readonly (Figures | undefined)[]): string {
  const rates = figures.flatMap((figure) => (figure ? (missRate(figure) ?? []) : []));
  if (rates.length === 0) return "";
  const [least, most] = [Math.min(...rates), Math.max(...rates)].map((rate) => rate.toFixed(1));
  return least === most ? `${least}` : `${least}–${most}`;
}

function schedulesPart(figures: readonly Figures[]): string {
  const contexts = [
    ["rolling, as published", "masking"],
    ["batches of 20", batched],
    ["turns: by age, when it pays", "turns"],
    ["economist: by value", "economist"],
    ["best masking in hindsight", optimumName("masking")],
  ] as const;
  const lines = shares.map((prices) => {
    const [read = "", write = ""] = prices.split("/");
    const ours = contexts.map(([, context]) => {
      const { inputRatio, inputRatioWithRereads } = figureOf(figures, prices, context) ?? {};
      return changeText(inputRatio, inputRatioWithRereads);
    });
    const theirs = published.simulation[prices] ?? ["", "", "", "", ""];
    return [
      `r ${read}, w ${write}`,
      ...ours.map((figure, index) => (theirs[index] ? `${figure} (${theirs[index]})` : figure)),
    ];
  });
  const rates = contexts.map(([, context]) =>
    missText(shares.map((prices) => figureOf(figures, prices, context))),
  );
  return [
    "## When to mask: cost of the input against raw",
    "",
    "Old observations become placeholders, except in the newest 10 turns; the columns differ only in when that happens. In",
    "brackets: an independent simulation of masking alone on the same recordings (break-even for `turns`). r and w are",
    "the prices of a cache read and a cache write as shares of the input price. The second figure of a cell is the cost with",
    "re-reads: each miss billed as one more step (see below). Nobody knows what the best schedule in hindsight would miss.",
    "",
    table(["prices", ...contexts.map(([title]) => title)], [...lines, ["misses per 100 steps", ...rates]]),
    published.repriced,
    "",
    readingNotes,
    "",
  ].join("\n");
}

function techniquesPart(figures: readonly Figures[]): string {
  const all = figures.filter(({ recording }) => recording === "all");
  const lines = techniques.map((context) => {
    const priced = models.map((prices) =>
      all.find((each) => each.context === context && each.prices === prices),
    );
    const cells = priced.map((figure) => changeText(figure?.ratio, figure?.ratioWithRereads));
    const sized = all.find((each) => each.context === context && each.prices === models[3]);
    const sizes = [formatTokens(sized?.mean ?? 0), formatTokens(sized?.peak ?? 0)];
    return [context, ...cells, missText(priced), ...sizes];
  });
  const heads = models.map((id) => id.split("/")[1] ?? id);
  return [
    "## Every technique at today's prices: whole cost against raw",
    "",
    "Output included; the second figure of a cell is the cost with re-reads. A miss: a reply quotes a line of 20 characters",
    "or more that an edit had taken, or that was cut before it was sent, and nothing in the window holds it: no placeholder,",
    "no summary, no knowledge, no words of the model or the person. It is billed as one more step that reads the thing again:",
    "the whole context once more at the price of a cache read, the call, and the result, which is carried until an edit takes",
    "something as new. The last two columns are mean and peak context in tokens on " +
      `${heads[3]}, without re-reads.`,
    "",
    table(["context", ...heads, "misses per 100 steps", "mean", "peak"], lines),
    "Compared with published results:",
    "",
    ...published.findings.map((finding) => `- ${finding}`),
    "",
  ].join("\n");
}

function historiesPart(rows: readonly ReplayRow[]): string {
  const groups: [string, readonly ReplayRow[]][] = [
    ["all", rows],
    ...[...new Set(rows.map(({ file }) => file))]
      .filter(isApart)
      .map((file): [string, ReplayRow[]] => [nameOf(file), rows.filter((row) => row.file === file)]),
  ];
  const lines = groups.flatMap(([group, own]) => {
    const figures = figuresOf(own);
    return compared.slice(1).map((context) => {
      const cells = bothHistories.map((prices) => {
        const figure = figureOf(figures, prices, context);
        return `${changeText(figure?.ratio, figure?.ratioWithRereads)} (${figure?.misses ?? 0})`;
      });
      return [group, context, ...cells];
    });
  });
  const heads = bothHistories.map((prices) => {
    const [read = "", write = "", bound] = prices.split("/");
    return `${bound ? "bound" : "free"}, r ${read}, w ${write}`;
  });
  return [
    "## Both histories at the same prices: whole cost against raw",
    "",
    "On a prefix-bound history an edit takes the thinking behind it along, which makes the rest smaller. In each cell: the cost,",
    "the cost with re-reads, and the misses in brackets. The recordings from which nothing was learned stand apart as well.",
    "",
    table(["recordings", "context", ...heads], lines),
  ].join("\n");
}

function legalPart(rows: readonly ReplayRow[]): string {
  const lines = (["free", "prefix_bound"] as const).map((history) => {
    const own = rows.filter((row) => row.history === history);
    const requests = own.reduce((sum, { steps, summaries }) => sum + steps + summaries, 0);
    const edits = own.reduce((sum, row) => sum + row.edits, 0);
    const invalid = own.reduce((sum, row) => sum + row.invalid, 0);
    return [history === "free" ? "free" : "prefix-bound", String(requests), String(edits), String(invalid)];
  });
  return [
    "## Legality",
    "",
    "Every request of every run above was checked: pairing, roles, Unicode, breakpoints, and the window. On prefix-bound",
    "histories the check also covers thinking: none is sent after the text before it has changed.",
    "",
    table(["history", "requests", "edits", "invalid"], lines),
  ].join("\n");
}
