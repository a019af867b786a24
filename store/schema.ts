/**
 * Every table, declared for typed queries with `typed()`. The migrations are the truth; `store/schema_test.ts` compares the two.
 */
export * from "./schema/commit.ts";
export * from "./schema/actors.ts";
export * from "./schema/conversations.ts";
export * from "./schema/policy.ts";
export * from "./schema/schedules.ts";
export * from "./schema/people.ts";
export * from "./schema/viewers.ts";
