/**
 * Questions of running tools to a person: raised, withdrawn, answered. A question may be a form (fields, each with its own rules) or a link that
 * the person is asked to open; surfaces that show neither show its text. Messages are declared in `approval.ts`.
 */
import * as z from "zod";
import type { FormField } from "../../lib/form_field.ts";

/** One field of a form. */
const Field: z.ZodType<FormField> = z.object({
  name: z.string().max(200),
  label: z.string().max(500),
  description: z.string().max(4_000).optional(),
  type: z.enum(["string", "number", "integer", "boolean", "choice", "choices"]),
  required: z.boolean(),
  secret: z.boolean(),
  format: z.enum(["email", "uri", "date", "date-time"]).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  choices: z.array(z.object({ value: z.string().max(1_000), label: z.string().max(1_000) })).max(500)
    .optional(),
  fallback: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
});

/** A running tool (`ask_user`, an MCP elicitation) needs a person's words; answered with `question.answered`. */
export const QuestionRaise = z.object({
  callId: z.string(),
  turnId: z.string(),
  conversation: z.string(),
  kind: z.enum(["question", "elicitation"]),
  question: z.string().max(20_000),
  suggestions: z.array(z.string().max(500)).max(20).default([]),
  expiresInSeconds: z.int().positive().max(30 * 86_400).optional(),
  /** The answer is a secret: it is sealed to this point before anything stores it. */
  sealTo: z.object({ x: z.string().max(100), y: z.string().max(100) }).optional(),
  /** Who asks: the MCP server, the tool that runs there, and whether it is sandboxed. */
  asker: z.object({ server: z.string(), tool: z.string(), sandboxed: z.boolean() }).optional(),
  /** The answer is a JSON object that fits these fields (`lib/form_field.ts`). No fields: only agreement is asked for. */
  form: z.object({ message: z.string().max(20_000), fields: z.array(Field).max(100) }).optional(),
  /** The person is asked to open an address that `lib/web_link.ts` lets through; any answer means that they did. */
  link: z.object({ message: z.string().max(20_000), url: z.string().max(4_000) }).optional(),
});
export type QuestionRaise = z.infer<typeof QuestionRaise>;

/**
 * Nobody waits for the answer any more: the call was stopped, its server or its process died, its time was over. `unheard`: an answer
 * came, and there was nobody to take it.
 */
export const QuestionWithdrawn = z.object({
  callId: z.string(),
  reason: z.string().max(300),
  unheard: z.boolean().default(false),
});
export type QuestionWithdrawn = z.infer<typeof QuestionWithdrawn>;

/** A person's answer, or why there is none. `cancelled` of an elicitation: dismissed without a choice. */
export const QuestionAnswered = z.object({
  callId: z.string(),
  outcome: z.enum(["answered", "declined", "expired", "cancelled"]),
  answer: z.string().optional(),
  by: z.string().optional(),
});
export type QuestionAnswered = z.infer<typeof QuestionAnswered>;
