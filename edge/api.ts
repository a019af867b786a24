/**
 * The HTTP API as types: every request, response and stream event between the edge and whoever calls it (the UI, scripts, tests). Request
 * schemas are strict: an unknown field or enum value is a 400, never a guess. Response schemas are what the edge promises to send. It imports
 * nothing but zod and schemas of `lib`, so that a browser bundle may import its types. Times are milliseconds since the Unix epoch unless a name says otherwise.
 */
export * from "./api/actors.ts";
export * from "./api/audit.ts";
export * from "./api/conversations.ts";
export * from "./api/dead_letters.ts";
export * from "./api/errors.ts";
export * from "./api/inbox.ts";
export * from "./api/page.ts";
export * from "./api/passkeys.ts";
export * from "./api/people.ts";
export * from "./api/policy.ts";
export * from "./api/profiles.ts";
export * from "./api/push.ts";
export * from "./api/stream.ts";
