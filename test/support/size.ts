/** How much of an input a test takes: a usual run takes less of the same, `SAWTOOTH_TEST_FULL=1` the whole of it. */

const isFull = process.env.SAWTOOTH_TEST_FULL === "1";

export const sized = <T>(usual: T, full: T): T => (isFull ? full : usual);

/** Lets `node --test` of an example run its files in one process: starting one for each costs more than the tests. */
export const inOneProcess: Record<string, string> = sized({ NODE_OPTIONS: "--test-isolation=none" }, {});
