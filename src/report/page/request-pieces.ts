/** Many bodies that resemble each other, packed into pieces of which each is kept once. Pure. */

/**
 * Body n is the first `keep` pieces of body n - 1, then `then`: indexes into `pieces`. So a session's requests take
 * about as much room as what was ever said in it, and come back byte for byte.
 */
export type PackedBodies = { pieces: string[]; bodies: { keep: number; then: number[] }[] };

/**
 * A block of a message ends here: the cache marker moves from step to step and what follows a block changes, so both
 * are pieces of their own. A wrong guess costs room, never correctness.
 */
const seam =
  /((?:,"cache_control":\{[^{}]*\})?\}[\]},]*(?:,"[a-z_]+":"[a-z_]+"\},)?(?:\{"role":"[a-z]+","content":\[)?(?=\{"type":"|$))/;

/** Packs bodies in the order of their steps. */
export function packBodies(bodies: Iterable<string>): PackedBodies {
  const packed: PackedBodies = { pieces: [], bodies: [] };
  const known = new Map<string, number>();
  let before: number[] = [];
  for (const body of bodies) {
    let [keep, length] = [0, 0];
    for (const index of before) {
      const piece = packed.pieces[index] ?? "";
      if (!body.startsWith(piece, length)) break;
      keep += 1;
      length += piece.length;
    }
    const then = body
      .slice(length)
      .split(seam)
      .filter((piece) => piece !== "")
      .map((piece) => indexOf(piece, packed.pieces, known));
    packed.bodies.push({ keep, then });
    before = [...before.slice(0, keep), ...then];
  }
  return packed;
}

function indexOf(piece: string, pieces: string[], known: Map<string, number>): number {
  const index = known.get(piece) ?? pieces.push(piece) - 1;
  known.set(piece, index);
  return index;
}
