/** The `fetch` tool: reads one page of the web. All but its description is loaded at the first call. */

import type { Tool } from "../../core/ports.ts";
import { fetchCalls, toolNames } from "../../core/tool-calls.ts";
import type { FetchLimits, FetchParts } from "./parts.ts";

const usualLimits: FetchLimits = { ms: 20_000, bytes: 5_000_000 };

/** Creates the tool. */
export function fetchTool(
  options: FetchParts & { description: string; limits?: Partial<FetchLimits> },
): Tool {
  return {
    ...fetchCalls,
    name: toolNames.fetch,
    description: options.description,
    inputSchema: {
      type: "object",
      properties: {
        url: { type: "string", description: "http or https" },
        want: { type: "string", description: "what you look for in a long page, in a few words" },
      },
      required: ["url"],
      additionalProperties: false,
    },
    access: ({ url }) => ({ kind: "fetch", url: String(url), invented: options.isInvented(String(url)) }),
    async run(input, context) {
      const { fetchPage } = await import("./page.ts");
      return fetchPage(input as { url: string; want?: string }, context, {
        ...options,
        limits: { ...usualLimits, ...options.limits },
      });
    },
  };
}
