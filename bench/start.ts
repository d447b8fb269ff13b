/** Start-up: to the version, to the first request, and the memory of a small task. Beside a bare Node. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { figure, type Row, ratio } from "./figures.ts";
import { type Call, startLoopback } from "./loopback.ts";
import { agent, type Home, inHome, inTurn, plainRequest, runNode } from "./programs.ts";

const bareNode = ["-e", "0"];
const task = [...agent, "-p", "hi", "--model", "anthropic/claude-sonnet-5-5", "--permission-mode", "auto"];

/** `--version`, from start to exit. */
export async function version(): Promise<Row[]> {
  const { ours, bare } = await inHome((home) =>
    inTurn(25, {
      bare: () => runNode(bareNode, home),
      ours: () => runNode([...agent, "--version"], home),
    }),
  );
  const [measured, baseline] = [figure(ours.map((run) => run.ms)), figure(bare.map((run) => run.ms))];
  return [{ name: "--version", unit: "ms", measured, baseline, against: "node -e 0" }];
}

/** `-p hi`, from start to the arrival of the first request; beside Node, and programs that send the same bytes. */
export async function firstRequest(): Promise<Row[]> {
  let body = "";
  const server = await startLoopback(
    () => undefined,
    (text) => {
      body = text;
    },
  );
  const measure = async (home: Home) => {
    await runNode(task, home);
    const file = join(home.folder, "request.json");
    writeFileSync(file, body);
    const arrival = (words: readonly string[]) => async () => {
      const before = server.arrived.length;
      const { startedAt } = await runNode(words, home);
      return (server.arrived[before] ?? Number.NaN) - startedAt;
    };
    return inTurn(25, {
      bare: async () => (await runNode(bareNode, home)).ms,
      plain: arrival([...plainRequest, file, "fetch"]),
      lean: arrival([...plainRequest, file, "lean"]),
      ours: arrival(task),
    });
  };
  const { ours, bare, plain, lean } = await inHome(measure, server.url);
  await server.close();
  const beside = (values: readonly number[], against: string, most?: number): Row => {
    const row = { measured: figure(ours), baseline: figure(values) };
    const aim = most === undefined ? {} : { aim: { text: `≤ ${most} ×`, met: ratio(row) <= most } };
    return { name: "first request", unit: "ms", ...row, against, ...aim };
  };
  return [
    beside(bare, "node -e 0", 5),
    beside(plain, "fetch of the same bytes", 1.2),
    beside(lean, "the same without fetch"),
  ];
}

const steps = 200;

/** The most memory that 200 steps of about 8 kB of output hold. */
export async function memoryOfSteps(): Promise<Row[]> {
  const command = "seq 1 1700; echo";
  const server = await startLoopback((index) =>
    (index + 1) % (steps + 1) === 0 ? undefined : { name: "bash", input: { command: `${command} ${index}` } },
  );
  const words = [...task, "--max-turns", "1000"];
  const measure = (home: Home) =>
    inTurn(3, {
      bare: async () => (await runNode(["-e", "setTimeout(() => {}, 50)"], home, true)).peakMb,
      ours: async () => (await runNode(words, home, true)).peakMb,
    });
  const { ours, bare } = await inHome(measure, server.url);
  await server.close();
  const measured = figure(ours);
  return [
    {
      name: `peak memory of ${steps} steps`,
      unit: "MB",
      measured,
      baseline: figure(bare),
      against: "bare node",
      aim: { text: "≤ 140 MB", met: measured.median <= 140 },
    },
  ];
}

/** The most memory that a task of one shell command and a last word holds. */
export async function memory(): Promise<Row[]> {
  const reply = (index: number): Call | undefined =>
    index % 2 === 0 ? { name: "bash", input: { command: "echo hi" } } : undefined;
  const server = await startLoopback(reply);
  const measure = (home: Home) =>
    inTurn(7, {
      bare: async () => (await runNode(["-e", "setTimeout(() => {}, 50)"], home, true)).peakMb,
      ours: async () => (await runNode(task, home, true)).peakMb,
    });
  const { ours, bare } = await inHome(measure, server.url);
  await server.close();
  const measured = figure(ours);
  const aim = { text: "≤ 85 MB", met: measured.median <= 85 };
  return [
    {
      name: "peak memory of a task",
      unit: "MB",
      measured,
      baseline: figure(bare),
      against: "bare node",
      aim,
    },
  ];
}
