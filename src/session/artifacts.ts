/** Stores whole outputs, one file each, numbered in the order they were made. */

import { closeSync, mkdtempSync, openSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Artifacts } from "../core/ports.ts";
import { makeFolders } from "../disk/make-folders.ts";
import { isErrno } from "./errors.ts";

/** Creates artifacts in `folder`, numbered on from the highest there; in a temp folder when it cannot be written. */
export function artifactsIn(folder: string, warn: (text: string) => void): Artifacts {
  makeFolders(folder, 0o700);
  let last = Math.max(0, ...readdirSync(folder).map((name) => Number.parseInt(name, 10) || 0));
  let target = folder;

  const next = (extension: string): string => {
    for (;;) {
      last += 1;
      const file = join(target, `${String(last).padStart(6, "0")}.${extension.replace(/^\./, "")}`);
      if (createdNew(file)) return file;
    }
  };

  /** Creates the file in the session's folder, or, once the disk refuses, in a private temp folder. */
  const make = (extension: string, text: string): string => {
    try {
      const file = next(extension);
      if (text) writeFileSync(file, text);
      return file;
    } catch (error) {
      if (!isErrno(error) || target !== folder) throw error;
      target = mkdtempSync(join(tmpdir(), "sawtooth-artifacts-"));
      warn(`cannot write to ${folder} (${error.code}): outputs are saved in ${target}`);
      return make(extension, text);
    }
  };

  return { folder, create: (extension) => make(extension, ""), write: make };
}

function createdNew(file: string): boolean {
  try {
    closeSync(openSync(file, "wx", 0o600));
    return true;
  } catch (error) {
    if (isErrno(error) && error.code === "EEXIST") return false;
    throw error;
  }
}
