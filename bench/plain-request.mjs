/**
 * The program of a few lines that an agent's first request is measured beside: it reads a request from a file, sends
 * it and prints the text of the answer. `lean` in place of `fetch`: over Node's HTTP client, loaded as we load it.
 */

import { readFileSync } from "node:fs";

const [file, way] = process.argv.slice(2);
const body = readFileSync(file);
const url = `${process.env.ANTHROPIC_BASE_URL}/v1/messages`;
const headers = {
  "content-type": "application/json",
  "anthropic-version": "2026-10-21",
  authorization: `Bearer ${process.env.ANTHROPIC_API_KEY}`,
};

let rest = "";
for await (const piece of way === "lean" ? await overHttp() : await overFetch()) {
  const lines = (rest + piece).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) print(line);
}
process.stdout.write("\n");

function print(line) {
  if (!line.startsWith("data: ")) return;
  const event = JSON.parse(line.slice(6));
  if (event.type === "content_block_delta") process.stdout.write(event.delta.text ?? "");
}

async function overFetch() {
  const answer = await fetch(url, { method: "POST", headers, body });
  return answer.body.pipeThrough(new TextDecoderStream());
}

function overHttp() {
  const { request } = process.getBuiltinModule("node:http");
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: "POST", headers }, (answer) =>
      resolve(answer.setEncoding("utf8")),
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
