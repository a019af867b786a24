import assert from "node:assert/strict";
import fc from "fast-check";
import type { Item } from "../../edge/api.ts";
import {
  sampleActors,
  sampleConversations,
  sampleItems,
  sampleMe,
} from "../../tests/doubles/fake_api/samples.ts";
import { argumentFields, argumentsOf } from "./argument_fields.ts";
import { laterTime, localMinute, momentIn } from "./later.ts";
import { answered, createTestApp, Refusal, signedIn, UI_NOW } from "../../tests/doubles/ui_app.ts";
import { groupActors, mergeActor } from "./actors.ts";
import { listed, mergeConversations } from "./conversations.ts";
import { mergeItems, settledItems, waitingItems } from "./inbox.ts";
import { tokenIn, tokenOf } from "./session.ts";

const now = UI_NOW;
const items = sampleItems(now);
const waiting = items.find(({ id }) => id === "i2");
assert.ok(waiting);
const item = (more: Partial<Item>): Item => ({ ...waiting, ...more });

// --- reducers ---

Deno.test("items end the same in whatever order their news arrives", () => {
  const story = [
    item({ version: 1, state: "waiting", updatedAt: 1 }),
    item({ version: 2, state: "decided", updatedAt: 2 }),
    item({ version: 2, state: "applied", updatedAt: 3 }),
  ];

  fc.assert(fc.property(fc.shuffledSubarray([...story, ...story], { minLength: 6, maxLength: 6 }), (news) => {
    const known = news.reduce<ReadonlyMap<string, Item>>((map, one) => mergeItems(map, [one]), new Map());
    assert.equal(known.get("i2")?.state, "applied");
  }));
});

Deno.test("the riskiest waits on top, then the oldest, then what was put off", () => {
  const list = [
    item({ id: "low", risk: "low", createdAt: 1 }),
    item({ id: "later", risk: "high", laterUntil: now + 1 }),
    item({ id: "young", risk: "high", createdAt: 9 }),
    item({ id: "old", risk: "high", createdAt: 2 }),
    item({ id: "done", state: "applied" }),
  ];

  assert.deepEqual(waitingItems(list, now).map(({ id }) => id), ["old", "young", "low", "later"]);
  assert.deepEqual(waitingItems(list, now + 2).at(0)?.id, "old");
  assert.ok(waitingItems(list, now, new Set(["done"])).some(({ id }) => id === "done"));
  assert.deepEqual(settledItems(list, 5).map(({ id }) => id), ["done"]);
});

Deno.test("an older conversation row never replaces a newer one, and search needs every word", () => {
  const [row] = sampleConversations(now);
  assert.ok(row);
  const known = mergeConversations(new Map([[row.id, row]]), [{
    ...row,
    title: "old",
    updatedAt: row.updatedAt - 1,
  }]);

  assert.equal(known.get(row.id)?.title, row.title);
  assert.equal(listed(known, "NIGHTLY zstd").length, 1);
  assert.equal(listed(known, "nightly nothing").length, 0);
});

Deno.test("a search finds at the server what the list has not read, once the typing pauses", async () => {
  const test = await signedIn();
  const { conversations } = test.app;
  const [row] = sampleConversations(now);
  assert.ok(row);
  test.answers.set("GET /conversations?q=old+harvest&limit=50", () => ({
    conversations: [{ ...row, id: "far", title: "Harvest of an old year" }],
    next: "1~far",
  }));

  conversations.setSearch("old");
  conversations.setSearch(" old harvest");
  assert.equal(conversations.isSearching.value, true);
  test.timers.at(-1)?.run();
  await answered();

  assert.equal(conversations.isSearching.value, false);
  assert.deepEqual(listed(conversations.rows.value, conversations.search.value).map(({ id }) => id), ["far"]);
  assert.equal(conversations.hasMore.value, true);
  conversations.setSearch("");
  assert.equal(conversations.hasMore.value, false);
});

Deno.test("an actor's earlier incarnation cannot undo a later one, and the parked stand first", () => {
  const [actor] = sampleActors(now).slice(-1);
  assert.ok(actor);
  const known = mergeActor(new Map([[actor.ref, { ...actor, incarnation: 3 }]]), {
    ...actor,
    incarnation: 2,
    state: "live",
  });

  assert.equal(known.get(actor.ref)?.state, "parked");
  assert.equal(groupActors(sampleActors(now))[1]?.actors[0]?.state, "parked");
});

Deno.test("the token of a link is read from the fragment alone", () => {
  assert.equal(tokenOf("#token=abc%2Fd"), "abc/d");
  for (const fragment of ["", "#", "#token=", "#other=1"]) assert.equal(tokenOf(fragment), undefined);
});

Deno.test("a token may be pasted alone or within its link", () => {
  for (const text of ["abc/d", " abc/d\n", "http://127.0.0.1:8090/#token=abc%2Fd ", "#token=abc/d"]) {
    assert.equal(tokenIn(text), "abc/d");
  }
});

// --- session ---

Deno.test("a link that is opened over the page brings its token, and other fragments bring none", () => {
  const { app } = createTestApp();

  assert.equal(app.session.offer("#main"), false);
  assert.equal(app.session.offer("#token=one-time-token-0002"), true);
  assert.equal(app.session.linkToken.value, "one-time-token-0002");
});

Deno.test("an ended session is told apart from a first visit and from signing out here, across a reload too", async () => {
  const refuse = () => new Refusal(401, { error: { code: "unauthorized", message: "Sign in first" } });
  const first = createTestApp();
  first.answers.set("GET /me", refuse);
  await first.app.start();
  assert.equal(first.app.session.hasEnded.value, false);

  const test = await signedIn();
  const later = createTestApp({ storage: test.storage });
  later.answers.set("GET /me", refuse);
  await later.app.start();
  assert.equal(later.app.session.hasEnded.value, true);

  const left = await signedIn();
  left.answers.set("DELETE /session", () => undefined);
  await left.app.session.signOut();
  assert.equal(left.app.session.hasEnded.value, false);
});

Deno.test("what could not be read is read again when the stream is back, and the notice of it goes", async () => {
  const test = await signedIn();
  const answer = test.answers.get("GET /inbox");
  test.answers.set("GET /inbox", () => new Refusal(503, { error: { code: "unavailable", message: "away" } }));
  test.streams[0]?.fail({ closed: false });
  await test.app.inbox.load();
  assert.equal(test.app.inbox.error.value, "away");

  if (answer) test.answers.set("GET /inbox", answer);
  test.streams[0]?.emit("hello", {}, 1);

  await answered();
  assert.equal(test.app.inbox.error.value, undefined);
});

Deno.test("a link's token is sent on a tap, once, and signing in reads everything behind the stream", async () => {
  const test = createTestApp({ fragment: "#token=one-time-token-0001" });
  test.answers.set("GET /me", () =>
    new Refusal(401, { error: { code: "unauthorized", message: "Sign in first" } }));
  await test.app.start();
  assert.equal(test.app.session.state.value, "signed_out");
  assert.equal(test.calls.some(({ call }) => call === "POST /session"), false);

  test.answers.set("POST /session", () => ({ ok: true }));
  test.answers.set("GET /me", () => sampleMe(now));
  await test.app.session.signIn(test.app.session.linkToken.value ?? "");

  assert.equal(test.app.session.state.value, "signed_in");
  assert.equal(test.app.session.linkToken.value, undefined);
  assert.equal(test.streams.length, 1);
});

Deno.test("a 401 in the middle forgets what was on screen", async () => {
  const test = await signedIn();
  assert.ok(test.app.inbox.items.value.size > 0);

  test.answers.set("GET /actors", () =>
    new Refusal(401, { error: { code: "unauthorized", message: "Sign in first" } }));
  await test.app.actors.load();

  assert.equal(test.app.session.state.value, "signed_out");
  assert.equal(test.app.inbox.items.value.size, 0);
  assert.equal(test.streams[0]?.readyState, 2);
});

// --- deciding ---

Deno.test("a decision carries version and CSRF token and shows nothing before the answer", async () => {
  const test = await signedIn();
  const answer = Promise.withResolvers<Item>();
  test.answers.set("POST /inbox/i2/decision", () => answer.promise);

  const deciding = test.app.inbox.decide(item({}), { decision: "allow_once" });
  assert.equal(test.app.inbox.items.value.get("i2")?.state, "waiting");
  assert.equal(test.app.inbox.deciding.value.get("i2")?.phase, "sending");
  answer.resolve(item({ version: 2, state: "decided" }));
  await deciding;

  assert.equal(test.app.inbox.items.value.get("i2")?.state, "decided");
  assert.equal(test.app.inbox.deciding.value.size, 0);
  const sent = test.calls.find(({ call }) => call === "POST /inbox/i2/decision");
  assert.deepEqual(sent?.body, { decision: "allow_once", version: 1 });
  assert.equal(sent?.headers.get("X-Callboard-Csrf"), "csrf");
});

Deno.test("a decision that came too late shows the winner", async () => {
  const test = await signedIn();
  const winner = { decision: "reject_once", by: "Grace", surface: "zulip", at: now } as const;
  test.answers.set("POST /inbox/i2/decision", () =>
    new Refusal(409, {
      error: { code: "conflict", message: "Grace was first" },
      item: item({ version: 2, state: "decided", decision: winner }),
    }));

  await test.app.inbox.decide(item({}), { decision: "allow_once" });

  assert.equal(test.app.inbox.items.value.get("i2")?.decision?.by, "Grace");
  const refused = test.app.inbox.deciding.value.get("i2");
  assert.equal(
    refused?.phase === "refused" && refused.message,
    "Already decided: Rejected by Grace (zulip).",
  );
});

Deno.test("an item that is not there is said to be gone, whatever the lists do, and a fault is not", async () => {
  const test = await signedIn();
  await test.app.inbox.fetchItem("nowhere");
  test.answers.set("GET /inbox/ill", () =>
    new Refusal(503, { error: { code: "unavailable", message: "Not now" } }));
  await test.app.inbox.fetchItem("ill");
  await test.app.inbox.load();

  assert.equal(test.app.inbox.unread.value.get("nowhere")?.gone, true);
  assert.deepEqual(test.app.inbox.unread.value.get("ill"), { gone: false, message: "Not now" });
  test.answers.set("GET /inbox/ill", () => item({ id: "ill" }));
  await test.app.inbox.fetchItem("ill");
  assert.equal(test.app.inbox.unread.value.has("ill"), false);
});

Deno.test("the badge counts what waits and was not put off, and the stream moves it", async () => {
  const test = await signedIn();
  assert.equal(test.app.inbox.badge.value, 4);

  test.streams[0]?.emit("item", { item: item({ version: 2, state: "applied" }) }, 7);
  test.streams[0]?.emit("item", { item: item({ version: 1 }) }, 8);

  assert.equal(test.app.inbox.badge.value, 3);
});

Deno.test("a card that was seen is told once a version", async () => {
  const test = await signedIn();
  test.answers.set("POST /inbox/i2/seen", () => undefined);

  await test.app.inbox.seen(item({}));
  await test.app.inbox.seen(item({}));

  assert.equal(test.calls.filter(({ call }) => call === "POST /inbox/i2/seen").length, 1);
});

// --- the stream ---

Deno.test("a stream that is lost for good is opened again behind its cursor", async () => {
  const test = await signedIn();
  test.streams[0]?.emit("hello", { cursor: 41, version: "0" }, 41);
  assert.equal(test.app.live.connection.value, "live");

  test.streams[0]?.fail({ closed: true });
  assert.equal(test.app.live.connection.value, "waiting");
  test.timers.at(-1)?.run();
  await answered();

  assert.equal(test.streams.at(-1)?.url, "/api/stream?after=41");
});

Deno.test("a stream that the browser reopens by itself is left alone", async () => {
  const test = await signedIn();

  test.streams[0]?.fail({ closed: false });

  assert.equal(test.app.live.connection.value, "waiting");
  assert.equal(test.timers.length, 0);
});

Deno.test("a hidden page lets go of its stream and takes it up behind its cursor when it is seen again", async () => {
  const test = await signedIn();
  const { live } = test.app;
  test.streams[0]?.emit("hello", { cursor: 41, version: "0" }, 41);

  live.visibilityChanged(false);
  assert.equal(test.streams[0]?.readyState, 1, "a glance elsewhere changes nothing");
  assert.equal(test.timers.at(-1)?.ms, 2_000);
  test.timers.at(-1)?.run();
  assert.equal(test.streams[0]?.readyState, 2);
  assert.equal(live.connection.value, "resting");
  live.networkChanged();
  live.watch("c1");
  assert.equal(test.streams.length, 1, "nothing wakes it but being seen");

  live.visibilityChanged(true);
  assert.equal(test.streams.at(-1)?.url, "/api/stream?after=41&conversation=c1");
  assert.equal(live.connection.value, "waiting", "not live before the stream says so");
  test.streams.at(-1)?.emit("hello", { cursor: 41, version: "0" }, 41);
  assert.equal(live.connection.value, "live");
});

Deno.test("a page opened in the background rests once it knows a cursor", async () => {
  const test = await signedIn();
  test.app.live.visibilityChanged(false);
  test.timers.at(-1)?.run();
  assert.equal(test.app.live.connection.value, "connecting");

  test.streams[0]?.emit("hello", { cursor: 3, version: "0" }, 3);
  test.timers.at(-1)?.run();

  assert.equal(test.app.live.connection.value, "resting");
});

Deno.test("opening a chat asks the stream for its live text", async () => {
  const test = await signedIn();
  test.streams[0]?.emit("hello", { cursor: 5, version: "0" }, 5);
  test.answers.set("GET /conversations/c1/events", () => ({ events: [] }));

  test.app.router.go({ name: "chat", id: "c1" });

  assert.equal(test.streams.at(-1)?.url, "/api/stream?after=5&conversation=c1");
  assert.equal(test.streams[0]?.readyState, 2);
  await answered();
});

Deno.test("a reset reads every list anew", async () => {
  const test = await signedIn();
  const before = test.calls.length;

  test.streams[0]?.emit("reset", { cursor: 9 }, 9);
  await answered();

  const again = test.calls.slice(before).map(({ call }) => call.split("?")[0]);
  for (const call of ["GET /inbox", "GET /conversations", "GET /actors"]) {
    assert.ok(again.includes(call), call);
  }
});

Deno.test("what keeps the whole from working is shown while it does", async () => {
  const test = await signedIn();
  let notices: string[] | undefined = ["the disk is full"];
  test.answers.set("GET /inbox", () => ({ items: [], total: 0, ...(notices ? { notices } : {}) }));

  await test.app.inbox.readNotices();
  const ill = test.app.inbox.notices.value;
  notices = undefined;
  await test.app.inbox.readNotices();

  assert.deepEqual(ill, ["the disk is full"]);
  assert.deepEqual(test.app.inbox.notices.value, []);
});

Deno.test("an item is put off to times that a person means, in their own days", () => {
  const evening = new Date(2026, 10, 30, 22, 15).getTime();
  const night = new Date(2026, 11, 1, 0, 20).getTime();

  assert.equal(laterTime("quarter", evening), evening + 900_000);
  assert.equal(laterTime("hour", evening), evening + 3_600_000);
  assert.equal(laterTime("morning", evening), new Date(2026, 11, 1, 8).getTime());
  assert.equal(laterTime("morning", night), new Date(2026, 11, 2, 8).getTime());
  assert.equal(momentIn(localMinute(evening + 60_000), evening), evening + 60_000);
  for (
    const field of ["", "tomorrow", localMinute(evening - 60_000), localMinute(evening + 31 * 86_400_000)]
  ) {
    assert.equal(momentIn(field, evening), undefined, field);
  }
});

const issueSchema = {
  type: "object",
  properties: {
    title: { type: "string", description: "One line" },
    urgency: { enum: ["low", "high"] },
    votes: { type: "integer" },
    labels: { type: "array" },
  },
  required: ["title"],
};

Deno.test("arguments become fields by the tool's schema, and what nobody touched is sent as the model wrote it", () => {
  const given = { title: "a", votes: 1.0, urgency: "other", extra: { deep: [1] } };
  const fields = argumentFields(issueSchema, given) ?? [];

  assert.deepEqual(fields.map(({ name, kind, required }) => [name, kind, required]), [
    ["title", "text", true],
    ["urgency", "json", false],
    ["votes", "integer", false],
    ["labels", "json", false],
    ["extra", "json", false],
  ]);
  assert.deepEqual(argumentsOf(fields, {}).value, given);
  const edited = argumentsOf(fields, { title: "b", votes: "", labels: '["x"]' });
  assert.deepEqual(edited.value, { title: "b", urgency: "other", labels: ["x"], extra: { deep: [1] } });
  assert.deepEqual([...argumentsOf(fields, { votes: "1.5", labels: "[", title: "" }).wrong], [
    "votes",
    "labels",
  ]);
});

Deno.test("a schema without properties makes no fields", () => {
  for (
    const schema of [undefined, null, {}, { type: "object" }, { properties: {} }, { properties: [] }, "x"]
  ) {
    assert.equal(argumentFields(schema, { a: 1 }), undefined);
  }
});

// --- theme ---

Deno.test("a chosen theme is applied and remembered, and the device's own leaves no trace", () => {
  const { app, storage, attributes } = createTestApp();

  app.theme.choose("dark");
  assert.equal(attributes.get("data-theme"), "dark");
  assert.equal(storage.get("callboard.theme"), "dark");
  app.theme.choose("system");
  assert.equal(attributes.has("data-theme"), false);
});
