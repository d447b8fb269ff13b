/** Shows a list on the running screen; it takes the keys until an item is picked or it is closed. */

import {
  chosenItem,
  onPickerKey,
  type Picker,
  type Picking,
  pickerOf,
  pickerSize,
  withQuery,
} from "../dialogs/picker.ts";
import type { Key } from "../input/keys.ts";
import type { PickRequest } from "../ports/sessions.ts";
import { type App, draw } from "./app.ts";

/** Shows the list until an item is picked; undefined when it was closed. */
export function pick(app: App, request: PickRequest): Promise<string | undefined> {
  app.picking?.settle(undefined);
  return new Promise((resolve) => {
    const settle = (id: string | undefined) => {
      app.picking = undefined;
      app.deciding = true;
      if (!app.state) app.display.screen.clear();
      // An Esc that closed a list is not the first half of Esc Esc.
      else app.state = { ...app.state, pressed: { ctrlC: 0, escape: 0, any: 0 } };
      draw(app);
      resolve(id);
    };
    const picking: Picking = {
      request,
      picker: listOf(request, false),
      wide: false,
      previews: new Map(),
      settle,
    };
    app.picking = picking;
    show(app, picking, picking.picker);
    app.terminal.guard();
    app.feed();
  });
}

function listOf({ wider, ...request }: PickRequest, wide: boolean): Picker {
  if (!wide || !wider) return pickerOf({ ...request, other: wider?.label });
  return pickerOf({ ...request, title: wider.title, items: wider.items(), other: wider.back });
}

function show(app: App, picking: Picking, picker: Picker): void {
  const { request, previews } = picking;
  const item = chosenItem(picker);
  if (item && request.preview && !previews.has(item.id)) previews.set(item.id, request.preview(item.id));
  picking.picker = { ...picker, preview: item && previews.get(item.id) };
  draw(app);
}

/** Handles a key while a list is open. */
export function onPickingKey(app: App, picking: Picking, key: Key): void {
  const reaction = onPickerKey(picking.picker, key, pickerSize(app.terminal.size()));
  if (reaction?.type === "changed") show(app, picking, reaction.picker);
  else if (reaction?.type === "other") widen(app, picking);
  else if (reaction) picking.settle(reaction.type === "picked" ? reaction.item.id : undefined);
  else if (key.type === "key" && key.key === "ctrl-z") process.kill(0, "SIGTSTP");
  else if (key.type === "key" && key.key === "ctrl-l") app.display.screen.clear();
}

/** Shows the wider list, searched by the same words. */
function widen(app: App, picking: Picking): void {
  picking.wide = !picking.wide;
  show(app, picking, withQuery(listOf(picking.request, picking.wide), picking.picker.query));
}
