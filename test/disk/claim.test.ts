import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { claimFolder, freed, holderOf, inWords, isClaim } from "../../src/disk/claim.ts";
import { isOrphan, ownName } from "../../src/disk/process-name.ts";
import { foreignClaim } from "../support/foreign-claim.ts";
import { until } from "../support/until.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "sawtooth-claim-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

async function claimed(path: string) {
  const claim = await claimFolder(path);
  if ("host" in claim) throw new Error(`it is held by ${claim.host}`);
  onTestFinished(claim.release);
  return claim;
}

test("a folder is claimed at once, and is free after its release", async () => {
  const path = folder();
  const claim = await claimed(path);
  expect(readdirSync(path)).toEqual([`claim.${ownName()}`]);
  expect(readdirSync(path).every(isClaim)).toBe(true);
  expect(claim.isHeld()).toBe(true);
  claim.release();
  expect(readdirSync(path)).toEqual([]);
  await claimed(path);
});

test("a claim of another machine that changes is left alone: the folder is refused, with its host", async () => {
  const path = folder();
  const other = foreignClaim(path);
  const timer = setInterval(other.write, 50);
  onTestFinished(() => clearInterval(timer));
  const waits: string[] = [];
  expect(await claimFolder(path, (host) => waits.push(host))).toMatchObject({ host: "far", pid: 7 });
  expect(waits).toEqual(["far"]);
  expect(readdirSync(path)).toEqual([other.name]);
});

test("who has a folder is told without a wait: other processes that live, other machines by the age of their sign", async () => {
  const path = folder();
  await claimed(path);
  expect(holderOf(path)).toBeUndefined();
  const other = foreignClaim(path);
  expect(inWords(holderOf(path) ?? { host: "", pid: 0 })).toBe("process 7 on far");
  utimesSync(join(path, other.name), 1, 1);
  expect(holderOf(path)).toBeUndefined();
});

test("a claim of a process of this machine that is gone counts for nothing", async () => {
  const path = folder();
  const dead = `${ownName().split(".")[0]}.999999999.1`;
  writeFileSync(join(path, `claim.${dead}`), "");
  expect([isOrphan(dead), isOrphan(ownName()), isOrphan(`${"0".repeat(12)}.7.1`)]).toEqual([
    true,
    false,
    false,
  ]);
  await freed(path);
  await claimed(path);
});

test("whoever lost the folder to another machine knows it before the next write", async () => {
  const path = folder();
  const claim = await claimed(path);
  rmSync(join(path, `claim.${ownName()}`));
  expect(claim.isHeld()).toBe(false);
  expect(claim.lost.aborted).toBe(true);
});

test("of many that ask at the same time exactly one gets the folder", async () => {
  const path = folder();
  const source = fileURLToPath(new URL("../../src/disk/claim.ts", import.meta.url));
  const program = `
    const { claimFolder } = await import(${JSON.stringify(source)});
    process.stdout.write("ready\\n");
    process.stdin.once("data", async () => {
      const claim = await claimFolder(${JSON.stringify(path)});
      process.stdout.write("host" in claim ? "refused\\n" : "got it\\n");
    });
  `;
  const said = Array.from({ length: 5 }, () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const heard = { text: "", child };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      heard.text += text;
    });
    return heard;
  });
  await until(() => said.every(({ text }) => text.includes("ready")));
  for (const { child } of said) child.stdin.write("go\n");
  await until(() => said.every(({ text }) => /got it|refused/.test(text)));
  expect(said.filter(({ text }) => text.includes("got it"))).toHaveLength(1);
});
