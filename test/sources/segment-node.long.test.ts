/** Segment's own client for servers, @segment/analytics-node. */
import { Analytics } from "@segment/analytics-node";
import { provesDelivery } from "./delivery.ts";

provesDelivery("@segment/analytics-node", (url, token) => {
  // It gives up after some retries, and a restart may take longer.
  const client = new Analytics({
    writeKey: token,
    host: url,
    flushAt: 7,
    flushInterval: 20,
    maxRetries: 1_000,
  });
  return {
    identify: (userId, traits) => client.identify({ userId, traits }),
    track: (userId, event, properties) => client.track({ userId, event, properties }),
    flush: () => client.closeAndFlush({ timeout: 170_000 }),
  };
});
