/**
 * The actors of this product as the runtime needs them: which bundle or program each kind is, what its process may do, and which secrets it
 * is given. Each gateway gets exactly the rights of its configuration and no environment. Proven by `composition_test.ts`.
 */
import { fileURLToPath } from "node:url";
import { modelHosts, type ModelsConfig } from "../actors/models/config.ts";
import { type PushConfig, pushHosts, type VapidKey } from "../actors/push/config.ts";
import { ToolboxConfig, toolboxPermissions } from "../actors/toolbox/config.ts";
import type { ZulipConfig } from "../actors/zulip/config.ts";
import type { Config, ZulipAccount } from "../config.ts";
import { providersOf } from "./providers.ts";
import type { GatewayKind, KindSpec, PureKind } from "../runtime/vocabulary.ts";

const path = (relative: string) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

/** What the kinds depend on besides the configuration. */
export interface KindOptions {
  /** Variables by which Deno itself, in a gateway's process, is told to export telemetry; the gateway's code sees none. */
  readonly gatewayEnv?: Readonly<Record<string, string>>;
  /** Whether an earlier start has told which tools there are. Default: no. */
  readonly knowsTools?: boolean;
  /** The key for push messages. Without it nobody is pushed to. */
  readonly vapidKey?: VapidKey | undefined;
}

/** Every kind, in start order. `inboxUrl` is where people open the inbox. */
export function actorKinds(
  config: Config,
  inboxUrl: string,
  { gatewayEnv = {}, knowsTools = false, vapidKey }: KindOptions = {},
): KindSpec[] {
  const kinds = [
    pure("approval", "core"),
    pure("scheduler", "core"),
    toolbox(config, knowsTools),
    models(config),
    ...(vapidKey ? [push(config, vapidKey, inboxUrl)] : []),
    ...(config.zulip ? [zulip(config, config.zulip, inboxUrl)] : []),
    { ...pure("conversation", "shared"), uses: ["models", "toolbox"] },
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

/**
 * Tools of MCP servers are only known while the servers run, so with them the toolbox always does. Without them it runs while it is needed, and
 * once at each start, to say which tools there are and whether there is a sandbox.
 */
function toolbox(config: Config, knowsTools: boolean): GatewayKind {
  const own = ToolboxConfig.parse({
    workspaces: workspacesOf(config),
    mcpServers: config.file.mcpServers,
    timeZone: config.timeZone,
  });
  const kind = gateway("toolbox", [...toolboxPermissions(own), "--ignore-env"], own);
  if (own.mcpServers.length > 0) return kind;
  return { ...kind, start: "demand", introduce: knowsTools ? "soon" : "now" };
}

export function modelsConfig({ anthropic, openai }: Config): ModelsConfig {
  return { anthropic, openai, ollama: {}, idleLimitMs: 300_000, rehearsalPaceMs: 12 };
}

function models(config: Config): GatewayKind {
  const own = modelsConfig(config);
  const kind = gateway("models", [`--allow-net=${modelHosts(own).join(",")}`, "--ignore-env"], own);
  return { ...kind, start: "demand" };
}

function zulip(config: Config, account: ZulipAccount, inboxUrl: string): GatewayKind {
  const { editIntervalMs, editsPerMinute, settleAfterMs } = config.file.zulip;
  const own: ZulipConfig = {
    ...account,
    channels: [...config.zulipChannels],
    allowedUserIds: [...config.zulipAllowedUserIds],
    dms: config.zulipDms,
    inboxUrl,
    providers: providersOf(modelsConfig(config)),
    defaultModel: config.model,
    buttons: config.file.zulip.buttons ?? true,
    editIntervalMs: editIntervalMs ?? 1_500,
    editsPerMinute: editsPerMinute ?? 100,
    settleAfterMs: settleAfterMs ?? 60_000,
  };
  return gateway("zulip", [`--allow-net=${hostOf(account.site)}`, "--ignore-env"], own);
}

/** Whom a push service may ask is the address of the inbox, where that is one for others. It runs while there is something to send. */
function push({ pushTestOrigin: testOrigin }: Config, key: VapidKey, inboxUrl: string): GatewayKind {
  const contact = inboxUrl.startsWith("https://") ? inboxUrl : "mailto:nobody@callboard.invalid";
  const own: PushConfig = { key, contact, testOrigin };
  const kind = gateway("push", [`--allow-net=${pushHosts(own).join(",")}`, "--ignore-env"], own);
  return { ...kind, start: "demand" };
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
