/** The process of a server, whether this process has started it or another one. */
import { existsSync, readdirSync } from "node:fs";
import type { Subprocess } from "bun";

/** The part of a process that a test may use. */
export type ServerProcess = Pick<
  Subprocess,
  "pid" | "kill" | "exited" | "exitCode" | "signalCode" | "resourceUsage"
>;

/** A process that this one did not start and must not end. */
export function foreign(pid: number): ServerProcess {
  return {
    pid,
    kill: () => {
      throw new Error("other files use this server: a test that ends it needs Server.start()");
    },
    exited: Promise.resolve(0),
    exitCode: null,
    signalCode: null,
    resourceUsage: () => undefined,
  };
}

/** Whether any thread of a process is still there. The first thread may be gone while others end. Files that
 * the process has locked stay locked until the last thread has ended. */
export function isAlive(pid: number): boolean {
  try {
    return existsSync(`/proc/${pid}/exe`) || readdirSync(`/proc/${pid}/task`).length > 1;
  } catch {
    return false;
  }
}
