/** Secrets in `.env` files of a workspace: programs read them, the model does not (security §6.2). */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { workspaceRedactor } from "../../src/config/env-files.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sawtooth-env-"));
  const made = folder;
  onTestFinished(() => rmSync(made, { recursive: true }));
});

test("S59 dotenv: values that are secrets by name or by shape are taken out, whatever their quotes", () => {
  writeFileSync(
    join(folder, ".env"),
    `# database\nexport DB_PASSWORD='canary-one-1'\nAPI_TOKEN="canary\ntwo-2"\nNAME=visible-name\nURL=postgres://a:canary-three@b/c\n`,
  );
  writeFileSync(join(folder, ".env.local"), "STRIPE_KEY=canary-four-4 # live\nDEBUG=true\n");
  writeFileSync(join(folder, ".env.example"), "STRIPE_KEY=put-your-key-here\n");
  const redact = workspaceRedactor({}, [folder]);
  expect(redact("canary-one-1 canary\ntwo-2 visible-name canary-three canary-four-4 put-your-key-here")).toBe(
    "[redacted:DB_PASSWORD] [redacted:API_TOKEN] visible-name [redacted:URL] [redacted:STRIPE_KEY] put-your-key-here",
  );
});

test("packages below have their own, dependencies are not looked into", () => {
  for (const path of ["apps/web", "node_modules/x"]) {
    mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, path, ".env"), `A_TOKEN=canary-${path.slice(0, 4)}-1\n`);
  }
  expect(workspaceRedactor({}, [folder])("canary-apps-1 canary-node-1")).toBe(
    "[redacted:A_TOKEN] canary-node-1",
  );
});

test("a file that appears or changes meanwhile counts from then on", () => {
  const redact = workspaceRedactor({ MY_KEY: "canary-zero-0" }, [folder]);
  expect(redact("canary-zero-0 canary-one-1")).toBe("[redacted:MY_KEY] canary-one-1");
  writeFileSync(join(folder, ".env"), "A_TOKEN=canary-one-1\n");
  expect(redact("canary-zero-0 canary-one-1")).toBe("[redacted:MY_KEY] [redacted:A_TOKEN]");
  writeFileSync(join(folder, ".env"), "A_TOKEN=canary-another-2\n");
  expect(redact("canary-another-2")).toBe("[redacted:A_TOKEN]");
});

test("files that cannot be read and folders of that name are passed over", () => {
  mkdirSync(join(folder, ".env"));
  writeFileSync(join(folder, ".env.bad"), Buffer.from([0, 255, 61, 10]));
  expect(workspaceRedactor({}, [folder, join(folder, "none")])("text")).toBe("text");
});
