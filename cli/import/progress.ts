/** Shows on standard error how far an import is: on a terminal in one line, elsewhere a line now and then. */
import type { RowSource } from "./row.ts";

const terminalEveryMs = 200;
const logEveryMs = 10_000;

export class Progress {
  readonly #source: RowSource;
  readonly #isTerminal: boolean;
  readonly #startedMs = performance.now();
  #shownMs: number;
  #passed: { rows: number; fraction: number; ms: number } | undefined;
  #waiting: string | undefined;

  constructor(source: RowSource, isTerminal: boolean) {
    this.#source = source;
    this.#isTerminal = isTerminal;
    this.#shownMs = isTerminal ? Number.NEGATIVE_INFINITY : this.#startedMs;
  }

  /** Shows so many rows done, and why it waits if it does. */
  show(rowsDone: number, waiting?: string): void {
    const nowMs = performance.now();
    const changed = waiting !== this.#waiting;
    this.#waiting = waiting;
    const fraction = Math.min(this.#source.fractionRead(), 1);
    // Rows of earlier runs are only passed over: the rate begins behind them.
    this.#passed ??= { rows: rowsDone, fraction, ms: nowMs };
    if (!changed && nowMs - this.#shownMs < (this.#isTerminal ? terminalEveryMs : logEveryMs)) return;
    this.#shownMs = nowMs;
    const text = waiting === undefined ? this.#figures(rowsDone, fraction, nowMs) : `waiting: ${waiting}`;
    process.stderr.write(this.#isTerminal ? `\r\x1b[K${text}` : `${text}\n`);
  }

  /** Clears the line. */
  end(): void {
    if (this.#isTerminal) process.stderr.write("\r\x1b[K");
  }

  #figures(rowsDone: number, fraction: number, nowMs: number): string {
    const passed = this.#passed ?? { rows: 0, fraction: 0, ms: this.#startedMs };
    const seconds = (nowMs - passed.ms) / 1_000;
    const rate = seconds === 0 ? 0 : (rowsDone - passed.rows) / seconds;
    const speed = seconds === 0 ? 0 : (fraction - passed.fraction) / seconds;
    const left = speed > 0 ? `, ${duration((1 - fraction) / speed)} left` : "";
    return `${(fraction * 100).toFixed(0)} %, ${rowsDone} rows, ${Math.round(rate)} rows/s${left}`;
  }
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}
