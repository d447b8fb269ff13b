/** Gets tokens for Google Vertex AI with the vendor's package. Loaded only for `vertex/…`. */

import { GoogleAuth } from "google-auth-library";
import type { Sign } from "./signer.ts";

/** Application default credentials: a key file, a sign-in of the Google tools, or the machine's own. */
export function signGoogle(): Sign {
  const auth = new GoogleAuth({ scopes: "https://www.googleapis.com/auth/cloud-platform" });
  return async ({ url, headers }) => ({
    ...headers,
    ...Object.fromEntries(await auth.getRequestHeaders(url.href)),
  });
}
