/**
 * `kill -9` of every kind of process at five points of a turn. Whatever dies, the topic ends with one answer, nothing missing and nothing twice,
 * and the command ran at most once.
 */
import assert from "node:assert/strict";
import { call, type Reply, say, type SeenRequest } from "../doubles/fake_model/script.ts";
import { World } from "./world.ts";

type Victim = "conversation" | "toolbox" | "zulip" | "models" | "supervisor";

const COMMAND = "echo ran >> effects.txt; while [ ! -e go ]; do sleep 0.02; done; echo the-output";
const OPENING = "I will look at the machine and tell you what I find there. ";

/** One turn with places where the test can hold it. */
class Turn {
  conversation = "";
  /** How the next first and second model step begin to hang; used up. */
  readonly hang = { first: false, second: false };

  private constructor(readonly world: World, readonly topic: string) {}

  static ask(world: World, topic: string, hang: { first?: boolean; second?: boolean } = {}): Turn {
    const turn = new Turn(world, topic);
    Object.assign(turn.hang, hang);
    world.model.script((request) => turn.#answer(request));
    world.zulip.say("King Hamlet", "general", topic, "@**Callboard** what does the machine say?");
    return turn;
  }

  async waiting(): Promise<void> {
    const item = await this.world.waiting();
    this.conversation = item.conversation.id;
  }

  async approve(): Promise<void> {
    const item = await this.world.waiting();
    this.conversation = item.conversation.id;
    const response = await this.world.decide(item, "allow_once");
    assert.equal(response.status, 200, await response.text());
  }

  /** Resolves when the command has begun: the first thing it does is to leave its mark. */
  async executing(): Promise<void> {
    await this.world.until(async () => (await this.effects()) >= 1);
  }

  /** Lets the command end. */
  async release(): Promise<void> {
    await Deno.writeTextFile(this.world.workspacePath(this.conversation, "go"), "");
  }

  /** How often the command ran. */
  async effects(): Promise<number> {
    const text = await this.world.workspaceFile(this.conversation, "effects.txt") ?? "";
    return text.split("\n").filter((line) => line === "ran").length;
  }

  /** What must be true in the end. */
  async settled({ ran = 1, wanted = /the-output/ }: { ran?: number; wanted?: RegExp } = {}): Promise<void> {
    await this.world.answered(this.topic, wanted);
    await this.world.until(async () => {
      const { status } = await this.world.get<{ status: string }>(`/api/conversations/${this.conversation}`);
      return status === "idle";
    });
    await this.world.quiet();
    assert.equal(this.world.answers(this.topic).length, 1, "one answer");
    assert.equal(this.world.cards(this.topic).length, 1, "one card");
    assert.equal(await this.effects(), ran, "the command ran as often as it may");
  }

  #answer({ messages }: SeenRequest): Reply {
    const result = messages.findLast(({ role }) => role === "tool");
    const step = result ? "second" : "first";
    const hang: Reply = this.hang[step] ? [{ do: "hang" }] : [];
    this.hang[step] = false;
    if (!result) return [say(OPENING), ...hang, call("exec_command", { command: COMMAND }, "call_1")];
    return [say("Here is what "), ...hang, say(`the tool said: ${result.text}`)];
  }
}

/** Kills a process. The supervisor is started again by its service manager, here by the test. */
async function kill(
  world: World,
  victim: Victim,
  conversation: () => string | Promise<string>,
): Promise<void> {
  if (victim === "supervisor") return await world.restart("SIGKILL");
  await world.kill(victim === "conversation" ? `conversation/${await conversation()}` : victim);
}

/** The only conversation there is. */
async function conversationOf(world: World): Promise<string> {
  return await world.until(async () =>
    (await world.actors()).find(({ kind, pid }) => kind === "conversation" && pid)?.ref.split("/")[1]
  );
}

const victims: readonly [Victim][] = [["conversation"], ["toolbox"], ["zulip"], ["models"], ["supervisor"]];

Deno.test.each(victims)(
  "kill -9 of the $0 while the model begins its answer loses nothing",
  async (victim) => {
    await using world = await World.open();
    const turn = Turn.ask(world, "t", { first: true });
    await world.model.whenHanging();

    await kill(world, victim, () => conversationOf(world));
    world.model.release();
    await turn.approve();
    await turn.executing();
    await turn.release();

    await turn.settled();
  },
);

Deno.test.each(victims)("kill -9 of the $0 while a call waits for a person loses nothing", async (victim) => {
  await using world = await World.open();
  const turn = Turn.ask(world, "t");
  await turn.waiting();

  await kill(world, victim, () => conversationOf(world));
  await turn.approve();
  await turn.executing();
  await turn.release();

  await turn.settled();
});

Deno.test.each(victims)("kill -9 of the $0 while the command runs never runs it twice", async (victim) => {
  await using world = await World.open();
  const turn = Turn.ask(world, "t");
  await turn.approve();
  await turn.executing();

  await kill(world, victim, () => turn.conversation);
  await turn.release();

  // With its toolbox the command died, and nobody knows how far it came: the model is told so.
  const lost = victim === "toolbox" || victim === "supervisor";
  await turn.settled(lost ? { wanted: /unknown/i } : {});
});

Deno.test.each(victims)("kill -9 of the $0 while the model ends its answer loses nothing", async (victim) => {
  await using world = await World.open();
  const turn = Turn.ask(world, "t", { second: true });
  await turn.approve();
  await turn.executing();
  await turn.release();
  await world.model.whenHanging();

  await kill(world, victim, () => turn.conversation);
  world.model.release();

  await turn.settled();
});

Deno.test.each(victims)(
  "kill -9 of the $0 while Zulip owes the answer to a POST repeats nothing",
  async (victim) => {
    await using world = await World.open();
    const turn = Turn.ask(world, "t");
    await turn.approve();
    await turn.executing();
    world.zulip.hangNextResponse("POST /messages");
    await turn.release();
    await world.zulip.until(() => world.answers("t").some((text) => text.includes("the-output")), 60_000);

    await kill(world, victim, () => turn.conversation);

    await turn.settled();
  },
);
