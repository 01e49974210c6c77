/** The module's interface: what follows from scores, and the messages about it. */

export { destinationUrl } from "./send/allowed-address.ts";
export { type MessageBody, plainMail } from "./send/message-body.ts";
export { newOutbox, type Outbox } from "./send/outbox.ts";
export { newSecret } from "./send/signature.ts";
