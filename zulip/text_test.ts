import assert from "node:assert/strict";
import fc from "fast-check";
import { codeBlock, codeSpan, guardCommand, spoiler } from "./markdown.ts";
import { hasMention, mention, silenceWildcards, silentMention, stripMentions } from "./mention.ts";
import { bodyHash, serverBody } from "./server_body.ts";
import { baseTopic, cleanTopic, isGeneralChat, isResolved, topicKey } from "./topic.ts";

const bot = { id: 7, fullName: "Call (board)" };

Deno.test("mention finds each form of its own token and no other person's", () => {
  const found = [
    "@**Call (board)**",
    "@**Call (board)|7**",
    "@_**Call (board)**",
    "@_**Call (board)|7**",
    "@**|7**",
  ];
  const others = ["@**Call (board)|8**", "@**Call**", "**Call (board)**", "@**|77**", "Call (board)"];

  for (const token of found) assert.ok(hasMention(`hi ${token}!`, bot), token);
  for (const token of others) assert.ok(!hasMention(`hi ${token}!`, bot), token);
});

Deno.test("mention builds a token that it finds again, whatever the name holds", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme", minLength: 1 }), fc.nat(), (fullName, id) => {
    assert.ok(hasMention(mention({ id, fullName }), { id, fullName }));
    assert.ok(hasMention(silentMention({ id, fullName }), { id, fullName }));
    assert.ok(!mention({ id, fullName }).slice(3, -2).includes("*"));
  }));
});

Deno.test("mention stripping keeps the words and, of a bare mention, the text", () => {
  assert.equal(stripMentions("@**Call (board)|7**: build it", bot), "build it");
  assert.equal(stripMentions("please @**Call (board)** build it", bot), "please build it");
  assert.equal(stripMentions("@**Other|8** build it", bot), "@**Other|8** build it");
  assert.equal(stripMentions(" @**Call (board)** ", bot), "@**Call (board)**");
});

Deno.test("wildcard mentions become silent", () => {
  assert.equal(
    silenceWildcards("@**all** and @**topic**, @**Al|3**"),
    "@_**all** and @_**topic**, @**Al|3**",
  );
});

Deno.test("topic key is the same for a resolved, recased or translated name", () => {
  assert.equal(baseTopic("✔ ✔ Deploy"), "Deploy");
  assert.equal(topicKey("✔ Deploy"), topicKey("deploy"));
  assert.equal(topicKey(""), topicKey("General Chat"));
  assert.equal(topicKey("allgemeiner Chat", "allgemeiner chat"), "");
  assert.ok(isResolved("✔ a") && !isResolved("✔a"));
  assert.ok(isGeneralChat("  ") && !isGeneralChat("general"));
});

Deno.test("clean topic is printable, one line and at most 60 code points", () => {
  assert.equal(cleanTopic(" a\n\tb\0c "), "a b c");
  assert.equal([...cleanTopic("😀".repeat(80))].length, 60);
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    const topic = cleanTopic(text);
    assert.ok([...topic].length <= 60 && !/[\p{Cc}\p{Cn}\p{Cs}]/u.test(topic) && topic === cleanTopic(topic));
  }));
});

Deno.test("code fences cannot be ended by the text inside them", () => {
  fc.assert(fc.property(fc.array(fc.constantFrom("`", "```", "````", "x", "\n")), (parts) => {
    const text = parts.join("");
    const lines = codeBlock(text, "sh").split("\n");
    const fence = lines.at(-1);
    assert.deepEqual(lines.slice(1, -1).filter((line) => line.trim() === fence), []);
    assert.equal(lines[0], `${fence}sh`);
  }));
  assert.equal(codeSpan("a`b``c"), "```a`b``c```");
  assert.equal(codeSpan("`"), "`` ` ``");
  assert.equal(spoiler("Details", "```\nx\n```").split("\n")[0], "````spoiler Details");
});

Deno.test("an answer that begins like a command stays text", () => {
  assert.notEqual(guardCommand("/poll lunch?")[0], "/");
  assert.notEqual(guardCommand(" /me waves")[0], " ");
  assert.equal(guardCommand("/pollute"), "/pollute");
});

Deno.test("server body trims, refuses and cuts as the server does", async () => {
  assert.deepEqual(serverBody("\n\n  hi \u00a0\x1c\n"), { ok: true, body: "  hi", truncated: false });
  assert.deepEqual(serverBody(" \n"), { ok: false, reason: "empty" });
  assert.deepEqual(serverBody("a\0b"), { ok: false, reason: "nul" });
  const cut = serverBody("😀".repeat(10_001));
  assert.ok(
    cut.ok && cut.truncated && [...cut.body].length === 10_000 && cut.body.endsWith("\n[message truncated]"),
  );
  assert.equal(await bodyHash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
