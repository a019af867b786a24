/**
 * What a protocol of the fake model must be able to do: read a request, and write a reply as server-sent events.
 */

import type { FinishReason, SeenRequest } from "./script.ts";

/** Reads requests and writes answers of one provider protocol. */
export interface Wire {
  readonly protocol: SeenRequest["protocol"];
  read(body: unknown): Omit<SeenRequest, "protocol" | "headers" | "body">;
  /** A new answer. */
  open(model: string): Writer;
  /** The body of a refused request. */
  refusal(type: string, message: string): string;
  readonly overflowMessage: string;
}

/** Writes one answer; each method returns the text to send. */
export interface Writer {
  start(): string;
  text(chunks: readonly string[]): string[];
  reasoning(chunks: readonly string[], signature: string): string[];
  call(id: string, name: string, fragments: readonly string[]): string[];
  error(type: string, message: string): string;
  finish(reason: FinishReason): string[];
}

/** One server-sent event. */
export function sse(data: unknown, event?: string): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
}

/** A plain object, or an empty one. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** The elements of an array as plain objects. */
export function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(record) : [];
}

/** A string, or an empty one. */
export function str(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Text that is a string or a list of `{text}` parts. */
export function partsText(content: unknown): string {
  return typeof content === "string" ? content : records(content).map((part) => str(part.text)).join("");
}
