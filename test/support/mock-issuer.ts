/**
 * A strict issuer of ChatGPT sign-ins: it refuses whatever the documentation says is wrong, so that a mistake of ours
 * fails here. What it does not know is refused.
 */

import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { keptOpen } from "./kept-open.ts";

export type IssuerOptions = {
  /** Lifetime of an access token in seconds. */
  seconds?: number;
  /** The scopes that are granted, in place of those asked for; null leaves them out of the answer. */
  scope?: string | null;
  /** Claims of the ID token that differ from the right ones. */
  claims?: Record<string, unknown>;
  /** Signs ID tokens with a key that is not published. */
  forged?: boolean;
  /** Milliseconds before a token request is answered. */
  delayMs?: number;
  /** Answers token requests like this. */
  fails?: { status: number; body: string };
  /** The person at the browser declines. */
  declines?: boolean;
  /** The account that signs in. */
  subject?: string;
  /** Leaves the client out of the callback. */
  namesNoClient?: boolean;
};

export type MockIssuer = {
  url: string;
  options: IssuerOptions;
  /** Requests in order: `authorize`, `code`, `refresh`, `revoke`, `keys`. */
  asked: string[];
  /** Why requests were refused. */
  refusals: string[];
  /** True for an access token that is good now. */
  isGood(access: string): boolean;
  /** Plays the browser: opens the page, and returns the address that it is sent on to. */
  browse(page: string): Promise<string>;
  close(): Promise<void>;
};

const planScopes = "openid profile email offline_access resource.invoke chatgpt.tokens.use.direct";
const api = "https://api.openai.com/v1";

type Code = { clientId: string; redirectUri: string; challenge: string; nonce: string };
type Family = {
  clientId: string;
  access: string;
  refresh: string;
  expires: number;
  dead: boolean;
  used: string[];
};
type State = {
  url: string;
  options: IssuerOptions;
  asked: string[];
  refusals: string[];
  codes: Map<string, Code>;
  families: Family[];
  /** Registered clients by the host that they were registered from. */
  clients: Map<string, string>;
  keys: ReturnType<typeof newKeys>;
};

const newKeys = () => generateKeyPairSync("rsa", { modulusLength: 2048 });
/** Keys that all issuers of this process publish: finding primes is most of the work of starting one. */
let published: ReturnType<typeof newKeys> | undefined;

/** A refusal as RFC 6749 words it. */
class Refused extends Error {
  readonly code: string;
  constructor(code: string, why: string) {
    super(why);
    this.code = code;
  }
}

function must(fine: boolean, why: string, code = "invalid_request"): asserts fine {
  if (!fine) throw new Refused(code, why);
}

function publishedKeys(): ReturnType<typeof newKeys> {
  published ??= newKeys();
  return published;
}

export async function startMockIssuer(options: IssuerOptions = {}): Promise<MockIssuer> {
  const state: State = {
    ...{ url: "", options, asked: [], refusals: [], codes: new Map(), families: [], clients: new Map() },
    keys: publishedKeys(),
  };
  const server = createServer(keptOpen, (request, response) => void answer(state, request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ url: state.url, options, asked: state.asked, refusals: state.refusals },
    isGood: (access) =>
      state.families.some((each) => each.access === access && !each.dead && each.expires > Date.now()),
    async browse(page) {
      const { status, headers } = await fetch(page, { redirect: "manual" });
      if (status !== 302) throw new Error(`the page answered ${status}: ${state.refusals.at(-1)}`);
      return headers.get("location") ?? "";
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await route(state, request, response);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    state.refusals.push(error.message);
    json(response, error.code === "invalid_client" ? 401 : 400, {
      error: error.code,
      error_description: error.message,
    });
  }
}

async function route(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "", state.url);
  switch (`${request.method} ${url.pathname}`) {
    case "GET /api/accounts/authorize":
      state.asked.push("authorize");
      return authorize(state, single(url.searchParams), response);
    case "GET /.well-known/jwks.json": {
      state.asked.push("keys");
      const key = state.keys.publicKey.export({ format: "jwk" });
      return json(response, 200, { keys: [{ ...key, kid: "1", alg: "RS256", use: "sig" }] });
    }
    case "POST /api/accounts/oauth/token":
      return token(state, await formOf(request), response);
    case "POST /api/accounts/oauth/revoke": {
      const form = await formOf(request);
      state.asked.push("revoke");
      must(form.token_type_hint === "refresh_token", "revoke names the kind of its token");
      for (const family of state.families)
        if (family.refresh === form.token && family.clientId === form.client_id) family.dead = true;
      return json(response, 200, {});
    }
    default:
      return json(response, 404, {});
  }
}

/** Each parameter once. */
function single(parameters: URLSearchParams): Record<string, string> {
  const names = [...parameters.keys()];
  must(new Set(names).size === names.length, "a parameter is given twice");
  return Object.fromEntries(parameters);
}

async function formOf(request: IncomingMessage): Promise<Record<string, string>> {
  const type = request.headers["content-type"] ?? "";
  must(/^application\/x-www-form-urlencoded\b/.test(type), `a form is asked for, not ${type}`);
  must(
    request.headers.authorization === undefined,
    "a public client sends no authorization",
    "invalid_client",
  );
  let body = "";
  for await (const piece of request.setEncoding("utf8")) body += piece;
  const form = single(new URLSearchParams(body));
  must(form.client_secret === undefined, "a public client has no secret", "invalid_client");
  return form;
}

const known = new Set(
  "client_id agent_name_hint login_hint ext_agent_host_id response_type redirect_uri scope resource state nonce code_challenge code_challenge_method".split(
    " ",
  ),
);

function authorize(state: State, given: Record<string, string>, response: ServerResponse): void {
  const { client_id: client = "", ext_agent_host_id: host = "", redirect_uri: redirectUri = "" } = given;
  const odd = Object.keys(given).find((name) => !known.has(name));
  must(odd === undefined, `unknown parameter ${odd}`);
  const uuid = /^urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  must(uuid.test(host), "ext_agent_host_id must be a URN of a UUID");
  const isFirst = client === "dynamic_agent_client";
  must(isFirst || state.clients.get(host) === client, "unknown client", "invalid_client");
  must(
    (given.agent_name_hint !== undefined) === isFirst,
    "agent_name_hint belongs to the first sign-in alone",
  );
  must(given.response_type === "code", "response_type must be code");
  must(/^http:\/\/127\.0\.0\.1:\d+\/auth\/callback$/.test(redirectUri), "redirect_uri must be on 127.0.0.1");
  must(given.scope === planScopes, "scope is not the documented one", "invalid_scope");
  must(given.resource === api, "resource must be the API", "invalid_target");
  for (const name of ["state", "nonce"] as const)
    must((given[name]?.length ?? 0) >= 22, `${name} is too short`);
  must(given.code_challenge_method === "S256", "code_challenge_method must be S256");
  must(/^[\w-]{43}$/.test(given.code_challenge ?? ""), "code_challenge is no SHA-256");
  const issued = isFirst ? `oaiapp_${randomUUID()}` : client;
  state.clients.set(host, issued);
  const code = randomUUID();
  const { code_challenge: challenge = "", nonce = "" } = given;
  state.codes.set(code, { clientId: issued, redirectUri, challenge, nonce });
  const back = new URL(redirectUri);
  const named = state.options.namesNoClient ? {} : { client_id: issued };
  const outcome = state.options.declines ? { error: "access_denied" } : { code, ...named };
  back.search = new URLSearchParams({ ...outcome, state: given.state ?? "" }).toString();
  response.writeHead(302, { location: back.href }).end();
}

async function token(state: State, form: Record<string, string>, response: ServerResponse): Promise<void> {
  const { fails, delayMs = 0 } = state.options;
  const isRefresh = form.grant_type === "refresh_token";
  state.asked.push(isRefresh ? "refresh" : "code");
  if (delayMs) await sleep(delayMs);
  if (fails) return void response.writeHead(fails.status, { "content-type": "text/html" }).end(fails.body);
  must(form.resource === api, "resource must be the API", "invalid_target");
  must(form.client_id !== "dynamic_agent_client", "the first client exchanges nothing", "invalid_client");
  json(response, 200, isRefresh ? refresh(state, form) : exchange(state, form));
}

function exchange(state: State, form: Record<string, string>) {
  must(form.grant_type === "authorization_code", "unknown grant", "unsupported_grant_type");
  const code = state.codes.get(form.code ?? "");
  must(code !== undefined, "unknown code, or one that was used", "invalid_grant");
  state.codes.delete(form.code ?? "");
  must(code.clientId === form.client_id, "the code is another client's", "invalid_grant");
  must(code.redirectUri === form.redirect_uri, "another redirect_uri than the page's", "invalid_grant");
  const digest = createHash("sha256")
    .update(form.code_verifier ?? "")
    .digest("base64url");
  must(digest === code.challenge, "the verifier is not the challenge's", "invalid_grant");
  const family = { clientId: code.clientId, access: "", refresh: "", expires: 0, dead: false, used: [] };
  state.families.push(family);
  return { ...issue(state, family), id_token: idToken(state, code) };
}

function refresh(state: State, form: Record<string, string>) {
  const reused = state.families.find(({ used }) => used.includes(form.refresh_token ?? ""));
  // A token that comes twice was stolen: nobody goes on with its successors either.
  if (reused) reused.dead = true;
  must(reused === undefined, "a refresh token was used twice", "invalid_grant");
  const family = state.families.find((each) => each.refresh === form.refresh_token && !each.dead);
  must(family !== undefined, "unknown refresh token", "invalid_grant");
  must(family.clientId === form.client_id, "the token is another client's", "invalid_grant");
  family.used.push(family.refresh);
  return issue(state, family);
}

function issue({ options }: State, family: Family) {
  const { seconds = 3600, scope = planScopes } = options;
  Object.assign(family, {
    access: `access-${randomUUID()}`,
    refresh: `refresh-${randomUUID()}`,
    expires: Date.now() + seconds * 1000,
  });
  const { access: access_token, refresh: refresh_token } = family;
  return {
    access_token,
    refresh_token,
    token_type: "Bearer",
    expires_in: seconds,
    ...(scope === null ? {} : { scope }),
  };
}

function idToken({ url, options, keys }: State, { clientId, nonce }: Code): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    ...{ iss: url, aud: clientId, sub: options.subject ?? "user-1", nonce, iat: now, exp: now + 3600 },
    ...{ email: "person@example.com", email_verified: true, ...options.claims },
  };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "RS256", kid: "1" })}.${part(claims)}`;
  const { privateKey } = options.forged ? newKeys() : keys;
  return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}
