/** Proves what approval makes of what an MCP server says of its tools and of what the configuration says of them; against a real database. */
import assert from "node:assert/strict";
import { type ApprovalDesk, callState, furnished } from "../../../tests/doubles/approval_desk.ts";

const NAME = "mcp__mail__send";

/** The toolbox announces the one tool of a server. */
async function announce(desk: ApprovalDesk, facts: Record<string, unknown>): Promise<void> {
  await desk.post("toolbox", "tools.known", {
    sandbox: "bwrap",
    tools: [{
      name: NAME,
      source: "mcp:mail",
      class: "mcp",
      description: "Sends",
      parameters: { type: "object" },
      schemaHash: `hash-${NAME}`,
      idempotent: false,
      ...facts,
    }],
  });
}

async function rule(desk: ApprovalDesk, action: string, toolPattern: string): Promise<void> {
  const by = { userId: "u1", name: "Ada", surface: "web", role: "owner" };
  const command = { kind: "rule.create", rule: { action, toolPattern, priority: 1 } };
  await desk.post("edge", "approval.policy", { by, command });
}

let calls = 0;
/** How a call of the tool is judged: the state of its row. */
async function judged(desk: ApprovalDesk): Promise<unknown> {
  const id = `mcp-${++calls}`;
  await desk.judge(id, NAME);
  return await callState(desk, id);
}

Deno.test("a rule by what a server says of its tools holds for a trusted server alone, also after a restart", async () => {
  await using desk = await furnished();
  await announce(desk, { hints: { readOnly: true } });
  await rule(desk, "allow", "@mcp_read_only");
  assert.equal(await judged(desk), "waiting");

  desk.now += 1;
  await announce(desk, { hints: { readOnly: true }, trusted: true });
  assert.equal(await judged(desk), "judged");
  await desk.restart();
  assert.equal(await judged(desk), "judged");

  await announce(desk, { hints: { readOnly: true }, trusted: false });
  assert.equal(await judged(desk), "waiting", "trust was taken away");
});

Deno.test("a server that takes its word back voids what was allowed for the tool", async () => {
  await using desk = await furnished();
  await announce(desk, { hints: { readOnly: true } });
  await rule(desk, "allow", NAME);
  assert.equal(await judged(desk), "judged");

  desk.now += 1;
  await announce(desk, { hints: { readOnly: false }, schemaHash: "not read-only" });

  assert.equal(await judged(desk), "waiting");
  await desk.restart();
  assert.equal(await judged(desk), "waiting");
});

Deno.test("a configured mode asks or allows, also after a restart, and never over a denial", async () => {
  await using desk = await furnished();
  await announce(desk, { mode: "approve" });
  assert.equal(await judged(desk), "judged");
  await desk.restart();
  assert.equal(await judged(desk), "judged");

  await announce(desk, { mode: "prompt" });
  await rule(desk, "allow", NAME);
  assert.equal(await judged(desk), "waiting");
  await desk.restart();
  assert.equal(await judged(desk), "waiting");

  await announce(desk, {});
  assert.equal(await judged(desk), "judged", "no mode: the rule decides");
  await announce(desk, { mode: "approve" });
  await desk.post("edge", "approval.policy", {
    by: { userId: "u1", name: "Ada", surface: "web", role: "owner" },
    command: { kind: "rule.create", rule: { action: "deny", toolPattern: "mcp__*", priority: 0 } },
  });
  assert.equal(await judged(desk), "rejected");
});
