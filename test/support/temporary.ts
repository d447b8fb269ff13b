/** Before each file: its temporary folders are in memory, or on the disk where it has real walls, which close `/dev`. */

import { expect } from "vitest";

const walled = /\/test\/(sandbox|network|mcp)\//;
const { SAWTOOTH_TEST_MEMORY: memory, SAWTOOTH_TEST_DISK: disk } = process.env;
if (memory && disk) process.env.TMPDIR = walled.test(expect.getState().testPath ?? "") ? disk : memory;
