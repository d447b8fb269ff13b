/** Puts the sandbox of a session and its network together. */

import type { Settings } from "../../config/settings.ts";
import type { BackgroundJob, EventLog } from "../../core/ports.ts";
import { type LazyNetwork, lazyNetwork } from "../network/lazy-network.ts";
import type { SessionNetwork } from "../network/session-network.ts";
import type { standingRules } from "../rules.ts";
import type { OpenOptions } from "../session.ts";
import { type NetworkedSandbox, type SandboxParts, sessionSandbox } from "./session-sandbox.ts";

type Parts = Pick<SandboxParts, "workspace" | "home" | "own" | "folders" | "mode" | "onFound"> & {
  log: EventLog;
  options: OpenOptions;
  settings: Settings;
  standing: ReturnType<typeof standingRules>;
  jobs(): readonly BackgroundJob[];
};

/** Creates both from what the person chose. Nothing of them is loaded or started yet. */
export function sandboxWithNetwork(parts: Parts): { sandbox: NetworkedSandbox; network: LazyNetwork } {
  const { log, options, settings, standing, jobs, workspace } = parts;
  const { env, flags, person, driver, warn } = options;
  const rules = () => ({
    allow: [...standing.allow(), ...standing.allowEverywhere()],
    deny: standing.deny(),
  });
  const { home, own, folders, mode, onFound } = parts;
  const network = lazyNetwork(
    { log, settings, env, workspace, rules, mode, standing, person, driver, jobs, warn },
    () => sandbox.settled(),
  );
  const serverNetworks: SessionNetwork[] = [];
  const serverNetwork = async () => {
    const { createSessionNetwork } = await import("../network/session-network.ts");
    // Ports that rules publish are those of the commands.
    const withoutPorts = () => {
      const { allow, deny } = rules();
      return { allow: allow.filter((rule) => !rule.startsWith("port(")), deny };
    };
    const parts = { log, settings, env, workspace, mode, standing, person, driver, warn };
    const made = createSessionNetwork({ ...parts, rules: withoutPorts, jobs: () => [] });
    serverNetworks.push(made);
    return made;
  };
  const sandbox = sessionSandbox({
    choice: flags.sandbox ?? settings.sandbox ?? "auto",
    ...{ log, env, workspace, home, own, folders, mode, onFound, rules, warn, network: network.load },
    serverNetwork,
  });
  const open = async (port: number) => {
    if ((await sandbox.status()).network === "open")
      throw new Error("there is no sandbox with a network of its own: its ports are the machine's");
    await (await network.load()).publish(port);
  };
  const close = () => {
    for (const one of [network, ...serverNetworks]) one.close();
  };
  return { sandbox: { ...sandbox, open }, network: { ...network, close } };
}
