/** How often rules and bypasses decided something: limits end them, and people see what their rules do. */
import type { Verdict } from "../../../lib/policy/judge.ts";
import type { Draft } from "../draft.ts";

/** Counts a use of what decided. */
export function countUse(draft: Draft, verdict: Verdict): void {
  const used = <T extends { readonly id: string; readonly uses: number }>(list: readonly T[]) =>
    list.map((entry) => entry.id === verdict.ref ? { ...entry, uses: entry.uses + 1 } : entry);
  if (verdict.by === "rule" && draft.state.rules) {
    draft.op({ op: "rule.used", id: verdict.ref });
    draft.patch({ rules: used(draft.state.rules) });
  }
  if (verdict.by === "bypass") {
    draft.op({ op: "bypass.used", id: verdict.ref });
    draft.patch({ bypasses: used(draft.state.bypasses) });
  }
}
