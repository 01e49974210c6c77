/** Raw archives of Segment and RudderStack: one message a line, as their clients sent it. */
import type { JsonObject } from "../../../contract/json.ts";
import { isInvalid } from "../../intake/admission/json.ts";
import { translateSegment } from "../segment.ts";
import type { Translated } from "../source.ts";
import { type ExportContext, requiredTime } from "./export.ts";

/** Translates a message. `sentAt` is left out: the tool has corrected `timestamp` by it, and a second
 * correction would move the message by its age. */
export function translateSegmentRow(row: JsonObject, { nowMs }: ExportContext): Translated {
  const { sentAt: _sentAt, originalTimestamp, receivedAt, ...message } = row;
  const timestamp = requiredTime(
    ["timestamp", row.timestamp],
    ["originalTimestamp", originalTimestamp],
    ["receivedAt", receivedAt],
  );
  if (isInvalid(timestamp)) return timestamp;
  const [only] = translateSegment({ batch: [{ ...message, timestamp }] }, { receivedAtMs: nowMs }, "batch");
  return only?.translated ?? { invalid: "row is no message: send one message a line." };
}
