/**
 * A change of policy in a signed-in person's name, as a command to approval, and its answer. 200: carried out. 202: not answered yet, ask
 * `/api/commands/:id`. 503: the supervisor is away and nothing was sent. Proven by `edge/policy_test.ts`.
 */
import type { Context } from "hono";
import type { PolicyCommand } from "../actors/protocol/approval.ts";
import type { CommandAccepted, CommandDone, CommandStatus } from "./api.ts";
import { command } from "./commands.ts";
import type { Edge, EdgeEnv } from "./deps.ts";
import { statusOf, toApiCode } from "./errors.ts";
import { given } from "./views.ts";

/** Sends the change to approval as this person's; `reverts` is the entry of the log that it takes back. */
export async function change(
  c: Context<EdgeEnv>,
  edge: Edge,
  wanted: PolicyCommand["command"],
  reverts?: number,
): Promise<Response> {
  const { viewer, userName, deviceId } = c.get("session");
  const by = { userId: viewer.userId, role: viewer.role, name: userName, surface: "web", device: deviceId };
  const payload = { by, command: wanted, ...given("reverts", reverts) };
  return answer(c, await command(edge, { to: "approval", type: "approval.policy", payload }));
}

/** A command's state as an answer. */
export function answer(c: Context<EdgeEnv>, status: CommandStatus): Response {
  switch (status.state) {
    case "pending":
      return c.json({ command: status.command } satisfies CommandAccepted, 202);
    case "done":
      return c.json({ command: status.command, ...given("id", status.id) } satisfies CommandDone, 200);
    case "failed": {
      const { code, message } = status.error ?? { code: "conflict", message: "The change was refused" };
      return c.json({ error: { code, message } }, statusOf(toApiCode(code)));
    }
    default:
      return status.state satisfies never;
  }
}
