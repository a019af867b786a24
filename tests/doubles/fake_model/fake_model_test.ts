import { deepEqual, equal, match } from "node:assert/strict";
import { FakeModel } from "./fake_model.ts";
import { call, say } from "./script.ts";

const BODIES = {
  "/v1/messages": (text: string) => ({
    model: "m",
    stream: true,
    messages: [{ role: "user", content: text }],
  }),
  "/v1/responses": (text: string) => ({
    model: "m",
    stream: true,
    input: [{ role: "user", content: [{ type: "input_text", text }] }],
  }),
  "/v1/chat/completions": (text: string) => ({
    model: "m",
    stream: true,
    messages: [{ role: "user", content: text }],
  }),
};

async function post(url: string, body: unknown): Promise<string> {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  return await response.text();
}

for (const [path, body] of Object.entries(BODIES)) {
  Deno.test(`fake model echoes text and calls the tools of tool lines on ${path}`, async () => {
    const fake = FakeModel.start();
    try {
      const echoed = await post(fake.url + path, body("hi there"));
      const called = await post(fake.url + path, body('tool:exec_command {"command":"ls"}'));

      match(echoed, /echo: /);
      match(called, /exec_command/);
      equal((await fake.nextRequest()).messages.at(-1)?.text, "hi there");
    } finally {
      await fake.close();
    }
  });
}

Deno.test("fake model answers queued replies in order, then falls back to its script", async () => {
  const fake = FakeModel.start();
  try {
    fake.script([[say("first")], () => [say("second")]]);
    fake.script(() => [say("fallback")]);
    const ask = () => post(`${fake.url}/v1/messages`, BODIES["/v1/messages"]("x"));

    const answers = [await ask(), await ask(), await ask()];

    deepEqual(answers.map((answer) => /first|second|fallback/.exec(answer)?.[0]), [
      "first",
      "second",
      "fallback",
    ]);
  } finally {
    await fake.close();
  }
});

Deno.test("fake model holds an answer until it is released", async () => {
  const fake = FakeModel.start();
  try {
    fake.script([[say("a"), { do: "hang" }, say("b")]]);
    const answer = post(`${fake.url}/v1/messages`, BODIES["/v1/messages"]("x"));
    const request = await fake.nextRequest();
    let ended = false;
    void request.ended.then(() => ended = true);
    await fake.whenHanging();
    equal(ended, false);

    fake.release();

    match(await answer, /"b"/);
    equal(await request.ended, "done");
  } finally {
    await fake.close();
  }
});

Deno.test("fake model is steered from another process through its control endpoint", async () => {
  const command = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--cached-only",
      "--no-prompt",
      "--allow-net=127.0.0.1",
      new URL("main.ts", import.meta.url).pathname,
    ],
    stdout: "piped",
  });
  await using child = command.spawn();
  const reader = child.stdout.getReader();
  const { url } = JSON.parse(new TextDecoder().decode((await reader.read()).value));

  const queued = await post(`${url}/_control/replies`, [[say("queued"), call("t", {})]]);
  const refused = await post(`${url}/_control/replies`, [[{ do: "dance" }]]);
  const answer = await post(`${url}/v1/messages`, BODIES["/v1/messages"]("x"));
  const requests = await (await fetch(`${url}/_control/requests`)).json();

  deepEqual(JSON.parse(queued), { queued: 1 });
  match(refused, /error/);
  match(answer, /queued/);
  deepEqual(requests.map((request: { model: string }) => request.model), ["m"]);
  child.kill("SIGTERM");
  await child.status;
  await reader.cancel();
});
