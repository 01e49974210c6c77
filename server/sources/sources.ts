/** The room's interface: what other tools' clients send, translated into what intake stores. One source, one file. */
export { translatePosthog } from "./posthog.ts";
export { posthogToken } from "./posthog-envelope.ts";
export { type SegmentCall, senderOf, translateSegment } from "./segment.ts";
export type { Delivery, Translated, TranslatedItem } from "./source.ts";
export { translateStripe } from "./stripe.ts";
export { findPerson } from "./stripe-person.ts";
export { whyNotSigned } from "./stripe-signature.ts";
export { triedItem } from "./tried.ts";
export { checkMapping, ofWebhook, translateWebhook } from "./webhook.ts";
