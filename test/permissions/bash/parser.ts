/** The grammar of bash for the tests of permissions, as the build put it there. */

import { fileURLToPath } from "node:url";
import { loadShellParser } from "../../../src/tools/bash/grammar.ts";

export const parse = await loadShellParser(fileURLToPath(new URL("../../../dist", import.meta.url)));
