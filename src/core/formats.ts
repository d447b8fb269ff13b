/** The formats that people choose from, in options and slash commands. */

/** Output formats of a headless run. */
export const outputFormats = ["text", "json", "stream-json"] as const;
/** Where a headless run takes its messages from: the command line and stdin, or lines of JSON. */
export const inputFormats = ["text", "stream-json"] as const;
/** The files that a session is exported as. */
export const exportFormats = ["md", "html", "json"] as const;

export type ExportFormat = (typeof exportFormats)[number];
