/** Where requests go, by what the environment says. */

import { expect, test } from "vitest";
import { accessOf } from "../../src/models/access.ts";
import { type Provider, providers } from "../../src/models/providers.ts";

const row = (name: string) => providers.find((each) => each.name === name) as Provider;

test.each([
  [undefined, "http://127.0.0.1:11434/v1"],
  ["0.0.0.0", "http://127.0.0.1:11434/v1"],
  ["gpu.example", "http://gpu.example:11434/v1"],
  ["gpu.example:80", "http://gpu.example/v1"],
  [":8080", "http://127.0.0.1:8080/v1"],
  ["https://gpu.example", "https://gpu.example/v1"],
  ["not a host", "not a host"],
])("OLLAMA_HOST %s is read as Ollama reads it", (host, url) => {
  expect(accessOf(row("ollama"), host === undefined ? {} : { OLLAMA_HOST: host }).url).toBe(url);
});

test("Vertex has hosts for regions, for groups of them and for all", () => {
  const url = (region: string) => accessOf(row("vertex"), { CLOUD_ML_REGION: region }).url;
  expect(["europe-west1", "eu", "global"].map(url)).toEqual([
    "https://europe-west1-aiplatform.googleapis.com/v1",
    "https://aiplatform.eu.rep.googleapis.com/v1",
    "https://aiplatform.googleapis.com/v1",
  ]);
});
