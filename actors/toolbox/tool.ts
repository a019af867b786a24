/**
 * What a tool is: a specification, a parser for the model's arguments, a description made from reality, and a way to run. A tool knows
 * neither messages nor rows; `calls.ts` does. `defineTool` keeps each tool's argument type inside it, so that all of them fit in one list.
 */
import * as z from "zod";
import { digestOf } from "../../lib/digest.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Send } from "../../runtime/actor.ts";
import type { QuestionAnswered, QuestionRaise } from "../protocol/approval.ts";
import type { Described, KnownTool } from "../protocol/tools.ts";
import type { Workspace } from "./files/workspace_files.ts";
import type { Stream } from "./sandbox/process.ts";

/** Where a call happens. */
export interface Place extends Workspace {
  /** The conversation's id, without `conversation/`. */
  readonly conversation: string;
  /** Of a call that runs: patterns of paths that a command must not see; absent: those of every installation. */
  readonly hidden?: readonly string[] | undefined;
}

/** What a tool found out about a call; the rest of `Described` follows from the tool and the sandbox. */
export type Description = Pick<Described, "summary" | "paths" | "outside" | "risk"> & Partial<Described>;

/** A question that a running tool has for a person. */
export interface Question {
  readonly question: string;
  readonly suggestions: readonly string[];
  /** The answer is a secret: it reaches this process sealed, and nothing else can read it. */
  readonly secret?: boolean;
  readonly asker?: QuestionRaise["asker"];
  readonly form?: QuestionRaise["form"];
  readonly link?: QuestionRaise["link"];
}

/** What a running tool may use besides its arguments. */
export interface RunIo {
  readonly signal: AbortSignal;
  onOutput(stream: Stream, chunk: string): void;
  /** Asks a person and waits; rejects when the call is stopped, or `until` aborts, first. One question at a time. */
  ask(question: Question, until?: AbortSignal): Promise<QuestionAnswered>;
}

/** What a tool gives back. `ok: false` is a failure that the model is told about. */
export interface Outcome {
  readonly ok: boolean;
  readonly text: string;
  readonly exitCode?: number;
  /** It was stopped by the signal before its end. */
  readonly aborted?: boolean;
}

/** A question to another actor that answers for the tool. `callId` comes back with the answer. */
export type Ask = (call: { callId: string; turnId: string }, place: Place) => Send;

/** A tool with the arguments of one call. */
export interface Bound {
  describe(place: Place): Promise<Description>;
  /** Does the work; `described` is what was approved. Absent when `ask` does it. */
  run?(place: Place, io: RunIo, described: Described): Promise<Outcome>;
  ask?: Ask;
}

/** One tool. */
export interface Tool {
  readonly spec: KnownTool;
  /** Another actor gives the result (`ask`); while it is awaited nothing of this process is involved. */
  readonly answeredElsewhere: boolean;
  /** Reads the model's arguments; a failure's message names the field. */
  parse(input: unknown): Result<Bound>;
}

/** A tool before its argument type is closed over. */
export interface ToolDefinition<Schema extends z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly class: KnownTool["class"];
  readonly idempotent: boolean;
  readonly arguments: Schema;
  describe(args: z.output<Schema>, place: Place): Promise<Description>;
  run?(args: z.output<Schema>, place: Place, io: RunIo & { described: Described }): Promise<Outcome>;
  ask?(args: z.output<Schema>, call: { callId: string; turnId: string }, place: Place): Send;
}

/** The hash of what a tool is said to be and do: to the model, and by its server to us. */
export function schemaHash(
  { name, description, parameters, hints }: Pick<KnownTool, "name" | "description" | "parameters" | "hints">,
): string {
  return digestOf({ name, description, parameters, ...(hints && { hints }) });
}

/** Makes a built-in tool. */
export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
  const { $schema: _, ...parameters } = z.toJSONSchema(definition.arguments, { io: "input" });
  const { name, description, idempotent } = definition;
  const spec = { name, description, parameters };
  return {
    spec: { ...spec, source: "builtin", class: definition.class, schemaHash: schemaHash(spec), idempotent },
    answeredElsewhere: definition.ask !== undefined,
    parse(input) {
      const parsed = definition.arguments.safeParse(input);
      if (!parsed.success) return fail("bad_request", wrong(parsed.error));
      const args = parsed.data;
      const { run, ask } = definition;
      return ok({
        describe: (place) => definition.describe(args, place),
        ...(run && { run: (place, io, described) => run(args, place, { ...io, described }) }),
        ...(ask && { ask: (call, place) => ask(args, call, place) }),
      });
    },
  };
}

/** What is wrong with some arguments, field by field. */
export function wrong(error: z.ZodError): string {
  return error.issues.slice(0, 5)
    .map((issue) => `${issue.path.length > 0 ? issue.path.join(".") : "arguments"}: ${issue.message}`).join(
      "; ",
    );
}

/** A one-line text for a card. */
export function oneLine(text: string, limit = 300): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}
