/** Progress of long work on standard error, with its rate and the time that is left: one line that changes on a
 * terminal, otherwise a line now and then. */

const terminalEveryMs = 200;
const otherEveryMs = 5_000;
/** Before that an estimate is a guess. */
const estimateAfterMs = 1_000;

export interface Progress {
  readonly step: string;
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** Prints progress. Where the bytes begin again at 0, so does the estimate. */
export class ProgressLine {
  readonly #what: string;
  readonly #isTerminal = process.stderr.isTTY === true;
  #startedMs = performance.now();
  #printedMs = performance.now();
  #doneBytes = 0;

  /** @param what is being done: `backup` */
  constructor(what: string) {
    this.#what = what;
  }

  readonly report = ({ step, doneBytes, totalBytes }: Progress): void => {
    const nowMs = performance.now();
    if (doneBytes < this.#doneBytes || this.#doneBytes === 0) this.#startedMs = nowMs;
    this.#doneBytes = doneBytes;
    if (nowMs - this.#printedMs < (this.#isTerminal ? terminalEveryMs : otherEveryMs)) return;
    this.#printedMs = nowMs;
    const text = `${this.#what}: ${step}${amounts(doneBytes, totalBytes, nowMs - this.#startedMs)}`;
    process.stderr.write(this.#isTerminal ? `\r\x1b[K${text}` : `${text}\n`);
  };

  /** Clears the line, for what is printed next. */
  end(): void {
    if (this.#isTerminal) process.stderr.write("\r\x1b[K");
  }
}

function amounts(doneBytes: number, totalBytes: number, elapsedMs: number): string {
  if (totalBytes === 0) return "";
  const done = `, ${megabytes(doneBytes)} of ${megabytes(totalBytes)} MB`;
  if (elapsedMs < estimateAfterMs) return done;
  const bytesPerMs = doneBytes / elapsedMs;
  const leftSeconds = Math.ceil(Math.max(0, totalBytes - doneBytes) / bytesPerMs / 1_000);
  return `${done}, ${megabytes(bytesPerMs * 1_000)} MB/s, ${leftSeconds} s left`;
}

/** Bytes as megabytes with one digit. */
export function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
