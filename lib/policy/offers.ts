/**
 * The rules that *always* may make of a call, narrowest first, each with its exact scope in words. Promises that none of them allows whatever a
 * shell, an interpreter or a wrapper runs, and that each one would allow this very call. Pure. Proven by `offers_test.ts`.
 */
import { ruleProblem, type RuleText } from "./check_rule.ts";
import { judge } from "./judge.ts";
import type { Call, Context, Rule } from "./rule.ts";
import { shellLine } from "./shell_line.ts";

/** One offer. */
export interface Offer {
  readonly label: string;
  readonly rule: RuleText;
}

/** How many words of a command may be named at most before an offer is no shorter than the command. */
const MAX_PREFIX = 3;

/** What may be offered for a call, given the rules as they are. */
export function offersFor(call: Call, rules: readonly Rule[], context: Context): Offer[] {
  if (call.askOnce || !call.known || call.outside.length > 0) return [];
  return candidates(call).filter(({ rule }) =>
    ruleProblem(rule) === undefined && allows(rule, call, rules, context)
  );
}

function candidates(call: Call): Offer[] {
  if (call.class === "exec") return commandOffers(call);
  if (call.paths.length > 0) return pathOffers(call);
  return [offer(`every call of ${call.tool}`, call.tool)];
}

function commandOffers(call: Call): Offer[] {
  const { argv, tool } = call;
  if (!argv) return [];
  const line = shellLine(argv);
  const offers = [offer("exactly this command line", tool, { argvPrefix: argv })];
  const [command] = line === "unreadable" || line.length !== 1 ? [] : line;
  if (!command) return offers;
  for (let words = Math.min(MAX_PREFIX, command.length); words > 0; words--) {
    const argvPrefix = command.slice(0, words);
    offers.push(offer(`${argvPrefix.join(" ")} … (with whatever follows)`, tool, { argvPrefix }));
  }
  return offers;
}

function pathOffers(call: Call): Offer[] {
  const [only, ...more] = call.paths;
  if (!only || more.length > 0) return [];
  const folder = only.path.slice(0, only.path.lastIndexOf("/"));
  const literal = (path: string) => !/[*?]/.test(path);
  const kind = only.access === "read" ? "@fs_read" : "@fs_write";
  const words = only.access === "read" ? "reading" : "writing";
  return [
    ...(literal(only.path)
      ? [offer(`${call.tool} of ${only.path}`, call.tool, { pathPattern: only.path })]
      : []),
    ...(literal(folder) && folder !== ""
      ? [
        offer(`${call.tool} of everything in ${folder}`, call.tool, { pathPattern: `${folder}/*` }),
        offer(`${words} everything in ${folder}`, kind, { pathPattern: `${folder}/*` }),
      ]
      : []),
  ];
}

function offer(label: string, toolPattern: string, more: Partial<RuleText> = {}): Offer {
  return { label, rule: { action: "allow", toolPattern, pathPattern: null, argvPrefix: null, ...more } };
}

/** Whether the rule, put where the offer puts it, allows the call: an earlier question or denial would still stand. */
function allows(text: RuleText, call: Call, rules: readonly Rule[], context: Context): boolean {
  const ordinal = rules.reduce((highest, rule) => Math.max(highest, rule.ordinal), 0) + 1;
  const rule: Rule = {
    ...text,
    id: "offer",
    groupId: context.group,
    layer: "normal",
    ordinal,
    priority: OFFER_PRIORITY,
    agent: null,
    source: null,
    expiresAt: null,
    maxUses: null,
    uses: 0,
    since: context.now,
  };
  const verdict = judge({ rules: [...rules, rule], bypasses: [] }, call, context);
  return verdict.outcome === "allow" && verdict.ref === "offer";
}

/** The priority of a rule that a decision makes. */
export const OFFER_PRIORITY = 100;
