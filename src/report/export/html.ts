/** A session as one self-contained page: no network, no script. Pure. */

import { pageStyle } from "../page/assets.ts";
import { html } from "../page/escape.ts";
import type { Export, Part } from "./parts.ts";

const style = `${pageStyle}
main { max-width: 820px; } .said { white-space: pre-wrap; overflow-wrap: anywhere; margin: 18px 0; }
.user { border-left: 3px solid var(--edit); padding-left: 12px; } .failed summary { color: var(--fresh); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 12px 0 28px; } dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
`;

/** Opens in any browser, and loads nothing. */
export function exportHtml({ title, facts, parts }: Export): string {
  const list = facts.map(([name, value]) => `<dt>${html(name)}</dt><dd>${html(value)}</dd>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${html(title)}</title><style>${style}</style></head><body><main>
<h1>${html(title)}</h1><dl>${list.join("")}</dl>
${parts.map(partHtml).join("\n")}
</main></body></html>
`;
}

function partHtml(part: Part): string {
  switch (part.kind) {
    case "user":
    case "assistant":
      return `<div class="said ${part.kind}">${html(part.text.trim())}</div>`;
    case "thinking":
      return `<details class="soft"><summary>Thinking</summary><div class="said">${html(part.text.trim())}</div></details>`;
    case "note":
      return `<p class="soft">${html(part.text)}</p>`;
    case "call": {
      const { tool, subject, input, output, failed, decision } = part;
      const decided = decision ? `<p class="soft">Permission: ${html(decision)}</p>` : "";
      const head = `${failed ? "✗" : "✓"} ${html(tool)} <code>${html(subject)}</code>`;
      return `<details${failed ? ' class="failed"' : ""}><summary>${head}</summary>${decided}<pre>${html(input)}</pre><pre>${html(output)}</pre></details>`;
    }
  }
}
