/** Learns from recordings how likely it is that something is used again, and writes it as a module. Pure. */

import { ageClasses, classOf, freshReplies, nextUse, sizeClasses } from "../../context/value/chance.ts";
import type { KindChances, Table } from "../../context/value/table.ts";
import type { Recording } from "../recordings/import.ts";
import { nameOf } from "../replay/table.ts";
import { exposures } from "./exposures.ts";

/** Kept out of learning, so that the page of evidence can show them apart: one long session, one of a benchmark. */
const keptApart: readonly string[] = ["large-session", "django__django-13265"];

/** Returns true for a recording from which nothing is learned. */
export function isApart(file: string): boolean {
  return keptApart.includes(nameOf(file));
}

/** `things`: observations and calls that were learned from; `replies`: before which they stood. */
export type Learned = { table: Table; things: number; replies: number };

type Count = { used: number; of: number };
/** By class of age, then by class of size. */
type Grid = Count[][];

/** Learns the table. The factors for what the session shows are what kind, age and size leave unexplained. */
export function learnFrom(recordings: readonly Pick<Recording, "events">[]): Learned {
  const grids = { read: grid(), search: grid(), test: grid(), edit: grid(), other: grid(), written: grid() };
  let [things, replies] = [0, 0];
  for (const { events } of recordings) {
    const played = exposures(events, ({ thing, age, used }) => {
      const count = grids[thing.kind][classOf(ageClasses, age)]?.[classOf(sizeClasses, thing.tokens)];
      if (count) add(count, used ? 1 : 0, 1);
    });
    things += played.things;
    replies += played.replies;
  }
  const { read, search, test, edit, other, written } = grids;
  const kinds = {
    ...{ read: chancesOf(read), search: chancesOf(search), test: chancesOf(test) },
    ...{ edit: chancesOf(edit), other: chancesOf(other), written: chancesOf(written) },
  };
  return { table: { kinds, lifts: liftsOf(recordings, kinds) }, things, replies };
}

function liftsOf(recordings: readonly Pick<Recording, "events">[], kinds: Table["kinds"]): Table["lifts"] {
  const counts = { none: count(), fresh: count(), renewed: count(), failed: count() };
  const plain: Table = { kinds, lifts: { none: 1, fresh: 1, renewed: 1, failed: 1 } };
  for (const { events } of recordings) {
    exposures(events, ({ thing: { kind, tokens, lift }, age, used }) => {
      // At first everything is fresh.
      if (age <= freshReplies + 1) return;
      const expected = nextUse({ kind, size: classOf(sizeClasses, tokens), lift }, plain);
      add(counts[lift], used ? 1 : 0, expected[classOf(ageClasses, age)] ?? 0);
    });
  }
  const { none, fresh, renewed, failed } = counts;
  return {
    none: factorOf(none),
    fresh: factorOf(fresh),
    renewed: factorOf(renewed),
    failed: factorOf(failed),
  };
}

function count(): Count {
  return { used: 0, of: 0 };
}

function grid(): Grid {
  return [...ageClasses, 0].map(() => [...sizeClasses, 0].map(count));
}

function add(to: Count, used: number, of: number): void {
  to.used += used;
  to.of += of;
}

/** Uses over the expected ones, drawn towards 1 as if two more had been expected and seen. */
function factorOf({ used, of }: Count): number {
  return rounded((used + 2) / (of + 2));
}

/** From this class of age on sizes are compared: the first replies are about everything. */
const firstSized = 2;

function chancesOf(byAge: Grid): KindChances {
  const ages = falling(byAge.map(sumOf));
  const sizes = [...sizeClasses, 0].map((_, size) => {
    const all = count();
    byAge.forEach((row, age) => {
      if (age >= firstSized) add(all, row[size]?.used ?? 0, (row[size]?.of ?? 0) * (ages[age] ?? 0));
    });
    return factorOf(all);
  });
  return { ages: ages.map(rounded), sizes };
}

function sumOf(counts: readonly Count[]): Count {
  const sum = count();
  for (const { used, of } of counts) add(sum, used, of);
  return sum;
}

/**
 * Chances that do not rise with age: neighbours that would are pooled. Each as if half a use more had been seen, since what
 * was never seen is not impossible.
 */
function falling(counts: readonly Count[]): number[] {
  const pools: (Count & { width: number })[] = [];
  for (const { used, of } of counts) {
    let pool = { used: used + 0.5, of: of + 1, width: 1 };
    for (
      let before = pools.at(-1);
      before && before.used * pool.of < pool.used * before.of;
      before = pools.at(-1)
    ) {
      pool = { used: before.used + pool.used, of: before.of + pool.of, width: before.width + pool.width };
      pools.pop();
    }
    pools.push(pool);
  }
  return pools.flatMap(({ used, of, width }) => Array.from({ length: width }, () => used / of));
}

function rounded(value: number): number {
  return Number(value.toPrecision(2));
}

/** Returns the module that holds the table, with its origin. The same recordings give the same bytes. */
export function moduleOf({ table, things, replies }: Learned, recordings: readonly Recording[]): string {
  const names = recordings.map(({ file }) => ` * - ${nameOf(file)}`).sort();
  const times = recordings.flatMap(({ events }) => [events[1]?.at ?? 0, events.at(-1)?.at ?? 0]);
  const dated = times.filter((time) => time > 0).sort((a, b) => a - b);
  const day = (time: number | undefined) =>
    time ? new Date(time).toISOString().slice(0, 10) : "without a date";
  const kinds = Object.entries(table.kinds).flatMap(([kind, { ages, sizes }]) => [
    ...[`    ${kind}: {`, `      ages: [${ages.join(", ")}],`],
    ...[`      sizes: [${sizes.join(", ")}],`, "    },"],
  ]);
  const lifts = Object.entries(table.lifts).map(([name, factor]) => `${name}: ${factor}`);
  return [
    "/**",
    " * Made by `npm run lab`: do not edit. How often a thing was used again in",
    ...names,
    ` * which are of ${day(dated[0])} to ${day(dated.at(-1))}: ${things} observations and calls, ${replies} replies.`,
    " */",
    "",
    'import type { Table } from "./table.ts";',
    "",
    "export const learned: Table = {",
    "  kinds: {",
    ...kinds,
    "  },",
    `  lifts: { ${lifts.join(", ")} },`,
    "};",
    "",
  ].join("\n");
}
