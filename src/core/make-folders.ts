/** Folders made one by one. Node's own recursive way never returns under /proc, where none can be made. Pure but for `make`. */

/**
 * Makes `folder` (absolute) and what is missing above it. `make` makes one folder and throws the system's error, which
 * is thrown on when it is another one than that the folder is there already.
 */
export function makeFolders(folder: string, make: (path: string) => void): void {
  const missing: string[] = [];
  let path = folder;
  while (!isThere(path, make)) {
    missing.push(path);
    path = parentOf(path);
  }
  for (const one of missing.reverse()) {
    if (!isThere(one, make)) make(one);
  }
}

/** Returns true when the folder is there now; false when its parent is missing. */
function isThere(path: string, make: (path: string) => void): boolean {
  try {
    make(path);
    return true;
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code === "EEXIST" || code === "EISDIR") return true;
    if (code === "ENOENT" && parentOf(path) !== path) return false;
    throw error;
  }
}

function parentOf(path: string): string {
  return path.replace(/\/+[^/]*\/*$/, "") || "/";
}
