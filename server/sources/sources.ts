/** The module's interface: messages of other tools, translated into intake's items. One directory a source. */

export { posthogToken } from "./posthog/envelope.ts";
export { translatePosthog } from "./posthog/posthog.ts";
export { type SegmentCall, senderOf, translateSegment } from "./segment/segment.ts";
export type { Delivery, Translated, TranslatedItem } from "./source.ts";
export { findPerson } from "./stripe/person.ts";
export { whyNotSigned } from "./stripe/signature.ts";
export { translateStripe } from "./stripe/stripe.ts";
export { triedItem } from "./tried.ts";
export { checkMapping, ofWebhook, translateWebhook } from "./webhook/webhook.ts";
