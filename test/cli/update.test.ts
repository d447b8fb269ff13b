/** `sawtooth update` with a real npm and a registry of our own; and that nothing else connects anywhere. */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { packageVersion } from "../../src/app/prompts.ts";
import { installedAt } from "../../src/cli/update/installed.ts";
import { compareVersions } from "../../src/cli/update/update.ts";
import { entry } from "../support/entry.ts";
import { makeWorkspace, sawtooth } from "../support/sawtooth.ts";

/** A registry that holds this version of sawtooth, or nothing; tells what was asked. */
async function registry(version: string | undefined): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(({ method, url }, response) => {
    asked.push(`${method} ${url}`);
    const versions = { [version ?? ""]: { name: "sawtooth", version, dist: {} } };
    response.statusCode = version === undefined ? 404 : 200;
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify(
        version === undefined ? {} : { name: "sawtooth", "dist-tags": { latest: version }, versions },
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked };
}

async function update(url: string | undefined, env: Record<string, string> = {}) {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  // A repository must not choose where the question goes.
  writeFileSync(join(workspace.cwd, ".npmrc"), "registry=http://127.0.0.1:9/\n");
  writeFileSync(join(workspace.home, ".npmrc"), url === undefined ? "" : `registry=${url}\n`);
  return sawtooth(workspace, ["update"], { env });
}

test("a newer version is named with what to type, and the registry of the person's npm is asked once", async () => {
  const { url, asked } = await registry("99.1.0");
  const { code, stdout, stderr } = await update(url);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(
    new RegExp(
      `^sawtooth 99\\.1\\.0 is there; this is ${packageVersion()}, installed .+\\.\nTo update, type: .+\n$`,
    ),
  );
  expect(asked).toEqual(["GET /sawtooth"]);
});

test("the program as it is installed reads what npm answers", async () => {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  const { url } = await registry(packageVersion());
  writeFileSync(join(workspace.home, ".npmrc"), `registry=${url}\n`);
  const options = { cwd: workspace.cwd, env: { PATH: process.env.PATH, HOME: workspace.home } };
  const { stdout } = await promisify(execFile)(process.execPath, [entry, "update"], options);
  expect(stdout).toBe(`sawtooth ${packageVersion()} is the newest version.\n`);
});

test("the newest version and one that is not published yet are told apart", async () => {
  const same = await registry(packageVersion());
  expect((await update(same.url)).stdout).toBe(`sawtooth ${packageVersion()} is the newest version.\n`);
  const older = await registry("0.0.1");
  expect((await update(older.url)).stdout).toBe(
    `sawtooth ${packageVersion()} is newer than 0.0.1, the newest published one.\n`,
  );
});

test("without an answer it says why, on one line, with the exit code of the network", async () => {
  const unreachable = await update("http://127.0.0.1:9/");
  expect(unreachable).toMatchObject({ code: 6, stdout: "" });
  expect(unreachable.stderr).toMatch(
    /^sawtooth: the registry cannot be asked \(.+\): is this machine online\? .+\n$/,
  );
  const empty = await registry(undefined);
  expect(await update(empty.url)).toMatchObject({
    code: 6,
    stderr:
      "sawtooth: the registry that npm is set to has no package sawtooth: npm config get registry names it\n",
  });
  const nothing = mkdtempSync(join(tmpdir(), "sawtooth-path-"));
  onTestFinished(() => rmSync(nothing, { recursive: true }));
  expect((await update(empty.url, { PATH: nothing })).stderr).toMatch(/^sawtooth: npm is not on the PATH/);
});

test("what to type follows from where the program lies", () => {
  const top = mkdtempSync(join(tmpdir(), "sawtooth-installed-"));
  onTestFinished(() => rmSync(top, { recursive: true }));
  const at = (path: string, files: Record<string, string> = {}) => {
    const root = join(top, path);
    mkdirSync(root, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(top, name), text);
    return installedAt(root).type.replaceAll(top, "");
  };
  expect(at("lib/node_modules/sawtooth")).toBe("npm install --global sawtooth@latest");
  expect(at(".npm/_npx/1a2b/node_modules/sawtooth")).toBe("npx sawtooth@latest");
  expect(at("share/pnpm/global/5/.pnpm/sawtooth@1/node_modules/sawtooth")).toBe(
    "pnpm add --global sawtooth@latest",
  );
  mkdirSync(join(top, "app"));
  const dev = { "app/package.json": '{"devDependencies":{"sawtooth":"^0.1.0"}}' };
  expect(at("app/node_modules/sawtooth", dev)).toBe("cd /app && npm install --save-dev sawtooth@latest");
  expect(at("app/node_modules/sawtooth", { "app/pnpm-lock.yaml": "" })).toBe(
    "cd /app && pnpm add sawtooth@latest",
  );
  mkdirSync(join(top, "clone/.git"), { recursive: true });
  expect(at("clone")).toBe("cd /clone && git pull && npm install");
});

test("versions are ordered as Semantic Versioning says", () => {
  const ordered =
    "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.2.0 1.10.0";
  const versions = ordered.split(" ");
  for (const [index, version] of versions.entries())
    for (const [other, second] of versions.entries())
      expect(Math.sign(compareVersions(version, second)), `${version} ${second}`).toBe(
        Math.sign(index - other),
      );
});
