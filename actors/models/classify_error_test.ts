import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { ModelErrorClass } from "../protocol/model.ts";
import { classifyError, type ProviderError } from "./classify_error.ts";
import { readRetryAfterMs } from "./retry_after.ts";
import { safeMessage } from "./safe_message.ts";

const now = Date.parse("2026-11-30T12:00:00Z");
const json = (value: unknown) => JSON.stringify(value);

const CLASSES: readonly (readonly [string, ProviderError, ModelErrorClass])[] = [
  ["dropped connection", { text: "error reading a body from connection" }, "transient"],
  ["no answer at all", { text: "" }, "transient"],
  ["JSON cut at the end", { text: "Unexpected end of JSON input" }, "transient"],
  ["408", { status: 408, text: "" }, "transient"],
  ["409", { status: 409, text: "" }, "transient"],
  ["500", { status: 500, text: "oops" }, "transient"],
  ["503 as an HTML page", { status: 503, text: "<html><title>Bad</title></html>" }, "transient"],
  ["529", {
    status: 529,
    text: json({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
  }, "transient"],
  ["overloaded after a 200", {
    text: json({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
  }, "transient"],
  ["overloaded dressed as a bad request", {
    status: 400,
    text: json({ error: { type: "invalid_request_error", message: "Overloaded, please retry" } }),
  }, "transient"],
  [
    "api_error after a 200",
    { text: json({ error: { type: "api_error", message: "Internal" } }) },
    "transient",
  ],
  ["OpenAI server_is_overloaded", { text: "server_is_overloaded: busy" }, "transient"],
  ["429", { status: 429, text: "" }, "rate_limit"],
  ["429 with a token limit in its words", {
    status: 429,
    text: json({
      error: {
        code: "rate_limit_exceeded",
        message:
          "Limit 30000, Requested 40000. Please try again in 1.3s. Request exceeds the limit of tokens per min",
      },
    }),
  }, "rate_limit"],
  ["OpenAI response.failed by rate", { text: "rate_limit_exceeded: slow down" }, "rate_limit"],
  ["429 for lack of money", {
    status: 429,
    text: json({ error: { code: "insufficient_quota", message: "You exceeded your current quota" } }),
  }, "usage_limit"],
  ["credit", {
    status: 400,
    text: json({ error: { type: "invalid_request_error", message: "Your credit balance is too low" } }),
  }, "usage_limit"],
  ["402", { status: 402, text: "" }, "usage_limit"],
  ["429 with hours to wait", { status: 429, headers: { "retry-after": "7200" }, text: "" }, "usage_limit"],
  ["503 with hours to wait", { status: 503, headers: { "retry-after": "7200" }, text: "" }, "usage_limit"],
  ["Anthropic overflow", {
    status: 400,
    text: json({
      error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" },
    }),
  }, "context_too_long"],
  ["OpenAI overflow", {
    status: 400,
    text: json({
      error: {
        code: "context_length_exceeded",
        message: "Your input exceeds the context window of this model.",
      },
    }),
  }, "context_too_long"],
  ["OpenAI overflow in the stream", { text: "context_length_exceeded: too long" }, "context_too_long"],
  [
    "vLLM overflow",
    { status: 400, text: "This model's maximum context length is 4096 tokens." },
    "context_too_long",
  ],
  [
    "Gemini overflow",
    { status: 400, text: "The input token count (1200000) exceeds the maximum" },
    "context_too_long",
  ],
  [
    "Groq overflow",
    { status: 400, text: "Please reduce the length of the messages or completion." },
    "context_too_long",
  ],
  [
    "llama.cpp overflow",
    { status: 400, text: "the request exceeds the available context size" },
    "context_too_long",
  ],
  ["overflow inside a JSON text", {
    status: 400,
    text: json({ error: { message: json({ error: { message: "prompt is too long" } }) } }),
  }, "context_too_long"],
  ["413 without a body", { status: 413, text: "" }, "context_too_long"],
  ["400 without a body", { status: 400, text: " " }, "context_too_long"],
  [
    "stop by a full window",
    { text: "Unhandled stop reason: model_context_window_exceeded" },
    "context_too_long",
  ],
  ["content filter", {
    status: 400,
    text: json({ error: { code: "content_filter", message: "The prompt was filtered" } }),
  }, "refusal"],
  ["401", { status: 401, text: "" }, "auth"],
  ["403", { status: 403, text: "Forbidden" }, "auth"],
  ["wrong key", {
    status: 401,
    text: json({ error: { type: "authentication_error", message: "invalid x-api-key" } }),
  }, "auth"],
  ["404", { status: 404, text: json({ error: { message: "The model `x` does not exist" } }) }, "bad_request"],
  ["bad image", {
    status: 400,
    text: json({ error: { type: "invalid_request_error", message: "Could not process image" } }),
  }, "bad_request"],
  ["422", { status: 422, text: "unprocessable" }, "bad_request"],
];

for (const [name, error, expected] of CLASSES) {
  Deno.test(`classifyError() takes ${name} as ${expected}`, () => {
    equal(classifyError(error, { now }).class, expected);
  });
}

const WAITS: readonly (readonly [string, Record<string, string>, string, number | undefined])[] = [
  ["seconds", { "retry-after": "3" }, "", 3_000],
  ["fractions of a second", { "retry-after": "0.5" }, "", 500],
  ["a date", { "retry-after": "Mon, 30 Nov 2026 12:00:20 GMT" }, "", 20_000],
  ["a date that has passed", { "retry-after": "Mon, 30 Nov 2026 11:00:00 GMT" }, "", 0],
  ["milliseconds before seconds", { "retry-after-ms": "28", "retry-after": "1" }, "", 28],
  [
    "the reset of the used-up limit",
    {
      "x-ratelimit-remaining-requests": "10",
      "x-ratelimit-reset-requests": "9m",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "1m2.5s",
    },
    "",
    62_500,
  ],
  [
    "Anthropic's reset date",
    {
      "anthropic-ratelimit-tokens-remaining": "0",
      "anthropic-ratelimit-tokens-reset": "2026-11-30T12:00:07Z",
    },
    "",
    7_000,
  ],
  ["words in milliseconds", {}, "Please try again in 28ms.", 28],
  ["words in seconds", {}, "Please try again in 1.3s. Visit …", 1_300],
  ["words in long units", {}, "Try again in 2 hours 5 minutes", 7_500_000],
  ["nothing", {}, "Overloaded", undefined],
  ["nonsense", { "retry-after": "soon" }, "", undefined],
];

for (const [name, headers, text, expected] of WAITS) {
  Deno.test(`readRetryAfterMs() reads ${name}`, () => {
    equal(readRetryAfterMs({ headers, text }, now), expected);
  });
}

Deno.test("classifyError() carries the wait of a rate limit, and none for an error that no wait cures", () => {
  const headers = { "retry-after": "7" };

  const limited = classifyError({ status: 429, headers, text: "" }, { now });
  const refused = classifyError({ status: 401, headers, text: "" }, { now });

  deepEqual([limited.class, limited.retryAfterMs], ["rate_limit", 7_000]);
  equal(refused.retryAfterMs, undefined);
});

Deno.test("classifyError() tells people the sentence inside the JSON", () => {
  const text = json({ error: { message: json({ error: { message: "prompt is too long" } }) } });

  equal(
    classifyError({ status: 400, text }, { now }).message,
    "The model's provider answered 400: prompt is too long",
  );
});

Deno.test("safeMessage() lets no credential through", () => {
  const secrets = ["plain-configured-key"];
  const leaks = [
    "key plain-configured-key is wrong",
    "Incorrect API key provided: sk-proj-abcdefgh12345678.",
    "authorization: Bearer abcdef0123456789",
    '{"x-api-key":"0123456789abcdef"}',
    "GET https://user:hunter22@proxy.example/v1",
    "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
  ];

  for (const leak of leaks) {
    const safe = safeMessage(leak, secrets);

    match(safe, /\[redacted\]/);
    ok(!/plain-configured|abcdefgh1234|abcdef0123|0123456789abcdef|hunter22|eyJzdWIi/.test(safe), safe);
  }
});

Deno.test("safeMessage() strips markup and cuts what is long", () => {
  const page = `<html><style>b{}</style><h1>502</h1> Bad Gateway ${"x".repeat(5_000)}</html>`;

  const safe = safeMessage(page);

  match(safe, /^502 Bad Gateway x+…$/);
  equal(safe.length, 1_000);
});
