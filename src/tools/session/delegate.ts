/** `delegate` starts a sub-agent; with `report_back` it hands in what it learned. */

import type { Tool, ToolContext, ToolOutput } from "../../core/ports.ts";
import { efforts } from "../../core/request.ts";
import { closedObject } from "../../core/schema.ts";
import { delegateCalls, reportBackCalls, toolNames } from "../../core/tool-calls.ts";

/**
 * The input of `delegate`. `files`: paths to begin with. `want`: what the report must answer. `role`: name of a skill that
 * instructs it.
 */
export type DelegateInput = {
  brief: string;
  want: string;
  files?: string[];
  effort?: string;
  role?: string;
};

/** The report of a sub-agent, in the form of `complete_focus`. */
export type DelegateReport = { attempted: string; learned: string; outcome: string };

export type DelegateOptions = {
  description: string;
  /** Returns true when rules, and the role, let a sub-agent write. */
  mayWrite(role: string | undefined): boolean;
  /** Runs one to its end. */
  run(input: DelegateInput, context: ToolContext): Promise<ToolOutput>;
};

/** Creates `delegate`. */
export function delegateTool({ description, mayWrite, run }: DelegateOptions): Tool {
  return {
    ...delegateCalls,
    name: toolNames.delegate,
    description,
    inputSchema: closedObject(
      {
        brief: { type: "string", description: "the task, with all that it has to know" },
        want: { type: "string", description: "what the report must answer" },
        files: { type: "array", items: { type: "string" }, description: "paths to begin with" },
        effort: { type: "string", enum: [...efforts] },
        role: { type: "string", description: "name of a role, from the list of skills" },
      },
      ["brief", "want"],
    ),
    access: (input) => ({ kind: "delegate", writes: mayWrite((input as DelegateInput).role) }),
    run: async (input, context) => {
      const { brief, want } = input as DelegateInput;
      const empty = [brief.trim() === "" ? "brief" : "", want.trim() === "" ? "want" : ""].filter(Boolean);
      if (empty.length > 0)
        return refusal(`Empty: ${empty.join(", ")}. A sub-agent knows nothing but what you write here.`);
      return run(input as DelegateInput, context);
    },
  };
}

/** Creates `report_back`. `take` gets the report; the session ends with it. */
export function reportBackTool(options: { description: string; take(report: DelegateReport): void }): Tool {
  return {
    ...reportBackCalls,
    name: toolNames.reportBack,
    description: options.description,
    inputSchema: closedObject(
      {
        attempted: { type: "string", description: "What was tried, dead ends included." },
        learned: { type: "string", description: "Facts worth keeping: paths, line numbers, names, causes." },
        outcome: { type: "string", description: "The answer to what was wanted, and what is left." },
      },
      ["attempted", "learned", "outcome"],
    ),
    access: () => ({ kind: "session" }),
    async run(input) {
      const report = input as DelegateReport;
      const empty = Object.entries(report).flatMap(([field, text]) => (text.trim() === "" ? [field] : []));
      if (empty.length > 0) return refusal(`Empty: ${empty.join(", ")}. Write it, or "nothing".`);
      options.take(report);
      return { content: "Reported." };
    },
  };
}

function refusal(content: string): ToolOutput {
  return { content, isError: true };
}
