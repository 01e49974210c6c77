/** The analysis process as its callers see it: requests on its Unix socket. */
import { rm } from "node:fs/promises";
import type { ErasureReceipt } from "../ledger/ledger.ts";
import { AnswerBroken, CallFailed, fetchSocket, Unreachable } from "../process/control.ts";
import { unfinishedPath } from "../process/files.ts";
import type { ScoreProgress, ScoreSummary, ScoringService } from "../scoring/run/scoring.ts";
import type { AnalysisService, AnalysisStatus } from "../warehouse/analysis.ts";
import type { BackupRequest, BackupSummary } from "../warehouse/backup.ts";
import type { BackupProgress } from "../warehouse/backup-files.ts";
import { readLines } from "./progress-lines.ts";

/** How long a caller waits for an analysis process that is just starting. */
const startingPatienceMs = 30_000;

/** The analysis service behind this socket. */
export function remoteAnalysis(socket: string): AnalysisService {
  return {
    async *export(organization, table, format) {
      const query = new URLSearchParams({ organization: String(organization), table, format });
      const response = await ask(socket, `/export?${query}`);
      yield* response.body ?? [];
    },
    async rebuild(organization) {
      await ask(socket, `/rebuild?organization=${organization}`, "POST");
    },
    async erase(organization, userId) {
      const query = new URLSearchParams({ organization: String(organization), userId });
      const response = await ask(socket, `/erase?${query}`, "POST");
      return ((await response.json()) as ErasureReceipt | null) ?? undefined;
    },
    async check(organization) {
      const response = await ask(socket, `/check?organization=${organization}`);
      return (await response.json()) as string[];
    },
    backUp: (request) => backUp(socket, request),
  };
}

/** The scoring service behind this socket. */
export function remoteScoring(socket: string): ScoringService {
  return {
    async score({ organization, day, evenIfStopped }, report) {
      const query = new URLSearchParams({
        organization: String(organization),
        ...(day !== undefined && { day: String(day) }),
        ...(evenIfStopped && { evenIfStopped: "yes" }),
      });
      const response = await ask(socket, `/score?${query}`, "POST");
      return readLines<ScoreProgress, ScoreSummary>(response, report, "scored");
    },
  };
}

async function backUp(socket: string, { folder, progress, signal }: BackupRequest): Promise<BackupSummary> {
  try {
    const response = await ask(socket, `/backup?${new URLSearchParams({ folder })}`, "POST", signal);
    return await readLines<BackupProgress, BackupSummary>(response, progress, "made the backup");
  } catch (error) {
    // Analysis sees that nobody listens any more, and removes what it wrote.
    if (signal.aborted) throw signal.reason;
    // Nobody but the caller is left who would.
    if (error instanceof AnswerBroken) await rm(unfinishedPath(folder), { recursive: true, force: true });
    throw error;
  }
}

/** How far the rebuild is that runs behind this socket; undefined when none does, or nobody can say. */
export async function runningRebuild(socket: string): Promise<AnalysisStatus["rebuild"] | undefined> {
  try {
    const response = await fetchSocket(socket, "/status", { signal: AbortSignal.timeout(2_000) });
    return ((await response.json()) as Partial<AnalysisStatus>).rebuild ?? undefined;
  } catch {
    return undefined;
  }
}

/** Asks analysis once, as soon as it is ready. @throws CallFailed, Unreachable */
async function ask(
  socket: string,
  path: string,
  method = "GET",
  signal: AbortSignal | null = null,
): Promise<Response> {
  await untilStarted(socket);
  const response = await fetchSocket(socket, path, { method, signal, timeout: false }).catch((error) => {
    throw new AnswerBroken("analysis ended while it worked: see the server's log.", { cause: error });
  });
  if (!response.ok) throw new CallFailed(await response.text());
  return response;
}

async function untilStarted(socket: string): Promise<void> {
  const deadlineMs = performance.now() + startingPatienceMs;
  while (performance.now() < deadlineMs) {
    const response = await fetchSocket(socket, "/status").catch(() => undefined);
    const status = (await response?.json().catch(() => undefined)) as { state: string } | undefined;
    if (status !== undefined && status.state !== "starting") return;
    await Bun.sleep(100);
  }
  throw new Unreachable("analysis is still starting: see the server's log, or try again.");
}
