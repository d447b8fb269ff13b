/** A server for tests. The first argument says how it behaves, the second names a file for notes on what it saw. */

import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { testOffers } from "./mcp-offers.ts";

const [kind = "usual", file = ""] = process.argv.slice(2);
const note = (text: string) => file && appendFileSync(file, `${text}\n`);
note(`started ${process.pid}`);
// Beside the notes, as what it answers is redacted.
if (file) writeFileSync(`${file}.env`, JSON.stringify(process.env));

/** The tools differ after a file appeared: one is changed, one gone, one new. */
const made = () =>
  testOffers({ note, isRich: kind === "rich", isLater: file !== "" && existsSync(`${file}.later`) });

switch (kind) {
  case "dies":
    process.stderr.write("no licence\n");
    process.exit(7);
    break;
  case "silent":
    process.stdin.resume();
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1000);
    break;
  case "rubbish":
    process.stdout.write("Welcome to my server!\n\u0000\u0001{not json}\n[1,2\n");
    serveStdio(made);
    break;
  case "flood":
    process.stdin.once("data", () => {
      const chunk = "x".repeat(1_000_000);
      const more = (): void => void process.stdout.write(chunk, more);
      more();
    });
    break;
  case "stderr":
    for (let megabyte = 0; megabyte < 30; megabyte++) process.stderr.write(`${"e".repeat(999_999)}\n`);
    serveStdio(made);
    break;
  case "stays":
    process.on("SIGTERM", () => {});
    process.stdin.on("end", () => {});
    setInterval(() => {}, 1000);
    serveStdio(made);
    break;
  default:
    serveStdio(made);
}
