/** Sources as people call them, on pages and in messages. Pages import it, so it imports nothing, types
 * included. */

/** The title of each source, the write API last. A sender without a title does not compile where titles are
 * read. */
export const senderTitles = {
  segment: "Segment",
  rudderstack: "RudderStack",
  customerio: "Customer.io",
  posthog: "PostHog",
  jitsu: "Jitsu",
  dittofeed: "Dittofeed",
  openpanel: "OpenPanel",
  mixpanel: "Mixpanel",
  stripe: "Stripe",
  webhook: "Webhooks",
  api: "The write API",
} as const;
