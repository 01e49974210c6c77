/** Sources as people call them. */
import type { SenderName } from "../../contract/sources.ts";

const names: Readonly<Record<SenderName, string>> = {
  segment: "Segment",
  rudderstack: "RudderStack",
  customerio: "Customer.io",
  posthog: "PostHog",
  stripe: "Stripe",
  webhook: "Webhooks",
  api: "The write API",
};

/** The name of a source, as the API names it; one that is not known keeps its own. */
export function sourceName(source: string): string {
  return (names as Readonly<Record<string, string>>)[source] ?? source;
}
