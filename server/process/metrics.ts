/** Metrics for Prometheus. Each process has a registry of its own; intake's page shows both. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** How exactly pauses of the event loop are measured. 10 ms, the default, take 0.6 % of a core in each
 * process; this 0.1 %. */
const eventLoopPrecisionMs = 100;

/** A registry with the process's own figures (memory, CPU). Their names begin with the role, because the page
 * shows both processes' and no name may be explained twice. */
export function createRegistry(role: "intake" | "analysis"): Registry {
  const registry = new Registry();
  collectDefaultMetrics({
    register: registry,
    prefix: `rekindle_${role}_`,
    eventLoopMonitoringPrecision: eventLoopPrecisionMs,
  });
  return registry;
}

/** Counts answers in a plain map, which is read when Prometheus scrapes. A labelled counter costs every
 * request 0.6 µs to look up its labels. */
export class AnswerCounts {
  readonly #counts = new Map<string, Map<number, number>>();

  constructor(registry: Registry) {
    const counts = this.#counts;
    new Counter({
      name: "rekindle_write_answers_total",
      help: "Answers of the write API.",
      labelNames: ["route", "status"],
      registers: [registry],
      collect() {
        this.reset();
        for (const [route, statuses] of counts) {
          for (const [status, count] of statuses) this.inc({ route, status }, count);
        }
      },
    });
  }

  /** Counts one answer of a route. */
  add(route: string, status: number): void {
    let statuses = this.#counts.get(route);
    if (statuses === undefined) {
      statuses = new Map();
      this.#counts.set(route, statuses);
    }
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
}

/** A gauge whose value is read at each scrape. */
export function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
