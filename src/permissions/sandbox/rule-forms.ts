/** Checks the rules about the sandbox, such as `socket(ssh-agent)` or `port(3000)`, where they are written. Pure. */

import { RuleError } from "../rule-error.ts";
import { parseHostRule } from "./hosts.ts";

/** `bare`: the rule may stand without parentheses. */
type Form = { fits(pattern: string): boolean; how: string; bare?: true };

/** The sockets that rules can name without a path. */
const socketNames = ["ssh-agent", "gpg-agent", "docker"] as const;
/** The caches that `edit(@name)` stands for, as folders below the home. */
const caches: Readonly<Record<string, readonly string[]>> = {
  "npm-cache": [".npm"],
  "pip-cache": [".cache/pip"],
  cargo: [".cargo/registry", ".cargo/git"],
  go: ["go/pkg/mod", ".cache/go-build"],
};

const forms: Readonly<Record<string, Form>> = {
  socket: {
    fits: (pattern) => pattern.startsWith("/") || (socketNames as readonly string[]).includes(pattern),
    how: `socket(/absolute/path) or one of ${socketNames.map((name) => `socket(${name})`).join(", ")}`,
  },
  outside: { fits: () => true, how: "outside(command:*) or outside(exact command)" },
  env: { fits: (pattern) => /^[A-Za-z_]\w*$/.test(pattern), how: "env(NAME), one name without wildcards" },
  port: { fits: isPort, how: "port(3000), a number from 1 to 65535" },
  mcp: {
    fits: (pattern) => /^[^/\s]+\/\S+$/.test(pattern),
    how: "mcp(server/tool), such as mcp(github/list_*)",
    bare: true,
  },
  delegate: { fits: (pattern) => pattern === "write", how: "delegate or delegate(write)", bare: true },
  device: { fits: (pattern) => pattern === "gpu", how: "device(gpu)" },
};

function isPort(pattern: string): boolean {
  return /^[1-9]\d{0,4}$/.test(pattern) && Number(pattern) <= 65_535;
}

/** Throws a `RuleError` for a meaningless rule about the sandbox. Rules about tools pass. */
export function checkForm({ text, tool, pattern }: { text: string; tool: string; pattern?: string }): void {
  if (tool === "host") parseHostRule(pattern ?? "");
  if (tool === "fetch" && pattern !== undefined)
    throw new RuleError(
      `the rule "${text}" cannot be used: hosts are named by host(…), for commands and pages alike`,
    );
  if (tool === "edit" && pattern?.startsWith("@")) checkCache(text, pattern.slice(1));
  const form = Object.hasOwn(forms, tool) ? forms[tool] : undefined;
  if (!form || (pattern === undefined ? form.bare : form.fits(pattern))) return;
  throw new RuleError(`the rule "${text}" cannot be used: write ${form.how}`);
}

/** Expands a pattern: a named cache into its folders, any other into itself. */
export function withoutPreset(pattern: string): readonly string[] {
  if (!pattern.startsWith("@")) return [pattern];
  return (caches[pattern.slice(1)] ?? []).map((folder) => `~/${folder}`);
}

function checkCache(text: string, name: string): void {
  if (Object.hasOwn(caches, name)) return;
  const known = Object.keys(caches)
    .map((one) => `edit(@${one})`)
    .join(", ");
  throw new RuleError(`the rule "${text}" names no known cache: write one of ${known}, or a path`);
}
