/** Forms of servers in editors: filled in where the editor shows them, else asked about as they stand. */

import { expect, test } from "vitest";
import { mcp, published, testServer } from "../mcp/session.ts";
import { writeSettings } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";
import { editor } from "./editor.ts";

const auto = ["--permission-mode", "auto"];

test("an editor that shows forms gets the fields with their limits, and what does not fit is declined and told", async () => {
  const call = { calls: [mcp("everything", "trigger-elicitation-request")] };
  const { workspace, server } = await serve([
    call,
    { text: "one" },
    call,
    { text: "two" },
    call,
    { text: "three" },
  ]);
  writeSettings(workspace, { mcpServers: { everything: published("everything", "stdio") } });
  const content = { name: "Ada", integer: 7, untitledMultipleSelectEnum: ["Piano"] };
  const one = await editor(workspace, auto, { fill: () => ({ action: "accept", content }) });
  const id = await one.open();
  await one.say(id, "go");
  const [form] = one.forms as { message: string; requestedSchema: { properties: Record<string, object> } }[];
  expect(form).toMatchObject({
    ...{ mode: "form", sessionId: id },
    message: "everything asks:\nPlease provide inputs for the following fields:",
    requestedSchema: {
      required: ["name"],
      properties: {
        email: { type: "string", format: "email" },
        integer: { type: "integer", minimum: 1, maximum: 100, default: 42 },
        titledSingleSelectEnum: {
          type: "string",
          default: "hero-1",
          oneOf: [{ const: "hero-1", title: "Superman" }, {}, {}],
        },
        titledMultipleSelectEnum: { type: "array", minItems: 1, maxItems: 3, default: ["fish-1"] },
      },
    },
  });
  const result = () => JSON.stringify(server.requests.at(-1)?.messages.at(-1));
  expect(result()).toContain('\\"integer\\": 7');
  one.fillWith(() => ({ action: "accept", content: { ...content, integer: 700 } }));
  await one.say(id, "again");
  expect(result()).toContain("User declined");
  expect(JSON.stringify(one.updates(id))).toContain(
    "everything asks for input, and was declined: Integer must be a whole number from 1 to 100",
  );
  one.fillWith(() => ({ action: "cancel" }));
  await one.say(id, "once more");
  expect(result()).toContain("User cancelled");
});

test("an editor without forms is asked about a form as it stands; one that must be typed into is declined and told", async () => {
  const call = { calls: [mcp("test", "greet")] };
  const { workspace, server } = await serve([call, { text: "one" }, call, { text: "two" }]);
  writeSettings(workspace, { mcpServers: { test: testServer("rich") } });
  const one = await editor(workspace, auto);
  const id = await one.open();
  await one.say(id, "go");
  expect(one.forms).toEqual([]);
  expect(JSON.stringify(server.requests.at(-1)?.messages.at(-1))).toContain("no name");
  expect(JSON.stringify(one.updates(id))).toContain(
    "test asks for input, and was declined: this editor shows no forms",
  );
});
