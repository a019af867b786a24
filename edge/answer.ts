/**
 * A person's answer on its way from the request to the row: a form's content is checked and becomes one JSON text; a page that was opened is only a
 * word; a secret is sealed here, and from now on only who asked for it can read it. Proven by `edge/answer_test.ts`.
 */
import { checkForm, contentOfText } from "../lib/form_field.ts";
import { isSealed, seal } from "../lib/sealed.ts";
import type { FoundItem } from "../store/queries/items.ts";
import type { DecisionRequest } from "./api.ts";
import { ApiError } from "./errors.ts";
import { itemView } from "./item_view.ts";

type Asked = Pick<DecisionRequest, "decision" | "answer" | "content">;

/** The request with its answer as it may be stored. Throws `bad_request` when it does not fit what was asked. */
export async function storable<Request extends Asked>(
  { item, sealTo }: FoundItem,
  request: Request,
): Promise<Omit<Request, "content" | "answer"> & { answer?: string }> {
  const { content, answer: said, ...rest } = request;
  const isClosed = sealTo !== undefined && said !== undefined && isSealed(said);
  if (request.decision !== "answer") return rest;
  // Sealed by whoever sent it: checked where it is opened.
  const answer = isClosed ? said : answerOf(item, { content, answer: said });
  if (answer === undefined) return rest;
  return { ...rest, answer: sealTo && !isSealed(answer) ? await seal(sealTo, answer) : answer };
}

function answerOf(
  item: FoundItem["item"],
  { content, answer }: Pick<Asked, "content" | "answer">,
): string | undefined {
  const { form, link } = itemView(item);
  if (link) return "opened";
  if (!form) {
    if (content !== undefined) throw new ApiError("bad_request", "content: nothing asks for a form");
    return answer;
  }
  const checked = checkForm(form.fields, content ?? contentOfText(form.fields, answer ?? ""));
  if (!checked.ok) throw new ApiError("bad_request", `content: ${checked.error.message}`);
  return JSON.stringify(checked.value);
}
