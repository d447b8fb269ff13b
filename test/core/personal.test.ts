/** Names of a person and a machine in a text that is shared. */

import { expect, test } from "vitest";
import { withoutPerson } from "../../src/core/secrets/personal.ts";

const hide = withoutPerson({ home: "/people/jo.smith/", user: "jo.smith", host: "Workbench-7.lan" });

test.each([
  ["cd /people/jo.smith", "cd ~"],
  ["/people/jo.smith/a /people/jo.smithson/b", "~/a /people/jo.smithson/b"],
  ["-rw-r--r-- 1 jo.smith staff 3 a", "-rw-r--r-- 1 [user] staff 3 a"],
  ["jo_smith joxsmith", "jo_smith joxsmith"],
  ["jo.smith@workbench-7:~$", "[user]@[host]:~$"],
  ["ssh workbench-7.lan WORKBENCH-71", "ssh [host] WORKBENCH-71"],
  ["Jo <jo@mail.example.org>", "Jo <[address]>"],
  ["git@github.com:a/b.git user@host a@b", "git@github.com:a/b.git user@host a@b"],
  ["npm i react@19.2.0 @types/node@24.1.0", "npm i react@19.2.0 @types/node@24.1.0"],
])("%s", (text, expected) => {
  expect(hide(text)).toBe(expected);
});

test("names that many share, names of two characters and a home of / stay", () => {
  const text = "root@localhost on pi: /root/x";
  expect(withoutPerson({ home: "/", user: "root", host: "pi" })(text)).toBe(text);
});

test("a text of 2 MB without a dot takes time in line with its length", () => {
  const text = "a".repeat(2_000_000);
  expect(hide(text)).toBe(text);
  expect(hide(`${"a@".repeat(500_000)}`)).toHaveLength(1_000_000);
});
