/** The module's interface: what follows from scores, and the messages about it. */

export { Notifier } from "./notices/notifier.ts";
export { OrganizationReader } from "./notices/organization-now.ts";
export { destinationUrl } from "./send/allowed-address.ts";
export { invitationMail, passwordMail } from "./send/link-mails.ts";
export { failureOfMail, type Mail, sendMail } from "./send/mail.ts";
export { plainMail } from "./send/message-body.ts";
export { newOutbox, type Outbox } from "./send/outbox.ts";
export { newSecret } from "./send/signature.ts";
export { testMessage } from "./send/test-message.ts";
