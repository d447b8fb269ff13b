import { parseRows } from "./parse.js";

/** One object a row, with the names of the first row. Missing fields are empty. */
export function parseTable(text) {
  const [names = [], ...rows] = parseRows(text);
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? ""])));
}

/** The rows as text, fields quoted where they must be. */
export function formatRows(rows) {
  return rows.map((row) => `${row.map(formatField).join(",")}\n`).join("");
}

function formatField(field) {
  const text = String(field);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
