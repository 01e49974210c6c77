/** PostHog's own client for servers, posthog-node, in the form that it has by default. */
import { PostHog } from "posthog-node";
import { provesDelivery } from "./delivery.ts";

provesDelivery("posthog-node", (url, token) => {
  const patience = { fetchRetryCount: 1_000, fetchRetryDelay: 200 };
  const client = new PostHog(token, { host: url, flushAt: 7, flushInterval: 20, ...patience });
  return {
    identify: (userId, traits) => client.identify({ distinctId: userId, properties: traits }),
    track: (userId, event, properties) => client.capture({ distinctId: userId, event, properties }),
    flush: () => client.shutdown(170_000),
  };
});
