/** Translates the messages of Jitsu's clients: Segment's, but for the account, which Jitsu writes beside the
 * context. */
import { objectOf } from "../../contract/json.ts";
import { type SegmentCall, translateSegment } from "./segment.ts";
import type { Delivery, TranslatedItem } from "./source.ts";

/** Translates a body that was sent to one of Jitsu's paths. */
export function translateJitsu(body: unknown, delivery: Delivery, call: SegmentCall): TranslatedItem[] {
  const { groupId, ...message } = objectOf(body);
  if (call === "batch" || call === "group" || typeof groupId !== "string") {
    return translateSegment(body, delivery, call);
  }
  const context = { groupId, ...objectOf(message.context) };
  return translateSegment({ ...message, context }, delivery, call).map(({ translated }) => ({
    sent: body,
    translated,
  }));
}
