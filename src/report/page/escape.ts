/** Text that came from a model, a tool or a user, made safe to stand in a page. Pure. */

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** As text or as the value of an attribute in quotes. Control codes are shown, not sent. */
export function html(text: string | number): string {
  return String(text)
    .replace(/[&<>"']/g, (character) => entities[character] ?? "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd");
}

/** As JSON inside a script element: no text in it can end the element. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}
