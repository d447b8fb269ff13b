/** The network of a session before it is needed: nothing of it is loaded until a sandbox is found. */

import type { Tool } from "../../core/ports.ts";
import type { NetworkParts, SessionNetwork } from "./session-network.ts";

export type LazyNetwork = {
  load(): Promise<SessionNetwork>;
  /** Returns the tool: once the network is loaded, connections of its calls stand in the log and in their results. */
  watched(tool: Tool): Tool;
  /** Writes what happened since the last call into the log. */
  flush(): void;
  /** Call it before the sandbox is ended: what ends while its network starts is no news then. */
  close(): void;
};

/** `ready`: resolves when it is known whether there is a sandbox. */
export function lazyNetwork(parts: NetworkParts, ready: () => Promise<unknown>): LazyNetwork {
  let loaded: SessionNetwork | undefined;
  let loading: Promise<SessionNetwork> | undefined;
  let closed = false;
  const load = () => {
    loading ??= import("./session-network.ts").then(({ createSessionNetwork }) => {
      loaded = createSessionNetwork(parts);
      if (closed) loaded.close();
      return loaded;
    });
    return loading;
  };
  return {
    load,
    watched: (tool) => ({
      ...tool,
      async run(input, context) {
        await ready();
        return (loaded?.watched(tool) ?? tool).run(input, context);
      },
    }),
    flush: () => loaded?.flush(),
    close() {
      closed = true;
      loaded?.close();
    },
  };
}
