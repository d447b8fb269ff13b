/** Small hand-written recordings in the format of each agent, for the readers and the lab. */

const lines = (...values: unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");
const time = (second: number): string => new Date(Date.UTC(2026, 0, 15, 1, 0, second)).toISOString();

const claudeLine = (second: number, type: string, message: object, more: object = {}) => ({
  type,
  uuid: `u${second}`,
  sessionId: "s1",
  cwd: "/w/app",
  isSidechain: false,
  timestamp: time(second),
  message: { role: type, ...message },
  ...more,
});
const claudePart = (second: number, output: number, block: object) =>
  claudeLine(second, "assistant", {
    id: "msg_1",
    model: "claude-opus-4-5",
    content: [block],
    stop_reason: output > 10 ? "tool_use" : null,
    usage: {
      input_tokens: 7,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 50,
      cache_creation: { ephemeral_1h_input_tokens: 20 },
      output_tokens: output,
    },
  });
const claudeResult = (second: number, id: string, content: unknown, is_error?: boolean) =>
  claudeLine(second, "user", { content: [{ type: "tool_result", tool_use_id: id, content, is_error }] });

/** Claude Code: a message over three lines with a result between them, a sub-agent, a summary, a hook's line. */
export function claudeCode(): string {
  return lines(
    { type: "file-history-snapshot", messageId: "x", snapshot: {} },
    claudeLine(1, "user", { content: "Find the fault." }),
    claudePart(2, 4, { type: "thinking", thinking: "Where may it be?", signature: "abc" }),
    claudePart(3, 4, {
      type: "tool_use",
      id: "t1",
      name: "Read",
      input: { file_path: "/w/a.ts", offset: 5, limit: 10 },
    }),
    claudeLine(
      3,
      "assistant",
      { id: "msg_sub", content: [{ type: "text", text: "sub" }] },
      { isSidechain: true },
    ),
    claudeResult(4, "t1", "const a = 1;\nconst b = 2;"),
    claudePart(5, 90, {
      type: "tool_use",
      id: "t2",
      name: "Bash",
      input: { command: "npm test", description: "tests" },
    }),
    claudeResult(
      6,
      "t2",
      [
        { type: "text", text: "1 failed" },
        { type: "image", source: {} },
      ],
      true,
    ),
    { type: "system", subtype: "compact_boundary", sessionId: "s1", uuid: "b", timestamp: time(7) },
    claudeLine(8, "user", { content: "The fault is in a.ts." }, { isCompactSummary: true }),
    claudeLine(9, "assistant", {
      id: "msg_2",
      model: "claude-opus-4-5",
      content: [{ type: "text", text: "Done." }],
    }),
    { type: "hologram", sessionId: "s1", uuid: "h" },
  );
}

/** pi: a call, a reply that was cut, a command of the user's, and a compaction that keeps the newest entries. */
export function pi(): string {
  const message = (second: number, body: object) => ({
    type: "message",
    timestamp: time(second),
    message: body,
  });
  const usage = { input: 3, output: 40, cacheRead: 200, cacheWrite: 60 };
  const assistant = (content: object[], stopReason = "toolUse") => ({
    role: "assistant",
    provider: "anthropic",
    model: "claude-sonnet-4-5",
    content,
    stopReason,
    usage,
  });
  return lines(
    {
      type: "session",
      id: "p1",
      timestamp: time(0),
      cwd: "/w/app",
      provider: "anthropic",
      modelId: "claude-x",
    },
    message(1, { role: "user", content: [{ type: "text", text: "Rename it." }] }),
    message(
      2,
      assistant([
        { type: "toolCall", id: "c1", name: "edit", arguments: { path: "a.ts", oldText: "x", newText: "y" } },
      ]),
    ),
    message(3, {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "edit",
      content: [{ type: "text", text: "ok" }],
    }),
    message(4, assistant([], "aborted")),
    message(
      5,
      assistant(
        [
          { type: "text", text: "I will" },
          { type: "toolCall", id: "c2", name: "bash", arguments: {} },
        ],
        "aborted",
      ),
    ),
    message(6, { role: "bashExecution", command: "ls", output: "a.ts" }),
    { type: "compaction", timestamp: time(7), summary: "Renamed x.", firstKeptEntryIndex: 6 },
    message(8, assistant([{ type: "text", text: "Renamed." }], "stop")),
    { type: "dream", timestamp: time(9) },
  );
}

/** Codex: reasoning, a shell call with its result, the count of its tokens, and a compaction. */
export function codex(): string {
  const line = (second: number, type: string, payload: object) => ({
    timestamp: time(second),
    type,
    payload,
  });
  const item = (second: number, payload: object) => line(second, "response_item", payload);
  return lines(
    line(0, "session_meta", { id: "r1", cwd: "/w/app", instructions: "Be brief.", model_provider: "openai" }),
    line(1, "turn_context", { model: "gpt-6.1-sol" }),
    item(1, { type: "message", role: "user", content: [{ type: "input_text", text: "Run the tests." }] }),
    item(2, { type: "reasoning", summary: [{ type: "summary_text", text: "Tests first." }] }),
    item(2, {
      type: "function_call",
      name: "shell",
      arguments: '{"command":["bash","-lc","npm test"]}',
      call_id: "f1",
    }),
    item(3, {
      type: "function_call_output",
      call_id: "f1",
      output: '{"output":"1 failed","metadata":{"exit_code":1}}',
    }),
    line(3, "event_msg", {
      type: "token_count",
      info: { last_token_usage: { input_tokens: 500, cached_input_tokens: 400, output_tokens: 30 } },
    }),
    item(4, { type: "message", role: "assistant", content: [{ type: "output_text", text: "One fails." }] }),
    line(5, "compacted", { message: "Tests ran." }),
    item(6, { type: "mystery" }),
  );
}

/** SWE-agent: a call of the API, and an action that stands in the text alone. */
export function sweAgent(): string {
  return JSON.stringify({
    environment: "swe",
    trajectory: [],
    history: [
      { role: "system", content: "You are an engineer.", agent: "main" },
      { role: "user", content: "Repair it.", agent: "main" },
      {
        role: "assistant",
        agent: "main",
        content: "Look first.",
        action: "ls",
        tool_calls: [{ id: "k1", function: { name: "bash", arguments: '{"command":"ls"}' } }],
      },
      { role: "tool", agent: "main", content: "a.py", tool_call_ids: ["k1"] },
      { role: "assistant", agent: "main", content: "Now run it.", action: "python a.py" },
      { role: "user", agent: "main", content: "344" },
      { role: "assistant", agent: "main", content: "Done." },
    ],
  });
}

/** mini-swe-agent: two steps with usage, as DeepSeek reports it. */
export function miniSweAgent(): string {
  const usage = { prompt_tokens: 1000, prompt_cache_hit_tokens: 900, completion_tokens: 20 };
  const step = (id: string, second: number) => ({
    role: "assistant",
    content: "Looking.",
    reasoning_content: "Hm.",
    tool_calls: [{ id, function: { name: "bash", arguments: `{"command":"cat ${id}.py"}` } }],
    extra: {
      timestamp: 1_768_000_000 + second,
      response: { model: "deepseek-chat", created: 1_768_000_000, usage },
    },
  });
  const result = (id: string, second: number, returncode: number) => ({
    role: "tool",
    tool_call_id: id,
    content: `output of ${id}`,
    extra: { returncode, timestamp: 1_768_000_000 + second },
  });
  return JSON.stringify({
    trajectory_format: "mini-swe-agent-1.1",
    instance_id: "django-1",
    info: {},
    messages: [
      { role: "system", content: "You have a shell." },
      { role: "user", content: "Repair it." },
      step("m1", 2),
      result("m1", 3, 0),
      step("m2", 5),
      result("m2", 400, 1),
      { role: "exit", content: "diff" },
    ],
  });
}
