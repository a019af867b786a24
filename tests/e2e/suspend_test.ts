/** Proves *stop everything* with the whole product running: from Zulip by its owner, by a signal, with a call in flight, and across a restart. */
import assert from "node:assert/strict";
import type { EffectsState, Me } from "../../edge/api.ts";
import { World } from "./world.ts";

const suspended = async (world: World) => (await world.get<EffectsState>("/api/effects")).suspended;

async function linkOwner(world: World, zulipUserId: number): Promise<void> {
  const { user } = await world.get<Me>("/api/me");
  const linked = { name: user.name, role: "owner", zulipUserId };
  assert.equal((await world.send(`/api/users/${user.id}`, linked, "PUT")).status, 200);
}

Deno.test("the owner stops everything from a topic: what runs ends, nothing begins until it is lifted, over a restart too", async () => {
  await using world = await World.open();
  const ask = (topic: string, command: string) =>
    world.zulip.say("King Hamlet", "general", topic, `@**Callboard** ${command}`);
  const tool = (command: string) => `run it\ntool:exec_command ${JSON.stringify({ command })}`;
  ask("stop", tool("echo begun >> log; while [ ! -e go ]; do sleep 0.1; done; echo ended >> log"));
  const running = await world.waiting();
  await world.decide(running, "allow_once");
  const { id } = running.conversation;
  await world.until(async () => await world.workspaceFile(id, "log") === "begun\n");

  ask("stop", "!stop all");
  await world.answered("stop", /Only the owner may do this/);
  assert.equal(await suspended(world), null, "nobody here is known to be the owner");
  await linkOwner(world, world.zulip.hamlet.id);
  ask("stop", "!stop all");
  await world.answered("stop", /Everything is stopped/);
  assert.equal((await suspended(world))?.by, "Owner");

  ask("later", tool("echo later >> log"));
  const later = await world.waiting();
  assert.equal((await world.decide(later, "allow_once")).status, 200, "decisions are taken");
  await world.answered("later", /Everything is suspended/);
  await Deno.writeTextFile(world.workspacePath(id, "go"), "");
  await world.until(async () => await world.workspaceFile(id, "log") === "begun\nended\n");
  await world.restart("SIGKILL");
  await world.quiet();
  assert.equal((await suspended(world))?.by, "Owner");
  assert.equal(await world.workspaceFile(later.conversation.id, "log"), undefined);

  ask("stop", "!resume all");
  await world.until(async () => await world.workspaceFile(later.conversation.id, "log") === "later\n");
  assert.equal(await suspended(world), null);
});

Deno.test("SIGUSR1 stops everything", async () => {
  await using world = await World.open();

  Deno.kill(world.supervisor.pid, "SIGUSR1");

  const state = await world.until(async () => await suspended(world) ?? undefined);
  assert.equal(state.by, "SIGUSR1");
  assert.equal((await world.send("/api/effects/resume", {})).status, 200);
  assert.equal(await suspended(world), null);
});
