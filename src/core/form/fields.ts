/** Fields of forms that a person fills in. Types only. */

/** A possible value of a field, and what to show for it. */
export type FormChoice = { value: string; title: string };

/** A field of a form. All words are fit to be shown. `initial`: what stands there before the person changes it. */
export type FormField = {
  key: string;
  title: string;
  description: string;
  required: boolean;
  initial: FormEntry;
} & (
  | { type: "text"; minLength?: number; maxLength?: number; format?: TextFormat }
  | { type: "number" | "integer"; minimum?: number; maximum?: number }
  | { type: "yes_no" }
  | { type: "one"; choices: FormChoice[] }
  | { type: "some"; choices: FormChoice[]; minItems?: number; maxItems?: number }
);

export type TextFormat = "email" | "uri" | "date" | "date-time";
/** An entry of a person: a text, `true` or `false`, a value of a choice; or, for `some`, the values of the chosen. */
export type FormEntry = string | readonly string[];
export type FormValue = string | number | boolean | string[];
export type FormContent = Record<string, FormValue>;
