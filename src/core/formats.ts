/** The formats that options and slash commands accept. */

/** Output formats of a headless run. */
export const outputFormats = ["text", "json", "stream-json"] as const;
/** Input formats of a headless run: the command line and stdin, or lines of JSON. */
export const inputFormats = ["text", "stream-json"] as const;
/** Export formats of a session. */
export const exportFormats = ["md", "html", "json"] as const;

export type ExportFormat = (typeof exportFormats)[number];
