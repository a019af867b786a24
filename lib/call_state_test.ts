/**
 * The list of transitions is what keeps the writers of `tool_calls` out of each other's way.
 */
import assert from "node:assert/strict";
import { callStates, isFinal, sourcesOf, transitions } from "./call_state.ts";

Deno.test("a conversation moves no call: it proposes, and asks for a cancel", () => {
  assert.deepEqual(transitions.filter(({ by }) => by === "conversation"), []);
});

Deno.test("every state but the first can be reached, and five are final", () => {
  const reached = new Set<string>(["proposed", ...transitions.map(({ to }) => to)]);

  assert.deepEqual(callStates.filter((state) => !reached.has(state)), []);
  assert.deepEqual(callStates.filter(isFinal), ["finished", "failed", "rejected", "cancelled", "expired"]);
});

Deno.test("a call that has not been let through cannot be executed", () => {
  assert.deepEqual(sourcesOf("executing", "toolbox"), ["judged", "decided"]);
  assert.deepEqual(sourcesOf("executing", "approval"), []);
  assert.deepEqual(sourcesOf("executing", "conversation"), []);
});

Deno.test("any call can be cancelled by whoever has it in hand", () => {
  const cancellable = [...sourcesOf("cancelled", "toolbox"), ...sourcesOf("cancelled", "approval")];

  assert.deepEqual(cancellable.toSorted(), callStates.filter((state) => !isFinal(state)).toSorted());
  assert.equal(new Set(cancellable).size, cancellable.length);
});
