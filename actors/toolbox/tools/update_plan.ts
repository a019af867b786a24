/**
 * `update_plan`: the model writes down its steps. The call itself is the record; nothing else happens. Proven by `tools_test.ts`.
 */
import * as z from "zod";
import { defineTool, type Tool } from "../tool.ts";

const Arguments = z.strictObject({
  items: z.array(z.strictObject({
    text: z.string().min(1).max(1_000),
    status: z.enum(["pending", "in_progress", "completed"]),
  })).min(1).max(100),
});

/** Builds the tool. */
export function updatePlan(): Tool {
  return defineTool({
    name: "update_plan",
    description: "Shows the user the plan: all steps with their status, at most one of them in progress.",
    class: "plan",
    idempotent: true,
    arguments: Arguments,
    describe: ({ items }) =>
      Promise.resolve({
        summary: `Plan with ${items.length} steps`,
        paths: [],
        outside: [],
        preview: { kind: "text", text: items.map(({ text, status }) => `[${status}] ${text}`).join("\n") },
        risk: "low",
      }),
    run: ({ items }) => {
      const done = items.filter((item) => item.status === "completed").length;
      return Promise.resolve({ ok: true, text: `Plan updated: ${done} of ${items.length} steps completed.` });
    },
  });
}
