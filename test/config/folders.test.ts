/** Where Sawtooth keeps its things. */

import { homedir } from "node:os";
import { describe, expect, test } from "vitest";
import { folders } from "../../src/config/folders.ts";

describe("folders", () => {
  test("are all under SAWTOOTH_HOME when it is set", () => {
    const env = { SAWTOOTH_HOME: "/s", XDG_STATE_HOME: "/x", HOME: "/h" };
    expect(folders(env)).toEqual({ config: "/s/config", state: "/s/state", worktrees: "/s/worktrees" });
    expect(folders({ SAWTOOTH_HOME: "here" }).state).toBe(`${process.cwd()}/here/state`);
  });

  test("follow the XDG variables, one by one", () => {
    expect(folders({ XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/st", HOME: "/h" })).toEqual({
      config: "/c/sawtooth",
      state: "/st/sawtooth",
      worktrees: "/h/.local/share/sawtooth/worktrees",
    });
  });

  test("have the usual places under HOME; empty and relative XDG values do not count", () => {
    const usual = {
      config: "/h/.config/sawtooth",
      state: "/h/.local/state/sawtooth",
      worktrees: "/h/.local/share/sawtooth/worktrees",
    };
    expect(folders({ HOME: "/h", SAWTOOTH_HOME: "", XDG_STATE_HOME: "", XDG_CONFIG_HOME: "rel" })).toEqual(
      usual,
    );
    expect(folders({}).config).toBe(`${homedir()}/.config/sawtooth`);
  });
});
