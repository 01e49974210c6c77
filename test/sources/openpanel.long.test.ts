/** OpenPanel's own client, @openpanel/sdk. It gives up after three attempts, unless it is told to try more
 * often. */
import { OpenPanel } from "@openpanel/sdk";
import { provesDelivery } from "./delivery.ts";

provesDelivery("@openpanel/sdk", (url, token) => {
  const client = new OpenPanel({ apiUrl: `${url}/openpanel`, clientId: token });
  Object.assign(client.api, { maxRetries: 1_000, initialRetryDelay: 200 });
  const waiting: unknown[] = [];
  return {
    identify: (profileId, { email, ...properties }) =>
      void waiting.push(client.identify({ profileId, email: String(email), properties })),
    // The client has no ids of messages.
    track: (profileId, event, properties) =>
      void waiting.push(client.track(event, { ...properties, profileId, __messageId: crypto.randomUUID() })),
    join: (_profileId, id, name) =>
      void waiting.push(client.upsertGroup({ id, name, type: "company" }), client.setGroup(id)),
    flush: async () => void (await Promise.all(waiting)),
  };
});
