/** Reads recordings one by one, and keeps of each only what its observations were good for. */

import { importRecordings } from "../recordings/import.ts";
import { type Sample, sampleOf } from "./measure.ts";

/** The samples of the files that can be read. `problems`: one sentence for each that cannot; `warnings`: what was left out. */
export function samplesOf(files: readonly string[]): {
  samples: Sample[];
  problems: string[];
  warnings: string[];
} {
  const read = files.map((file) => {
    const { recordings, problems } = importRecordings([file]);
    const warnings = recordings.flatMap((each) => each.warnings.map((warning) => `${file}: ${warning}`));
    return { samples: recordings.map(sampleOf), problems, warnings };
  });
  return {
    samples: read.flatMap(({ samples }) => samples),
    problems: read.flatMap(({ problems }) => problems),
    warnings: read.flatMap(({ warnings }) => warnings),
  };
}
