/** Attributes of a file besides bytes, mode and owner stay with it; and where no folder can be made, that is said. */

import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { editorHere } from "../../support/editor.ts";

const edit = { command: "str_replace", old_str: "one", new_str: "ONE" };

/** Reads or sets the extended attributes of a file; access lists are among them. */
function attributes(path: string, set: Record<string, string> = {}): Record<string, string> {
  const program = `
import os, sys, json
for name, value in json.loads(sys.argv[2]).items(): os.setxattr(sys.argv[1], name, bytes.fromhex(value))
print(json.dumps({name: os.getxattr(sys.argv[1], name).hex() for name in os.listxattr(sys.argv[1])}))`;
  return JSON.parse(
    execFileSync("python3", ["-c", program, path, JSON.stringify(set)], { encoding: "utf8" }),
  ) as Record<string, string>;
}

/** Read and write for the owner, read for user 1234. */
const accessList = "0200000001000600ffffffff02000400d204000004000400ffffffff10000400ffffffff20000000ffffffff";

test("a file keeps its access list and its extended attributes", async ({ skip }) => {
  const editor = editorHere();
  const path = editor.write("f", "one\n");
  const wanted = { "system.posix_acl_access": accessList, "user.origin": "796573" };
  try {
    attributes(path, wanted);
  } catch {
    skip("no file system with extended attributes here");
  }
  await editor.run({ ...edit, path: "f" });
  expect(attributes(path)).toEqual(wanted);
  expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(editor.read("f").toString()).toBe("ONE\n");
});

test.runIf(process.platform === "linux")(
  "a folder that cannot be made under /proc is refused at once",
  async () => {
    const editor = editorHere();
    const output = await editor.run({ command: "create", path: "/proc/none/a/b.txt", file_text: "x" });
    expect(output.isError).toBe(true);
    expect(output.content).toContain("there is no such file or folder");
  },
);
