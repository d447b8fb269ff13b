/** The page of evidence: what each technique does to size and cost on real recordings, beside what was published. */

import { formatPercent, formatTokens, signedPercent } from "../../context/report/amounts.ts";
import { importRecordings, type Recording } from "../recordings/import.ts";
import { replayFiles } from "../replay/jobs.ts";
import type { ReplayRow } from "../replay/run.ts";
import { brokenText, type Figures, figuresOf, nameOf, optimumName } from "../replay/table.ts";
import { checkUsage } from "../replay/usage-check.ts";
import { knownLimits, published, readingNotes } from "./published.ts";

export type EvidenceOptions = {
  files: readonly string[];
  jobs: number;
  onProgress?: (done: number, all: number, label: string) => void;
};

/** Read and write price as shares of the input price; the first is that of the paper, with free writes. */
const shares = [".4/1", ".1/1", ".1/1.25", ".05/1.25", ".025/1.25"];
const batched = "masking:maskBatch=20";
const schedules = ["raw", "masking", batched, "economist"];

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
  "economist",
  "economist+ingest",
  "economist-auto+ingest",
];

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
  const rows = [...first.rows, ...second.rows];
  const parts = [
    "# Evidence",
    "",
    "`npm run lab` writes this page from recordings of real sessions. Every figure of ours is computed in that run.",
    "",
    recordingsPart(recordings, first.rows),
    schedulesPart(figuresOf(first.rows)),
    techniquesPart(figuresOf(second.rows)),
    legalPart(rows),
    knownLimits,
  ];
  const problems = new Set([...unread, ...first.problems, ...second.problems, ...brokenText(rows)]);
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

function inputChange(figures: readonly Figures[], prices: string, context: string): string {
  const all = figures.filter((figure) => figure.prices === prices && figure.context === context);
  const { inputRatio } = all.find(({ recording }) => recording === "all") ?? all[0] ?? {};
  return inputRatio === undefined ? "" : signedPercent(inputRatio - 1);
}

function schedulesPart(figures: readonly Figures[]): string {
  const contexts = [
    ["rolling, as published", "masking"],
    ["batches of 20", batched],
    ["economist", "economist"],
    ["best masking in hindsight", optimumName("masking")],
  ] as const;
  const lines = shares.map((prices) => {
    const [read = "", write = ""] = prices.split("/");
    const ours = contexts.map(([, context]) => inputChange(figures, prices, context));
    const theirs = published.simulation[prices] ?? ["", "", "", ""];
    return [
      `r ${read}, w ${write}`,
      ...ours.map((figure, index) => (theirs[index] ? `${figure} (${theirs[index]})` : figure)),
    ];
  });
  return [
    "## When to mask: cost of the input against raw",
    "",
    "Old observations become placeholders, except in the newest 10 turns; the columns differ only in when that happens. In",
    "brackets: an independent simulation of masking alone on the same recordings (break-even for the economist). r and w are",
    "the prices of a cache read and a cache write as shares of the input price.",
    "",
    table(["prices", ...contexts.map(([title]) => title)], lines),
    published.repriced,
    "",
    readingNotes,
    "",
  ].join("\n");
}

function techniquesPart(figures: readonly Figures[]): string {
  const all = figures.filter(({ recording }) => recording === "all");
  const lines = techniques.map((context) => {
    const cells = models.map((prices) => {
      const figure = all.find((each) => each.context === context && each.prices === prices);
      return figure?.ratio === undefined ? "" : signedPercent(figure.ratio - 1);
    });
    const sized = all.find((each) => each.context === context && each.prices === models[3]);
    return [context, ...cells, formatTokens(sized?.mean ?? 0), formatTokens(sized?.peak ?? 0)];
  });
  const heads = models.map((id) => id.split("/")[1] ?? id);
  return [
    "## Every technique at today's prices: whole cost against raw",
    "",
    `Output included. The last two columns are mean and peak context in tokens on ${heads[3]}.`,
    "",
    table(["context", ...heads, "mean", "peak"], lines),
    "Compared with published results:",
    "",
    ...published.findings.map((finding) => `- ${finding}`),
    "",
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
