/** The options that a line of a file of tasks may have, by their keys there. Pure. */

import { isOwn } from "./arguments.ts";
import { allOptions, type FlagsOf, type NamedOption } from "./options.ts";

/** In the order of the help. */
export const taskOptions: readonly NamedOption[] = allOptions.filter(({ task }) => task);

/** `max_turns` for `--max-turns`. */
export function taskKey({ name }: NamedOption): string {
  return name.replaceAll("-", "_");
}

/** Returns the values that a batch's command line gives every task, by key and in the form of the file. */
export function taskDefaults(flags: FlagsOf<"batch">): Record<string, string | number | boolean | object> {
  const values: Readonly<Record<string, unknown>> = flags;
  const found = taskOptions.flatMap((option) => {
    if (isOwn(option, "fix")) return [];
    const each = allOptions.find(({ eachTask }) => eachTask === option.field);
    const value = values[each?.field ?? option.field];
    const isGiven = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
    return isGiven ? [[taskKey(option), option.kind === "duration" ? `${value}ms` : value]] : [];
  });
  return Object.fromEntries(found);
}
