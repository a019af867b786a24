/** Proves what a server's own words and the configuration make of its tools; `mcp_test.ts` proves it with real servers. */
import assert from "node:assert/strict";
import type { ToolHints } from "../../protocol/tools.ts";
import { type ApprovalMode, McpServer } from "../config.ts";
import { mcpTool, modeOf, type Owner } from "./mcp_tool.ts";

const connection = { call: () => Promise.resolve({ ok: true, text: "" }) };

async function madeOf(hints: ToolHints | undefined, server: Partial<Owner["server"]> = {}) {
  const owner: Owner = { server: { name: "m", ...server }, sandboxed: true, connection };
  const tool = mcpTool(owner, { name: "t", description: "d", parameters: {}, hints });
  const bound = tool.parse({});
  assert.ok(bound.ok);
  const { risk } = await bound.value.describe({ conversation: "c", root: "/" });
  return { risk, idempotent: tool.spec.idempotent, hash: tool.spec.schemaHash, spec: tool.spec };
}

const claims: readonly (readonly [ToolHints | undefined, untrusted: string, trusted: string])[] = [
  [undefined, "high once", "high once"],
  [{}, "high once", "high once"],
  [{ destructive: true }, "high once", "high once"],
  [{ destructive: false }, "medium once", "medium once"],
  [{ readOnly: true }, "medium once", "low again"],
  [{ readOnly: true, idempotent: true }, "medium once", "low again"],
  [{ readOnly: false, idempotent: true }, "high once", "high again"],
  [{ openWorld: false }, "high once", "high once"],
];

for (const [hints, untrusted, trusted] of claims) {
  Deno.test(`a server's word lowers nothing unless it is trusted: ${JSON.stringify(hints)}`, async () => {
    const said = async (server: Partial<Owner["server"]>) => {
      const { risk, idempotent } = await madeOf(hints, server);
      return `${risk} ${idempotent ? "again" : "once"}`;
    };

    assert.equal(await said({}), untrusted);
    assert.equal(await said({ trusted: false }), untrusted);
    assert.equal(await said({ trusted: true }), trusted);
  });
}

Deno.test("a change of what a server says of its tool is a change of the tool", async () => {
  const hashes = await Promise.all(
    [undefined, { readOnly: true }, { readOnly: false }, { readOnly: true, idempotent: true }, {
      destructive: false,
    }]
      .map(async (hints) => (await madeOf(hints)).hash),
  );

  assert.equal(new Set(hashes).size, hashes.length);
  assert.equal((await madeOf({ readOnly: true }, { trusted: true })).hash, hashes[1]);
});

const readOnly = { readOnly: true };
const modes: readonly (readonly [
  what: string,
  server: ApprovalMode | undefined,
  tool: ApprovalMode | undefined,
  hints: ToolHints | undefined,
  untrusted: string | undefined,
  trusted: string | undefined,
])[] = [
  ["nothing is said", undefined, undefined, readOnly, undefined, undefined],
  ["rules", "rules", undefined, readOnly, undefined, undefined],
  ["prompt", "prompt", undefined, readOnly, "prompt", "prompt"],
  ["approve", "approve", undefined, undefined, "approve", "approve"],
  ["auto, read-only", "auto", undefined, readOnly, undefined, "approve"],
  ["auto, nothing known", "auto", undefined, undefined, undefined, undefined],
  [
    "auto, read-only in the open world",
    "auto",
    undefined,
    { ...readOnly, openWorld: true },
    undefined,
    undefined,
  ],
  ["auto, a contradiction", "auto", undefined, { ...readOnly, destructive: true }, undefined, undefined],
  ["auto, not destructive but changing", "auto", undefined, { destructive: false }, undefined, undefined],
  ["the tool's own before the server's", "approve", "prompt", undefined, "prompt", "prompt"],
  ["the tool's own, wider than the server's", "prompt", "approve", undefined, "approve", "approve"],
  ["the tool back to the rules", "approve", "rules", undefined, undefined, undefined],
  ["the tool's auto", "prompt", "auto", readOnly, undefined, "approve"],
];

for (const [what, approval, own, hints, untrusted, trusted] of modes) {
  Deno.test(`the mode of a tool: ${what}`, () => {
    const toolApproval = own && { t: own, other: "approve" as const };
    const at = (trusted: boolean) =>
      modeOf({ name: "m", trusted, approval, toolApproval }, { name: "t", hints });

    assert.deepEqual([at(false), at(true)], [untrusted, trusted]);
    assert.equal(modeOf({ name: "m", toolApproval: {} }, { name: "constructor" }), undefined);
  });
}

Deno.test("a configuration that goes by the words of a server that is not trusted is refused", () => {
  const server = { kind: "http", name: "m", url: "https://mcp.example.org" };
  const problem = (more: object) => McpServer.safeParse({ ...server, ...more }).error?.issues[0]?.message;

  assert.match(problem({ approval: "auto" }) ?? "", /needs `trusted: true`/);
  assert.match(problem({ toolApproval: { t: "auto" } }) ?? "", /needs `trusted: true`/);
  assert.equal(problem({ approval: "auto", trusted: true }), undefined);
  assert.equal(problem({ approval: "prompt", toolApproval: { t: "approve" } }), undefined);
  assert.ok(problem({ approval: "always" }));
});
