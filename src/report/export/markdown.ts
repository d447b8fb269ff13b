/** A session as text: for a terminal, and as Markdown. Pure. */

import type { Export, Part } from "./parts.ts";

/** For a terminal without a pager; of a long output the first and the last lines. */
export function exportText({ title, facts, parts }: Export): string {
  const head = [title, ...facts.map(([name, value]) => `${name.padEnd(8)} ${value}`)];
  return `${[head.join("\n"), ...parts.map(partText)].join("\n\n")}\n`;
}

function partText(part: Part): string {
  switch (part.kind) {
    case "user":
      return indented(part.text, "> ");
    case "assistant":
      return part.text.trimEnd();
    case "thinking":
      return indented(part.text.trim(), "  ~ ");
    case "note":
      return `  · ${part.text.replaceAll("\n", " ")}`;
    case "call": {
      const mark = part.failed ? "✗" : "✓";
      const decision = part.decision ? `\n    (${part.decision.replaceAll("\n", " ")})` : "";
      return `  ${mark} ${part.tool} ${part.subject}${decision}\n${indented(shortOutput(part.output), "    ")}`;
    }
  }
}

const shownLines = 12;

function shortOutput(output: string): string {
  const lines = output.trimEnd().split("\n");
  if (lines.length <= shownLines + 1) return lines.join("\n");
  const half = shownLines / 2;
  const left = `… ${lines.length - shownLines} lines …`;
  return [...lines.slice(0, half), left, ...lines.slice(-half)].join("\n");
}

function indented(text: string, by: string): string {
  return text
    .split("\n")
    .map((line) => `${by}${line}`.trimEnd())
    .join("\n");
}

/** Markdown of the common kind; outputs are folded where the reader can unfold them. */
export function exportMarkdown({ title, facts, parts }: Export): string {
  const head = facts.map(([name, value]) => `- ${name}: ${inert(value)}`);
  return `${[`# ${inert(title)}`, head.join("\n"), ...parts.map(partMarkdown)].join("\n\n")}\n`;
}

function partMarkdown(part: Part): string {
  switch (part.kind) {
    case "user":
      return `## You\n\n${inert(part.text.trim())}`;
    case "assistant":
      return `## Sawtooth\n\n${inert(part.text.trim())}`;
    case "thinking":
      return `<details><summary>Thinking</summary>\n\n${inert(part.text.trim())}\n\n</details>`;
    case "note":
      return `*${inert(part.text.replaceAll("\n", " "))}*`;
    case "call": {
      const { tool, subject, input, output, failed, decision } = part;
      const summary = `${failed ? "✗" : "✓"} ${entities(tool)} <code>${entities(subject)}</code>`;
      const decided = decision ? `Permission: ${inert(decision.replaceAll("\n", " "))}\n\n` : "";
      return `<details><summary>${summary}</summary>\n\n${decided}${fenced(input, "json")}\n\n${fenced(output, "text")}\n\n</details>`;
    }
  }
}

/** No text within can end the fence. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}

/** Markdown of others that stays Markdown, but neither brings HTML in nor loads anything from afar. */
function inert(markdown: string): string {
  let fence: string | undefined;
  return markdown
    .split("\n")
    .map((line) => {
      const ticks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      const inside = fence !== undefined;
      if (ticks && !fence) fence = ticks;
      else if (ticks && fence && ticks.startsWith(fence)) fence = undefined;
      return inside || ticks ? line : withoutMarkup(line);
    })
    .concat(fence ? [fence] : [])
    .join("\n");
}

function withoutMarkup(line: string): string {
  return line
    .split(/(`+[^`]*`+)/)
    .map((piece, index) =>
      index % 2 === 1 ? piece : piece.replace(/<(?=[a-z/!?])/gi, "&lt;").replaceAll("![", "!\\["),
    )
    .join("");
}

function entities(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
