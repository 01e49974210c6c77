/** The message that is sent by hand, to see whether a destination works. */
import { randomUUID } from "node:crypto";
import type { OutgoingMessage } from "./deliveries.ts";
import type { MessageBody } from "./message-body.ts";

/** A test message with an id of its own. @param by its sender, as the audit log names it. @param link to the
 * pages */
export function testMessage(organization: string, by: string, link: string, nowMs: number): OutgoingMessage {
  const body: MessageBody = {
    type: "test",
    timestamp: new Date(nowMs).toISOString(),
    data: { text: `A test message from ${organization}, sent by ${by}.`, link },
  };
  return { messageId: `msg_${randomUUID()}`, type: "test", body: JSON.stringify(body) };
}
