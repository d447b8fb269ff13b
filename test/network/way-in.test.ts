/** Connections from the machine into the network of a sandbox. */

import { createServer } from "node:net";
import { expect, test } from "vitest";
import { createWayIn } from "../../src/network/way-in.ts";
import { patienceMs } from "../support/until.ts";
import { noBubblewrap, startInside } from "./inside.ts";

test.skipIf(noBubblewrap() !== undefined)(
  "S42 dev-server: a published port is reached from the machine, other ports are not, a port in use is told",
  async () => {
    const inside = await startInside();
    const wayIn = createWayIn(() => inside.pid);
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
    const { port: taken } = free.address() as { port: number };
    await expect(wayIn.open(taken)).rejects.toThrow(`port ${taken} is in use on this machine`);
    await new Promise((resolve) => free.close(resolve));
    await wayIn.open(taken);
    const get = () =>
      fetch(`http://127.0.0.1:${taken}/`).then(
        (response) => response.status,
        () => "refused",
      );
    expect(await get()).toBe("refused");
    void inside.run(`
      python3 -m http.server -b 127.0.0.1 ${taken} >/dev/null 2>&1`);
    const deadline = performance.now() + patienceMs;
    let status: number | string = "refused";
    while (status === "refused" && performance.now() < deadline) status = await get();
    expect(status).toBe(200);
    expect(await Promise.all([get(), get(), get()])).toEqual([200, 200, 200]);
    wayIn.close();
    inside.close();
  },
);
