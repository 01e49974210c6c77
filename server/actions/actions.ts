/** The module's interface: what follows from scores, and the messages about it. */

export { type Controls, controlsOn } from "./alerts/controls.ts";
export { MessageExclusions } from "./alerts/message-exclusions.ts";
export { RuleDecider, type RuleDeciderParts } from "./alerts/rule-decider.ts";
export { readRuleFigures } from "./alerts/rule-figures.ts";
export { type CallRow, readCallList } from "./calls/call-list.ts";
export { hasNews } from "./digests/digest.ts";
export { readDigest } from "./digests/digest-reader.ts";
export { Digester } from "./digests/digester.ts";
export { Notifier } from "./notices/notifier.ts";
export { OrganizationReader } from "./notices/organization-now.ts";
export { Poller } from "./poller.ts";
export type { FindSegment, SegmentField } from "./rules/past-segments.ts";
export { previewRule } from "./rules/preview.ts";
export { recordedSizes } from "./segments/evaluations.ts";
export { SegmentKeeper, type SegmentKeeperParts } from "./segments/segment-keeper.ts";
export { savedAddress } from "./send/allowed-address.ts";
export { invitationMail, passwordMail } from "./send/link-mails.ts";
export { failureOfMail, type Mail, sendMail } from "./send/mail.ts";
export { plainMail } from "./send/message-body.ts";
export { newOutbox, type Outbox } from "./send/outbox.ts";
export { newSecret } from "./send/signature.ts";
export { testMessage } from "./send/test-message.ts";
