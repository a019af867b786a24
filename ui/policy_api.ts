/**
 * The part of the HTTP client that reads and changes policy, schedules, the decisions log and the stop switch. A change is a command to an actor:
 * it is either carried out when the answer comes, or accepted and followed by its id. Proven by `store/policy_test.ts`.
 */
import type {
  AuditList,
  AuditVerdict,
  BypassList,
  CommandStatus,
  DeadLetterList,
  DeviceLink,
  EffectsState,
  ExplainAnswer,
  ExplainRequest,
  GateSettings,
  GroupInput,
  GroupList,
  LintList,
  OrderRequest,
  PreviewAnswer,
  ProfileChange,
  ProfileInput,
  ProfileList,
  RuleInput,
  RuleList,
  RuleOffers,
  ScheduleList,
  ToolList,
  UserInput,
  UserView,
} from "../edge/api.ts";

/** How a change went: `settled` means carried out; otherwise ask `command` later. `id` names what was made. */
export interface Change {
  readonly command: string;
  readonly id?: string | undefined;
  readonly settled: boolean;
}

/** Every call rejects with `ApiFailure`. */
export interface PolicyApi {
  rules(): Promise<RuleList>;
  groups(): Promise<GroupList>;
  tools(): Promise<ToolList>;
  lint(): Promise<LintList>;
  profiles(): Promise<ProfileList>;
  bypasses(): Promise<BypassList>;
  schedules(): Promise<ScheduleList>;
  effects(): Promise<EffectsState>;
  gate(): Promise<GateSettings>;
  explain(request: ExplainRequest): Promise<ExplainAnswer>;
  preview(rule: RuleInput): Promise<PreviewAnswer>;
  /** The rules that *always* may make of an item. */
  offers(item: string): Promise<RuleOffers>;
  /** A page of the log, newest first: the latest, or those before or after an entry. */
  audit(range: { readonly before?: number; readonly after?: number }): Promise<AuditList>;
  verify(): Promise<AuditVerdict>;
  command(id: string): Promise<CommandStatus>;
  createRule(rule: RuleInput): Promise<Change>;
  updateRule(id: string, rule: RuleInput): Promise<Change>;
  deleteRule(id: string): Promise<Change>;
  orderRules(order: OrderRequest): Promise<Change>;
  createGroup(group: GroupInput): Promise<Change>;
  updateGroup(id: string, group: GroupInput): Promise<Change>;
  duplicateGroup(id: string, group: GroupInput): Promise<Change>;
  deleteGroup(id: string): Promise<Change>;
  createProfile(profile: ProfileInput): Promise<Change>;
  updateProfile(id: string, changes: ProfileChange): Promise<Change>;
  deleteProfile(id: string): Promise<Change>;
  /** Gives a conversation another profile. */
  chooseProfile(conversation: string, profile: string): Promise<Change>;
  setGate(settings: GateSettings): Promise<Change>;
  revokeBypass(id: string): Promise<Change>;
  cancelSchedule(id: string): Promise<Change>;
  revert(seq: number): Promise<Change>;
  /** Messages that were given up and that nobody settled. */
  deadLetters(): Promise<DeadLetterList>;
  settleLetter(id: string, how: "retry" | "discard"): Promise<Change>;
  createUser(user: UserInput): Promise<Change>;
  updateUser(id: string, user: UserInput): Promise<Change>;
  removeUser(id: string): Promise<Change>;
  /** A one-time link that signs somebody in as this person. */
  linkUser(id: string): Promise<DeviceLink>;
  suspendEffects(): Promise<Change>;
  resumeEffects(): Promise<Change>;
}

/** How this part asks the server. */
export interface Calls {
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  change(method: string, path: string, body?: unknown): Promise<Change>;
}

/** Entries of the log a page. */
export const AUDIT_PAGE = 200;

/** A change that the server makes itself, with its answer. */
const carriedOut = (id: string): Change => ({ command: "", id, settled: true });

/** Builds the part. */
export function policyApi({ call, change }: Calls): PolicyApi {
  const id = encodeURIComponent;
  return {
    rules: () => call("GET", "/rules"),
    groups: () => call("GET", "/groups"),
    tools: () => call("GET", "/tools"),
    lint: () => call("GET", "/rules/lint"),
    profiles: () => call("GET", "/profiles"),
    bypasses: () => call("GET", "/bypasses"),
    schedules: () => call("GET", "/schedules"),
    effects: () => call("GET", "/effects"),
    gate: () => call("GET", "/gate"),
    explain: (request) => call("POST", "/rules/explain", request),
    preview: (rule) => call("POST", "/rules/preview", { rule }),
    offers: (item) => call("GET", `/inbox/${id(item)}/rules`),
    audit: ({ before, after }) => {
      const range = before === undefined ? "" : `&before=${before}`;
      const known = after === undefined ? "" : `&after=${after}`;
      return call("GET", `/audit?order=desc${range}${known}&limit=${AUDIT_PAGE}`);
    },
    verify: () => call("GET", "/audit/verify"),
    command: (command) => call("GET", `/commands/${id(command)}`),
    createRule: (rule) => change("POST", "/rules", rule),
    updateRule: (rule, body) => change("PUT", `/rules/${id(rule)}`, body),
    deleteRule: (rule) => change("DELETE", `/rules/${id(rule)}`),
    orderRules: (order) => change("POST", "/rules/order", order),
    createGroup: (group) => change("POST", "/groups", group),
    updateGroup: (group, body) => change("PUT", `/groups/${id(group)}`, body),
    duplicateGroup: (group, body) => change("POST", `/groups/${id(group)}/duplicate`, body),
    deleteGroup: (group) => change("DELETE", `/groups/${id(group)}`),
    createProfile: (profile) => change("POST", "/profiles", profile),
    updateProfile: (profile, changes) => change("PATCH", `/profiles/${id(profile)}`, changes),
    deleteProfile: (profile) => change("DELETE", `/profiles/${id(profile)}`),
    chooseProfile: (chat, profile) => change("PUT", `/conversations/${id(chat)}/profile`, { profile }),
    setGate: (settings) => change("PUT", "/gate", settings),
    revokeBypass: (bypass) => change("DELETE", `/bypasses/${id(bypass)}`),
    cancelSchedule: (schedule) => change("DELETE", `/schedules/${id(schedule)}`),
    revert: (seq) => change("POST", `/audit/${seq}/revert`),
    deadLetters: () => call("GET", "/dead-letters?state=open"),
    settleLetter: (letter, how) => change("POST", `/dead-letters/${id(letter)}/${how}`),
    createUser: async (user) => carriedOut((await call<UserView>("POST", "/users", user)).id),
    updateUser: async (user, body) =>
      carriedOut((await call<UserView>("PUT", `/users/${id(user)}`, body)).id),
    async removeUser(user) {
      await call("DELETE", `/users/${id(user)}`);
      return carriedOut(user);
    },
    linkUser: (user) => call("POST", `/users/${id(user)}/link`),
    suspendEffects: () => change("POST", "/effects/suspend"),
    resumeEffects: () => change("POST", "/effects/resume"),
  };
}
