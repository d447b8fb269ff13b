/** S30: what listens on this machine, and the sockets that programs inside need. One sandbox serves all cases. */

import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InsideSession, openInside } from "./session.ts";
import { engine } from "./support.ts";

/** Listens at each path that it reads, and at an abstract name after `@`; says the name once it does. */
const daemon = `
import os, socket, sys, threading
def serve(s):
    while True:
        c, _ = s.accept()
        try: c.sendall(b"reached")
        except OSError: pass
        c.close()
for line in sys.stdin:
    path = line.strip()
    s = socket.socket(socket.AF_UNIX)
    if not path.startswith("@"): os.makedirs(os.path.dirname(path), exist_ok=True); os.chdir(os.path.dirname(path))
    name = os.path.basename(path) if "relative" in path else path
    s.bind("\\0" + path[1:] if path.startswith("@") else name); s.listen(8)
    threading.Thread(target=serve, args=(s,), daemon=True).start()
    print(path, flush=True)
`;

/** Tries every path of its arguments. */
const client = `
import socket, sys
for path in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX); s.settimeout(5)
    try: s.connect("\\0" + path[1:] if path.startswith("@") else path); print(path, s.recv(9).decode())
    except OSError as e: print(path, "refused")
`;

describe.skipIf(!engine)("S30 sockets", () => {
  let host: ChildProcess;
  let session: InsideSession;
  const own = `sawtooth-s30-${process.pid}`;
  const heard = new Set<string>();
  /** Resolves once all of them are listened at. */
  const listen = (paths: readonly string[]) =>
    new Promise<void>((resolve) => {
      const onData = (text: string): void => {
        for (const path of text.split("\n")) heard.add(path);
        if (!paths.every((path) => heard.has(path))) return;
        host.stdout?.off("data", onData);
        resolve();
      };
      host.stdout?.setEncoding("utf8").on("data", onData);
      host.stdin?.write(paths.map((path) => `${path}\n`).join(""));
    });
  const tried = async (paths: readonly string[]) => {
    const said = await session.run(
      `python3 - ${paths.map((path) => `'${path}'`).join(" ")} <<'END'\n${client}\nEND`,
    );
    return said.trim().split("\n");
  };

  const usual = (home: string) =>
    [
      ...[".gnupg/S.gpg-agent", ".docker/run/docker.sock", ".colima/default/docker.sock", ".ssh/agent.sock"],
      ...[
        ".config/Code/main.sock",
        ".cache/ibus/dbus",
        ".local/share/containers/podman.sock",
        ".tmux/default",
      ],
    ].map((path) => join(home, path));
  const elsewhere = ["/tmp/.X11-unix", "/tmp/ssh-agent", "/var/tmp", "/run/user", "/srv", "/opt"].map(
    (folder) => join(folder, own),
  );

  beforeAll(async () => {
    host = spawn("python3", ["-c", daemon], { stdio: ["pipe", "pipe", "inherit"] });
    let home = "";
    const allow = () => [`socket(${join(home, "passed.sock")})`];
    session = openInside({}, { rules: () => ({ allow: allow(), deny: [] }) });
    home = session.home;
    await listen([
      ...usual(home),
      ...elsewhere,
      ...[
        join(home, "passed.sock"),
        join(home, "odd \u00e9 name"),
        join(session.work, "dev.sock"),
        `@${own}`,
      ],
    ]);
  });
  afterAll(async () => {
    const ended = new Promise((resolve) => host.once("close", resolve));
    host.kill();
    await ended;
    for (const path of elsewhere) rmSync(path, { force: true });
    await session.close();
  });

  test("S30 sockets: no daemon of the machine can be reached at usual and odd paths, but the one that a rule passes", async () => {
    const { home, work } = session;
    const closed = [
      ...usual(home),
      ...elsewhere,
      join(home, "odd \u00e9 name"),
      join(work, "dev.sock"),
      `@${own}`,
    ];
    expect(await tried([...closed, join(home, "passed.sock")])).toEqual([
      ...closed.map((path) => `${path} refused`),
      `${join(home, "passed.sock")} reached`,
    ]);
  });

  test("S30 sockets: one that a program of the machine makes after the start is closed, and again when it is made anew", async () => {
    const { home, work } = session;
    const late = [
      join(home, ".tool/late.sock"),
      join(work, "late.sock"),
      `/srv/${own}-late`,
      // The folder of its program is this one.
      join(home, ".tool/relative.sock"),
    ];
    elsewhere.push(...late);
    // The sandbox runs by now.
    await session.run("true");
    await listen(late);
    expect(await tried(late)).toEqual(late.map((path) => `${path} refused`));
    // Another one takes the place of the first: what covered that is gone with it.
    const [first = ""] = late;
    rmSync(first);
    heard.delete(first);
    await listen([first]);
    expect(await tried([first])).toEqual([`${first} refused`]);
  });

  test("S30 sockets: one that is made while a command runs is closed while it runs", async () => {
    const during = join(session.home, ".tool/during.sock");
    const running = session.run(
      `python3 - ${during} <<'END'
import os, socket, sys, time
for tries in range(2000):
    time.sleep(0.02)
    s = socket.socket(socket.AF_UNIX)
    try: s.connect(sys.argv[1])
    except FileNotFoundError: continue
    except ConnectionRefusedError: print("closed"); break
END`,
    );
    await listen([during]);
    expect((await running).trim()).toBe("closed");
  });

  test("S30 sockets: programs inside can use sockets of their own", async () => {
    const python = `
import multiprocessing as m, socket, os, threading
def double(n): return 2 * n
if __name__ == "__main__":
    with m.Pool(2) as pool: print(pool.map(double, [1, 2, 3]))
    with m.Manager() as manager: print(manager.list([4, 5]))
    own = f"own{os.getpid()}.sock"
    s = socket.socket(socket.AF_UNIX); s.bind(own); s.listen()
    c = socket.socket(socket.AF_UNIX); c.connect(own); s.accept()[0].sendall(b"own"); print(c.recv(9).decode())`;
    expect(await session.run(`cat > m.py <<'END'\n${python}\nEND\npython3 m.py`)).toBe(
      "[2, 4, 6]\n[4, 5]\nown",
    );
  });
});
