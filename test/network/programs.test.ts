/** S36 and S40 with whole programs: names as other languages look them up, and an install of many packages. */

import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { usualBudget } from "../../src/permissions/sandbox/budget.ts";
import { until } from "../support/until.ts";
import { type Counted, counting, type Inside, noBubblewrap, startInside } from "./inside.ts";

const missing = noBubblewrap();
if (missing) process.stderr.write(`skipped: programs in the network of the sandbox (${missing})\n`);

/** Each asks for `/<its first argument>` of two hosts, and prints the last line of an answer. */
const inC = `
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void ask(const char *host, const char *path) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
  if (getaddrinfo(host, "80", &hints, &found)) { printf("%s: no address\\n", host); return; }
  int s = socket(found->ai_family, SOCK_STREAM, 0); char text[4096]; int size = 0, got;
  if (connect(s, found->ai_addr, found->ai_addrlen)) { printf("%s: no connection\\n", host); return; }
  size = snprintf(text, sizeof text, "GET /%s HTTP/1.0\\r\\nHost: %s\\r\\n\\r\\n", path, host);
  write(s, text, size); size = 0;
  while ((got = read(s, text + size, sizeof text - 1 - size)) > 0) size += got;
  text[size] = 0; printf("%s\\n", strstr(text, "\\r\\n\\r\\n") + 4);
}
int main(int count, char **words) { ask("ok.example", words[1]); ask("new.example", words[1]); return 0; }`;
const inJava = `
import java.io.*; import java.net.*;
public class Ask { public static void main(String[] words) throws Exception {
  for (String host : new String[] { "ok.example", "new.example" }) {
    HttpURLConnection c = (HttpURLConnection) new URL("http://" + host + "/" + words[0]).openConnection();
    InputStream in = c.getResponseCode() < 400 ? c.getInputStream() : c.getErrorStream();
    System.out.println(new String(in.readAllBytes())); } } }`;
const inGo = `
package main
import ("fmt"; "io"; "net"; "os"; "strings")
func main() { for _, host := range []string{"ok.example", "new.example"} {
  c, e := net.Dial("tcp", host + ":80")
  if e != nil { fmt.Println(host, e); continue }
  fmt.Fprintf(c, "GET /%s HTTP/1.0\\r\\nHost: %s\\r\\n\\r\\n", os.Args[1], host)
  b, _ := io.ReadAll(c); fmt.Println(strings.SplitN(string(b), "\\r\\n\\r\\n", 2)[1]) } }`;

/** `name`: of the program that must be here; `run`: with the source at `$source`. */
const languages = [
  { language: "C with glibc", name: "gcc", source: inC, run: "gcc -x c -o /tmp/c $source && /tmp/c" },
  {
    language: "C with musl, static",
    name: "musl-gcc",
    source: inC,
    run: "musl-gcc -static -x c -o /tmp/m $source && /tmp/m",
  },
  {
    language: "Java",
    name: "java",
    source: inJava,
    run: "cp $source /tmp/Ask.java; java -Xint /tmp/Ask.java",
  },
  {
    language: "Go without C",
    name: "go",
    source: inGo,
    run: "cp $source /tmp/a.go; GO111MODULE=off GOCACHE=/tmp/go CGO_ENABLED=0 go build -o /tmp/g /tmp/a.go && /tmp/g",
  },
];

const isHere = (name: string) => spawnSync("bash", ["-c", `command -v ${name}`]).status === 0;

/** Packages that an install gets: more where everything is tried. */
const packages = process.env.SAWTOOTH_TEST_FULL ? 399 : 120;
/** Bytes of one, a ninth of what they have on average, and of what a registry says about one. */
const [packageBytes, factBytes] = [40_000, 6_000];

/** A file of tar: a head of 512 bytes, and the content filled up to as many. */
function tarEntry(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(512);
  head.write(name, 0);
  head.write("0000644\0" + "0000000\0" + "0000000\0", 100);
  head.write(`${content.length.toString(8).padStart(11, "0")}\0${"0".repeat(11)}\0${" ".repeat(8)}0`, 124);
  head.write("ustar\0" + "00", 257);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([head, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

/** A registry of packages `p0`, `p1` and so on, each with a file that cannot be compressed. */
function registry(): (message: IncomingMessage, response: ServerResponse) => void {
  const tarball = (name: string) =>
    gzipSync(
      Buffer.concat([
        tarEntry("package/package.json", Buffer.from(JSON.stringify({ name, version: "1.0.0" }))),
        tarEntry("package/data.bin", randomBytes(packageBytes)),
        Buffer.alloc(1024),
      ]),
      { level: 1 },
    );
  const all = new Map<string, Buffer>();
  for (let index = 0; index < packages; index++) all.set(`p${index}`, tarball(`p${index}`));
  return ({ url = "" }, response) => {
    const [, name = "", file] = /^\/(p\d+)(\/-\/.*)?$/.exec(url) ?? [];
    const bytes = all.get(name);
    if (!bytes) return void response.writeHead(404).end("{}");
    if (file !== undefined) return void response.end(bytes);
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    const dist = { tarball: `http://registry.example/${name}/-/${name}-1.0.0.tgz`, integrity };
    const version = { name, version: "1.0.0", dist, description: "x".repeat(factBytes) };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name, "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } }));
  };
}

describe.skipIf(missing !== undefined)("programs in the network of a sandbox", () => {
  let inside: Inside;
  let web: Counted;
  let packagesServer: Counted;

  beforeAll(async () => {
    web = await counting(
      createServer(({ headers, url }, response) => response.end(`${headers.host} ${url}\n`)),
    );
    packagesServer = await counting(createServer(registry()));
    inside = await startInside();
    inside.rules = ["ok.example", "registry.example"];
    inside.names.set("ok.example", ["203.0.113.5"]);
    inside.names.set("registry.example", ["203.0.113.7"]);
    inside.routes.set("203.0.113.5:80", web.port);
    inside.routes.set("203.0.113.7:80", packagesServer.port);
  }, 60_000);

  afterAll(() => {
    inside?.close();
    for (const server of [web, packagesServer]) server?.close();
  });

  for (const { language, name, source, run } of languages) {
    if (!isHere(name))
      process.stderr.write(`skipped: S36 names for ${language} (${name} is not installed)\n`);
    test.skipIf(!isHere(name))(
      `S36 names: ${language} looks names up here, and reaches what is allowed`,
      async () => {
        const path = name.replace(/\W/g, "");
        const said = await inside.run(
          `source=/tmp/source-${path}; cat > $source <<'END'\n${source}\nEND\n${run} ${path}`,
        );
        expect(said).toContain(`ok.example /${path}\n`);
        expect(said).toContain("sandbox: new.example:80 is not on the list of hosts");
        const ledger = inside.entries();
        expect(ledger.map(({ decision, host, port }) => `${decision} ${host}:${port}`)).toEqual([
          "allow ok.example:80",
          "deny new.example:80",
        ]);
        for (const { program } of ledger) expect(program).toContain(path);
      },
    );
  }

  test.skipIf(!isHere("npm"))(
    "S40 budget: an install of many packages stays within it, and the ledger has what the registry counted",
    async () => {
      inside.network.newTurn();
      inside.entries();
      const dependencies = Object.fromEntries(
        Array.from({ length: packages }, (_, index) => [`p${index}`, "1.0.0"]),
      );
      const said = await inside.run(`
        mkdir -p /tmp/app; cd /tmp/app; echo '${JSON.stringify({ name: "app", version: "1.0.0", dependencies })}' > package.json
        npm install --registry http://registry.example/ --no-audit --no-fund --ignore-scripts --loglevel error --cache /tmp/npm
        ls node_modules | wc -l`);
      expect(said).toContain(`\n${packages}\n`);
      const entries: ReturnType<typeof inside.entries> = [];
      const sum = (of: "bytesUp" | "bytesDown") => entries.reduce((total, entry) => total + entry[of], 0);
      const sums = () => [sum("bytesUp"), sum("bytesDown")];
      // The farewells of the last connection may still be on their way.
      await until(() => {
        entries.push(...inside.entries());
        return isDeepStrictEqual(sums(), [packagesServer.received(), packagesServer.sent()]);
      }, "the bytes that the registry counts in the ledger");
      expect(new Set(entries.map(({ decision, host }) => `${decision} ${host}`))).toEqual(
        new Set(["allow registry.example"]),
      );
      // More than the fixed part of the budget: what came in has allowed it.
      expect(sum("bytesUp")).toBeGreaterThan(usualBudget.bytes);
    },
    120_000,
  );
});
