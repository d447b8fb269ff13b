/** Encloses untrusted text for the model in tags that the text cannot close. Pure. */

/** The tags that we write. */
const closing =
  "environment|project_instructions|skills|stdin|ran_in_shell|reminder|check|web_page|attached|mcp_prompt|web_search";
/** Tags that could pass for ours; `<stdin>` is left out because Python names its input so. */
const opening = "environment|project_instructions|ran_in_shell|reminder|web_page|mcp_prompt|web_search";
const ours = new RegExp(`<(?=\\s*/\\s*(?:${closing})\\b|\\s*(?:${opening})\\b)`, "gi");

/** Puts text between tags; a tag of ours in it gets a backslash. `attributes`: as written in the tag. */
export function enclosed(tag: string, text: string, attributes = ""): string {
  return `<${tag}${withoutTags(attributes)}>\n${withoutTags(text)}\n</${tag}>`;
}

/** Encloses the text of an instruction file, with its path. */
export function withInstructionTags({ path, text }: { path: string; text: string }): string {
  return enclosed("project_instructions", text.trim(), ` path=${JSON.stringify(path)}`);
}

/** Escapes our tags with a backslash in untrusted text that gets no tag of its own. */
export function withoutTags(text: string): string {
  return text.replace(ours, "<\\");
}

/** Words a command that the user ran with `!`, and its output, for the model. */
export function shellText(command: string, output: string): string {
  return enclosed("ran_in_shell", `$ ${command}\n\n${output}`);
}

/** Returns the output in a text that `shellText` made for `command`. */
export function shellOutput(text: string, command: string): string {
  // Before the output: the tag, the command's lines and a blank line; after it: the closing tag.
  return text
    .split("\n")
    .slice(2 + command.split("\n").length, -1)
    .join("\n");
}
