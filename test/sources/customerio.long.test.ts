/** Customer.io's own client for servers, @customerio/cdp-analytics-node. */
import { Analytics } from "@customerio/cdp-analytics-node";
import { provesDelivery } from "./delivery.ts";

provesDelivery("@customerio/cdp-analytics-node", (url, token) => {
  // By itself it gives up after 3 retries within 0.2 seconds, which no restart is done in.
  const client = new Analytics({
    writeKey: token,
    host: url,
    maxEventsInBatch: 7,
    flushInterval: 20,
    maxRetries: 1_000,
  });
  return {
    identify: (userId, traits) => client.identify({ userId, traits }),
    track: (userId, event, properties) => client.track({ userId, event, properties }),
    flush: () => client.closeAndFlush({ timeout: 170_000 }),
  };
});
