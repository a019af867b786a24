/**
 * Reading what clients send: JSON bodies and queries, parsed once against their schema. A refusal names the field, never its value.
 */
import type { Context } from "hono";
import type * as z from "zod";
import { ApiError } from "./errors.ts";

/** The body as the schema's output. Only `application/json` is read, which no form on another site can send. */
export async function readBody<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
): Promise<z.output<Schema>> {
  const type = (c.req.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new ApiError("unsupported_media_type", "Send JSON (application/json)");
  }
  const text = await c.req.text();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ApiError("bad_request", "The body is no JSON");
  }
  return parse(schema, value);
}

/** The query as the schema's output; a parameter given twice counts once. */
export function readQuery<Schema extends z.ZodType>(c: Context, schema: Schema): z.output<Schema> {
  return parse(schema, c.req.query());
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ApiError("bad_request", `${issue?.path.join(".") || "body"}: ${issue?.message ?? "not valid"}`);
}
