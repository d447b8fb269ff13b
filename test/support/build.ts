/** Before any test: the program as it is installed, built from the present source. */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export default function build(): void {
  const script = fileURLToPath(new URL("../../scripts/build.ts", import.meta.url));
  execFileSync(process.execPath, [script], { stdio: ["ignore", "ignore", "inherit"] });
}
