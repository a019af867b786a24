/**
 * Policy as the page knows it: the lists that approval and the scheduler own, read when a screen opens and again whenever the stream says that they
 * changed, and the changes asked for from here. Whether everything is stopped is read at sign-in, for the banner. Proven by `policy_test.ts`.
 */
import type {
  BypassList,
  DeadLetterList,
  DeciderList,
  EffectsState,
  ExplainAnswer,
  ExplainRequest,
  GateSettings,
  GroupList,
  LintList,
  PreviewAnswer,
  ProfileList,
  RuleInput,
  RuleList,
  RuleOffers,
  ScheduleList,
  ToolList,
  UserList,
} from "../../edge/api.ts";
import type { Api } from "../api.ts";
import { type Asking, createAsking } from "./asking.ts";
import { type Changes, createChanges } from "./changes.ts";
import type { PolicyApi } from "../policy_api.ts";
import { createReading, type Reading } from "./reading.ts";

/** The lists, the questions and the changes. */
export interface PolicyStore {
  readonly rules: Reading<RuleList>;
  readonly groups: Reading<GroupList>;
  readonly tools: Reading<ToolList>;
  readonly lint: Reading<LintList>;
  readonly profiles: Reading<ProfileList>;
  readonly bypasses: Reading<BypassList>;
  readonly schedules: Reading<ScheduleList>;
  readonly effects: Reading<EffectsState>;
  readonly gate: Reading<GateSettings>;
  /** Everybody; for the owner alone. */
  readonly people: Reading<UserList>;
  readonly deadLetters: Reading<DeadLetterList>;
  readonly explain: Asking<ExplainRequest, ExplainAnswer>;
  readonly preview: Asking<RuleInput, PreviewAnswer>;
  readonly offers: Asking<string, RuleOffers>;
  /** Who else may decide an item. */
  readonly deciders: Asking<string, DeciderList>;
  readonly changes: Changes;
  /** What `changes` runs. */
  readonly commands: PolicyApi;
  /** The stream says that policy changed. */
  policyChanged(): void;
  schedulesChanged(): void;
  clear(): void;
}

/** Builds the store. `wait` resolves after so many milliseconds. */
export function createPolicy(api: Api, wait: (ms: number) => Promise<void>): PolicyStore {
  const lists = {
    rules: createReading(() => api.rules()),
    groups: createReading(() => api.groups()),
    tools: createReading(() => api.tools()),
    lint: createReading(() => api.lint()),
    profiles: createReading(() => api.profiles()),
    bypasses: createReading(() => api.bypasses()),
    schedules: createReading(() => api.schedules()),
    effects: createReading(() => api.effects()),
    gate: createReading(() => api.gate()),
    people: createReading(() => api.users()),
    deadLetters: createReading(() => api.deadLetters()),
  };
  const all: readonly Pick<Reading<unknown>, "refresh" | "clear">[] = Object.values(lists);
  const refresh = async () => void await Promise.all(all.map((list) => list.refresh()));
  const changes = createChanges(api, { wait, onDone: refresh });
  return {
    ...lists,
    explain: createAsking((request) => api.explain(request)),
    preview: createAsking((rule) => api.preview(rule)),
    offers: createAsking((item) => api.offers(item)),
    deciders: createAsking((item) => api.deciders(item)),
    changes,
    commands: api,
    policyChanged: () => void refresh(),
    schedulesChanged: () => void lists.schedules.refresh(),
    clear() {
      for (const list of all) list.clear();
      changes.clear();
    },
  };
}
