/**
 * `ask_user`: a question that becomes a pending item; the person's answer is the result. It holds no process and no promise while it
 * waits: the call is a row, so it survives every restart. Proven by `gateway_test.ts`.
 */
import * as z from "zod";
import { defineTool, oneLine, type Tool } from "../tool.ts";

const Arguments = z.strictObject({
  question: z.string().min(1).max(20_000),
  suggestions: z.array(z.string().min(1).max(500)).max(20).optional().describe("Answers to choose from."),
});

/** Builds the tool. */
export function askUser(): Tool {
  return defineTool({
    name: "ask_user",
    description: "Asks the user a question and waits for the answer, which may take long.",
    class: "plan",
    idempotent: true,
    arguments: Arguments,
    describe({ question, suggestions = [] }) {
      const text = [question, ...suggestions.map((suggestion) => `- ${suggestion}`)].join("\n");
      return Promise.resolve({
        summary: oneLine(`Ask: ${question}`),
        paths: [],
        outside: [],
        preview: { kind: "text", text },
        risk: "low",
      });
    },
    ask({ question, suggestions = [] }, { callId, turnId }, place) {
      return {
        to: "approval",
        type: "question.raise",
        payload: {
          callId,
          turnId,
          conversation: place.conversation,
          kind: "question",
          question,
          suggestions,
        },
      };
    },
  });
}
