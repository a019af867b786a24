/**
 * One row of `tool_calls` as the toolbox reads it (`toolbox.call` of `store/reads/toolbox.ts`).
 */
import * as z from "zod";
import { callStates } from "../../lib/call_state.ts";
import type { GatewayContext } from "../../runtime/actor.ts";
import { Described, type ToolJudge } from "../protocol/tools.ts";

const CallRow = z.object({
  callId: z.string(),
  conversation: z.string(),
  turnId: z.string(),
  tool: z.string(),
  arguments: z.string(),
  state: z.enum(callStates),
  digest: z.string().nullable(),
  described: z.string().nullable().transform((text) =>
    text === null ? undefined : Described.parse(JSON.parse(text))
  ),
  triggeredBy: z.enum(["person", "schedule"]),
  profile: z.string().nullable(),
  source: z.string().nullable(),
  channelId: z.int().nullable(),
});
export type CallRow = z.infer<typeof CallRow>;

/** Reads a call; undefined when there is none. Rejects when the database cannot be asked. */
export async function readCall(context: GatewayContext, callId: string): Promise<CallRow | undefined> {
  const row = await context.read("toolbox.call", { callId });
  return row === null || row === undefined ? undefined : CallRow.parse(row);
}

const Source = z.enum(["web", "channel", "dm"]);

/** What policy needs to know about the call's conversation, where its row exists. */
export function contextOf(call: CallRow): ToolJudge["context"] {
  const source = Source.safeParse(call.source);
  if (call.profile === null || !source.success) return undefined;
  return {
    profile: call.profile,
    source: source.data,
    ...(call.channelId === null ? {} : { channelId: call.channelId }),
  };
}
