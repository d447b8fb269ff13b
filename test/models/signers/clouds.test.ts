/** Claude at Amazon and Google: the same body as at Anthropic's, at another address, signed. The servers check what the clouds' documentation says. */

import { createHash, createHmac } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { startListServer } from "../../support/mock-servers.ts";
import { sawtooth } from "../../support/sawtooth.ts";
import { tempWorkspace } from "../../support/served.ts";
import { hello, startWireServer, stream, type WireServer } from "../fixtures/wire-server.ts";

async function ask(model: string, env: (url: string) => Record<string, string>) {
  const server = await startWireServer(stream(...hello));
  onTestFinished(() => server.close());
  const ended = await sawtooth(tempWorkspace(), ["-p", "go", "--model", model], {
    env: env(server.url),
  });
  return { server, ended };
}

function received({ received: [first] }: WireServer) {
  if (!first) throw new Error("no request came");
  return { ...first, json: JSON.parse(first.body.toString()) as Record<string, unknown> };
}

const hex = (text: string | Buffer) => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

/** Signature Version 4, from its documentation, for the headers that the client says it signed. */
function signatureOf({ url, headers, body }: ReturnType<typeof received>, secret: string): string {
  const [, scope = "", signed = ""] =
    /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+)/.exec(String(headers.authorization)) ?? [];
  const names = signed.split(";");
  const lines = names.map((name) => `${name}:${String(headers[name]).trim()}\n`).join("");
  const canonical = ["POST", url, "", lines, signed, hex(body)].join("\n");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hex(canonical)].join("\n");
  const key = scope.split("/").reduce<string | Buffer>((from, part) => hmac(from, part), `AWS4${secret}`);
  return createHmac("sha256", key).update(text).digest("hex");
}

test("Bedrock gets a signature over the request, by the keys of the environment", async () => {
  const secret = "canary/secret+of/forty+characters/0123456";
  const { server, ended } = await ask("bedrock/anthropic.claude-opus-5-5", (url) => ({
    ...{ ANTHROPIC_BEDROCK_MANTLE_BASE_URL: `${url}/anthropic`, AWS_REGION: "eu-west-1" },
    ...{ AWS_ACCESS_KEY_ID: "AKIACANARY0123456789", AWS_SECRET_ACCESS_KEY: secret },
  }));
  expect(ended).toMatchObject({ code: 0, stdout: "Hello\n" });
  const request = received(server);
  expect(request.url).toBe("/anthropic/v1/messages");
  expect(request.headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIACANARY0123456789\/\d{8}\/eu-west-1\/bedrock-mantle\/aws4_request, SignedHeaders=/,
  );
  expect(request.headers.authorization).toContain(`Signature=${signatureOf(request, secret)}`);
  expect(request.headers["x-amz-content-sha256"]).toBe(hex(request.body));
  expect(request.json).toMatchObject({ model: "anthropic.claude-opus-5-5", stream: true });
});

test("Bedrock takes a bearer token as it is", async () => {
  const { server, ended } = await ask("bedrock/anthropic.claude-opus-5-5", (url) => ({
    ...{ ANTHROPIC_BEDROCK_MANTLE_BASE_URL: `${url}/anthropic`, AWS_REGION: "eu-west-1" },
    AWS_BEARER_TOKEN_BEDROCK: "canary-bearer",
  }));
  expect(ended.code).toBe(0);
  expect(received(server).headers.authorization).toBe("Bearer canary-bearer");
});

test("without credentials of a cloud it is said which were looked for, and nothing is sent", async () => {
  const { server, ended } = await ask("bedrock/anthropic.claude-opus-5-5", (url) => ({
    ...{ ANTHROPIC_BEDROCK_MANTLE_BASE_URL: url, AWS_REGION: "eu-west-1", AWS_EC2_METADATA_DISABLED: "true" },
  }));
  expect(ended.code).toBe(4);
  expect(ended.stderr).toContain("no credentials were found to sign with");
  expect(server.received).toEqual([]);
});

test("Vertex gets a token of the machine, the model in the path and the version in the body", async () => {
  const path = "/computeMetadata/v1/instance/service-accounts/default/token";
  const token = { access_token: "canary-token", expires_in: 3599, token_type: "Bearer" };
  const metadata = await startListServer({
    [`GET ${path}`]: token,
    [`GET ${path}?scopes=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fcloud-platform`]: token,
    "GET /computeMetadata/v1/universe/universe-domain": "googleapis.com",
    "GET /computeMetadata/v1/project/project-id": "a-project",
  });
  const { server, ended } = await ask("vertex/claude-sonnet-4-5@20250929", (url) => ({
    ...{ ANTHROPIC_VERTEX_BASE_URL: `${url}/v1`, CLOUD_ML_REGION: "europe-west1" },
    ...{ ANTHROPIC_VERTEX_PROJECT_ID: "a-project", METADATA_SERVER_DETECTION: "assume-present" },
    GCE_METADATA_HOST: metadata.url.replace("http://", ""),
  }));
  expect(ended.stderr).toBe("");
  const { url, headers, json } = received(server);
  expect(decodeURIComponent(url)).toBe(
    "/v1/projects/a-project/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict",
  );
  expect(headers.authorization).toBe("Bearer canary-token");
  expect(json).toMatchObject({ anthropic_version: "2026-10-21", stream: true });
  expect(json).not.toHaveProperty("model");
});
