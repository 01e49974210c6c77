/** The analysis process as its callers see it: calls on its Unix socket, or to another node. */
import { isBytes, remote } from "../../process/call.ts";
import { AnswerBroken, CallFailed, type Peer, Unreachable } from "../../process/control.ts";
import { every } from "../../process/time.ts";
import type { ScoringService } from "../../scoring/run/scoring.ts";
import type { AnalysisService, AnalysisStatus } from "../../warehouse/analysis.ts";

/** How often it is asked whether it still lives while it works, how long that may take, and how often it may
 * be silent. A training answers nothing for seconds on a busy machine: with 2 s a look, `rekindle score` gave
 * up one that went on. */
const lookEveryMs = 1_000;
const lookPatienceMs = 10_000;
const maxSilences = 3;

/** How long a caller waits for an analysis process that is just starting. */
const startingPatienceMs = 30_000;

/** The services of the analysis process. A call waits until it has started, and fails when it stands
 * still. */
export function remoteAnalysis(peer: Peer): {
  readonly analysis: AnalysisService;
  readonly scoring: ScoringService;
} {
  return remote(peer, (call) => watched(peer, call));
}

/** The progress of the rebuild of this process; undefined without one, and when analysis does not answer. */
export async function runningRebuild(peer: Peer): Promise<AnalysisStatus["rebuild"] | undefined> {
  return (await statusOf(peer).catch(() => undefined))?.rebuild ?? undefined;
}

type Status = AnalysisStatus | { readonly state: "starting"; readonly rebuild?: undefined };

/** The current work of analysis; undefined when it does not answer. @throws CallFailed when another node
 * answers */
async function statusOf(peer: Peer): Promise<Status | undefined> {
  try {
    const response = await peer.fetch("/status", { signal: AbortSignal.timeout(lookPatienceMs) });
    return (await response.json()) as Status;
  } catch (error) {
    if (error instanceof CallFailed) throw error;
    return undefined;
  }
}

/** Notices when analysis stands still: a machine that is gone never ends a connection. */
class Watch {
  readonly #gone = new AbortController();
  /** Ends the watch. */
  readonly stop: () => void;

  constructor(peer: Peer) {
    let isLooking = false;
    let silences = 0;
    this.stop = every(lookEveryMs, async () => {
      if (isLooking) return;
      isLooking = true;
      const answer = await statusOf(peer).catch(() => undefined);
      isLooking = false;
      silences = answer === undefined ? silences + 1 : 0;
      if (silences === maxSilences) this.#gone.abort(new AnswerBroken(standsStill));
    });
  }

  /** Aborted when it does not answer any more. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Why a call failed. */
  explained(error: unknown): unknown {
    if (this.signal.aborted) return this.signal.reason;
    if (!(error instanceof Unreachable)) return error;
    return new AnswerBroken("analysis ended while it worked: see the server's log.", { cause: error });
  }
}

const standsStill =
  "analysis does not answer any more: what was asked for may go on when it does. See the server's log, or try again.";

/** Calls as soon as analysis is ready, and gives up when it stands still. @throws CallFailed, Unreachable */
async function watched(peer: Peer, call: (gone: AbortSignal) => Promise<unknown>): Promise<unknown> {
  await untilStarted(peer);
  const watch = new Watch(peer);
  let isReading = false;
  try {
    const result = await call(watch.signal);
    isReading = isBytes(result);
    return isReading ? watchedBytes(result as AsyncIterable<Uint8Array>, watch) : result;
  } catch (error) {
    throw watch.explained(error);
  } finally {
    if (!isReading) watch.stop();
  }
}

async function* watchedBytes(bytes: AsyncIterable<Uint8Array>, watch: Watch): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw watch.explained(error);
  } finally {
    watch.stop();
  }
}

async function untilStarted(peer: Peer): Promise<void> {
  const deadlineMs = performance.now() + startingPatienceMs;
  while (performance.now() < deadlineMs) {
    const status = await statusOf(peer);
    if (status !== undefined && status.state !== "starting") return;
    await Bun.sleep(100);
  }
  throw new Unreachable("analysis is still starting: see the server's log, or try again.");
}
