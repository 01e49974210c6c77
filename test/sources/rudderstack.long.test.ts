/** RudderStack's own client for servers, @rudderstack/rudder-sdk-node, whose bodies are gzip labelled as
 * forms. */
import RudderAnalytics from "@rudderstack/rudder-sdk-node";
import { provesDelivery } from "./delivery.ts";

provesDelivery("@rudderstack/rudder-sdk-node", (url, token) => {
  // By itself it gives up after 3 retries within 2 seconds.
  const client = new RudderAnalytics(token, {
    dataPlaneUrl: url,
    flushAt: 7,
    flushInterval: 20,
    retryCount: 10,
    logLevel: "silly" as const,
  });
  const waiting: Promise<void>[] = [];
  const delivered = (): ((error?: Error) => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(promise);
    return () => resolve();
  };
  return {
    identify: (userId, traits) => client.identify({ userId, traits }, delivered()),
    track: (userId, event, properties) => client.track({ userId, event, properties }, delivered()),
    flush: async () => void (await Promise.all(waiting)),
  };
});
