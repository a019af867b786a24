/**
 * What the fake model does without a script: an echo that the user's text can steer.
 *
 * `tool:NAME {json}` lines of the last user message are called in order, in one answer; after their results it says
 * what they were. Other text is repeated. So an end-to-end test in another process needs no script of its own.
 */

import { readToolLines } from "../../../actors/models/tool_line.ts";
import { call, type Reply, say, type SeenRequest } from "./script.ts";

export function echoScript({ messages, protocol }: SeenRequest): Reply {
  const last = messages.at(-1);
  if (last?.role === "tool") {
    const from = messages.findLastIndex((message) => message.role !== "tool");
    const results = messages.slice(from + 1).map((message) => message.text);
    return [say(`The tool answered: ${results.join(" | ")}`)];
  }
  const text = last?.text ?? "";
  const turn = messages.filter((message) => message.role === "user").length;
  // Anthropic and OpenAI ids are unique; local servers count anew in each answer, and so do we there.
  const prefix = protocol === "completions" ? "call" : `call_t${turn}`;
  const calls = readToolLines(text).map((line, index) =>
    call(line.name, line.arguments, `${prefix}_${index}`)
  );
  return calls.length > 0 ? calls : [say(`echo: ${text}`)];
}
