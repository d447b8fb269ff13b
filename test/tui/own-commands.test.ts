import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { type MockServer, startMockServer } from "../support/mock-server.ts";
import { drive } from "../support/pty-drive.ts";
import { makeWorkspace, sawtooth, type Workspace } from "../support/sawtooth.ts";
import { again, atRest, held, lastUserText, letGo } from "../support/terminal-fixture.ts";

type Files = Record<string, string>;

/** A temporary workspace with commands of the user and of the project, before anything is started. */
async function withCommands(
  files: { own?: Files; project?: Files },
  turns: ScriptedReply[] = [{ text: "final", repeat: 9 }],
) {
  const server = await startMockServer({ turns });
  const workspace = makeWorkspace(server.url);
  onTestFinished(async () => {
    await server.close();
    workspace.remove();
  });
  const own = join(workspace.env.SAWTOOTH_HOME ?? "", "config/commands");
  const project = join(workspace.cwd, ".sawtooth/commands");
  for (const [folder, texts] of [
    [own, files.own ?? {}],
    [project, files.project ?? {}],
  ] as const) {
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  }
  return { server, workspace, own, project };
}

const review = "---\ndescription: Look at a file\n---\nReview $ARGUMENTS with care.\n";

test("a command of the person says its text with the arguments in it; it is completed and listed", async () => {
  const { workspace, server } = await withCommands({
    own: { "review.md": review, "plain.md": "Just this." },
  });
  const terminal = await again(workspace, [], { rows: 50 });
  terminal.send("/rev");
  await terminal.until(/❯ \/review +Look at a file/);
  terminal.send("\t$HOME `date` a.ts\r");
  await terminal.until("final");
  await atRest(terminal);
  expect(lastUserText(server)).toBe("Review $HOME `date` a.ts with care.");
  terminal.send("/plain and that\r");
  await terminal.until(/Just this\.[\s\S]*final/);
  expect(lastUserText(server)).toBe("Just this.\n\nand that");
  terminal.send("/help\r");
  await terminal.until(/\/review … +Look at a file/);
});

test("a skill of the person is started by its name, with its folder and the arguments, also one that the model does not see", async () => {
  const { workspace, server } = await withCommands({});
  const folder = join(workspace.home, ".agents/skills/signing");
  mkdirSync(folder, { recursive: true });
  const head = "---\nname: signing\ndescription: Signs files\ndisable-model-invocation: true\n---\n";
  writeFileSync(join(folder, "SKILL.md"), `${head}Sign every file.\n`);
  const terminal = await again(workspace, [], { rows: 50 });
  terminal.send("/signi");
  await terminal.until(/❯ \/signing +Signs files/);
  terminal.send("\ta.ts\r");
  await terminal.until("final");
  expect(lastUserText(server)).toBe(`Skill signing, of the folder ${folder}:\n\nSign every file.\n\na.ts`);
});

test("a text that looks like a command or a shell line is said, run by nobody, even taken back from the queue", async () => {
  const calls = [{ bash: { command: held } }];
  const turns = [{ calls }, { text: "middle" }, { text: "final" }];
  const { workspace, server } = await withCommands({ own: { "bad.md": "!touch made.txt" } }, turns);
  const terminal = await again(workspace, ["--permission-mode", "auto"]);
  terminal.send("go\r");
  await terminal.until("Running");
  terminal.send("/bad\r");
  await terminal.until("queued:  !touch made.txt");
  terminal.send("\x1b[A");
  await terminal.until("›  !touch made.txt");
  terminal.send("\r");
  await terminal.until("queued:  !touch made.txt");
  letGo(workspace);
  await terminal.until("middle");
  expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain('"text":" !touch made.txt"');
  expect(statSync(join(workspace.cwd, "made.txt"), { throwIfNoEntry: false })).toBeUndefined();
});

const project = { "deploy.md": "Deploy to staging, then $ARGUMENTS.\n", "check.md": "Run the checks." };

test("commands of a project are taken only when a person says so, and one changed byte asks again", async () => {
  const { workspace, server, project: folder } = await withCommands({ project });
  const first = await again(workspace, [], { columns: 100, rows: 40 });
  await first.until("not taken from .sawtooth/commands: check, deploy; /trust shows what they say");
  first.send("/deploy\r");
  await first.until("Unknown command /deploy");
  first.send("\x03/trust\r");
  await first.until(
    /Deploy to staging, then[\s\S]*Take 2 commands of this project[\s\S]*check\.md, [\s\S]*deploy\.md[\s\S]*❯ 2 No/,
  );
  first.send("\r");
  await first.until("Not trusted. /trust asks again");
  first.send("/trust\r");
  await first.until("Take 2 commands");
  first.send("y");
  await first.until("trusted: /check, /deploy");
  first.send("/deploy production\r");
  await first.until("final");
  expect(lastUserText(server)).toBe("Deploy to staging, then production.");
  first.send("/exit\r");
  await first.ended;
  const store = join(workspace.env.SAWTOOTH_HOME ?? "", "state/trusted.jsonl");
  const hashes = readFileSync(store, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).hash);
  expect(hashes.map((hash) => /^[0-9a-f]{64}$/.test(hash))).toEqual([true, true]);
  expect(statSync(store).mode & 0o777).toBe(0o600);

  const second = await again(workspace);
  second.send("/check\r");
  await second.until("final");
  expect(second.whole().join("\n")).not.toContain("not taken");
  second.send("/exit\r");
  await second.ended;

  appendFileSync(join(folder, "check.md"), " ");
  const third = await again(workspace, [], { columns: 120 });
  await third.until("not taken from .sawtooth/commands: check (changed since you trusted it)");
  third.send("/check\r");
  await third.until("Unknown command /check");
  third.send("\x03/deploy\r");
  await third.until("final");
});

test("a skill of a project is shown with its files, taken by its name alone, and told to a model at work", async () => {
  const calls = [{ bash: { command: held } }];
  const { workspace, server } = await withCommands({ project }, [{ calls }, { text: "final", repeat: 9 }]);
  const folder = join(workspace.cwd, ".agents/skills/deploy-it");
  mkdirSync(join(folder, "scripts"), { recursive: true });
  const head =
    "---\nname: deploy-it\ndescription: Deploys\nallowed-tools: Bash\nargument-hint: [where]\n---\n";
  writeFileSync(join(folder, "SKILL.md"), `${head}Deploy with care.\n`);
  writeFileSync(join(folder, "scripts/go.sh"), "echo go\n");
  const terminal = await again(workspace, ["--permission-mode", "auto"], { columns: 150, rows: 50 });
  await terminal.until(/commands: check, deploy; [\s\S]*not taken from \.agents\/skills: deploy-it; /);
  terminal.send("go\r");
  await terminal.until("Running");
  terminal.send("/trust deploy-it\r");
  await terminal.until(
    /Deploy with care\.[\s\S]*with the files scripts\/go\.sh[\s\S]*Take 1 skill of this project\?[\s\S]*allowed-tools: it has no effect/,
  );
  terminal.send("y");
  await terminal.until("trusted: /deploy-it");
  letGo(workspace);
  await terminal.until("final");
  await atRest(terminal);
  const told = JSON.stringify(server.requests.at(-1)?.messages);
  expect(told).toContain(
    `More skills, which the person trusts now:\\n- deploy-it: Deploys (${folder}/SKILL.md)`,
  );
  terminal.send("/deploy-i");
  await terminal.until(/❯ \/deploy-it/);
  terminal.send("\tproduction\r");
  await terminal.until(/production[\s\S]*final/);
  expect(lastUserText(server)).toBe(
    `Skill deploy-it, of the folder ${folder}:\n\nDeploy with care.\n\nproduction`,
  );
  terminal.send("/skills\r");
  await terminal.until(
    /deploy-it +skill of the project, \d+ tokens when read[\s\S]*allowed-tools of deploy-it/,
  );
});

test("what clashes, leads out, is too large or is no text is not taken, and that is said", async () => {
  const files = {
    own: {
      "Model.md": "x",
      "a b.md": "x",
      "big.md": "x".repeat(70_000),
      "zero.md": "a\0b",
      "empty.md": "---\ndescription: x\n---\n",
    },
    project: { "review.md": "mine", "fine.md": "Fine." },
  };
  const { workspace, own, project: folder } = await withCommands(files);
  writeFileSync(join(own, "review.md"), review);
  writeFileSync(join(workspace.home, "secret"), "hush hush");
  symlinkSync(join(workspace.home, "secret"), join(folder, "leak.md"));
  mkdirSync(join(folder, "folder.md"));
  const terminal = await again(workspace, [], { columns: 150, rows: 40 });
  const whole = terminal.whole().join("\n");
  for (const said of [
    /Model\.md has no command: there is a \/model already/,
    /a b\.md is not a command: its name may hold/,
    /big\.md is not a command: it is larger than 64 KiB/,
    /zero\.md is not a command: it is not text/,
    /empty\.md is not a command: it is empty/,
    /\.sawtooth\/commands\/leak\.md is not a command: it is a link out of the folder/,
    /\.sawtooth\/commands\/folder\.md is not a command: it is not a file/,
    /not taken from \.sawtooth\/commands: fine, review;/,
  ])
    expect(whole).toMatch(said);
  terminal.send("/trust\r");
  await terminal.until("Take 2 commands");
  expect(terminal.whole().join("\n")).not.toContain("hush");
  terminal.send("y");
  await terminal.until("trusted: /fine, /review");
  terminal.send("/skills\r");
  await terminal.until(
    /config\/commands\/review\.md is not used: \.sawtooth\/commands\/review\.md has its name/,
  );
});

test("a project with very many files fills neither the screen nor the list", async () => {
  const bad = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`b ad${index}.md`, "x"]));
  const good = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`c${index}.md`, "x"]));
  const { workspace } = await withCommands({ project: { ...bad, ...good } });
  const terminal = await again(workspace, [], { columns: 250, rows: 40 });
  const whole = terminal.whole().join("\n");
  expect(whole).toContain("only the first 50 files are read");
  expect(whole.match(/its name may hold/g)).toHaveLength(9);
  expect(whole).toContain("21 more files that cannot be used");
  expect(whole).toMatch(/commands: (c\d+, ){19}c\d+;/);
});

test("trust that cannot be written down holds for this session, and that is said", async () => {
  const { workspace } = await withCommands({ project });
  mkdirSync(join(workspace.env.SAWTOOTH_HOME ?? "", "state/trusted.jsonl"), { recursive: true });
  const terminal = await again(workspace, [], { columns: 200 });
  terminal.send("/trust\r");
  await terminal.until("Take 2 commands");
  terminal.send("y");
  await terminal.until(
    /trusted\.jsonl cannot be written \(EISDIR\): the commands are taken for this session only/,
  );
  terminal.send("/check\r");
  await terminal.until("final");
});

test("a folder of commands that is a link out of the project is not read", async () => {
  const { workspace, project: folder } = await withCommands({});
  rmSync(folder, { recursive: true });
  mkdirSync(join(workspace.home, "theirs"));
  writeFileSync(join(workspace.home, "theirs/leak.md"), "hush hush");
  symlinkSync(join(workspace.home, "theirs"), folder);
  const terminal = await again(workspace);
  expect(terminal.whole().join("\n")).toContain(".sawtooth/commands was not read: it leads out of");
  terminal.send("/trust\r");
  await terminal.until("Nothing of the project is waiting for your trust");
});

async function plainly(workspace: Workspace, server: MockServer): Promise<void> {
  const terminal = drive(workspace, ["--plain"]);
  onTestFinished(() => terminal.kill());
  await terminal.until("not taken from .sawtooth/commands");
  terminal.send("/trust\r");
  await terminal.until("Answer with a number.");
  terminal.send("1\r");
  await terminal.until("trusted: /check, /deploy");
  terminal.send("/check\r");
  await terminal.until("ready");
  expect(lastUserText(server)).toBe("Run the checks.");
  expect(terminal.raw()).not.toContain("\x1b");
}

test("without redrawing it is the same, and a headless run takes none at all", async () => {
  const { workspace, server } = await withCommands({ own: { "review.md": review }, project });
  await plainly(workspace, server);
  const { stdout } = await sawtooth(workspace, ["-p", "/check"]);
  expect(stdout).toContain("final");
  expect(lastUserText(server)).toBe("/check");
});

test("--bare has no commands but its own, and a secret in a file does not reach the model", async () => {
  const { workspace, server } = await withCommands({ own: { "key.md": "use sk-canary-7f3a now" }, project });
  const bare = await again(workspace, ["--bare"]);
  expect(bare.whole().join("\n")).not.toContain("not taken");
  bare.send("/key\r");
  await bare.until("Unknown command /key");
  bare.kill();
  const terminal = await again(workspace);
  terminal.send("/key\r");
  await terminal.until("final");
  expect(lastUserText(server)).toBe("use [redacted:ANTHROPIC_API_KEY] now");
});
