/**
 * The actors of this product as the runtime needs them: which bundle or program each kind is, what its process may do, and which secrets it
 * is given. Each gateway gets exactly the rights of its configuration and no environment. Proven by `composition_test.ts`.
 */
import { fileURLToPath } from "node:url";
import { modelHosts, type ModelsConfig } from "../actors/models/config.ts";
import { ToolboxConfig, toolboxPermissions } from "../actors/toolbox/config.ts";
import type { ZulipConfig } from "../actors/zulip/config.ts";
import type { Config, ZulipAccount } from "../config.ts";
import type { GatewayKind, KindSpec, PureKind } from "../runtime/vocabulary.ts";

const path = (relative: string) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

/**
 * Every kind, in start order. `inboxUrl` is where people open the inbox. `gatewayEnv`: variables by which Deno itself, in a gateway's
 * process, is told to export telemetry; the gateway's code sees none.
 */
export function actorKinds(
  config: Config,
  inboxUrl: string,
  gatewayEnv: Readonly<Record<string, string>> = {},
): KindSpec[] {
  const kinds = [
    pure("approval", "core"),
    pure("scheduler", "core"),
    toolbox(config),
    models(config),
    ...(config.zulip ? [zulip(config, config.zulip, inboxUrl)] : []),
    pure("conversation", "shared"),
  ];
  return kinds.map((kind) => kind.mode === "gateway" ? { ...kind, env: gatewayEnv } : kind);
}

/** The folder that holds one workspace a conversation; the database is never below it. */
export function workspacesOf(config: Config): string {
  return `${config.dataDir}/workspaces`;
}

function pure(kind: string, placement: PureKind["placement"]): PureKind {
  return { kind, mode: "pure", placement, entry: path(`build/actors/${kind}.js`) };
}

function toolbox(config: Config): GatewayKind {
  const own = ToolboxConfig.parse({
    workspaces: workspacesOf(config),
    mcpServers: config.file.mcpServers,
    timeZone: config.timeZone,
  });
  return gateway("toolbox", [...toolboxPermissions(own), "--ignore-env"], own);
}

function models(config: Config): GatewayKind {
  const own: ModelsConfig = {
    anthropic: config.anthropic,
    openai: config.openai,
    ollama: {},
    idleLimitMs: 300_000,
    rehearsalPaceMs: 12,
  };
  return gateway("models", [`--allow-net=${modelHosts(own).join(",")}`, "--ignore-env"], own);
}

function zulip(config: Config, account: ZulipAccount, inboxUrl: string): GatewayKind {
  const { editIntervalMs, editsPerMinute, settleAfterMs } = config.file.zulip;
  const own: ZulipConfig = {
    ...account,
    channels: [...config.zulipChannels],
    allowedUserIds: [...config.zulipAllowedUserIds],
    dms: config.zulipDms,
    inboxUrl,
    buttons: config.file.zulip.buttons ?? true,
    editIntervalMs: editIntervalMs ?? 1_500,
    editsPerMinute: editsPerMinute ?? 100,
    settleAfterMs: settleAfterMs ?? 60_000,
  };
  return gateway("zulip", [`--allow-net=${hostOf(account.site)}`, "--ignore-env"], own);
}

/**
 * Who may decide by a reaction: as configured, else those whom the bot obeys by name. When it obeys everybody, nobody decides by a
 * reaction unless the configuration says so.
 */
export function zulipApprovers(config: Config): "*" | readonly number[] {
  const { zulipAllowedUserIds: obeyed, file } = config;
  const approvers = file.zulip.approvers ?? obeyed;
  // Approval hears every reaction in the realm, so the name of all is spelled out.
  return approvers === "*" && obeyed.length > 0 ? obeyed : approvers;
}

function gateway(kind: string, flags: readonly string[], config: unknown): GatewayKind {
  return { kind, mode: "gateway", entry: path(`actors/${kind}/main.ts`), flags, config: () => config };
}

/** Host and port as `--allow-net` wants them; without a port any port of that host would be allowed. */
function hostOf(site: string): string {
  const url = new URL(site);
  return `${url.hostname}:${url.port || (url.protocol === "https:" ? 443 : 80)}`;
}
