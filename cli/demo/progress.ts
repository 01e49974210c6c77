/** Shows on standard error how far the demonstration is: one line that changes on a terminal, elsewhere a line now
 * and then. */

const terminalEveryMs = 200;
const logEveryMs = 5_000;

export interface Position {
  readonly items: number;
  /** Of the simulated time, in [0, 1]. */
  readonly fraction: number;
  /** Why nothing moves, if nothing does. */
  readonly waiting: string | undefined;
}

export class Progress {
  readonly #isTerminal = process.stderr.isTTY === true;
  readonly #startedMs = performance.now();
  #shownMs = this.#startedMs;

  /** Shows the position, when the last one has been there for a while. */
  show({ items, fraction, waiting }: Position): void {
    const nowMs = performance.now();
    if (nowMs - this.#shownMs < (this.#isTerminal ? terminalEveryMs : logEveryMs)) return;
    this.#shownMs = nowMs;
    const seconds = (nowMs - this.#startedMs) / 1_000;
    const left = fraction > 0 ? `, ${Math.ceil((seconds * (1 - fraction)) / fraction)} s left` : "";
    const figures = `${Math.floor(fraction * 100)} %, ${grouped(items)} items, ${grouped(items / seconds)} a second${left}`;
    const text = waiting === undefined ? figures : `${figures}; waiting: ${waiting}`;
    process.stderr.write(this.#isTerminal ? `\r\x1b[K${text}` : `${text}\n`);
  }

  /** Clears the line. */
  end(): void {
    if (this.#isTerminal) process.stderr.write("\r\x1b[K");
  }
}

/** A whole number for people: 310,832. */
export function grouped(number: number): string {
  return Math.round(number).toLocaleString("en");
}
