/** The process of a server, whether this process has started it or another one. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
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

/**
 * Waits until a child has ended. Bun has lost ends of processes (oven-sh/bun#37293, #43697): then the system
 * says that the process is gone, and its exit code stays unknown.
 * @returns the exit code, as `Subprocess.exited` has it; null when it is not known
 */
export function endOf(child: Pick<Subprocess, "pid" | "exited">): Promise<number | null> {
  return new Promise((resolve) => {
    let seconds = 0;
    const looking = setInterval(() => {
      seconds = isGone(child.pid) ? seconds + 1 : 0;
      if (seconds < lostAfterSeconds) return;
      console.log(`Bun did not report the end of process ${child.pid}`);
      end(null);
    }, 1_000);
    const end = (exitCode: number | null) => {
      clearInterval(looking);
      resolve(exitCode);
    };
    child.exited.then(end);
  });
}

/** An end that is not lost is reported before, also when threads that a slow disk holds outlive the first
 * one. */
const lostAfterSeconds = 60;

/** Whether a child is no process any more, or one that only waits for its parent. */
function isGone(pid: number): boolean {
  if (!existsSync("/proc")) return false;
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return true;
  }
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
