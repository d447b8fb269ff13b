/**
 * Answers DNS questions from the sandbox by itself: a name gets an address that stands for it; nothing is forwarded.
 */

import { canonicalHost } from "../permissions/sandbox/hosts.ts";

/** The names of a session and the addresses of 127.1.0.0/16 that stand for them. */
export type Names = {
  /** Returns the address that stands for a canonical name. When all are given out, the oldest name loses its own. */
  addressOf(name: string): string;
  nameOf(address: string): string | undefined;
};

const mostNames = 65_000;

export function createNames(): Names {
  const byName = new Map<string, string>();
  const byAddress = new Map<string, string>();
  let given = 0;
  return {
    addressOf(name) {
      const known = byName.get(name);
      if (known !== undefined) return known;
      // 127.1.0.0 is left out: it looks like the address of a network.
      const number = (given++ % mostNames) + 1;
      const address = `127.1.${number >> 8}.${number & 255}`;
      byName.delete(byAddress.get(address) ?? "");
      byName.set(name, address);
      byAddress.set(address, name);
      return address;
    },
    nameOf: (address) => byAddress.get(address),
  };
}

/** The reply to send back, and the name that was asked for. */
export type DnsAnswer = { reply: Buffer; name?: string };

const codes = { none: 0, format: 1, noName: 3, notImplemented: 4 };
const types = { a: 1, ptr: 12, aaaa: 28, any: 255 };
/** Seconds. An address stands for its name until the session ends. */
const ttl = 600;

/** Answers one message; undefined for one that deserves no reply. */
export function answerDns(message: Buffer, names: Names): DnsAnswer | undefined {
  if (message.length < 12 || (message.readUInt8(2) & 0x80) !== 0) return undefined;
  if ((message.readUInt8(2) & 0x78) !== 0) return { reply: replyTo(message, 12, codes.notImplemented) };
  const question = message.readUInt16BE(4) === 1 ? questionOf(message) : undefined;
  if (!question) return { reply: replyTo(message, 12, codes.format) };
  const { labels, type, internet, end } = question;
  if (type === types.ptr) return { reply: replyTo(message, end, codes.noName) };
  if (!internet || (type !== types.a && type !== types.aaaa && type !== types.any))
    return { reply: replyTo(message, end, codes.notImplemented) };
  const name = labels.some((label) => label.includes(".")) ? undefined : canonicalHost(labels.join("."));
  if (name === undefined) return { reply: replyTo(message, end, codes.noName) };
  const address = isLocal(name) ? "127.0.0.1" : names.addressOf(name);
  const reply = replyTo(message, end, codes.none, type === types.aaaa ? undefined : address);
  return isLocal(name) ? { reply } : { reply, name };
}

/** The names of the sandbox's own loopback (RFC 6761). */
function isLocal(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost");
}

type DnsQuestion = { labels: string[]; type: number; internet: boolean; end: number };

/** Reads the one question; undefined when it is cut or compressed. */
function questionOf(message: Buffer): DnsQuestion | undefined {
  const labels: string[] = [];
  let at = 12;
  for (;;) {
    const length = message[at];
    if (length === undefined || length > 63) return undefined;
    at += 1;
    if (length === 0) break;
    labels.push(message.toString("latin1", at, at + length));
    at += length;
  }
  if (at + 4 > message.length || at - 12 > 255) return undefined;
  const kind = message.readUInt16BE(at + 2);
  return { labels, type: message.readUInt16BE(at), internet: kind === 1, end: at + 4 };
}

/** Repeats the question up to `end`, with one address where there is one. */
function replyTo(message: Buffer, end: number, code: number, address?: string): Buffer {
  const head = Buffer.from(message.subarray(0, end));
  // A response, recursion available; the bit that asks for recursion is copied.
  head.writeUInt8(0x80 | (head.readUInt8(2) & 0x01), 2);
  head.writeUInt8(0x80 | code, 3);
  head.writeUInt16BE(end > 12 ? 1 : 0, 4);
  head.writeUInt16BE(address === undefined ? 0 : 1, 6);
  head.writeUInt32BE(0, 8);
  if (address === undefined) return head;
  const record = Buffer.alloc(16);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(types.a, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(ttl, 6);
  record.writeUInt16BE(4, 10);
  for (const [index, part] of address.split(".").entries()) record.writeUInt8(Number(part), 12 + index);
  return Buffer.concat([head, record]);
}
