/** The built program, and the environment that lets it start fast: V8's compiled code is kept between the runs. */

import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute path of what `bin/sawtooth.js` loads. */
export const entry = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

export const fastStart = { NODE_COMPILE_CACHE: join(tmpdir(), "sawtooth-test-compile-cache") };
