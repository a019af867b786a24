/**
 * Collects the items of one step from pi-ai's events.
 *
 * Pure state, no I/O. Promises: argument text is kept as the model wrote it; call ids are unique within the history;
 * an item counts as complete only when its end was seen in a protocol that marks the end of items; a tool call that
 * was cut by the output limit is dropped. Proved by `pi_stream_test.ts` and `pi_faults_test.ts`.
 */

import type { AssistantMessage, AssistantMessageEvent } from "@earendil-works/pi-ai";
import type { HistoryItem, ModelItem } from "../../protocol/model.ts";
import { claimCallId } from "./call_ids.ts";
import type { StreamDelta } from "../model_stream.ts";
import { type CallFacts, fromPiBlock } from "./pi_messages.ts";

/** Bounds of one item, in UTF-16 units. */
const MAX_TEXT_CHARS = 4 * 1024 * 1024;
const MAX_ARGUMENTS_CHARS = 1024 * 1024;

export interface ItemCollectorOptions {
  /** Call ids in here are taken. */
  readonly history: readonly HistoryItem[];
  /** `provider/model`, for signatures. */
  readonly modelName: string;
  /** False for chat completions, where nothing is known to be whole before the finish reason. */
  readonly marksItemEnds: boolean;
}

export class ItemCollector {
  readonly #options: ItemCollectorOptions;
  readonly #taken: Set<string>;
  readonly #callIds = new Map<number, string>();
  readonly #sizes = new Map<number, number>();
  readonly #argumentTexts = new Map<number, string>();
  readonly #finalArguments = new Map<string, string>();
  readonly #ended = new Set<number>();
  #content: AssistantMessage["content"] = [];

  constructor(options: ItemCollectorOptions) {
    this.#options = options;
    this.#taken = new Set(options.history.flatMap((item) => item.type === "tool_call" ? [item.callId] : []));
  }

  /** Takes one event; returns the piece that it adds, if any. Throws a `RangeError` when an item is too large. */
  take(event: AssistantMessageEvent): StreamDelta | undefined {
    switch (event.type) {
      case "start":
        this.#content = event.partial.content;
        return undefined;
      case "text_delta":
        this.#grow(event.contentIndex, event.delta, MAX_TEXT_CHARS);
        return { kind: "text", index: event.contentIndex, delta: event.delta };
      case "thinking_delta":
        this.#grow(event.contentIndex, event.delta, MAX_TEXT_CHARS);
        return { kind: "reasoning", index: event.contentIndex, delta: event.delta };
      case "toolcall_delta":
        return this.#takeArguments(event.contentIndex, event.delta);
      case "text_end":
      case "thinking_end":
      case "toolcall_end":
        this.#ended.add(event.contentIndex);
        return undefined;
      case "done":
        this.#content = event.message.content;
        return undefined;
      case "error":
        this.#content = event.error.content;
        return undefined;
      default:
        return undefined;
    }
  }

  /** Notes the complete argument text that the provider repeats at the end of a call. */
  noteFinalArguments(piCallId: string, text: string): void {
    this.#finalArguments.set(piCallId, text);
  }

  /** The items of a response that came to its end. `wasCut`: the output limit was hit. */
  finish(wasCut: boolean): ModelItem[] {
    const items = this.#items(() => true);
    const last = items.at(-1);
    if (wasCut && last?.type === "tool_call" && !isJson(last.arguments)) items.pop();
    return items;
  }

  /** The items that were whole when the stream broke. */
  completed(): ModelItem[] {
    return this.#options.marksItemEnds ? this.#items((index) => this.#ended.has(index)) : [];
  }

  #takeArguments(index: number, delta: string): StreamDelta {
    this.#grow(index, delta, MAX_ARGUMENTS_CHARS);
    this.#argumentTexts.set(index, (this.#argumentTexts.get(index) ?? "") + delta);
    const callId = this.#callId(index);
    return { kind: "tool_input", index, delta, ...(callId !== undefined && { callId }) };
  }

  #grow(index: number, delta: string, limit: number): void {
    const size = (this.#sizes.get(index) ?? 0) + delta.length;
    if (size > limit) throw new RangeError(`the model wrote more than ${limit} characters into one item`);
    this.#sizes.set(index, size);
  }

  #items(isWanted: (index: number) => boolean): ModelItem[] {
    return this.#content.flatMap((block, index) => {
      if (!isWanted(index)) return [];
      const facts = block.type === "toolCall" ? this.#facts(index, block.id) : undefined;
      return fromPiBlock(block, this.#options.modelName, facts) ?? [];
    });
  }

  #facts(index: number, piCallId: string): CallFacts {
    return {
      callId: this.#callId(index) ?? this.#claim(index, ""),
      argumentsText: this.#finalArguments.get(piCallId) ?? this.#argumentTexts.get(index) ?? "",
    };
  }

  /** Known once the provider has told its own id. */
  #callId(index: number): string | undefined {
    const known = this.#callIds.get(index);
    const block = this.#content[index];
    if (known !== undefined || block?.type !== "toolCall" || block.id === "") return known;
    return this.#claim(index, block.id.split("|")[0] ?? "");
  }

  #claim(index: number, raw: string): string {
    const callId = claimCallId(raw, this.#taken);
    this.#callIds.set(index, callId);
    return callId;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
