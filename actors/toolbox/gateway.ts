/**
 * The toolbox gateway: opens the sandbox and the tools, says what it offers, and gives each message to whom it concerns. Calls of one
 * conversation are handled in order, those of different ones at once; a cancel overtakes. Proven by `gateway_test.ts`.
 */
import type { Clock } from "../../lib/clock.ts";
import type { Delivery, Effects, Envelope, Gateway, GatewayContext } from "../../runtime/actor.ts";
import { QuestionAnswered } from "../protocol/approval.ts";
import { RequestFailed } from "../protocol/conversation.ts";
import { ScheduleAnswer } from "../protocol/scheduler.ts";
import { ToolCancel, ToolPropose, ToolRedescribe, ToolRun, type ToolsKnown } from "../protocol/tools.ts";
import { fromScheduler } from "./answers.ts";
import { Calls } from "./calls.ts";
import { ToolboxConfig } from "./config.ts";
import type { Describer } from "./describe_call.ts";
import { WorkspaceFiles } from "./files/workspace_files.ts";
import { openWorkspaces } from "./files/workspaces.ts";
import { McpServers } from "./mcp/servers.ts";
import { Registry } from "./registry.ts";
import { writeEtc } from "./sandbox/bwrap.ts";
import { probeSandbox } from "./sandbox/probe.ts";
import { openSandbox } from "./sandbox/sandbox.ts";
import { builtinTools } from "./tools/builtin.ts";

/** What the gateway takes from outside. */
export interface ToolboxOptions {
  readonly clock: Clock;
  /** In [0, 1): spreads the restarts of MCP servers. */
  readonly random: () => number;
}

interface Open {
  readonly calls: Calls;
  readonly servers: McpServers;
}

/** Makes the gateway. */
export function createToolbox({ clock, random }: ToolboxOptions): Gateway {
  let open: Open | undefined;

  async function start(context: GatewayContext): Promise<void> {
    const config = ToolboxConfig.parse(context.config);
    const workspaces = await openWorkspaces(config.workspaces);
    await writeEtc(workspaces.etc);
    const settings = { ...config, etc: workspaces.etc, clock };
    const probe = await probeSandbox(settings, await workspaces.folderOf("probe"));
    if (probe.mode === "none") context.log("error", probe.detail);
    const sandbox = openSandbox({ ...settings, mode: probe.mode });

    const registry = new Registry(() => void announce());
    const announce = async () => {
      const payload: ToolsKnown = { tools: registry.known(), sandbox: probe.mode };
      const send = { to: "approval", type: "tools.known", payload, replaces: "toolbox/known" };
      const committed = await context.commit({ send: [send] });
      if (!committed.ok) {
        context.log("warn", "tools could not be announced", { why: committed.error.message });
      }
    };
    const servers = new McpServers({
      servers: config.mcpServers,
      context,
      registry,
      clock,
      random,
      place: {
        mode: probe.mode,
        bwrap: config.bwrap,
        bash: config.bash,
        etc: workspaces.etc,
        workspaces: workspaces.root,
        folderOf: workspaces.folderOf,
      },
    });
    const describer: Describer = {
      find: (name) => registry.find(name),
      known: () => servers.tried(),
      mode: probe.mode,
    };
    open = { calls: new Calls({ context, describer, clock, placeOf: workspaces.placeOf }), servers };
    const files = new WorkspaceFiles(sandbox);
    registry.set("builtin", builtinTools({ files, sandbox, clock, timeZone: config.timeZone }));
    servers.start();
  }

  async function handle(delivery: Delivery): Promise<Effects | void> {
    if (!open) throw new TypeError("The toolbox was not started");
    const { calls } = open;
    const { type, payload } = delivery.message;
    switch (type) {
      case "tool.propose":
        return await calls.propose(delivery, ToolPropose.parse(payload));
      case "tool.redescribe":
        return await calls.redescribe(ToolRedescribe.parse(payload));
      case "tool.run":
        return await calls.run(delivery, ToolRun.parse(payload));
      case "tool.cancel":
        return await calls.cancel(delivery, ToolCancel.parse(payload));
      case "question.answered":
        return await calls.answeredByPerson(delivery, QuestionAnswered.parse(payload));
      case "schedule.answer": {
        const answer = ScheduleAnswer.parse(payload);
        return await calls.answered(delivery, answer.requestId, fromScheduler(answer));
      }
      case "request.failed":
        return await calls.requestFailed(delivery, RequestFailed.parse(payload));
      default:
        throw new TypeError(`The toolbox got a "${type}"`);
    }
  }

  return {
    start,
    keyOf,
    handle,
    stop: async () => {
      await open?.servers.stop();
      open = undefined;
    },
  };
}

/** The conversation where the message tells it, else the call: answers need no order among themselves. */
function keyOf({ from, payload }: Envelope): string {
  if (from.startsWith("conversation/")) return from.slice("conversation/".length);
  if (typeof payload !== "object" || payload === null) return from;
  if ("conversation" in payload && typeof payload.conversation === "string") return payload.conversation;
  return "callId" in payload && typeof payload.callId === "string" ? `call/${payload.callId}` : from;
}
