/**
 * A backup across the socket: its answer is lines of JSON, progress first, and at the end a summary or an
 * error. A caller that goes away ends the backup.
 */
import { AnswerBroken, CallFailed } from "../process/control.ts";
import type { AnalysisService } from "../warehouse/analysis.ts";
import type { BackupSummary } from "../warehouse/backup.ts";
import type { BackupProgress, ReportProgress } from "../warehouse/backup-files.ts";

type Line =
  | { readonly progress: BackupProgress }
  | { readonly summary: BackupSummary }
  | { readonly error: string };

/** Between two lines of progress; a piece of a table comes every millisecond. */
const progressEveryMs = 200;

/** Makes a backup and answers with its lines. */
export function answerBackup(
  analysis: Pick<AnalysisService, "backUp">,
  folder: string,
  gone: AbortSignal,
): Response {
  const cancelled = new AbortController();
  const signal = AbortSignal.any([gone, cancelled.signal]);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (line: Line) => {
        if (!signal.aborted) controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      };
      const request = {
        folder,
        progress: atMostEvery(progressEveryMs, (progress) => send({ progress })),
        signal,
      };
      // Not awaited: a stream gives nothing away before its start has ended.
      analysis
        .backUp(request)
        .then(
          (summary) => send({ summary }),
          (error: unknown) => send({ error: error instanceof Error ? error.message : String(error) }),
        )
        .finally(() => {
          if (!signal.aborted) controller.close();
        });
    },
    cancel: () => cancelled.abort(),
  });
  return new Response(body);
}

/** Reads the lines of a backup to their end.
 * @throws CallFailed when the backup failed, AnswerBroken when analysis died while it made it */
export async function readBackup(response: Response, progress: ReportProgress): Promise<BackupSummary> {
  try {
    for await (const line of linesOf(response)) {
      if ("progress" in line) progress(line.progress);
      else if ("summary" in line) return line.summary;
      else throw new CallFailed(line.error);
    }
  } catch (error) {
    if (error instanceof CallFailed) throw error;
  }
  throw new AnswerBroken("analysis ended while it made the backup: see the server's log.");
}

async function* linesOf(response: Response): AsyncIterable<Line> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of response.body ?? []) {
    const lines = (text + decoder.decode(piece, { stream: true })).split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

function atMostEvery(ms: number, report: ReportProgress): ReportProgress {
  let lastMs = Number.NEGATIVE_INFINITY;
  let lastStep = "";
  return (progress) => {
    const nowMs = performance.now();
    if (progress.step === lastStep && nowMs - lastMs < ms) return;
    lastMs = nowMs;
    lastStep = progress.step;
    report(progress);
  };
}
