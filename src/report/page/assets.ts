/** The look and the behaviour of the report page, as the texts that go into it. Pure. */

export const pageStyle = `
:root { color-scheme: light dark; --paper: #fbfbf9; --ink: #1f2328; --soft: #656d76; --line: #dcdfe3; --panel: #f1f2f0;
  --read: #7a9cc6; --write: #d9822b; --fresh: #b4435a; --open: #b9bdc2; --edit: #5b4b8a; --bar: #7a9cc6; --news: #95540f; --hover: rgb(31 35 40 / .12); }
@media (prefers-color-scheme: dark) { :root { --paper: #16191d; --ink: #e4e6e8; --soft: #9aa2ab; --line: #343a41; --panel: #1f2328;
  --read: #4d74a3; --write: #d68a3d; --fresh: #d0657c; --open: #5a6169; --edit: #b3a1e6; --bar: #5b84b5; --news: #d68a3d; --hover: rgb(228 230 232 / .18); } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px 20px 64px; max-width: 1120px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 20px; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 16px; margin: 36px 0 8px; } h3 { font-size: 14px; font-weight: 600; margin: 20px 0 4px; }
p { margin: 4px 0; } .soft, small, figcaption, .axis, .ticks { color: var(--soft); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; font-size: 13px; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(128px, 1fr)); gap: 1px; margin: 20px 1px; }
.facts div { padding: 8px 12px; box-shadow: 0 0 0 1px var(--line); } .facts b { display: block; font-size: 19px; font-weight: 600; font-variant-numeric: tabular-nums; }
.facts span { color: var(--soft); font-size: 13px; }
.curve { margin: 0; } .plot { position: relative; margin-left: 44px; }
.plot svg { display: block; width: 100%; height: 260px; border-bottom: 1px solid var(--line); cursor: pointer; }
.ticks span { position: absolute; right: calc(100% + 8px); transform: translateY(50%); font-size: 12px; }
.ticks { position: absolute; left: 0; top: 0; height: 260px; font-variant-numeric: tabular-nums; }
.grid { stroke: var(--line); vector-effect: non-scaling-stroke; fill: none; } .cut { stroke: var(--edit); stroke-dasharray: 2 3; vector-effect: non-scaling-stroke; opacity: .7; }
path.limit { stroke: var(--ink); stroke-dasharray: 6 4; vector-effect: non-scaling-stroke; fill: none; opacity: .6; }
path.read { fill: var(--read); } path.write { fill: var(--write); } path.fresh { fill: var(--fresh); } path.open { fill: var(--open); }
#cursor { fill: var(--hover); }
.marks { position: relative; height: 22px; }
.marks button { position: absolute; top: 0; width: 22px; height: 22px; margin-left: -11px; padding: 0; border: 0; background: none; color: var(--edit); cursor: pointer; }
.marks button::before { content: ""; position: absolute; left: 5px; top: 3px; border: 6px solid transparent; border-top: 0; border-bottom: 10px solid currentColor; }
.marks button:hover::before, .marks button:focus-visible::before { color: var(--ink); }
.axis { display: flex; justify-content: space-between; margin-left: 44px; font-size: 12px; }
figcaption { margin: 6px 0 0 44px; font-size: 13px; } .key { margin-right: 16px; white-space: nowrap; display: inline-block; }
.key::before { content: ""; display: inline-block; width: 11px; height: 11px; margin-right: 6px; vertical-align: -1px; background: var(--read); }
.key.write::before { background: var(--write); } .key.fresh::before { background: var(--fresh); } .key.open::before { background: var(--open); }
.key.edit::before { width: 0; height: 0; background: none; border: 6px solid transparent; border-top: 0; border-bottom: 10px solid var(--edit); }
.key.limit::before { height: 0; background: none; border-top: 2px dashed var(--soft); vertical-align: 4px; width: 16px; }
#readout { min-height: 3em; margin: 10px 0 0 44px; padding: 6px 10px; background: var(--panel); font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; } th { font-weight: 500; color: var(--soft); white-space: nowrap; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; } td code { display: block; min-width: 150px; overflow-wrap: anywhere; } td.wide { min-width: 170px; } td.bars { width: 40%; } td:first-child { white-space: nowrap; }
td small { display: block; min-width: 220px; } tr.chosen td { background: var(--panel); }
.bar { display: block; width: 100%; min-width: 90px; height: 10px; margin-top: 6px; } .bar span { display: block; height: 100%; background: var(--bar); }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 0 40px; }
button.step, .walk button { font: inherit; color: inherit; background: none; border: 1px solid var(--line); border-radius: 4px; padding: 0 7px; cursor: pointer; }
button:hover { border-color: var(--soft); } :focus-visible { outline: 2px solid var(--edit); outline-offset: 1px; }
.walk { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; } .walk input { font: inherit; width: 6em; padding: 0 6px; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 4px; }
details { border-bottom: 1px solid var(--line); } summary { cursor: pointer; padding: 4px 0; overflow-wrap: anywhere; } details details { margin-left: 16px; } details details:last-child { border: 0; }
pre { margin: 0 0 8px; padding: 8px 10px; background: var(--panel); white-space: pre-wrap; overflow-wrap: anywhere; max-height: 60vh; overflow-y: auto; }
.new { color: var(--news); } .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; } .point { color: var(--edit); } ul { padding-left: 20px; } li { overflow-wrap: anywhere; }
#live { padding: 4px 10px; background: var(--panel); border-left: 3px solid var(--bar); } #live.off { border-color: var(--write); } #live.done { border-color: var(--soft); } [hidden] { display: none !important; }
@media (max-width: 620px) { body { padding: 16px 12px 48px; } .plot svg, .ticks { height: 200px; } .facts b { font-size: 17px; } }
`;

/**
 * Small and self-contained: what it shows of requests comes out of the JSON beside it, or from the server of a live page,
 * and goes into the page as text only. `bodyOf` puts a step's request together again, byte for byte. `put` shows a change
 * of a live page, in HTML made like the rest of the page.
 */
export const pageScript = `
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const make = (tag, text, name) => { const node = document.createElement(tag); node.textContent = text ?? ""; if (name) node.className = name; return node; };
/** A text that scrolls, also by keys. */
const box = (text) => { const node = make("pre", text); node.tabIndex = 0; return node; };

function bodyOf(step, packed = data.requests) {
  let pieces = [];
  for (const { keep, then } of packed.bodies.slice(0, step)) pieces = pieces.slice(0, keep).concat(then);
  return pieces.map((index) => packed.pieces[index]).join("");
}

async function requestOf(kind, step) {
  if (!data.live) return bodyOf(step, kind === "step" ? data.requests : data.summaries);
  const reply = await fetch(kind + "/" + step).catch(() => undefined);
  return reply?.ok ? reply.text() : undefined;
}

const count = () => data.steps.length;
const unmarked = (block) => { const { cache_control, ...rest } = block; return JSON.stringify(rest); };
const listOf = (content) => (Array.isArray(content) ? content : [{ type: "text", text: String(content ?? "") }]);

function textOf(block) {
  if (block.type === "text") return block.text;
  if (block.type === "thinking") return block.thinking || "(thinking is not shown by the model)";
  if (block.type === "tool_use") return JSON.stringify(block.input, null, 2);
  if (block.type === "tool_result") return typeof block.content === "string" ? block.content : listOf(block.content).map(textOf).join("\\n");
  return JSON.stringify(block, null, 2);
}

function titleOf(block) {
  const name = block.name ? " " + block.name : "";
  const start = (block.type === "tool_use" ? JSON.stringify(block.input) : textOf(block)).trim().split("\\n")[0].slice(0, 90);
  return block.type + name + ", " + unmarked(block).length.toLocaleString("en-US") + " characters: " + start;
}

function blockNode(block, news, point) {
  const node = make("details");
  const summary = make("summary", titleOf(block));
  if (news) summary.prepend(make("b", news + " ", "new"));
  if (point) summary.append(make("b", " ▮ cached up to here, " + point, "point"));
  node.append(summary);
  node.addEventListener("toggle", () => { if (node.open && node.children.length < 2) node.append(box(textOf(block))); });
  return node;
}

function pointsOf(body) {
  const points = new Map();
  for (const point of body.cacheAfter ?? []) if (point.after === "block") points.set(point.message + "." + point.block, point.ttl);
  body.messages.forEach((message, index) => listOf(message.content).forEach((block, at) => {
    if (block.cache_control) points.set(index + "." + at, block.cache_control.ttl ?? "5m");
  }));
  return points;
}

function messageNode(message, index, before, points) {
  const node = make("details");
  const blocks = listOf(message.content);
  const old = listOf(before?.content).map(unmarked);
  const news = blocks.map((block, at) => {
    if (before?.role === message.role && old.includes(unmarked(block))) return "";
    return before?.role === message.role && old[at] !== undefined ? "changed" : "new";
  });
  const summary = make("summary", index + 1 + ". " + message.role + ", " + blocks.map((block) => block.type).join(", "));
  if (news.some(Boolean)) node.open = true;
  if (blocks.some((_, at) => points.has(index + "." + at))) summary.append(make("b", " ▮", "point"));
  node.append(summary, ...blocks.map((block, at) => blockNode(block, news[at], points.get(index + "." + at))));
  return node;
}

function headNode(title, value) {
  const node = make("details");
  node.append(make("summary", title), box(typeof value === "string" ? value : JSON.stringify(value, null, 2)));
  return node;
}

function oldNode(nodes) {
  const node = make("details");
  node.append(make("summary", "1 to " + nodes.length + ": as in the step before"), ...nodes);
  return node;
}

let shown = 0;
async function show(step, scroll) {
  if (!(step >= 1 && step <= count())) return;
  shown = step;
  const [earlier, text] = await Promise.all([step > 1 ? requestOf("step", step - 1) : "", requestOf("step", step)]);
  if (shown !== step) return;
  if (text === undefined || earlier === undefined) return at("request").replaceChildren(make("p", "The request cannot be shown: sawtooth report is no longer running. Start it again, or run sawtooth report --step " + step + "."));
  const body = JSON.parse(text);
  const before = earlier ? JSON.parse(earlier) : { messages: [] };
  const { messages, system, tools, ...settings } = body;
  const points = pointsOf(body);
  const raw = make("details");
  raw.append(make("summary", "the exact body, " + new TextEncoder().encode(text).length.toLocaleString("en-US") + " bytes"));
  raw.addEventListener("toggle", () => { if (raw.open && raw.children.length < 2) raw.append(box(text)); });
  const nodes = messages.map((message, index) => messageNode(message, index, before.messages[index], points));
  const first = Math.max(0, nodes.findIndex((node) => node.open));
  at("request").replaceChildren(
    make("p", data.steps[step - 1]),
    headNode("settings", settings),
    headNode("tools: " + (tools ?? []).length, tools ?? []),
    headNode("system", listOf(system).map(textOf).join("\\n")),
    ...(first > 0 ? [oldNode(nodes.slice(0, first))] : []),
    ...nodes.slice(first),
    raw,
  );
  at("wanted").value = step;
  if (scroll) at("requests").scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

const svg = document.querySelector(".plot svg");
const stepUnder = (event) => {
  const box = svg.getBoundingClientRect();
  return Math.max(1, Math.min(count(), 1 + Math.floor(((event.clientX - box.left) / box.width) * count())));
};
svg.addEventListener("pointermove", (event) => {
  const step = stepUnder(event);
  if (count() === 0) return;
  at("cursor").setAttribute("x", step - 1);
  at("readout").textContent = data.steps[step - 1];
});
svg.addEventListener("click", (event) => show(stepUnder(event), true));
function tell(event) {
  const edit = event.target.closest?.("[data-edit]")?.dataset.edit;
  if (edit === undefined) return;
  at("readout").textContent = data.edits[edit] + " Worth " + at("worth-" + edit).textContent + " in hindsight.";
  if (event.type !== "click") return;
  for (const row of document.querySelectorAll("tr.chosen")) row.classList.remove("chosen");
  at("edit-" + edit).classList.add("chosen");
}
for (const type of ["pointerover", "focusin", "click"]) document.addEventListener(type, tell);
document.addEventListener("toggle", async ({ target }) => {
  const { summary } = target.dataset;
  if (!summary || !target.open || target.children.length > 1) return;
  const text = box();
  target.append(text);
  text.textContent = (await requestOf("summary", summary)) || "the log does not say what was asked";
}, true);
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-step]");
  if (link) show(Number(link.dataset.step), true);
});
at("wanted").addEventListener("change", () => show(Number(at("wanted").value)));
at("earlier").addEventListener("click", () => show(shown - 1));
at("later").addEventListener("click", () => show(shown + 1));

function drawCurve() {
  const { bars } = data;
  const { top, limit, ticks, label } = JSON.parse(data.frame);
  const width = Math.max(1, bars.length);
  const pieces = bars.map((bar) => bar.split("|"));
  const paths = at("bars").children;
  for (let bucket = 0; bucket < 4; bucket++) paths[bucket].setAttribute("d", pieces.map((piece) => piece[bucket]).join(""));
  paths[4].setAttribute("d", limit === undefined ? "" : "M0 " + limit + "h" + width);
  at("limit").hidden = limit === undefined;
  at("bars").setAttribute("transform", "translate(0 100) scale(1 " + -100 / top + ")");
  svg.setAttribute("viewBox", "0 0 " + width + " 100");
  svg.setAttribute("aria-label", label);
  for (const line of svg.querySelectorAll(".grid")) line.setAttribute("transform", "scale(" + width + " 1)");
  for (const mark of document.querySelectorAll("[data-before]")) mark.style.left = (100 * (mark.dataset.before - 1)) / width + "%";
  if (at("ticks").innerHTML !== ticks) at("ticks").innerHTML = ticks;
  at("wanted").max = bars.length;
}

function put([key, value]) {
  const [list, index] = key.split("/");
  if (key === "frame") data.frame = value;
  else if (list === "bars") data.bars[index] = value;
  else if (list === "step") data.steps[index] = value;
  else if (list === "edit") data.edits[index] = value;
  else if (index === undefined) at(key).innerHTML = value;
  else {
    const box = document.querySelector('[data-rows="' + list + '"]');
    const old = box.children[index];
    const focused = old?.contains(document.activeElement);
    if (old) old.outerHTML = value;
    else box.insertAdjacentHTML("beforeend", value);
    if (focused) box.children[index].querySelector("button")?.focus();
    const part = box.closest("[data-for]");
    if (part) part.hidden = false;
  }
}

function follow() {
  let [from, source, drawn] = [data.live.from, undefined, true];
  const say = (text, name) => { if (at("live").textContent !== text) at("live").textContent = text; at("live").className = name; };
  const draw = () => { drawn = true; drawCurve(); if (shown === 0) show(count()); };
  const listen = () => {
    source = new EventSource("updates?from=" + from);
    source.addEventListener("open", () => say("Live: this page grows while the session works.", ""));
    source.addEventListener("message", (event) => {
      from = event.lastEventId;
      for (const change of JSON.parse(event.data)) put(change);
      if (drawn) requestAnimationFrame(draw);
      drawn = false;
    });
    source.addEventListener("reload", () => { source.close(); location.reload(); });
    source.addEventListener("ended", (event) => { source.close(); source = undefined; document.removeEventListener("visibilitychange", look); say(JSON.parse(event.data), "done"); });
    source.addEventListener("error", () => say(source?.readyState === 2 ? "This page does not grow: too many pages are open, or sawtooth report has ended. Close some and reload." : "The connection is lost; trying again.", "off"));
  };
  // A page that nobody sees keeps no connection; it gets what it missed when it is seen again.
  const look = () => {
    if (!document.hidden && !source) listen();
    if (document.hidden) { source?.close(); source = undefined; }
  };
  document.addEventListener("visibilitychange", look);
  say("Connecting…", "");
  look();
}

if (data.live) { drawCurve(); follow(); }
show(Number(location.hash.replace("#step-", "")) || count());
`;
