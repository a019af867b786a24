/**
 * The closed catalogue of operations that actors may put in a commit, and the one function that turns them into statements. Which kind may
 * use which is part of each declaration. Proven by `ops_test.ts`.
 */
import type * as z from "zod";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Statement } from "./db.ts";
import type { OpContext, OpSpec } from "./op.ts";
import { approvalOps } from "./ops/approval.ts";
import { callOps } from "./ops/calls.ts";
import { conversationOps } from "./ops/conversation.ts";
import { itemOps } from "./ops/items.ts";
import { pushOps } from "./ops/push.ts";
import { schedulerOps } from "./ops/scheduler.ts";
import { toolboxOps } from "./ops/toolbox.ts";
import { zulipOps } from "./ops/zulip.ts";

/** Every operation. */
export const opCatalogue = {
  ...approvalOps,
  ...callOps,
  ...conversationOps,
  ...itemOps,
  ...pushOps,
  ...schedulerOps,
  ...toolboxOps,
  ...zulipOps,
} as const;

/** The name of an operation. */
export type OpName = keyof typeof opCatalogue;

/** An operation as an actor writes it: `{ op: "call.move", callId, to: "executing" }`. */
export type Op = { [K in OpName]: { readonly op: K } & z.input<(typeof opCatalogue)[K]["schema"]> }[OpName];

/** Turns one operation into statements, or says why this actor may not have it. */
export function opStatements(input: unknown, context: OpContext): Result<Statement[]> {
  const name = typeof input === "object" && input !== null && "op" in input ? String(input.op) : "";
  const specs: Readonly<Record<string, OpSpec>> = opCatalogue;
  const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
  if (!spec) return fail("unknown_type", `operation "${name}" is not in the catalogue`);
  if (!spec.by.includes(context.kind)) {
    return fail("not_allowed", `${context.ref} may not use operation "${name}"`);
  }
  const parsed = spec.schema.safeParse(input);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return fail(
      "bad_request",
      `operation "${name}": ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not valid"}`,
    );
  }
  return ok(spec.statements(parsed.data, context));
}
