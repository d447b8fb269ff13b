/** Reads the first bytes of a connection: the host in a TLS greeting, and the banner of ssh. Pure. */

/** `more`: the bytes do not tell yet. `other`: another protocol. A greeting without a host has no `name`. */
export type Greeting = { type: "more" } | { type: "other" } | { type: "greeting"; name?: string };

/** More bytes than a greeting of any client has. */
const mostBytes = 32_768;

/** Reads a TLS ClientHello, which may come in several records, and returns its server name in lower case. */
export function readClientHello(bytes: Buffer): Greeting {
  const parts: Buffer[] = [];
  for (let at = 0; bytes.length >= at + 5; ) {
    const size = bytes.readUInt16BE(at + 3);
    if (bytes[at] !== 22 || bytes[at + 1] !== 3 || size === 0 || size > 16_640) return { type: "other" };
    parts.push(bytes.subarray(at + 5, at + 5 + size));
    at += 5 + size;
  }
  const message = Buffer.concat(parts);
  if (message.length > 0 && message[0] !== 1) return { type: "other" };
  const end = message.length < 4 ? Number.POSITIVE_INFINITY : 4 + message.readUIntBE(1, 3);
  if (message.length >= end) return serverName(message.subarray(4, end));
  return bytes.length > mostBytes ? { type: "other" } : { type: "more" };
}

/** Reads the body of a ClientHello. One that is cut or inconsistent is no greeting. */
function serverName(body: Buffer): Greeting {
  try {
    let at = 34;
    at += 1 + body.readUInt8(at);
    at += 2 + body.readUInt16BE(at);
    at += 1 + body.readUInt8(at);
    if (at === body.length) return { type: "greeting" };
    const end = at + 2 + body.readUInt16BE(at);
    if (end !== body.length) return { type: "other" };
    at += 2;
    let name: string | undefined;
    while (at < end) {
      const [type, size] = [body.readUInt16BE(at), body.readUInt16BE(at + 2)];
      if (at + 4 + size > end) return { type: "other" };
      if (type === 0) {
        // Two names could be read by two readers as two hosts.
        if (name !== undefined) return { type: "other" };
        name = hostName(body.subarray(at + 4, at + 4 + size));
        if (name === undefined) return { type: "other" };
      }
      at += 4 + size;
    }
    return name === undefined ? { type: "greeting" } : { type: "greeting", name };
  } catch {
    return { type: "other" };
  }
}

/** Reads a list of exactly one host name. */
function hostName(list: Buffer): string | undefined {
  if (list.length < 6 || list.readUInt16BE(0) !== list.length - 2 || list[2] !== 0) return undefined;
  if (list.readUInt16BE(3) !== list.length - 5) return undefined;
  return list.toString("latin1", 5).toLowerCase();
}

/** Reads the banner with which a client of ssh begins. */
export function readSshBanner(bytes: Buffer): Greeting {
  const start = bytes.toString("latin1", 0, 4);
  if (start === "SSH-") return { type: "greeting" };
  return "SSH-".startsWith(start) ? { type: "more" } : { type: "other" };
}
