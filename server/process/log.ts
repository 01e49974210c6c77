/** Logs: JSON lines on a server, readable on a terminal. To standard error, so that what a command prints
 * stays clean. No token and no body ever goes into a log. */
import { type Logger, pino } from "pino";
import type { LogLevel } from "../config.ts";

export type { Logger } from "pino";

/** For a terminal only: it takes 15 ms to load. */
const pretty = process.stderr.isTTY ? (await import("pino-pretty")).default : undefined;

/** A logger whose lines say which process wrote them. */
export function createLogger(name: string, level: LogLevel): Logger {
  const stream = pretty
    ? pretty({ destination: 2, sync: true, ignore: "pid,hostname" })
    : pino.destination({ dest: 2, sync: true });
  return pino({ name, level }, stream);
}
