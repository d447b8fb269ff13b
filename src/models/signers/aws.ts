/** Signs requests to Amazon Bedrock with the vendor's packages. Loaded only for `bedrock/…` without a bearer token. */

import { createHash, createHmac } from "node:crypto";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { SignatureV4 } from "@smithy/signature-v4";
import type { Environment } from "../access.ts";
import type { Sign } from "./signer.ts";

/** The name that these requests are signed for (Anthropic's SDK for Bedrock has the same). */
const service = "bedrock-mantle";

/** Credentials in the environment win, as they do for the AWS tools; else profile, sign-in or machine. */
export function signAws(env: Environment, region: string): Sign {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = env;
  const given =
    id && secret
      ? { accessKeyId: id, secretAccessKey: secret, ...(token ? { sessionToken: token } : {}) }
      : undefined;
  const credentials = given ?? defaultProvider(env.AWS_PROFILE ? { profile: env.AWS_PROFILE } : {});
  const signer = new SignatureV4({ service, region, credentials, sha256: sha256 as never });
  return async ({ url, headers, body }) => {
    const signed = await signer.sign({
      ...{ method: "POST", protocol: url.protocol, hostname: url.hostname, path: url.pathname, body },
      ...(url.port ? { port: Number(url.port) } : {}),
      headers: { ...headers, host: url.host },
    });
    return signed.headers;
  };
}

/** The hash that the package wants to construct, from Node's own. */
function sha256(secret?: Uint8Array) {
  const hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret);
  return {
    update: (data: Uint8Array) => void hash.update(data),
    digest: async () => new Uint8Array(hash.digest()),
  };
}
