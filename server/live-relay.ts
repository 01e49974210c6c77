/** The live view over all nodes: what is taken here is sent to nodes on which somebody watches its organization. While
 * nobody watches anywhere it costs a look at a list twice a second. */
import type { LiveMessage, LiveView, LiveWatcher } from "./intake/intake.ts";
import type { ClusterNode, LiveItemRow } from "./ledger/postgres/postgres.ts";
import type { Logger } from "./process/process.ts";

const everyMs = 500;
/** Of each look; a channel lets 60 items of each kind through in a second. */
const maxWaiting = 500;

/** Begins to send and to show. @returns what ends it */
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
      const relay = new Relay((message) => {
        if (waiting.length < maxWaiting) waiting.push({ organization, message: JSON.stringify(message) });
      });
      relays.set(organization, live.watch(organization, relay, ""));
    }
    for (const [organization, leave] of relays) {
      if (wanted.has(organization)) continue;
      relays.delete(organization);
      leave();
    }
  };
  let isWorking = false;
  const timer = setInterval(() => {
    if (isWorking) return;
    isWorking = true;
    work()
      .catch((error) => log.debug({ err: error }, "the live view of other nodes is late"))
      .finally(() => {
        isWorking = false;
      });
  }, everyMs);
  return () => clearInterval(timer);
}

/** Watches for another node. */
class Relay implements LiveWatcher {
  readonly person = 0;
  readonly isRelay = true;
  readonly take: (message: LiveMessage) => void;

  constructor(take: (message: LiveMessage) => void) {
    this.take = take;
  }

  tick(): void {}

  end(): void {}
}
