/** The type of what signs the requests of a cloud; each signer is a chunk of its own. */

/** A request before it is signed; headers in lower case. */
export type Unsigned = { url: URL; headers: Record<string, string>; body: string };

/** Returns all headers to send. Rejects when there are no credentials. */
export type Sign = (request: Unsigned) => Promise<Record<string, string>>;
