/**
 * Kills of a service at points of its work, without regard to the speed of the machine: a process that comes
 * to a point is held there (held-server.ts), killed, and started again.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import type { Subprocess } from "bun";
import { programEntry } from "../program.ts";
import type { Server } from "../server.ts";
import { isAlive } from "../server-process.ts";
import { until } from "../until.ts";
import { type HoldPoint, holdFiles, writeWhole } from "./hold-points.ts";

/** The program of a server that is held, for `Server.start`. */
export const heldServer = programEntry("held-server");

/** Each process that is killed, or both. */
export const victims = ["analysis", "intake", "both"] as const;
export type Victim = (typeof victims)[number];

/** A point at which a process of a server will be held, or is. */
export class Hold {
  readonly #point: HoldPoint;
  readonly #held: string;
  readonly #answered: string;

  constructor(point: HoldPoint, held: string, answered: string) {
    this.#point = point;
    this.#held = held;
    this.#answered = answered;
  }

  /** Waits until a process is held, or the work is over. @returns whether one is held */
  async reached(isOver: () => boolean = () => false): Promise<boolean> {
    const look = () => existsSync(this.#held) || isOver();
    const { step, of } = this.#point;
    await until(`a process is held ${step} ${of}`, look, Boolean, { everyMs: 5 });
    return existsSync(this.#held);
  }

  /** A process that is held goes on. */
  release(): void {
    rmSync(this.#held, { force: true });
  }

  /** The answer to a call that was held when it had arrived. */
  async answer(): Promise<string> {
    await until("the held call is answered", () => existsSync(this.#answered));
    return readFileSync(this.#answered, "utf8");
  }
}

/** Of all holds of this process: a file that a killed process left is of no later one. */
let holds = 0;

/** Holds processes of the servers of a data folder. */
export class Holds {
  readonly #files: ReturnType<typeof holdFiles>;

  constructor(dataDir: string) {
    this.#files = holdFiles(dataDir);
  }

  /** The next process that comes to this point is held there. */
  next(point: HoldPoint): Hold {
    holds += 1;
    const [number, { wanted }] = [holds, this.#files];
    writeWhole(wanted, JSON.stringify({ ...point, number }));
    return new Hold(point, this.#files.held(number), this.#files.answered(number));
  }
}

/**
 * Kills one process or both, one of which may be held.
 * @returns the service that runs then. Intake starts analysis again by itself.
 */
export async function killed(
  server: Server,
  victim: Victim,
  start: () => Promise<Server>,
  hold?: Hold,
): Promise<Server> {
  const analysis = server.analysisPid();
  if (victim === "analysis" && analysis !== undefined) {
    process.kill(analysis, "SIGKILL");
    hold?.release();
    return server;
  }
  if (victim === "intake") await server.kill("SIGKILL");
  else await server.crash();
  hold?.release();
  // Analysis goes on, and ends because intake is away.
  await until("the analysis process is gone", () => analysis === undefined || !isAlive(analysis));
  return start();
}

/** Work of a service that is killed again and again until it is done. */
export interface KilledWork {
  /** In the order in which the work comes to them, also when it goes on after a kill. */
  readonly points: readonly HoldPoint[];
  /** Asks for the work. What it returns may fail, because the service is killed. */
  readonly begin: () => Promise<unknown>;
  /** What has to be so before the first kill. */
  readonly begun?: () => Promise<unknown>;
  /** Is called after each restart, while the work goes on. */
  readonly afterKill?: (server: Server) => Promise<void>;
}

/**
 * Kills a service at each of the points of a work, one after the other, which goes on after each start.
 * @returns the service that runs then
 * @throws Error when the work does not come to a point
 */
export async function killAtEach(
  server: Server,
  { points, begin, begun, afterKill }: KilledWork,
  start: (killed: Server) => Promise<Server>,
): Promise<Server> {
  const ofServer = new Holds(server.dataDir);
  let running = server;
  let hold: Hold | undefined;
  let asked: Promise<unknown> | undefined;
  for (const [at, point] of points.entries()) {
    // The first one is wanted before the work begins, and each other one before the process starts that comes
    // to it.
    hold ??= ofServer.next(point);
    asked ??= begin().catch(() => undefined);
    await begun?.();
    await hold.reached();
    const next = points[at + 1];
    const reached = hold;
    const restart = () => {
      hold = next && ofServer.next(next);
      return start(running);
    };
    running = await killed(running, "both", restart, reached);
    await afterKill?.(running);
  }
  await asked;
  return running;
}

/**
 * Kills a process at a point of its work.
 * @param start starts the process
 * @returns the killed process
 * @throws Error when its work does not come to the point
 */
export async function killProcessAt<Process extends Subprocess>(
  dataDir: string,
  point: HoldPoint,
  start: () => Process,
): Promise<Process> {
  const hold = new Holds(dataDir).next(point);
  const process = start();
  const isHeld = await hold.reached(() => process.exitCode !== null);
  process.kill("SIGKILL");
  await process.exited;
  hold.release();
  if (!isHeld) throw new Error(`the process ended, and did not come to "${point.step} ${point.of}"`);
  return process;
}
