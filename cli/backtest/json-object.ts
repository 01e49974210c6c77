/** JSON objects in the files of a back-test. */
import type { JsonObject } from "../../contract/json.ts";
import { Refusal } from "../../contract/refusal.ts";
import { isInvalid, parseBody } from "../../server/intake/admission/json.ts";

/** The object of a text. @param what names the text in the reason why it cannot be read. @throws Refusal */
export function objectIn(text: string, what: string): JsonObject {
  const body = parseBody(Buffer.from(text));
  if (isInvalid(body)) throw new Refusal(body.invalid.replace(/^body/, what));
  return body.value;
}
