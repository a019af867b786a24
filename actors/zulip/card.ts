/**
 * What the card of a pending item says in its topic. Pure. Text that is not ours stands in code, so it cannot forge the card's own words.
 * Proven by `card_test.ts`.
 */
import { printable, printableLine } from "../../lib/printable.ts";
import { claimsOf } from "../../lib/policy/claims.ts";
import { codeBlock, codeSpan } from "../../zulip/markdown.ts";
import type { Described } from "../protocol/tools.ts";
import type { CardShow } from "../protocol/zulip.ts";
import { isInSight, isLineInSight } from "./in_sight.ts";

/** A rendered card. `whole`: nothing was cut and nothing can be out of sight, so a decision made on it was made on everything. */
export interface Card {
  readonly body: string;
  readonly whole: boolean;
  /** A reaction may decide it. */
  readonly reactable: boolean;
}

const MAX_PREVIEW_CODE_POINTS = 4_000;
const MAX_PATHS = 10;

/** What a card may say besides its item: where people open the inbox. */
export interface CardOptions {
  readonly inboxUrl?: string | undefined;
}

/** Renders the card of an item. */
export function renderCard(item: CardShow, { inboxUrl }: CardOptions = {}): Card {
  const link = inboxUrl === undefined ? "in the inbox" : `[in the inbox](${inboxUrl}/inbox/${item.itemId})`;
  return item.kind === "approval" ? approvalCard(item, link) : questionCard(item, link);
}

function approvalCard(item: CardShow, link: string): Card {
  const { described } = item;
  const preview = shownOf(described?.preview?.text ?? "");
  const place = placeOf(described);
  const whole = preview.whole && place.whole && isInSight(preview.text) &&
    (preview.text !== "" || isWholeSummary(described?.summary ?? ""));
  const reactable = item.reactions && item.state === "waiting" && described?.risk !== "high" && whole;
  const lines = [
    `**${headline(item)}** ${codeSpan(printable(item.tool ?? "a tool"))} — ${
      codeSpan(printable(described?.summary ?? ""))
    }`,
  ];
  if (item.state === "waiting") {
    const claims = claimsOf(described?.hints);
    const facts = [
      `Risk: **${described?.risk ?? "high"}**`,
      ...(item.trigger === "schedule" ? ["**asked by a schedule**"] : []),
      ...(described?.sandboxed ? [] : ["**not sandboxed**"]),
      ...(described?.timeoutSeconds === undefined ? [] : [`Time limit: ${described.timeoutSeconds} s`]),
      ...(claims.length > 0 ? [`its server says: ${claims.join(", ")}`] : []),
    ];
    lines.push(facts.join(" · "), ...place.lines);
    if (preview.text !== "") {
      lines.push(codeBlock(preview.text, described?.preview?.kind === "diff" ? "diff" : ""));
    }
    if (!whole) lines.push("*(more than a card can show: read all of it in the inbox before you decide)*");
    lines.push(reactable ? `React 👍 to allow once, 👎 to reject, or decide ${link}.` : `Decide ${link}.`);
  }
  return { body: lines.join("\n"), whole, reactable };
}

/** Without a preview the summary is all there is: it may have been cut where the call was described, and code on one line folds blanks. */
function isWholeSummary(summary: string): boolean {
  return !summary.endsWith("…") && !/\s{2}|[\n\t]/.test(summary.trim());
}

/** Where the call works: what its text alone does not say. */
function placeOf(
  described: Described | undefined,
): { readonly lines: readonly string[]; readonly whole: boolean } {
  const { cwd, paths = [] } = described ?? {};
  const folder = cwd === undefined || cwd === "/" ? [] : [cwd];
  const named = (access: "read" | "write") =>
    paths.slice(0, MAX_PATHS).filter((path) => path.access === access).map(({ path }) => path);
  const list = (title: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${title}: ${names.map((name) => codeSpan(printableLine(name))).join(", ")}`];
  const rest = paths.length - MAX_PATHS;
  return {
    lines: [
      ...list("Folder", folder),
      ...list("Reads", named("read")),
      ...list("Writes", named("write")),
      ...(rest > 0 ? [`… and ${rest} more`] : []),
    ],
    whole: rest <= 0 &&
      [...folder, ...paths.map(({ path }) => path)].every((name) => isLineInSight(printableLine(name))),
  };
}

function questionCard(item: CardShow, link: string): Card {
  const question = shownOf(item.question ?? "");
  // A server's words are no markdown: an address of its must not become a link, nor be looked at by Zulip for a preview.
  const language = item.kind === "elicitation" ? "text" : "quote";
  const lines = [`**${headline(item)}**`, codeBlock(question.text, language)];
  if (item.state === "waiting") {
    for (const suggestion of item.suggestions) lines.push(`- ${codeSpan(printable(suggestion))}`);
    lines.push(`Answer ${link}.`);
  }
  return { body: lines.join("\n"), whole: question.whole, reactable: false };
}

function headline(item: CardShow): string {
  const by = item.decidedBy === undefined ? "" : ` by ${printable(item.decidedBy).replace(/[*_`~[\]]/g, "")}`;
  switch (item.state) {
    case "waiting":
      return item.kind === "approval" ? "🔔 Waiting for approval:" : "❓ A question for you:";
    case "decided":
    case "applied":
      return `${item.decision?.startsWith("reject") || item.decision === "cancel" ? "⛔" : "✅"} ${
        words(item.decision)
      }${by}:`;
    case "failed":
      return `⚠️ Decided${by}, but not carried out:`;
    case "expired":
      return "⌛ Nobody decided in time:";
    case "superseded":
    case "cancelled":
      return "➖ No longer needed:";
  }
}

function words(decision: string | undefined): string {
  switch (decision) {
    case "allow_once":
      return "Allowed once";
    case "allow_session":
      return "Allowed for this session";
    case "allow_always":
      return "Always allowed";
    case "reject_once":
      return "Rejected";
    case "reject_always":
      return "Always rejected";
    case "cancel":
      return "Rejected, turn stopped";
    case "answer":
      return "Answered";
    case "edit_and_allow":
      return "Edited and allowed";
    default:
      return "Decided";
  }
}

/** Foreign text as the card shows it. No more is looked at than could be shown: an escaped character is never shorter than it was. */
function shownOf(foreign: string): { readonly text: string; readonly whole: boolean } {
  const text = printable(foreign.slice(0, 2 * MAX_PREVIEW_CODE_POINTS + 2));
  const points = [...text];
  if (points.length <= MAX_PREVIEW_CODE_POINTS) return { text, whole: true };
  return { text: `${points.slice(0, MAX_PREVIEW_CODE_POINTS).join("")}\n[…]`, whole: false };
}
