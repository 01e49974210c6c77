/**
 * The analysis nodes of a cluster, as intake uses them: the one on its own machine and every live node. When
 * a node is starting or gone, the next one is asked. A request that may have arrived is sent again only if it
 * is a read.
 *
 * Each node's status is polled once a second. A silent node is skipped, and its open requests are aborted.
 */
import { errorMessages } from "../../contract/errors.ts";
import { startingHeader } from "../http/port/answers.ts";
import type { LiveNode } from "../ledger/nodes.ts";
import { nodePeer, type Peer, Unreachable } from "../process/control.ts";
import { every } from "../process/time.ts";

const lookEveryMs = 1_000;
const lookPatienceMs = 1_500;
/** So many times silent, and a node is taken for gone. */
const maxSilences = 3;

interface AnalysisNode {
  readonly peer: Peer;
  isReady: boolean;
  silences: number;
  /** Aborted when the node is gone. */
  readonly gone: AbortController;
}

export interface AnalysisNodesOptions {
  /** Analysis on this machine, if there is one. */
  readonly own: Peer | undefined;
  /** All nodes that live. */
  readonly live: () => readonly LiveNode[];
  /** The secret with which nodes ask each other. */
  readonly key: string;
}

export class AnalysisNodes implements Peer {
  readonly #options: AnalysisNodesOptions;
  /** By address; the machine's own has none. */
  readonly #nodes = new Map<string, AnalysisNode>();
  readonly #endLooking: () => void;
  #turn = 0;

  constructor(options: AnalysisNodesOptions) {
    this.#options = options;
    if (options.own !== undefined) this.#nodes.set("", newNode(options.own));
    this.#endLooking = every(lookEveryMs, () => this.#look());
    this.#look();
  }

  /** Asks the first node that answers. @throws Unreachable when none does */
  async fetch(path: string, init: BunFetchRequestInit = {}): Promise<Response> {
    this.#keepLive();
    const isRead = init.method === undefined || init.method === "GET" || init.method === "HEAD";
    let starting: Response | undefined;
    for (const node of this.#inTurn()) {
      try {
        const signals = [node.gone.signal, ...(init.signal ? [init.signal] : [])];
        const response = await node.peer.fetch(path, { ...init, signal: AbortSignal.any(signals) });
        node.isReady = !response.headers.has(startingHeader);
        if (node.isReady) return response;
        starting = response;
      } catch (error) {
        node.isReady = false;
        if (!(error instanceof Unreachable) || init.signal?.aborted) throw error;
        if (!isRead && !error.isUnsent) throw error;
      }
    }
    if (starting !== undefined) return starting;
    throw new Unreachable(errorMessages.analysisStarting);
  }

  /** For metrics: asks the machine's own node, else the leader, else any. @throws Unreachable when none
   * answers */
  readonly metered: Peer = {
    fetch: async (path, init) => {
      this.#keepLive();
      const leader = this.#options.live().find(({ leaderStatus }) => leaderStatus !== null);
      const first = [this.#nodes.get(""), this.#nodes.get(leader?.url ?? "")];
      for (const node of [...first, ...this.#inTurn()]) {
        const response = await node?.peer.fetch(path, init).catch(ignoreUnreachable);
        if (response !== undefined) return response;
      }
      throw new Unreachable(errorMessages.analysisStarting);
    },
  };

  /** Asks no more. */
  stop(): void {
    this.#endLooking();
  }

  /** The machine's own first, and of the others each in its turn; those that are not well at last. */
  #inTurn(): readonly AnalysisNode[] {
    const own = this.#nodes.get("");
    const others = [...this.#nodes].flatMap(([url, node]) => (url === "" ? [] : [node]));
    this.#turn = (this.#turn + 1) % Math.max(1, others.length);
    const rotated = [...others.slice(this.#turn), ...others.slice(0, this.#turn)];
    const all = own === undefined ? rotated : [own, ...rotated];
    return [...all.filter(({ isReady }) => isReady), ...all.filter(({ isReady }) => !isReady)];
  }

  #keepLive(): void {
    const urls = new Set(
      this.#options.live().flatMap(({ role, url }) => (role === "analysis" && url !== null ? [url] : [])),
    );
    for (const url of urls) {
      if (!this.#nodes.has(url)) this.#nodes.set(url, newNode(nodePeer(url, this.#options.key)));
    }
    for (const url of this.#nodes.keys()) if (url !== "" && !urls.has(url)) this.#nodes.delete(url);
  }

  #look(): void {
    this.#keepLive();
    for (const [url, node] of this.#nodes) {
      isWell(node.peer).then((isReady) => {
        node.isReady = isReady === true;
        node.silences = isReady === undefined ? node.silences + 1 : 0;
        if (node.silences < maxSilences || this.#nodes.get(url) !== node) return;
        node.gone.abort(new Unreachable("the analysis node does not answer"));
        this.#nodes.set(url, newNode(node.peer));
      });
    }
  }
}

function ignoreUnreachable(error: unknown): undefined {
  if (!(error instanceof Unreachable)) throw error;
}

function newNode(peer: Peer): AnalysisNode {
  return { peer, isReady: false, silences: 0, gone: new AbortController() };
}

/** Whether it answers questions; undefined when it says nothing. */
async function isWell(peer: Peer): Promise<boolean | undefined> {
  try {
    const response = await peer.fetch("/status", { signal: AbortSignal.timeout(lookPatienceMs) });
    const { state } = (await response.json()) as { readonly state: string };
    return state === "ready" || state === "rebuilding";
  } catch {
    return undefined;
  }
}
