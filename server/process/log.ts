/** Logs: JSON lines on a server, readable text on a terminal. They go to standard error, so that standard
 * output has only a command's result. No token and no body is ever logged. */
import { type Logger, pino } from "pino";
import type { LogLevel } from "../config.ts";

export type { Logger } from "pino";

/** For a terminal only: it takes 15 ms to load. */
const pretty = process.stderr.isTTY ? (await import("pino-pretty")).default : undefined;

/** A logger whose lines name the process. */
export function createLogger(name: string, level: LogLevel): Logger {
  const stream = pretty
    ? pretty({ destination: 2, sync: true, ignore: "pid,hostname" })
    : pino.destination({ dest: 2, sync: true });
  const repeats = new Repeats();
  return pino(
    {
      name,
      level,
      hooks: {
        logMethod(words, log) {
          const omitted = repeats.omittedBefore(words, performance.now());
          if (omitted === undefined) return;
          const [about, ...others] = words;
          log.apply(this, omitted === 0 ? words : [{ ...Object(about), omitted }, ...others]);
        },
      },
    },
    stream,
  );
}

const againMs = 60_000;
/** Failures that are remembered: their messages may have numbers in them. */
const most = 1_000;

/** Failures that come again and again: of a full disk, a chore says the same once a second. They are logged
 * once a minute. */
export class Repeats {
  readonly #logged = new Map<string, { readonly atMs: number; omitted: number }>();

  /** How many equal lines were left out before this one. Undefined when it is to be left out.
   * @param words of a line @param atMs of a clock that never steps back */
  omittedBefore([about, message]: readonly unknown[], atMs: number): number | undefined {
    if (typeof about !== "object" || about === null || !("err" in about)) return 0;
    const { err, ...rest } = about;
    const key = JSON.stringify([message, err instanceof Error ? err.message : String(err), rest]);
    const last = this.#logged.get(key);
    if (last !== undefined && atMs - last.atMs < againMs) {
      last.omitted += 1;
      return undefined;
    }
    if (this.#logged.size >= most) this.#logged.clear();
    this.#logged.set(key, { atMs, omitted: 0 });
    return last?.omitted ?? 0;
  }
}
