/**
 * What the card of a pending item says in its topic. Pure. Text that is not ours stands in code, so it cannot forge the card's own words.
 * Proven by `intake_test.ts`.
 */
import { printable } from "../../lib/printable.ts";
import { claimsOf } from "../../lib/policy/claims.ts";
import { codeBlock, codeSpan } from "../../zulip/markdown.ts";
import type { CardShow } from "../protocol/zulip.ts";

/** A rendered card. `whole`: nothing was cut, so a decision made on it was made on everything. */
export interface Card {
  readonly body: string;
  readonly whole: boolean;
  /** A reaction may decide it. */
  readonly reactable: boolean;
}

const MAX_PREVIEW_CODE_POINTS = 4_000;

/** What a card may say besides its item: where people open the inbox, and whether a reaction can decide at all. */
export interface CardOptions {
  readonly inboxUrl?: string | undefined;
  readonly reactions: boolean;
}

/** Renders the card of an item. */
export function renderCard(item: CardShow, { inboxUrl, reactions }: CardOptions): Card {
  const link = inboxUrl === undefined ? "in the inbox" : `[in the inbox](${inboxUrl}/inbox/${item.itemId})`;
  return item.kind === "approval" ? approvalCard(item, link, reactions) : questionCard(item, link);
}

function approvalCard(item: CardShow, link: string, reactions: boolean): Card {
  const { described } = item;
  const preview = cut(printable(described?.preview?.text ?? ""));
  // Without a preview the summary is all there is, and it may have been cut where the call was described.
  const whole = preview.whole && (preview.text !== "" || !described?.summary.endsWith("…"));
  const reactable = reactions && item.state === "waiting" && described?.risk !== "high" && whole;
  const lines = [
    `**${headline(item)}** ${codeSpan(printable(item.tool ?? "a tool"))} — ${
      codeSpan(printable(described?.summary ?? ""))
    }`,
  ];
  if (item.state === "waiting") {
    const claims = claimsOf(described?.hints);
    const facts = [
      `Risk: **${described?.risk ?? "high"}**`,
      ...(described?.sandboxed ? [] : ["**not sandboxed**"]),
      ...(claims.length > 0 ? [`its server says: ${claims.join(", ")}`] : []),
    ];
    lines.push(facts.join(" · "));
    if (preview.text !== "") {
      lines.push(codeBlock(preview.text, described?.preview?.kind === "diff" ? "diff" : ""));
    }
    if (!whole) lines.push("*(cut: read all of it before you decide)*");
    lines.push(reactable ? `React 👍 to allow once, 👎 to reject, or decide ${link}.` : `Decide ${link}.`);
  }
  return { body: lines.join("\n"), whole, reactable };
}

function questionCard(item: CardShow, link: string): Card {
  const question = cut(printable(item.question ?? ""));
  const lines = [`**${headline(item)}**`, codeBlock(question.text, "quote")];
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

function cut(text: string): { readonly text: string; readonly whole: boolean } {
  const points = [...text];
  if (points.length <= MAX_PREVIEW_CODE_POINTS) return { text, whole: true };
  return { text: `${points.slice(0, MAX_PREVIEW_CODE_POINTS).join("")}\n[…]`, whole: false };
}
