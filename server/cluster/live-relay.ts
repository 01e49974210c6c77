/** The live view of a cluster. Items that this node takes are sent to the nodes on which the live view of
 * their organization is open. While it is open nowhere, this costs a look at a list twice a second. */

import type { LiveView } from "../intake/live.ts";
import type { LiveMessage, LiveWatcher } from "../intake/live-channel.ts";
import type { LiveItemRow } from "../ledger/postgres/live-items.ts";
import type { ClusterNode } from "../ledger/postgres/node.ts";
import type { Logger } from "../process/log.ts";
import { every } from "../process/time.ts";

const everyMs = 500;
/** Items a look. A channel lets 60 items of each kind through in a second. */
const maxWaiting = 500;

/** Begins to send items and to show those of other nodes. @returns a function that ends it */
export function relayLive(node: ClusterNode, live: LiveView, log: Logger): () => void {
  const relays = new Map<number, () => void>();
  let waiting: LiveItemRow[] = [];
  let after: number | null = null;
  const work = async () => {
    const watched = live.watchedOrganizations();
    node.watch(watched);
    followOnly(new Set(node.live.flatMap(({ id, watches }) => (id === node.id ? [] : watches))));
    const sent = waiting;
    waiting = [];
    if (sent.length > 0) await node.sendLive(sent);
    if (watched.length === 0) {
      after = null;
      return;
    }
    const found = await node.newLive(after, watched);
    after = found.lastId;
    for (const { organization, message } of found.rows) live.show(organization, JSON.parse(message));
  };
  const followOnly = (wanted: ReadonlySet<number>) => {
    for (const organization of wanted) {
      if (relays.has(organization)) continue;
      const take = (message: LiveMessage) => {
        if (waiting.length < maxWaiting) waiting.push({ organization, message: JSON.stringify(message) });
      };
      relays.set(organization, live.watch(organization, relayTo(take), ""));
    }
    for (const [organization, leave] of relays) {
      if (wanted.has(organization)) continue;
      relays.delete(organization);
      leave();
    }
  };
  let isWorking = false;
  return every(everyMs, () => {
    if (isWorking) return;
    isWorking = true;
    work()
      .catch((error) => log.debug({ err: error }, "the live view of other nodes is late"))
      .finally(() => {
        isWorking = false;
      });
  });
}

/** A watcher on behalf of other nodes. */
function relayTo(take: (message: LiveMessage) => void): LiveWatcher {
  return { person: 0, isRelay: true, take, tick: () => undefined, end: () => undefined };
}
