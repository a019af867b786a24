/**
 * From a proposed call to what approval judges: the arguments parsed, the call described from reality, and the digest that binds a decision
 * to exactly this. Called once to ask and once more before running; the same call in an unchanged world gives the same digest. Proven by
 * `gateway_test.ts`.
 */
import { digestOf } from "../../lib/digest.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Described } from "../protocol/tools.ts";
import type { SandboxMode } from "./sandbox/sandbox.ts";
import type { Bound, Description, Place, Tool } from "./tool.ts";

/** A call that can be judged, and run. */
export interface DescribedCall {
  readonly tool: Tool;
  readonly bound: Bound;
  readonly described: Described;
  readonly digest: string;
}

/** What is to be described. `arguments` is the model's JSON text. */
export interface ProposedCall {
  readonly tool: string;
  readonly arguments: string;
  readonly place: Place;
}

/** Where tools are found, and whether a sandbox stands. */
export interface Describer {
  find(name: string): Tool | undefined;
  /** Resolves when what is offered is known; until then a tool that is not found may still come. */
  known(): Promise<void>;
  readonly mode: SandboxMode;
}

/** Describes a call. A failure's message is for the model: the tool does not exist or the arguments cannot be read. */
export async function describeCall(
  { find, known, mode }: Describer,
  call: ProposedCall,
): Promise<Result<DescribedCall>> {
  if (!find(call.tool)) await known();
  const tool = find(call.tool);
  if (!tool) return fail("not_found", `There is no tool "${call.tool}".`);
  const input = parseJson(call.arguments);
  if (!input.ok) return input;
  const bound = tool.parse(input.value);
  if (!bound.ok) {
    return fail("bad_request", `Arguments of ${call.tool} are not valid: ${bound.error.message}`);
  }
  const found = await look(bound.value, call.place);
  if (!found.ok) return found;
  const description = found.value;
  const { spec } = tool;
  const effect = description.class ?? spec.class;
  const described: Described = {
    source: spec.source,
    sandboxed: mode === "bwrap",
    idempotent: spec.idempotent,
    ...description,
    class: effect,
    askOnce: mode === "none" && (effect === "exec" || effect === "write" || effect === "mcp"),
  };
  const { summary: _, preview: __, risk: ___, ...bindable } = described;
  const digest = digestOf({
    tool: call.tool,
    schemaHash: spec.schemaHash,
    arguments: input.value,
    place: { conversation: call.place.conversation, sandbox: mode },
    described: bindable,
  });
  return ok({ tool, bound: bound.value, described, digest });
}

/** Whatever a call's arguments can make go wrong while looking is an answer to the model, never the end of the toolbox. */
async function look(bound: Bound, place: Place): Promise<Result<Description>> {
  try {
    return ok(await bound.describe(place));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fail("unavailable", `The call could not be described: ${why.slice(0, 500)}`);
  }
}

function parseJson(text: string): Result<unknown> {
  if (!text.isWellFormed()) return fail("bad_request", "The arguments are not well-formed text.");
  try {
    const value: unknown = JSON.parse(text.trim() === "" ? "{}" : text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      digestOf(value); // Throws for what has no canonical form, such as a lone surrogate behind an escape.
      return ok(value);
    }
    return fail("bad_request", "The arguments must be one JSON object.");
  } catch (error) {
    return fail(
      "bad_request",
      `The arguments are no JSON: ${error instanceof Error ? error.message : "unreadable"}`.slice(0, 500),
    );
  }
}
