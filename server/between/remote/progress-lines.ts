/**
 * Long work across the socket: its answer is lines of JSON, progress first, and at the end a summary or an
 * error. A caller that goes away ends the work, if it listens to the signal.
 */
import { AnswerBroken, CallFailed } from "../../process/control.ts";
import { messageOf } from "../../process/message-of.ts";

type Line<Progress, Summary> =
  | { readonly progress: Progress }
  | { readonly summary: Summary }
  | { readonly error: string };

type Work<Progress, Summary> = (
  report: (progress: Progress) => void,
  signal: AbortSignal,
) => Promise<Summary>;

/** Between two lines of progress of the same step; a piece of a table comes every millisecond. */
const progressEveryMs = 200;

/** Does the work and answers with its lines. */
export function answerLines<Progress extends { readonly step: string }, Summary>(
  work: Work<Progress, Summary>,
  gone: AbortSignal,
): Response {
  const cancelled = new AbortController();
  const signal = AbortSignal.any([gone, cancelled.signal]);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (line: Line<Progress, Summary>) => {
        if (!signal.aborted) controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      };
      // Not awaited: a stream gives nothing away before its start has ended.
      work(
        atMostEvery(progressEveryMs, (progress) => send({ progress })),
        signal,
      )
        .then(
          (summary) => send({ summary }),
          (error: unknown) => send({ error: messageOf(error) }),
        )
        .finally(() => {
          if (!signal.aborted) controller.close();
        });
    },
    cancel: () => cancelled.abort(),
  });
  return new Response(body);
}

/** Reads lines to their end.
 * @param what was being done, for the error: `made the backup`
 * @throws CallFailed when the work failed, AnswerBroken when analysis died while it worked */
export async function readLines<Progress, Summary>(
  response: Response,
  report: (progress: Progress) => void,
  what: string,
): Promise<Summary> {
  try {
    for await (const line of linesOf<Progress, Summary>(response)) {
      if ("progress" in line) report(line.progress);
      else if ("summary" in line) return line.summary;
      else throw new CallFailed(line.error);
    }
  } catch (error) {
    if (error instanceof CallFailed) throw error;
  }
  throw new AnswerBroken(`analysis ended while it ${what}: see the server's log.`);
}

async function* linesOf<Progress, Summary>(response: Response): AsyncIterable<Line<Progress, Summary>> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of response.body ?? []) {
    const lines = (text + decoder.decode(piece, { stream: true })).split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

function atMostEvery<Progress extends { readonly step: string }>(
  ms: number,
  report: (progress: Progress) => void,
): (progress: Progress) => void {
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
