/**
 * The nightly check: every organization's ledger, events and rollups are compared once a day, from 3 o'clock
 * in its timezone, when few events come. A missed night is made up for.
 */
import { Zone } from "../../calendar/zone.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { CheckResult } from "../../ledger/stores/checks.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { Logger } from "../../process/log.ts";
import type { Time } from "../../process/time.ts";

const checkHour = 3;
const hourMs = 3_600_000;
/** With more rows waiting the loader is behind, and the check, which waits until they are loaded, comes a
 * minute later. */
const maxWaitingRows = 100_000;
/** A check that failed is left alone for this long: it may have worked for minutes. */
const failedRestMs = 3_600_000;
/** Differences that are kept as sentences. */
const maxExamples = 100;

interface Parts {
  readonly ledger: Pick<SharedLedger, "organizations" | "checks" | "inbox">;
  readonly check: (organization: number) => Promise<readonly string[]>;
  /** Whether the loader fails or something heavy runs. */
  readonly isBusy: () => boolean;
  readonly log: Logger;
  readonly time: Time;
}

/** Whether a check is due: 3 o'clock has passed since the last result, or, without one, since the
 * organization was created. */
export function isCheckDue(zone: Zone, sinceMs: number, nowMs: number): boolean {
  const today = zone.dayOf(nowMs);
  const [todaysMs, yesterdaysMs] = [today, today - 1].map((day) => zone.startOfDay(day) + checkHour * hourMs);
  const latestMs = todaysMs !== undefined && todaysMs <= nowMs ? todaysMs : (yesterdaysMs ?? 0);
  return sinceMs < latestMs;
}

export class NightlyCheck {
  readonly #parts: Parts;
  readonly #last = new Map<number, CheckResult>();
  /** When an organization's check failed. */
  readonly #failedAtMs = new Map<number, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #working: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Differences that the last checks of all organizations found. */
  get differences(): number {
    return [...this.#last.values()].reduce((sum, { differences }) => sum + differences, 0);
  }

  /** When the organization that was not checked for longest was checked; 0 before any check. */
  get oldestAtMs(): number {
    return this.#last.size === 0 ? 0 : Math.min(...[...this.#last.values()].map(({ atMs }) => atMs));
  }

  start(): void {
    this.#next(this.#parts.time.intervals.firstCheckMs);
  }

  /** Waits for the check in hand. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#working;
  }

  /** Runs the checks that are due, one after another. One that fails keeps no other organization from its
   * own. */
  async run(): Promise<void> {
    const { ledger } = this.#parts;
    for (const result of await ledger.checks.list()) this.#last.set(result.organization, result);
    for (const organization of await ledger.organizations.list()) {
      const sinceMs = this.#last.get(organization.id)?.atMs ?? organization.createdAtMs;
      if (!isCheckDue(new Zone(organization.timezone), sinceMs, this.#parts.time.nowMs())) continue;
      if (this.#parts.time.nowMs() - (this.#failedAtMs.get(organization.id) ?? 0) < failedRestMs) continue;
      if (this.#stopped || this.#parts.isBusy()) return;
      if ((await ledger.inbox.backlog()).rows > maxWaitingRows) return;
      try {
        await this.#check(organization);
      } catch (error) {
        this.#failedAtMs.set(organization.id, this.#parts.time.nowMs());
        this.#parts.log.warn(
          { err: error, organization: organization.name },
          "the nightly check failed and will be tried again in an hour",
        );
      }
    }
  }

  async #check({ id, name }: Organization): Promise<void> {
    const atMs = this.#parts.time.nowMs();
    const startedMs = performance.now();
    const differences = await this.#parts.check(id);
    const result: CheckResult = {
      organization: id,
      atMs,
      tookMs: Math.round(performance.now() - startedMs),
      differences: differences.length,
      examples: differences.slice(0, maxExamples),
    };
    await this.#parts.ledger.checks.keep(result);
    this.#last.set(id, result);
    if (differences.length === 0) return;
    this.#parts.log.warn(
      { organization: name, differences: differences.length, first: differences[0] },
      "ledger, events and rollups differ: rekindle doctor shows all differences",
    );
  }

  #next(afterMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#working = this.run()
        .catch((error) => this.#parts.log.warn({ err: error }, "the nightly checks will be tried again"))
        .then(() => this.#next(this.#parts.time.intervals.checkMs));
    }, afterMs);
  }
}
