/** The program `mcp` in each of its languages, against a listener of its own. */

import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientProgram } from "../../src/mcp/shell/client.ts";
import { type Listener, listenForCommands, type Started } from "../../src/mcp/shell/listener.ts";
import { until } from "../support/until.ts";

const base = mkdtempSync(join(tmpdir(), "sawtooth-client-"));
const tempFolder = () => mkdtempSync(join(base, "t-"));
/** A folder that is too long for the path of a socket. */
const folder = join(tempFolder(), "x".repeat(120), "bin");
const bin = tempFolder();
let listener: Listener;
let seen: Started[] = [];
/** The signal of each command, in order: aborted when it has ended. */
let ends: AbortSignal[] = [];

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  listener = await listenForCommands(folder, async (started, signal) => {
    seen.push(started);
    ends.push(signal);
    const [word] = started.words;
    if (word === "wait") await new Promise((resolve) => signal.addEventListener("abort", resolve));
    if (word === "other") return { out: "", errors: "no other\n", code: 3, pass: true };
    return {
      out: word === "big" ? "é".repeat(3_000_000) : "fine\n",
      errors: "a note\n",
      code: word === "fail" ? 7 : 0,
    };
  });
});
afterAll(() => {
  listener.close();
  rmSync(base, { recursive: true });
});

const folders = (language: string) => {
  const found = { perl: "/usr/bin/perl", python3: "/usr/bin/python3", node: "" }[language];
  const own = join(tempFolder(), "tools");
  mkdirSync(own);
  if (found) symlinkSync(found, join(own, language));
  return [own];
};

function run(program: string, words: string[], input = "", path = bin) {
  const child = spawn(program, words, { env: { ...process.env, PATH: `${path}:${process.env.PATH}` } });
  const parts = { out: [] as Buffer[], errors: [] as Buffer[] };
  child.stdout.on("data", (part: Buffer) => parts.out.push(part));
  child.stderr.on("data", (part: Buffer) => parts.errors.push(part));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const ended = new Promise<{ code: number | null; out: string; errors: string }>((resolve) =>
    child.on("close", (code) =>
      resolve({
        code,
        out: Buffer.concat(parts.out).toString(),
        errors: Buffer.concat(parts.errors).toString(),
      }),
    ),
  );
  return { child, ended };
}

describe.each(["perl", "python3", "node"])("in %s", (language) => {
  const program = join(folder, `mcp-${language}`);
  beforeAll(() => {
    writeFileSync(program, clientProgram(folders(language)));
    chmodSync(program, 0o755);
    seen = [];
    ends = [];
  });

  test("hands over words and input, prints both streams, and ends with the code", async () => {
    const words = ["fail", "a b", "", "ü=✓", "-"];
    expect(await run(program, words, "in\0put\n").ended).toEqual({
      code: 7,
      out: "fine\n",
      errors: "a note\n",
    });
    expect(seen).toEqual([{ words, input: "in\0put\n" }]);
    await run(program, ["no", "input"], "unread").ended;
    expect(seen[1]).toEqual({ words: ["no", "input"], input: "" });
  });

  test("prints 6 MB whole, and takes 2 MB", async () => {
    expect((await run(program, ["big"]).ended).out).toBe("é".repeat(3_000_000));
    await run(program, ["-"], "y".repeat(2_000_000)).ended;
    expect(seen.at(-1)?.input.length).toBe(2_000_000);
  });

  test("starts another of its name, or says why there is none", async () => {
    const other = tempFolder();
    writeFileSync(join(other, "mcp"), '#!/bin/sh\necho "other: $2"; exit 4\n', { mode: 0o755 });
    expect(await run(program, ["other", "x"], "", other).ended).toMatchObject({
      code: 4,
      out: "other: x\n",
      errors: "",
    });
    expect(await run(program, ["other", "x"]).ended).toEqual({ code: 3, out: "", errors: "no other\n" });
  });

  test("its end is heard", async () => {
    const { child, ended } = run(program, ["wait"]);
    await until(() => seen.at(-1)?.words[0] === "wait", "the command");
    expect(ends.at(-1)?.aborted).toBe(false);
    child.kill("SIGTERM");
    await ended;
    await until(() => ends.at(-1)?.aborted === true, "its end");
  });
});

test("without a listener it says that the session has ended", async () => {
  const lonely = tempFolder();
  for (const language of ["perl", "python3", "node"]) {
    const program = join(lonely, `mcp-${language}`);
    writeFileSync(program, clientProgram(folders(language)), { mode: 0o755 });
    const { code, errors } = await run(program, ["a"]).ended;
    expect(code).toBe(1);
    expect(errors).toBe("mcp: its session has ended, or no longer has servers\n");
  }
});
