/** The analysis process as its callers see it: requests on its Unix socket, or to another node. */
import { rm } from "node:fs/promises";
import { Refusal } from "../../../contract/refusal.ts";
import type { AccountReceipt, ErasureReceipt } from "../../ledger/erasures.ts";
import { AnswerBroken, CallFailed, type Peer, Unreachable } from "../../process/control.ts";
import { unfinishedPath } from "../../process/files.ts";
import { every } from "../../process/time.ts";
import type { KindPreview } from "../../scoring/preview/preview.ts";
import type { ScoreProgress, ScoreSummary, ScoringService } from "../../scoring/run/scoring.ts";
import type { AnalysisService, AnalysisStatus } from "../../warehouse/analysis.ts";
import type { BackupRequest, BackupSummary } from "../../warehouse/copies/backup.ts";
import type { BackupProgress } from "../../warehouse/copies/backup-files.ts";
import { readLines } from "./progress-lines.ts";

/** How often it is asked whether it still lives while it works, how long that may take, and how often it may
 * be silent. A training answers nothing for seconds on a busy machine: with 2 s a look, `rekindle score` gave
 * up one that went on. */
const lookEveryMs = 1_000;
const lookPatienceMs = 10_000;
const maxSilences = 3;

/** How long a caller waits for an analysis process that is just starting. */
const startingPatienceMs = 30_000;

/** A stream of bytes. It fails when the process that sends it dies. */
async function* streamedFrom(
  peer: Peer,
  path: string,
  parameters: Record<string, string>,
): AsyncGenerator<Uint8Array> {
  await untilStarted(peer);
  const watch = new Watch(peer);
  try {
    const response = await ask(peer, `${path}?${new URLSearchParams(parameters)}`, "GET", watch.signal);
    yield* response.body ?? [];
  } catch (error) {
    throw watch.signal.aborted ? watch.signal.reason : error;
  } finally {
    watch.stop();
  }
}

/** The analysis service of this process. */
export function remoteAnalysis(peer: Peer): AnalysisService {
  return {
    export: (organization, table, format) =>
      streamedFrom(peer, "/export", { organization: String(organization), table, format }),
    person: ({ organization, userId }) =>
      streamedFrom(peer, "/person", { organization: String(organization), userId }),
    rebuild: (organization) =>
      watched(peer, async (signal) => {
        await ask(peer, `/rebuild?organization=${organization}`, "POST", signal);
      }),
    erase: (organization, userId, { withAccount = false }) =>
      receiptFrom<ErasureReceipt>(peer, "/erase", {
        organization: String(organization),
        userId,
        ...(withAccount && { withAccount: "yes" }),
      }),
    eraseAccount: (organization, accountId) =>
      receiptFrom<AccountReceipt>(peer, "/erase-account", { organization: String(organization), accountId }),
    deleteOrganization: (organization) =>
      watched(peer, async (signal) => {
        const response = await ask(peer, `/delete-organization?organization=${organization}`, "POST", signal);
        return (await response.json()) as boolean;
      }),
    check: (organization) =>
      watched(peer, async (signal) => {
        const response = await ask(peer, `/check?organization=${organization}`, "GET", signal);
        return (await response.json()) as string[];
      }),
    backUp: (request) => backUp(peer, request),
  };
}

async function receiptFrom<Receipt>(
  peer: Peer,
  path: string,
  query: Record<string, string>,
): Promise<Receipt | undefined> {
  return watched(peer, async (signal) => {
    const response = await ask(peer, `${path}?${new URLSearchParams(query)}`, "POST", signal);
    return ((await response.json()) as Receipt | null) ?? undefined;
  });
}

/** The answer to a preview. */
export type PreviewOutcome = { readonly kinds: readonly KindPreview[] } | { readonly refused: string };

/** The scoring service of this process. */
export function remoteScoring(peer: Peer): ScoringService {
  return {
    async score({ organization, day, evenIfStopped }, report) {
      const query = new URLSearchParams({
        organization: String(organization),
        ...(day !== undefined && { day: String(day) }),
        ...(evenIfStopped && { evenIfStopped: "yes" }),
      });
      return watched(peer, async (signal) => {
        const response = await ask(peer, `/score?${query}`, "POST", signal);
        return readLines<ScoreProgress, ScoreSummary>(response, report, "scored");
      });
    },
    preview: (request) =>
      watched(peer, async (signal) => {
        const response = await ask(peer, "/preview", "POST", signal, JSON.stringify(request));
        const answer = await readLines<never, PreviewOutcome>(
          response,
          () => undefined,
          "computed a preview",
        );
        if ("refused" in answer) throw new Refusal(answer.refused);
        return answer.kinds;
      }),
  };
}

async function backUp(peer: Peer, { folder, progress, signal }: BackupRequest): Promise<BackupSummary> {
  try {
    return await watched(peer, async (gone) => {
      const either = AbortSignal.any([signal, gone]);
      const response = await ask(peer, `/backup?${new URLSearchParams({ folder })}`, "POST", either);
      return readLines<BackupProgress, BackupSummary>(response, progress, "made the backup");
    });
  } catch (error) {
    // Analysis notices the abort and removes its files.
    if (signal.aborted) throw signal.reason;
    // Analysis has ended, so the caller removes the files.
    if (error instanceof AnswerBroken) await rm(unfinishedPath(folder), { recursive: true, force: true });
    throw error;
  }
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
}

const standsStill =
  "analysis does not answer any more: what was asked for may go on when it does. See the server's log, or try again.";

/** Asks as soon as analysis is ready, and gives up when it stands still. @throws CallFailed, Unreachable */
async function watched<Result>(peer: Peer, work: (gone: AbortSignal) => Promise<Result>): Promise<Result> {
  await untilStarted(peer);
  const watch = new Watch(peer);
  try {
    return await work(watch.signal);
  } catch (error) {
    throw watch.signal.aborted ? watch.signal.reason : error;
  } finally {
    watch.stop();
  }
}

/** Asks analysis once. @throws CallFailed */
async function ask(
  peer: Peer,
  path: string,
  method: string,
  signal: AbortSignal,
  body: string | null = null,
): Promise<Response> {
  const response = await peer.fetch(path, { method, signal, body, timeout: false }).catch((error) => {
    throw new AnswerBroken("analysis ended while it worked: see the server's log.", { cause: error });
  });
  if (!response.ok) throw new CallFailed(await response.text());
  return response;
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
