/** A plug-in that was fetched or accepted, with its files. Types only. */

import type { Plugin } from "../../plugins/read.ts";
import type { PluginSource } from "../../plugins/store.ts";

/** A plug-in that was fetched. `files`: all of them, by path in the folder `place`. */
export type Fetched = {
  plugin: Plugin;
  source: PluginSource;
  hash: string;
  files: readonly string[];
  place: string;
};
