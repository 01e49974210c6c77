/** A group of events in the journal's form: bytes that are written once and rarely read. */

import { Refusal } from "../../../contract/refusal.ts";
import type { DayCount, InboxRows } from "../inbox.ts";
import { recordHeadBytes } from "./journal-file.ts";

/** The rows of one commit that has only events of known users. */
export interface EventGroup {
  /** The first inbox id of its rows. The others follow without a gap. */
  readonly firstInboxId: number;
  readonly inbox: readonly InboxRows[];
  readonly dayCounts: readonly DayCount[];
  /** Hashes of message ids, as `message_ids` keeps them. */
  readonly messageIds: Uint8Array;
  readonly nowMs: number;
}

/** The version of the form below. */
const form = 1;

interface Description extends Omit<EventGroup, "inbox" | "messageIds"> {
  readonly form: number;
  readonly messageIdBytes: number;
  readonly inbox: readonly (Omit<InboxRows, "body"> & { readonly bodyBytes: number })[];
}

/** UTF-8 takes at most three bytes for each UTF-16 unit. */
const maxBytesPerUnit = 3;
const lengthBytes = 4;

/**
 * Writes a group into `space`, after a free head for the file.
 * @returns the used part of `space`. Undefined if the group might not fit.
 */
export function encodeGroup(group: EventGroup, space: Buffer): Buffer | undefined {
  const { inbox, messageIds, ...rest } = group;
  const units = inbox.reduce((sum, { body }) => sum + body.length, 0);
  const bodiesAt = recordHeadBytes + messageIds.length;
  if (bodiesAt + units * maxBytesPerUnit > space.length) return undefined;
  space.set(messageIds, recordHeadBytes);
  let end = bodiesAt;
  const described = inbox.map(({ body, ...rows }) => {
    const bodyBytes = space.write(body, end);
    end += bodyBytes;
    return { ...rows, bodyBytes };
  });
  const description: Description = { form, ...rest, messageIdBytes: messageIds.length, inbox: described };
  const text = JSON.stringify(description);
  if (end + text.length + lengthBytes > space.length) return undefined;
  end += space.write(text, end);
  space.writeUInt32LE(text.length, end);
  return space.subarray(0, end + lengthBytes);
}

/** Decodes a record without its head. @throws Refusal when it was written by another version */
export function decodeGroup(record: Buffer): EventGroup {
  const textEnd = record.length - lengthBytes;
  const text = record.toString("utf8", textEnd - record.readUInt32LE(textEnd), textEnd);
  const { form: written, messageIdBytes, inbox, ...rest } = JSON.parse(text) as Description;
  if (written !== form)
    throw new Refusal("the journal was written by a newer version: start that one, and stop it.");
  let at = messageIdBytes;
  const rows = inbox.map(({ bodyBytes, ...described }) => {
    const body = record.toString("utf8", at, at + bodyBytes);
    at += bodyBytes;
    return { ...described, body };
  });
  return { ...rest, inbox: rows, messageIds: new Uint8Array(record.subarray(0, messageIdBytes)) };
}
