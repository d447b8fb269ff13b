/** The workspace of an eval: notes to be worked through one by one, each long enough to fill a small window. Pure. */

export type Files = Record<string, string>;

export const lastNote = 18;

const filler = "the tide table of the harbour tells nothing that anybody would want to know";

/** `orders`: what other than the next note the last line of a note demands, by its number. */
export function evalWorkspace(orders: Record<number, string>, more: Files = {}): Files {
  const lines = Array.from({ length: lastNote + 1 }, (_, index) => {
    const number = index + 1;
    return `NEXT: ${orders[number] ?? `sh note.sh ${number + 1}`}\n`;
  });
  return {
    "course.txt": lines.join(""),
    "note.sh": `seq -f "note $1, line %g: ${filler}" 60\nsed -n "$1p" course.txt\n`,
    ...more,
  };
}

export const opening =
  "Work through the notes of this folder: run the command that the last line after NEXT names, one at a time, until it " +
  "says rest (then end your turn) or asks a QUESTION (then answer it).";
