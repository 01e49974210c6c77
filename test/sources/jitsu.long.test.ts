/** Jitsu's own client on a server, @jitsu/js with s2s. It sends nothing again, unless it is given a fetch
 * that does. */
import { jitsuAnalytics } from "@jitsu/js";
import { provesDelivery } from "./delivery.ts";
import { patiently } from "./patiently.ts";

provesDelivery("@jitsu/js", (url, token) => {
  const waiting: Promise<unknown>[] = [];
  const fetch = (...[to, init = {}]: Parameters<typeof globalThis.fetch>) => patiently(String(to), init);
  const client = jitsuAnalytics({
    host: url,
    writeKey: `rekindle:${token}`,
    s2s: true,
    fetch: Object.assign(fetch, globalThis.fetch),
  });
  return {
    identify: (userId, traits) => void waiting.push(client.identify(userId, traits)),
    track: (userId, event, properties) => void waiting.push(client.track(event, properties, { userId })),
    join: (_userId, accountId, name) => void waiting.push(client.group(accountId, { name })),
    flush: async () => void (await Promise.all(waiting)),
  };
});
