/** Reads IP addresses in their canonical spelling and says which network they belong to. Pure. */

/** The network of an address. Only `public` may be connected to without a rule that names the address. */
export type AddressClass =
  | "public"
  | "loopback"
  | "private"
  | "shared"
  | "link-local"
  | "metadata"
  | "multicast"
  | "reserved";

/** IPv4 networks that are not public: first address, bits of the prefix, class. The first match counts. */
const networks4: [string, number, AddressClass][] = [
  // Instance metadata of clouds: AWS and others, Alibaba, Oracle, Azure.
  ["169.254.169.254", 32, "metadata"],
  ["100.100.100.200", 32, "metadata"],
  ["192.0.0.192", 32, "metadata"],
  ["168.63.129.16", 32, "metadata"],
  ["0.0.0.0", 8, "reserved"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "shared"],
  ["127.0.0.0", 8, "loopback"],
  ["169.254.0.0", 16, "link-local"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "reserved"],
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "reserved"],
  ["224.0.0.0", 4, "multicast"],
  ["240.0.0.0", 4, "reserved"],
];

/** Returns a dotted address as one number; undefined for anything else. */
function number4(text: string): number | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return undefined;
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
}

function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

/** Returns the eight words of an IPv6 address without brackets; undefined for anything else. */
function words6(text: string): number[] | undefined {
  const [, front = "", tail = ""] = /^(.*:)?(\d+\.\d+\.\d+\.\d+)$/.exec(text) ?? [undefined, text, ""];
  const last = tail === "" ? undefined : number4(tail);
  if (tail !== "" && last === undefined) return undefined;
  const spelled =
    last === undefined ? front : `${front}${hex(Math.floor(last / 65536))}:${hex(last % 65536)}`;
  const halves = spelled.split("::");
  if (halves.length > 2) return undefined;
  const [before = [], after = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - before.length - after.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const all = [...before, ...Array.from({ length: missing }, () => "0"), ...after];
  return all.every((word) => /^[0-9a-f]{1,4}$/i.test(word))
    ? all.map((word) => Number.parseInt(word, 16))
    : undefined;
}

function hex(word: number): string {
  return word.toString(16);
}

/** Returns true for an address of either family, without brackets. */
export function isAddress(text: string): boolean {
  return number4(text) !== undefined || words6(text) !== undefined;
}

/** Returns the IPv4 address inside an IPv6 one (mapped, compatible, NAT64, 6to4); undefined if there is none. */
export function embedded4(text: string): string | undefined {
  const words = words6(text);
  if (!words) return undefined;
  const [a = 0, b = 0, c = 0] = words;
  const low = (words[6] ?? 0) * 65536 + (words[7] ?? 0);
  const zeros = (from: number, to: number) => words.slice(from, to).every((word) => word === 0);
  if (a === 0x2002) return dotted(b * 65536 + c);
  if (a === 0x64 && b === 0xff9b && zeros(2, 6)) return dotted(low);
  if (zeros(0, 5) && words[5] === 0xffff) return dotted(low);
  if (zeros(0, 4) && words[4] === 0xffff && words[5] === 0) return dotted(low);
  return zeros(0, 6) && low > 1 ? dotted(low) : undefined;
}

/** Returns the network of an address without brackets; any other text is `reserved`. */
export function addressClass(text: string): AddressClass {
  const value = number4(text);
  if (value !== undefined) return class4(value);
  const words = words6(text);
  if (!words) return "reserved";
  const inner = embedded4(text);
  if (inner !== undefined) return class4(number4(inner) ?? 0);
  return class6(words);
}

function class4(value: number): AddressClass {
  const found = networks4.find(([first, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(value / size) === Math.floor((number4(first) ?? 0) / size);
  });
  return found?.[2] ?? "public";
}

function class6(words: number[]): AddressClass {
  const [a = 0, b = 0] = words;
  if (words.slice(0, 7).every((word) => word === 0)) return words[7] === 1 ? "loopback" : "reserved";
  // AWS answers here over IPv6.
  if (a === 0xfd00 && b === 0xec2 && words[7] === 0x254) return "metadata";
  if ((a & 0xfe00) === 0xfc00 || (a & 0xffc0) === 0xfec0) return "private";
  if ((a & 0xffc0) === 0xfe80) return "link-local";
  if ((a & 0xff00) === 0xff00) return "multicast";
  // Only 2000::/3 is in use; Teredo addresses embed others.
  if ((a & 0xe000) !== 0x2000 || (a === 0x2001 && b === 0)) return "reserved";
  return "public";
}
