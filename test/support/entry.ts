/** The built program, and the environment that lets it start fast: V8's compiled code is kept between the runs. */

import { fileURLToPath } from "node:url";

/** Absolute path of what `bin/sawtooth.js` loads. */
export const entry = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

export const fastStart = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/compiled", import.meta.url)),
};
