/** The model that a session talks to: its log says which one, and here is what was opened for it. */

import type { OtherModels } from "../agent/agent.ts";
import type { EventLog, Model } from "../core/ports.ts";
import { currentModel } from "../core/questions.ts";

/** A model, and those of its provider that may write summaries for it. */
export type OpenedModel = { model: Model; summaries: OtherModels };

export type OpenedModels = {
  current(): OpenedModel;
  /** From the `model_changed` event on that names its card, it is the current one. */
  add(opened: OpenedModel): void;
};

/** Kept by the id of the card: the log may since have learned that the window of the same model is smaller. */
export function openedModels(log: EventLog, first: OpenedModel): OpenedModels {
  const opened = new Map([[first.model.card.id, first]]);
  return {
    current() {
      const { id } = currentModel(log.events()).model;
      const found = opened.get(id);
      if (!found) throw new Error(`the log goes on with ${id}, which was not opened`);
      return found;
    },
    add(another) {
      opened.set(another.model.card.id, another);
    },
  };
}
