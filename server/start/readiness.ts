/** The answer of /readyz: whether writes are accepted, and the state of analysis. */
import type { Intake } from "../intake/intake-service.ts";
import type { ClusterNode } from "../ledger/postgres/node.ts";
import type { Peer } from "../process/control.ts";
import { waitUpTo } from "../process/wait-up-to.ts";
import { unavailableReasons } from "../warehouse/engine/unavailable.ts";

/** How long analysis may take to answer. */
const askPatienceMs = 2_000;
/** How long /readyz waits for it where a load balancer asks, which takes an intake for dead that is as silent
 * as analysis. */
export const nodePatienceMs = 300;
/** How long the last answer of analysis is passed on while it does not answer. */
const believedMs = 2_000;

/** Whether writes are taken, and why not. @param node in a cluster, what it says of the ledger */
export function writesOf(
  intake: Intake,
  node: Pick<ClusterNode, "failure" | "outdated"> | undefined,
): string {
  if (node?.failure !== undefined) return "PostgreSQL does not answer";
  return node?.outdated ?? intake.closedBecause ?? (intake.isFailing ? "failing, see the log" : "open");
}

interface AnalysisState {
  readonly state: string;
  readonly loading: string;
  readonly because?: string;
}

const starting: AnalysisState = { state: "starting", loading: "waiting" };

export class Readiness {
  readonly #analysis: Peer;
  readonly #patienceMs: number;
  #asking: Promise<void> | undefined;
  #said = { state: starting, atMs: Number.NEGATIVE_INFINITY };

  /** @param patienceMs how long it waits for analysis */
  constructor(analysis: Peer, { patienceMs = askPatienceMs } = {}) {
    this.#analysis = analysis;
    this.#patienceMs = patienceMs;
  }

  /** The answer of /readyz, within the patience. @param writes "open" while they are taken */
  async of(writes: string): Promise<{ readonly ready: boolean; readonly detail: object }> {
    this.#asking ??= stateOf(this.#analysis).then((state) => {
      this.#said = { state, atMs: performance.now() };
      this.#asking = undefined;
    });
    await waitUpTo(this.#patienceMs, this.#asking);
    const { state, atMs } = this.#said;
    const analysis = performance.now() - atMs < believedMs ? state : starting;
    return {
      ready: writes === "open" && analysis.state !== "starting",
      detail: { writes, analysis },
    };
  }
}

/** The state of analysis; "starting" while it cannot be reached. The engine's own words about a failure stay
 * in the log: this page is for everybody. */
async function stateOf(analysis: Peer): Promise<AnalysisState> {
  try {
    const response = await analysis.fetch("/status", { signal: AbortSignal.timeout(askPatienceMs) });
    const { state, loader, waitsFor, why } = (await response.json()) as {
      state: string;
      loader?: { failure: object | null };
      waitsFor?: string;
      why?: string;
    };
    const loading = loader?.failure ? "failing, will be tried again" : "ok";
    const because = unavailableReasons.find((known) => known === why) ?? unavailableReasons[0];
    return { state, loading, ...(waitsFor !== undefined && { because }) };
  } catch {
    return starting;
  }
}
