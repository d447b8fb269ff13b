/** The files that lead programs inside the sandbox to the names that are served there. */

import { readFileSync, realpathSync } from "node:fs";

/** A file to show inside. `path`: absolute and real, where a link of that name may lead through it. */
export type SandboxFile = { path: string; text: string };

/** Returns the files. `hostName`: the name that the machine has inside. */
export function sandboxFiles(hostName: string): SandboxFile[] {
  const files = [
    { path: "/etc/resolv.conf", text: "nameserver 127.0.0.1\noptions timeout:3 attempts:2\n" },
    {
      path: "/etc/hosts",
      text: `127.0.0.1 localhost ${hostName}\n::1 localhost ip6-localhost ip6-loopback\n`,
    },
    ...nameSwitch("/etc/nsswitch.conf"),
  ];
  return files.map(({ path, text }) => ({ path: real(path), text }));
}

/** The machine's own order of sources, with names from our files alone: others ask daemons that are not inside. */
function nameSwitch(path: string): SandboxFile[] {
  try {
    const text = readFileSync(path, "utf8").replace(/^hosts:.*$/gm, "hosts: files dns");
    return [{ path, text }];
  } catch {
    return [];
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
