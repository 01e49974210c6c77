/**
 * Starts and stops the service, in order. With the role "all" this process is intake, and it starts and
 * watches analysis as a child, which it brings back whenever that dies.
 */
import { type Config, readConfig } from "../config.ts";
import type { HttpOptions } from "../http/port/server.ts";
import { createLogger, type Logger } from "../process/log.ts";
import { systemTime, type Time } from "../process/time.ts";
import { announceStart } from "./first-start.ts";
import type { LedgerOptions } from "./start-intake.ts";

export const roles = ["all", "intake", "analysis"] as const;
export type Role = (typeof roles)[number];

export interface ServeOptions {
  /** Leave when standard input ends, as it does when the process that started this one dies. */
  readonly untilStdinEnds?: boolean;
  readonly ledger?: LedgerOptions;
  readonly http?: HttpOptions;
  /** The clock and the intervals of all its processes. Default: the machine's clock, the intervals of the
   * product. */
  readonly time?: Time;
  /** Until it resolves a process that was told to stop says that it will, and goes on taking requests. */
  readonly noticed?: () => Promise<void>;
}

/** A load balancer that asks each second and once more after a bad answer (deploy/haproxy.cfg) has noticed by
 * then. A connection that is made in the moment in which the port is closed would be lost. */
const clusterNoticeMs = 2_500;

const experimentalCluster =
  "a cluster is experimental: it never ran on a real ClickHouse server (docs/run-a-cluster.md)";

/** Runs the service until SIGTERM or SIGINT.
 * @throws Refusal, ConfigError when it cannot start. */
export async function serve(role: Role, options: ServeOptions = {}): Promise<void> {
  const { time = systemTime } = options;
  const config = readConfig();
  const log = createLogger(role === "analysis" ? "analysis" : "intake", config.logLevel);
  if (config.cluster !== null) log.warn(experimentalCluster);
  // Each process loads only what it needs: the engine's library takes 130 MB, compiling schemas 0.2 s.
  if (role === "analysis") {
    const { startAnalysis } = await import("./start-analysis.ts");
    const told = Promise.race([untilSignal(), ...(options.untilStdinEnds ? [stdinEnd()] : [])]);
    // A start waits for intake as long as it takes, but must not outlive it.
    const analysis = await Promise.race([startAnalysis(config, log, time), told]);
    await told;
    await analysis?.stop();
    return;
  }
  const { startIntake } = await import("./start-intake.ts");
  const intake = await startIntake(config, log, time, options.ledger, options.http);
  const watched = role === "all" ? watchAnalysis(log) : undefined;
  await announceStart(intake.ledger, config, intake.address, time.nowMs());
  log.info({ address: addressOf(config, intake.port), dataDir: config.dataDir }, "rekindle is running");
  await untilSignal();
  log.info("stopping");
  intake.announceStop();
  if (options.noticed !== undefined) await options.noticed();
  else if (config.cluster !== null) await Bun.sleep(clusterNoticeMs);
  // The ledger is closed last: analysis asks it to finish the batch that it is loading.
  await Promise.all([intake.stopServing(), watched?.stop()]);
  await intake.close();
}

function addressOf(config: Config, port: number): string {
  return `http://${config.host}:${port}`;
}

/** Resolves on SIGTERM or SIGINT. A second signal ends the process at once. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.once(signal, () => {
        resolve();
        process.once(signal, () => process.exit(1));
      });
    }
  });
}

function stdinEnd(): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.once("end", resolve);
    process.stdin.resume();
  });
}

const firstRestartDelayMs = 250;
const maxRestartDelayMs = 5_000;
/** A child that ran this long was well: the next restart is quick again. */
const wellAfterMs = 30_000;

/** How long analysis may take to finish its batch before it is killed; nothing is lost by that. */
const maxStopMs = 6_000;

function watchAnalysis(log: Logger): { stop(): Promise<void> } {
  const stopping = Promise.withResolvers<void>();
  let stopped = false;
  let child: ReturnType<typeof spawnAnalysis> | undefined;
  const watching = (async () => {
    let delayMs = firstRestartDelayMs;
    while (!stopped) {
      const startedAtMs = performance.now();
      try {
        child = spawnAnalysis();
        await child.exited;
      } catch (error) {
        log.error({ err: error }, "analysis could not be started");
      }
      if (stopped) return;
      if (performance.now() - startedAtMs > wellAfterMs) delayMs = firstRestartDelayMs;
      log.error(
        { exitCode: child?.exitCode, signal: child?.signalCode, delayMs },
        "analysis ended; restarting it",
      );
      await Promise.race([Bun.sleep(delayMs), stopping.promise]);
      delayMs = Math.min(delayMs * 2, maxRestartDelayMs);
    }
  })();
  return {
    async stop() {
      stopped = true;
      stopping.resolve();
      child?.kill("SIGTERM");
      const killer = setTimeout(() => child?.kill("SIGKILL"), maxStopMs);
      await watching;
      clearTimeout(killer);
    },
  };
}

/** The child's standard input is a pipe that nobody writes to: when this process dies, however it does, the
 * pipe ends and analysis leaves too. */
function spawnAnalysis() {
  return Bun.spawn([process.execPath, Bun.main, "serve", "--role", "analysis", "--until-stdin-ends"], {
    stdin: "pipe",
    stdout: "inherit",
    stderr: "inherit",
  });
}
