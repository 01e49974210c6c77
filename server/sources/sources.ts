/** The module's interface: messages of other tools, translated into intake's items. One directory a
 * source. */

export { findPerson } from "./billing/person.ts";
export { stripeScheme, whyNotSigned } from "./billing/signature.ts";
export type { ExportContext } from "./exports/export.ts";
export { type ExportTool, exportTools, exportTranslations } from "./exports/exports.ts";
export { type StripeCustomer, stripeCustomerOf, unmatchedStripeItems } from "./exports/stripe.ts";
export { translateJitsu } from "./jitsu/jitsu.ts";
export { type MixpanelCall, mixpanelToken, translateMixpanel } from "./mixpanel/mixpanel.ts";
export { translateOpenpanel } from "./openpanel/openpanel.ts";
export { posthogToken } from "./posthog/envelope.ts";
export { translatePosthog, withPosthogVisitors } from "./posthog/posthog.ts";
export { type SegmentCall, senderOf, translateSegment } from "./segment/segment.ts";
export type { Delivery, Translated, TranslatedItem } from "./source.ts";
export { stripePerson, translateStripe } from "./stripe/stripe.ts";
export { triedItem } from "./tried.ts";
export { translatePreset, translateUnknown } from "./webhook/presets.ts";
export { whyNotVerified } from "./webhook/verify.ts";
export { checkMapping, ofWebhook, translateWebhook } from "./webhook/webhook.ts";
