/**
 * Changes of people as entries of the decisions log: who was made, changed or removed by whom, with everything before and after. The rows are the edge's
 * and were committed with the message, so nothing here can refuse it. Proven by `edge/users_test.ts`.
 */
import type { PersonChanged } from "../../protocol/people.ts";
import type { Draft } from "../draft.ts";
import { identityOf } from "../items/items.ts";

/** Records a change. */
export function onPersonChanged(draft: Draft, { by, change, id, before, after }: PersonChanged): void {
  draft.record({
    kind: "people",
    actor: identityOf(by),
    surface: by.surface,
    device: by.device ?? null,
    decision: change,
    body: { id, before, after, by: by.name },
  });
}
