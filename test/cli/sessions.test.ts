/** `sawtooth sessions` over real sessions, as its output reads. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSession } from "../../src/session/store.ts";
import { result, started, user } from "../support/logs.ts";
import { type Ended, makeWorkspace, sawtooth, type Workspace } from "../support/sawtooth.ts";

let workspace: Workspace;
const key = "sk-canary-7f3a-of-the-environment";
/** In a file of the folder, not in the environment. */
const fileSecret = "canary-9Zx81-of-a-file";
const clipboard = "\u001b]52;c;aGVsbG8=\u0007";

const sessions = (...words: string[]): Promise<Ended> =>
  sawtooth(workspace, ["sessions", ...words], { env: { ANTHROPIC_API_KEY: key } });

beforeAll(async () => {
  workspace = makeWorkspace();
  const script = join(workspace.home, "script.json");
  const turns = [
    {
      text: `I <script>look</script>${clipboard} ![pixel](http://evil/x.png)\n\`\`\`html\n<b>code</b>\n\`\`\``,
      calls: [{ bash: { command: `printf '\\033[31mred \`\`\`\\n'; seq 1 100` } }],
    },
    { text: "done" },
  ];
  writeFileSync(script, JSON.stringify({ turns }));
  writeFileSync(join(workspace.cwd, ".env"), `SERVICE_TOKEN=${fileSecret}\n`);
  const prompt = `fix it with ${key} and AKIAIOSFODNN7EXAMPLE or ${fileSecret}`;
  await sawtooth(workspace, ["-p", prompt, "--model", `scripted/${script}`, "--permission-mode", "auto"]);
});

afterAll(() => workspace.remove());

describe("every form of a session", () => {
  test.each([
    ["show", ["show"]],
    ["md", ["export"]],
    ["html", ["export", "--format", "html"]],
    ["json", ["export", "--format", "json"]],
    ["list", ["list"]],
  ])("%s has the words, and neither secrets nor escape sequences", async (_form, words) => {
    const { stdout, code } = await sessions(...words);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /fix it with \[redacted:ANTHROPIC_API_KEY\] and(?: \[redacted:AWS_ACCESS_KEY_ID\]|…)/,
    );
    expect(stdout).not.toContain("canary");
    expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  });
});

test("neither a report nor the exact request of a step has the secret of a file", async () => {
  const step = await sawtooth(workspace, ["report", "--step", "1"]);
  expect(step.stdout).toContain("or [redacted:SERVICE_TOKEN]");
  expect(step.stdout).not.toContain("9Zx81");
});

test("show is short about long outputs, and has the name that the session was given", async () => {
  const { stdout } = await sessions("show");
  expect(stdout).toMatch(
    / {2}✓ bash printf .*\n {4}\(allowed by the mode auto\)\n {4}red ```\n {4}1\n[\s\S]*… \d+ lines …\n[\s\S]* {4}100\n/,
  );
  expect(stdout).toContain("> fix it with");
  expect(stdout.split("\n").length).toBeLessThan(45);
});

test("as Markdown it brings no HTML in, loads nothing, and no output ends its fence", async () => {
  const { stdout } = await sessions("export", "--format", "md");
  expect(stdout).toContain("&lt;script>look&lt;/script>");
  expect(stdout).toContain("!\\[pixel]");
  expect(stdout).toContain("```html\n<b>code</b>\n```");
  expect(stdout).toContain("````text\nred ```\n1\n");
});

test("as HTML it is one page without scripts or anything from elsewhere", async () => {
  const { stdout } = await sessions("export", "--format", "html");
  expect(stdout).toMatch(/^<!doctype html>/);
  expect(stdout).toContain("default-src 'none'");
  expect(stdout).not.toMatch(/<script|<img|<link|src=|href=/i);
  expect(stdout).toContain("&lt;script&gt;look&lt;/script&gt;");
});

test("as JSON it is the log", async () => {
  const { stdout } = await sessions("export", "--format", "json");
  const { events } = JSON.parse(stdout) as { events: { type: string; seq: number }[] };
  expect(events[0]).toMatchObject({ type: "session_started", seq: 0 });
  expect(events.at(-1)).toMatchObject({ type: "turn_ended", reason: "completed" });
});

test("a session is named in the list and in what it is exported as", async () => {
  const other = makeWorkspace();
  const root = join(other.home, "sawtooth", "state", "sessions");
  const session = await createSession({ root, cwd: other.cwd, clock: Date.now, warn: () => {} });
  for (const event of [started(), user("hello"), result("none")]) session.log.append(event);
  session.log.append({ type: "session_named", name: "the\u001b[2J parser" });
  session.close();
  expect((await sawtooth(other, ["sessions"])).stdout).toMatch(/ 1 turn {3}\[the \[2J parser\] hello\n$/);
  expect((await sawtooth(other, ["sessions", "show"])).stdout).toMatch(/^the parser\n/);
  expect(readFileSync(join(session.folder, "events.jsonl"), "utf8")).toContain("session_named");
  other.remove();
});

test("a mistake is one line and 2", async () => {
  expect(await sessions("frobnicate")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^sawtooth: unknown command: sessions frobnicate .*\n$/),
  });
  expect(await sessions("show", "20990101")).toMatchObject({ code: 2 });
  expect(await sessions("export", "--format", "pdf")).toMatchObject({ code: 2 });
});

test("an export to be shared has neither the home folder nor an e-mail address; the place of a repository stays", async () => {
  const script = join(workspace.home, "personal.json");
  const said = "ask maria.lopez+x@example.org, clone git@github.com:owner/name.git";
  const turns = [
    { text: said, calls: [{ bash: { command: "echo ~/notes ~ $HOME-other" } }] },
    { text: "done" },
  ];
  writeFileSync(script, JSON.stringify({ turns }));
  await sawtooth(workspace, ["-p", "go", "--model", `scripted/${script}`, "--permission-mode", "auto"]);
  for (const format of ["md", "html", "json"]) {
    const whole = await sessions("export", "--format", format);
    expect(whole.stdout).toContain(workspace.home);
    const { stdout, code } = await sessions("export", "--format", format, "--redact");
    expect(code).toBe(0);
    expect(stdout).toContain("~/notes ~ ");
    expect(stdout).not.toMatch(new RegExp(`${workspace.home}(?!-other)`));
    expect(stdout).not.toContain("lopez");
    expect(stdout).toContain("ask [address], clone git@github.com:owner/name.git");
  }
});
