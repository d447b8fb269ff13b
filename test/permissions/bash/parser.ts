/** The grammar of bash for the tests of permissions. */

import { parseShell } from "../../../src/tools/bash/grammar.ts";

export const parse = parseShell;
