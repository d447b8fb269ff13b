/**
 * Two loops over bytes, 16 at a time, as a WebAssembly module of about 400 bytes that is written here instruction by
 * instruction. `find` looks for places where one of up to eight groups of four bytes may begin; `newlines` counts line
 * feeds. Both read up to 19 bytes past their end.
 */

/** In the module's memory, above the tables for `find`. */
export const textAt = 1024;
const memoryPages = 2;
/** A chunk that fits, with what is read past its end. */
export const textBytes = memoryPages * 65536 - textAt - 64;

export type Simd = {
  memory: Uint8Array;
  /** The first place in `from` to `to` that may match, else `to`. */
  find(from: number, to: number): number;
  newlines(from: number, to: number): number;
};

/** The parts of WebAssembly that are used here; the types of Node have none of them. */
type Runtime = {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: Omit<Simd, "memory"> & { memory: { buffer: ArrayBuffer } } };
};

/** Undefined where WebAssembly, or its SIMD part, does not run. */
export function loadSimd(): Simd | undefined {
  const { WebAssembly } = globalThis as { WebAssembly?: Runtime };
  if (!WebAssembly) return undefined;
  try {
    const { memory, find, newlines } = new WebAssembly.Instance(new WebAssembly.Module(moduleBytes()))
      .exports;
    return { memory: new Uint8Array(memory.buffer), find, newlines };
  } catch {
    // No SIMD in this processor, or no room for the address range that such a memory reserves.
    return undefined;
  }
}

/**
 * For each of the first four bytes of a match, two tables of 16: by the low and by the high half of a byte, the groups
 * (one bit each) in which it may stand there. `groups` lists, per group and place, the bytes that may stand there.
 */
export function tablesFor(groups: readonly (readonly (readonly number[])[])[]): Uint8Array {
  const tables = new Uint8Array(128);
  groups.forEach((offsets, group) => {
    for (let offset = 0; offset < 4; offset++) {
      for (const byte of offsets[offset] ?? []) {
        const [low, high] = [offset * 32 + (byte & 15), offset * 32 + 16 + (byte >> 4)];
        tables[low] = (tables[low] ?? 0) | (1 << (group % 8));
        tables[high] = (tables[high] ?? 0) | (1 << (group % 8));
      }
    }
  });
  return tables;
}

const [i32, v128] = [0x7f, 0x7b];
/** The parameters of both functions, then their own variables. */
const [from, to, bits, count, found, bytes] = [0, 1, 2, 3, 4, 5];
const firstTable = 6;

const get = (variable: number) => [0x20, variable];
const set = (variable: number) => [0x21, variable];
const number = (value: number) => [0x41, ...signed(value)];
const [add, subtract, and, shiftLeft, trailingZeros, popCount] = [0x6a, 0x6b, 0x71, 0x74, 0x68, 0x69].map(
  (code) => [code],
) as [number[], number[], number[], number[], number[], number[]];
const [isLess, isAtLeast] = [[0x49], [0x4f]];
const simd = (code: number) => [0xfd, code];
const load = (offset: number) => [...simd(0), 0, ...unsigned(offset)];
const [swizzle, splat, equal, notEqual, andAll, anyTrue, bitmask, shiftRight] = [
  14, 15, 35, 36, 78, 83, 100, 109,
].map(simd) as [number[], number[], number[], number[], number[], number[], number[], number[]];
const giveBack = [0x0f];
const end = [0x0b];
const ifTrue = (...body: number[][]) => [0x04, 0x40, ...body.flat(), ...end];
const loop = (...body: number[][]) => [0x03, 0x40, ...body.flat(), ...end];
const repeat = [0x0c, 0];

/** The groups that the bytes at `from + place` may belong to. */
function groupsAt(offset: number): number[] {
  const table = firstTable + 2 * offset;
  return [
    [...get(from), ...load(offset), ...set(bytes)],
    [...get(table), ...get(bytes), ...number(15), ...splat, ...andAll, ...swizzle],
    [...get(table + 1), ...get(bytes), ...number(4), ...shiftRight, ...swizzle, ...andAll],
  ].flat();
}

function findBody(): number[] {
  const tables = [0, 1, 2, 3, 4, 5, 6, 7];
  return [
    ...tables.flatMap((table) => [...number(0), ...load(table * 16), ...set(firstTable + table)]),
    ...loop(
      ifTrueThen([get(from), get(to), isAtLeast], [get(to), giveBack]),
      groupsAt(0),
      [1, 2, 3].flatMap((offset) => [...groupsAt(offset), ...andAll]),
      set(found),
      ifTrueThen(
        [get(found), anyTrue],
        [
          [...get(found), ...number(0), ...splat, ...notEqual, ...bitmask, ...trailingZeros],
          [...get(from), ...add, ...set(bits)],
          [...get(bits), ...get(to), ...get(bits), ...get(to), ...isLess, 0x1b, ...giveBack],
        ],
      ),
      [...get(from), ...number(16), ...add, ...set(from)],
      repeat,
    ),
    ...get(to),
  ];
}

function newlinesBody(): number[] {
  return [
    ...loop(
      ifTrueThen([get(from), get(to), isAtLeast], [get(count), giveBack]),
      [...get(from), ...load(0), ...number(10), ...splat, ...equal, ...bitmask, ...set(bits)],
      // Of the last 16 bytes only those before the end count.
      ifTrueThen(
        [get(to), get(from), subtract, number(16), isLess],
        [
          [...get(bits), ...number(1), ...get(to), ...get(from), ...subtract, ...shiftLeft],
          [...number(1), ...subtract, ...and, ...set(bits)],
        ],
      ),
      [...get(bits), ...popCount, ...get(count), ...add, ...set(count)],
      [...get(from), ...number(16), ...add, ...set(from)],
      repeat,
    ),
    ...get(count),
  ];
}

function ifTrueThen(condition: number[][], body: number[][]): number[] {
  return [...condition.flat(), ...ifTrue(...body)];
}

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const locals = [2, 2, i32, 10, v128];
  const body = (code: number[]) => sized([...locals, ...code, ...end]);
  const section = (id: number, ...items: number[][]) => [id, ...sized([items.length, ...items.flat()])];
  const exported = (name: string, kind: number, index: number) => [
    ...sized([...Buffer.from(name)]),
    kind,
    index,
  ];
  return new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [0x60, 2, i32, i32, 1, i32]),
    ...section(3, [0], [0]),
    ...section(5, [0, memoryPages]),
    ...section(7, exported("memory", 2, 0), exported("find", 0, 0), exported("newlines", 0, 1)),
    ...section(10, body(findBody()), body(newlinesBody())),
  ]);
}

function sized(content: number[]): number[] {
  return [...unsigned(content.length), ...content];
}

/** LEB128, the integers of WebAssembly: seven bits a byte, the lowest first. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  return value >= -64 && value < 64 ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)];
}
