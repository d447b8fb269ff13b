/** Separates orders and sessions in what goes through the terminal of `warm-screen-program.ts`. */

/** One session. */
export type ScreenOrder = { words: string[]; cwd: string; env: Record<string, string> };

/** Stands before an order and after it; no key is spelled so. */
export const orderMarks = ["\0order ", "\0"] as const;
/** Stands where the program would have ended, before its exit code. */
export const endMark = "\x1b_session ended ";
/** Says that an order may come. */
export const readyMark = "\x1b_ready";
/** Ends both marks. */
export const markEnd = "\x1b\\";
