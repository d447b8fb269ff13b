/**
 * The network of a sandbox: its start with names, and a connection through it. Beside a sandbox without, and plain
 * loopback.
 */

import { createServer } from "node:http";
import { sandboxFiles } from "../src/network/files.ts";
import { counting, noBubblewrap, startBubblewrap, startInside } from "../test/network/inside.ts";
import { figure, type Row } from "./figures.ts";
import { inTurn } from "./programs.ts";

/** A sandbox until its first command could run, with names served and without. */
export async function namesServed(): Promise<Row[]> {
  if (noBubblewrap() !== undefined) return [];
  const { served, bare } = await inTurn(15, {
    bare: () =>
      timed(async () => {
        const box = await startBubblewrap(sandboxFiles("box"));
        await box.run(":");
        return box.close;
      }),
    served: () =>
      timed(async () => {
        const inside = await startInside();
        await inside.run(":");
        return inside.close;
      }),
  });
  const [measured, baseline] = [figure(served), figure(bare)];
  const more = measured.median - baseline.median;
  const aim = { text: "≤ 75 ms more", met: more <= 75 };
  return [
    { name: "first command, names served", unit: "ms", measured, baseline, against: "without network", aim },
  ];
}

const requests = 100;
const script = (url: string) =>
  `python3 -c 'import time, urllib.request as u; t = time.perf_counter()
for i in range(${requests}): u.build_opener(u.ProxyHandler({})).open("${url}").read()
print((time.perf_counter() - t) * 1000 / ${requests})'`;

/**
 * A request on a connection of its own to a loopback server: by name through the sandbox, and by name from a sandbox that
 * shares the network of the machine. The client is the same in both, and the two take turns.
 */
export async function connections(): Promise<Row[]> {
  if (noBubblewrap() !== undefined) return [];
  const web = await counting(createServer((_, response) => response.end("ok")));
  const [inside, beside] = [await startInside(), await startBubblewrap(sandboxFiles("box"), true)];
  inside.rules.push("ok.example");
  inside.names.set("ok.example", ["203.0.113.5"]);
  inside.routes.set("203.0.113.5:80", web.port);
  const { ours, bare } = await inTurn(9, {
    bare: async () => Number.parseFloat(await beside.run(script(`http://localhost:${web.port}/`))),
    ours: async () => {
      inside.network.newTurn();
      return Number.parseFloat(await inside.run(script("http://ok.example/")));
    },
  });
  inside.close();
  beside.close();
  web.close();
  const [measured, baseline] = [figure(ours), figure(bare)];
  const aim = { text: "≤ 5 ms more", met: measured.median - baseline.median <= 5 };
  return [
    { name: "request by name", unit: "ms", measured, baseline, against: "with the machine's network", aim },
  ];
}

async function timed(run: () => Promise<() => void>): Promise<number> {
  const start = performance.now();
  const close = await run();
  const took = performance.now() - start;
  close();
  return took;
}
