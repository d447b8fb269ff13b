/** `sawtooth report --serve`: serves the page until the session ends, or until Ctrl-C. */

import { serveReport } from "../../app/live/serve-report.ts";
import { writeOut } from "../terminal-output.ts";

/** Prints the address and returns the exit code once it is over. Throws `SessionError`, and the error of a port. */
export async function runServe(
  root: string,
  id: string | undefined,
  warn: (text: string) => void,
): Promise<number> {
  const report = await serveReport(root, id, warn);
  const until = report.hasWriter ? "until it ends, or Ctrl-C" : "nobody works on it now; Ctrl-C ends this";
  writeOut(`${report.url}\n`);
  writeOut(`The report of session ${report.id}, for browsers on this machine: ${until}.\n`);
  let interrupt = () => {};
  const interrupted = new Promise<"interrupted">((resolve) => {
    interrupt = () => resolve("interrupted");
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  const how = await Promise.race([interrupted, report.ended]);
  await report.close(
    how === "interrupted"
      ? "sawtooth report was ended: this page grows no more."
      : "The session has ended: this page grows no more.",
  );
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, interrupt);
  if (how !== "interrupted") writeOut("The session has ended.\n");
  return 0;
}
