/** A strict OAuth issuer beside a server of tools, on one origin: what the protocol does not permit is refused. */

import { createHash, randomUUID } from "node:crypto";
import { type Asked, type McpHttp, serveMcp } from "./mcp-http.ts";

export type IssuerOptions = {
  /** The person at the browser declines. */
  declines?: boolean;
  /** The answer of the page names another issuer. */
  iss?: string;
  /** Scopes that the server asks for with its 401. */
  scope?: string;
};

export type SignInServer = McpHttp & {
  options: IssuerOptions;
  /** Requests to the issuer in order: `register`, `authorize`, `code`, `refresh`, `revoke`. */
  steps: string[];
  /** Why requests were refused. */
  refusals: string[];
  /** Ends the access tokens that are good now. */
  expire(): void;
  /** Plays the browser: opens the page, and returns the address that it is sent on to. */
  browse(page: string): Promise<string>;
};

type Client = { id: string; redirects: string[] };
type Code = { client: string; redirect: string; challenge: string };
type State = {
  origin: string;
  clients: Client[];
  codes: Map<string, Code>;
  access: Set<string>;
  refresh: Map<string, string>;
};

/** Serves until the test is over. */
export async function serveWithSignIn(options: IssuerOptions = {}): Promise<SignInServer> {
  const state: State = {
    ...{ origin: "", clients: [], codes: new Map(), access: new Set(), refresh: new Map() },
  };
  const steps: string[] = [];
  const refusals: string[] = [];
  const served = await serveMcp((asked) => {
    const [path = ""] = asked.path.split("?");
    if (path === "/mcp") return isSignedIn(state, asked) ? undefined : challenge(state.origin, options);
    try {
      return answer(state, { asked, path, options, steps });
    } catch (error) {
      refusals.push((error as Error).message);
      return Response.json({ error: "invalid_grant", error_description: String(error) }, { status: 400 });
    }
  });
  state.origin = new URL(served.url).origin;
  return {
    ...served,
    ...{ options, steps, refusals },
    expire: () => state.access.clear(),
    async browse(page) {
      const response = await fetch(page, { redirect: "manual" });
      return response.headers.get("location") ?? `no redirect: ${await response.text()}`;
    },
  };
}

function isSignedIn({ access }: State, { headers }: Asked): boolean {
  return access.has(/^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "");
}

function challenge(origin: string, { scope }: IssuerOptions): Response {
  const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
  const scopes = scope ? `, scope="${scope}"` : "";
  return new Response("sign in", {
    status: 401,
    headers: { "www-authenticate": `Bearer error="invalid_token", ${metadata}${scopes}` },
  });
}

type Request = { asked: Asked; path: string; options: IssuerOptions; steps: string[] };

function answer(state: State, request: Request): Response {
  const { origin } = state;
  const { asked, path, steps } = request;
  switch (path) {
    case "/.well-known/oauth-protected-resource/mcp":
      return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    case "/.well-known/oauth-authorization-server":
      return Response.json({
        ...{ issuer: origin, authorization_endpoint: `${origin}/authorize` },
        ...{ token_endpoint: `${origin}/token`, registration_endpoint: `${origin}/register` },
        ...{ revocation_endpoint: `${origin}/revoke`, response_types_supported: ["code"] },
        ...{ code_challenge_methods_supported: ["S256"], scopes_supported: ["read", "offline_access"] },
        ...{ grant_types_supported: ["authorization_code", "refresh_token"] },
        ...{ token_endpoint_auth_methods_supported: ["none"] },
        authorization_response_iss_parameter_supported: true,
      });
    case "/register":
      steps.push("register");
      return registered(state, asked);
    case "/authorize":
      steps.push("authorize");
      return authorized(state, request);
    case "/token":
      return granted(state, new URLSearchParams(asked.body), steps);
    case "/revoke": {
      steps.push("revoke");
      const token = new URLSearchParams(asked.body).get("token") ?? "";
      check(state.refresh.delete(token) || state.access.delete(token), "an unknown token to revoke");
      state.access.clear();
      return new Response(null, { status: 200 });
    }
    default:
      return new Response("not found", { status: 404 });
  }
}

function registered({ clients }: State, { body }: Asked): Response {
  const wanted = JSON.parse(body) as { redirect_uris: string[]; token_endpoint_auth_method: string };
  check(wanted.token_endpoint_auth_method === "none", "a public client has no secret");
  check(
    wanted.redirect_uris.every((uri) => /^http:\/\/127\.0\.0\.1:\d+\/callback$/.test(uri)),
    "a redirect that is not to this machine",
  );
  const client = { id: randomUUID(), redirects: wanted.redirect_uris };
  clients.push(client);
  return Response.json({ ...wanted, client_id: client.id }, { status: 201 });
}

function authorized({ origin, clients, codes }: State, { asked, options }: Request): Response {
  const { searchParams: given } = new URL(asked.path, origin);
  const client = clients.find(({ id }) => id === given.get("client_id"));
  const redirect = given.get("redirect_uri") ?? "";
  check(client?.redirects.includes(redirect) === true, "a client or redirect that is unknown");
  check(given.get("response_type") === "code", "no code asked for");
  check(given.get("code_challenge_method") === "S256", "PKCE without S256");
  check(given.get("resource") === `${origin}/mcp`, "no resource");
  check((given.get("state") ?? "").length >= 20, "a state that can be guessed");
  const back = new URL(redirect);
  back.searchParams.set("state", given.get("state") ?? "");
  back.searchParams.set("iss", options.iss ?? origin);
  if (options.declines) back.searchParams.set("error", "access_denied");
  else {
    const code = randomUUID();
    codes.set(code, { client: client?.id ?? "", redirect, challenge: given.get("code_challenge") ?? "" });
    back.searchParams.set("code", code);
  }
  return new Response(null, { status: 302, headers: { location: back.href } });
}

function granted(state: State, form: URLSearchParams, steps: string[]): Response {
  const { origin, codes, refresh } = state;
  check(form.get("resource") === `${origin}/mcp`, "a token for no resource");
  if (form.get("grant_type") === "authorization_code") {
    steps.push("code");
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const hash = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    check(code?.challenge === hash, "a wrong verifier");
    check(code?.redirect === form.get("redirect_uri"), "another redirect");
    check(code?.client === form.get("client_id"), "another client");
  } else {
    steps.push("refresh");
    const token = form.get("refresh_token") ?? "";
    check(refresh.get(token) === form.get("client_id"), "a refresh token that is unknown or used up");
    refresh.delete(token);
  }
  const tokens = { access_token: `access-${randomUUID()}`, refresh_token: `refresh-${randomUUID()}` };
  state.access.add(tokens.access_token);
  refresh.set(tokens.refresh_token, form.get("client_id") ?? "");
  return Response.json({ ...tokens, token_type: "Bearer", expires_in: 3600 });
}

function check(isFine: boolean, why: string): void {
  if (!isFine) throw new Error(why);
}
