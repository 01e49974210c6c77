/** Dittofeed's own client for servers, @dittofeed/sdk-node. It sends nothing again, unless it is given a
 * request that does. */
import { DittofeedSdkBase } from "@dittofeed/sdk-node";
import { provesDelivery } from "./delivery.ts";
import { patiently } from "./patiently.ts";

provesDelivery("@dittofeed/sdk-node", (url, token) => {
  const underWay: Promise<unknown>[] = [];
  const client = new DittofeedSdkBase<NodeJS.Timeout>({
    writeKey: `Basic ${token}`,
    host: url,
    uuid: () => crypto.randomUUID(),
    setTimeout,
    clearTimeout,
    issueRequest: async (data, { host, writeKey }) => {
      const headers = { authorization: writeKey, "Content-Type": "application/json" };
      const sending = patiently(`${host}/api/public/apps/batch`, {
        method: "POST",
        headers,
        body: JSON.stringify(data),
      });
      underWay.push(sending);
      await sending;
    },
  });
  return {
    identify: (userId, traits) => client.identify({ userId, traits }),
    track: (userId, event, properties) => client.track({ userId, event, properties }),
    // A flush sends five messages.
    flush: async () => {
      for (let count = 0; count < 40; count += 1) await client.flush();
      await Promise.all(underWay);
    },
  };
});
