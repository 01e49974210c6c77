/** Logs: JSON lines on a server, readable text on a terminal. They go to standard error, so that standard output has
 * only a command's result. No token and no body is ever logged. */
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
  return pino({ name, level }, stream);
}
