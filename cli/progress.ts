/** How far long work is, on standard error: one line that changes on a terminal, elsewhere a line now and
 * then. */
import { clearLine } from "./output.ts";
import { grouped } from "./print.ts";

const terminalEveryMs = 200;
const otherEveryMs = 5_000;
/** Before that an estimate is a guess. */
const estimateAfterMs = 1_000;

export interface Position {
  /** The present step, where there are several. */
  readonly step?: string;
  /** Finished units of work. */
  readonly done: number;
  /** The finished share, 0 to 1; undefined when it is unknown. */
  readonly fraction: number | undefined;
  /** Why nothing moves, if nothing does. */
  readonly waiting?: string | undefined;
}

export class Progress {
  readonly #unit: string;
  readonly #isTerminal = process.stderr.isTTY === true;
  #shownMs = this.#isTerminal ? Number.NEGATIVE_INFINITY : performance.now();
  #waiting: string | undefined;
  /** The start of the rate: rows of earlier runs are only skipped. */
  #start: { readonly done: number; readonly fraction: number; readonly ms: number } | undefined;

  /** @param unit of the count: `rows` */
  constructor(unit: string) {
    this.#unit = unit;
  }

  /** Shows the position, unless the last one is recent and work has neither stopped nor resumed. */
  show(position: Position): void {
    const nowMs = performance.now();
    const { done, fraction = 0 } = position;
    // Steps may count from 0 again, and then so does the rate.
    if (this.#start === undefined || done < this.#start.done) this.#start = { done, fraction, ms: nowMs };
    const isNews = position.waiting !== this.#waiting;
    this.#waiting = position.waiting;
    if (!isNews && nowMs - this.#shownMs < (this.#isTerminal ? terminalEveryMs : otherEveryMs)) return;
    this.#shownMs = nowMs;
    const text = this.#text(position, nowMs - this.#start.ms);
    if (this.#isTerminal) clearLine();
    process.stderr.write(this.#isTerminal ? text : `${text}\n`);
  }

  /** Clears the line before other output. */
  end(): void {
    if (this.#isTerminal) clearLine();
  }

  #text({ step, done, fraction, waiting }: Position, elapsedMs: number): string {
    const parts = step === undefined ? [] : [step];
    if (fraction !== undefined) parts.push(`${Math.floor(Math.min(fraction, 1) * 100)} %`);
    if (done > 0) parts.push(`${grouped(done)} ${this.#unit}`);
    if (elapsedMs > estimateAfterMs) parts.push(...this.#estimates(done, fraction, elapsedMs / 1_000));
    if (waiting !== undefined) parts.push(`waiting: ${waiting}`);
    return parts.join(", ");
  }

  #estimates(done: number, fraction: number | undefined, seconds: number): string[] {
    const start = this.#start ?? { done: 0, fraction: 0 };
    const rate = (done - start.done) / seconds;
    const speed = ((fraction ?? 0) - start.fraction) / seconds;
    return [
      ...(rate > 0 ? [`${grouped(rate)} ${this.#unit}/s`] : []),
      ...(speed > 0 ? [`${duration((1 - (fraction ?? 0)) / speed)} left`] : []),
    ];
  }
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(Math.max(0, seconds))} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}

/** The progress of copying, as backup and restore report it. */
interface Copied {
  readonly step: string;
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** A line of progress in megabytes. */
export function bytesProgress(): { readonly report: (copied: Copied) => void; readonly end: () => void } {
  const progress = new Progress("MB");
  return {
    report: ({ step, doneBytes, totalBytes }) =>
      progress.show({
        step,
        done: doneBytes / 1_000_000,
        fraction: totalBytes === 0 ? undefined : doneBytes / totalBytes,
      }),
    end: () => progress.end(),
  };
}
