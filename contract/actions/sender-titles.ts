/** Sources as people call them, on pages and in messages. Pages import it, so it imports no schema. */
import type { SenderName } from "../sources.ts";

/** The title of each source, the write API last. */
export const senderTitles: Readonly<Record<SenderName, string>> = {
  segment: "Segment",
  rudderstack: "RudderStack",
  customerio: "Customer.io",
  posthog: "PostHog",
  stripe: "Stripe",
  webhook: "Webhooks",
  api: "The write API",
};
