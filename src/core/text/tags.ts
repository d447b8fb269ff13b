/** Text of others in a message to the model, between tags that it cannot close. Pure. */

/** The tags that we write. */
const closing = "environment|project_instructions|stdin|ran_in_shell|reminder|check";
/** Those that would pass for words of ours; `<stdin>` is also what Python calls its input. */
const opening = "environment|project_instructions|ran_in_shell|reminder";
const ours = new RegExp(`<(?=\\s*/\\s*(?:${closing})\\b|\\s*(?:${opening})\\b)`, "gi");

/** The text between a tag and its end; a tag of ours in it gets a backslash. `attributes`: as they stand in the tag. */
export function enclosed(tag: string, text: string, attributes = ""): string {
  return `<${tag}${withoutTags(attributes)}>\n${withoutTags(text)}\n</${tag}>`;
}

/** Text of others that stands without a tag of its own: those of ours in it get a backslash. */
export function withoutTags(text: string): string {
  return text.replace(ours, "<\\");
}

/** Words a command that the user ran with `!`, and its output, for the model. */
export function shellText(command: string, output: string): string {
  return enclosed("ran_in_shell", `$ ${command}\n\n${output}`);
}

/** Returns the output in a text that `shellText` made for `command`. */
export function shellOutput(text: string, command: string): string {
  // The tag, the command's lines and a blank line before it; the end of the tag behind it.
  return text
    .split("\n")
    .slice(2 + command.split("\n").length, -1)
    .join("\n");
}
