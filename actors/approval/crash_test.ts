/**
 * Proves that approval may die between any two of its steps: each story of a call is told once without a crash, then again with one right before and
 * right after each single commit, then with both at every commit and after every step of the world. It always has the same end: the same rows, the
 * same messages, the same log.
 */
import assert from "node:assert/strict";
import { type ApprovalDesk, furnished, owner, put } from "../../tests/doubles/approval_desk.ts";
import { objects, sql } from "../../store/db.ts";
import { decide, type DecisionBody } from "../../store/decide.ts";
import { verifyChain } from "../../store/queries/chain.ts";

/** What the world does, step by step; approval may be restarted between any two. */
type Story = readonly ((desk: ApprovalDesk) => Promise<unknown>)[];

const WEEK_MS = 7 * 86_400_000;
const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
const bo = { userId: "u2", role: "approver" as const, channels: new Map([[5, "approve" as const]]) };

const itemOf = (desk: ApprovalDesk, callId: string) =>
  [...desk.state.items.values()].find((item) => item.callId === callId)?.id;
const judge = (callId: string, tool = "exec_command") => (desk: ApprovalDesk) =>
  desk.judge(callId, tool, { argv: ["git", "status"] });
const work = (desk: ApprovalDesk) => desk.work();
const policy = (command: unknown) => (desk: ApprovalDesk) =>
  desk.post("edge", "approval.policy", { by, command });

/** The compare-and-set at the edge, and approval's part: the edge may outlive it. */
function say(callId: string, body: DecisionBody): Story {
  return [async (desk) => assert.ok((await put(desk, itemOf(desk, callId), body)).ok), work];
}

function sayAs(viewer: typeof bo | typeof owner, name: string, callId: string): Story {
  return [async (desk) => {
    const itemId = itemOf(desk, callId) ?? "";
    const version = desk.state.items.get(itemId)?.version ?? 0;
    const person = { viewer, name, surface: "web" as const };
    const body = { decision: "allow_once" as const };
    const { now, newId } = desk;
    assert.ok((await decide(desk.db, { itemId, version, body, by: person, now, newId })).ok);
  }, work];
}

const rule = {
  groupId: "default",
  priority: 100,
  action: "allow" as const,
  toolPattern: "exec_command",
  pathPattern: null,
  argvPrefix: ["git", "status"],
  agent: null,
  source: null,
  note: null,
  expiresAt: null,
  maxUses: 2,
};

const question = (desk: ApprovalDesk) =>
  desk.post("toolbox", "question.raise", {
    callId: "a",
    turnId: "t1",
    conversation: "c1",
    kind: "question",
    question: "Which colour?",
    suggestions: ["red"],
  });

const shown = (desk: ApprovalDesk) =>
  desk.post("zulip", "card.shown", { itemId: itemOf(desk, "a"), version: 1, messageId: 900, whole: true });

const stories: Readonly<Record<string, Story>> = {
  "allowed": [judge("a"), shown, ...say("a", { decision: "allow_once" })],
  "allowed by a reaction": [
    judge("a"),
    shown,
    (desk) =>
      desk.post("zulip", "approval.react", { messageId: 900, zulipUserId: 11, name: "Z", emoji: "+1" }),
  ],
  "rejected": [judge("a"), ...say("a", { decision: "reject_once", note: "no" })],
  "rejected with its turn": [judge("a"), ...say("a", { decision: "cancel" })],
  "allowed for the session": [
    judge("a"),
    judge("b"),
    ...say("a", { decision: "allow_session" }),
    judge("c"),
    (desk) => desk.post("conversation/c1", "session.ended", { reason: "reset" }),
    judge("d"),
  ],
  "always allowed": [
    judge("a"),
    judge("b"),
    ...say("a", { decision: "allow_always", rule }),
    judge("c"),
    judge("d"),
  ],
  "always rejected": [
    judge("a"),
    judge("b"),
    ...say("a", { decision: "reject_always", rule: { ...rule, action: "deny", maxUses: null } }),
    judge("c"),
  ],
  "edited": [
    judge("a"),
    ...say("a", { decision: "edit_and_allow", arguments: { command: "ls" } }),
    (desk) =>
      desk.post("toolbox", "tool.judge", {
        ...desk.judgePayload("a", "exec_command"),
        digest: "new",
        editedFor: itemOf(desk, "a"),
        arguments: '{"command":"ls"}',
      }),
  ],
  "edited into nonsense": [
    judge("a"),
    ...say("a", { decision: "edit_and_allow", arguments: {} }),
    (desk) =>
      desk.post("toolbox", "tool.undescribed", { callId: "a", itemId: itemOf(desk, "a"), message: "no" }),
  ],
  "asking a question": [question, ...say("a", { decision: "answer", answer: "blue" })],
  "expired": [
    judge("a"),
    question,
    (desk) => {
      desk.now += WEEK_MS;
      return desk.work();
    },
  ],
  "withdrawn while it waits": [
    judge("a"),
    (desk) => desk.post("conversation/c1", "tool.cancel", { callId: "a", reason: "stopped" }),
  ],
  "withdrawn before it is judged": [
    (desk) => desk.post("conversation/c1", "tool.cancel", { callId: "a", reason: "stopped" }),
    judge("a"),
  ],
  "allowed by two": [
    policy({ kind: "gate.settings", settings: { twoPersons: ["exec_command"] } }),
    judge("a"),
    ...sayAs(bo, "Bo", "a"),
    ...sayAs(owner, "Ada", "a"),
  ],
  "people change meanwhile": [
    judge("a"),
    (desk) =>
      desk.post("edge", "person.changed", {
        by,
        change: "user.create",
        id: "u9",
        before: null,
        after: { name: "Di", role: "approver", zulipUserId: 14, channels: [{ id: 5, access: "approve" }] },
      }),
    ...say("a", { decision: "allow_once" }),
  ],
  "allowed while everything is stopped": [
    judge("a"),
    policy({ kind: "effects.suspend" }),
    ...say("a", { decision: "allow_once" }),
    policy({ kind: "effects.resume" }),
  ],
};

/** Tells a story; gives its end and how many commits of approval it took. */
async function tell(
  story: Story,
  crashesAt: (commit: number) => boolean,
  restarts = false,
): Promise<{ readonly end: unknown; readonly commits: number }> {
  await using desk = await furnished();
  const before = desk.commits;
  desk.crashesAt = (commit) => crashesAt(commit - before);
  for (const step of story) {
    await step(desk);
    if (restarts) await desk.restart();
  }
  assert.equal((await verifyChain(desk.db)).ok, true);
  return { end: await endOf(desk), commits: desk.commits - before };
}

const tables = [
  "SELECT id, state, outcome, digest, arguments, grant_json FROM tool_calls ORDER BY id",
  "SELECT call_id, kind, state, version, decision, decided_by, note, expires_at FROM pending_items ORDER BY call_id, kind",
  "SELECT tool_pattern, action, uses, max_uses FROM rules WHERE layer = 'normal' ORDER BY tool_pattern, action",
  "SELECT scope, pattern, uses, expires_at, ended_reason FROM bypasses ORDER BY scope, pattern",
  "SELECT kind, call_id, actor, surface, device, decision, digest FROM decisions ORDER BY seq",
  "SELECT to_ref, type, lane, payload, not_before FROM messages WHERE from_ref = 'approval' ORDER BY seq",
];

/** Everything that a crash must not change. Ids are named by their order, since an attempt that was lost used some up. */
async function endOf(desk: ApprovalDesk): Promise<unknown> {
  const rows = [];
  for (const table of tables) rows.push(objects(await desk.db.query(sql(table))));
  const names = new Map<string, string>();
  const text = JSON.stringify(rows).replace(/id-\d{5}/g, (id) => {
    const name = names.get(id) ?? `#${names.size}`;
    names.set(id, name);
    return name;
  });
  return JSON.parse(text);
}

for (const [name, story] of Object.entries(stories)) {
  Deno.test(`a call that is ${name} ends the same wherever approval dies on the way`, async () => {
    const { end, commits } = await tell(story, () => false);
    assert.ok(commits >= 2, "there is something between which it can die");
    for (let at = 1; at <= commits; at++) {
      const crashed = await tell(story, (commit) => commit === at);
      assert.deepEqual(crashed.end, end, `it died at commit ${at}`);
    }
    assert.deepEqual((await tell(story, () => true, true)).end, end, "it died at every step");
  });
}
