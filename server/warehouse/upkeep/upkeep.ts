/**
 * The long work on the warehouse, one piece after another: rebuilds, erasures, and the deletion of old raw
 * events. Work is pending in the ledger until it is done, so that a crash only delays it.
 */

import { Refusal } from "../../../contract/refusal.ts";
import { zoneOf } from "../../calendar/zone.ts";
import type { CountedErasure, Erasure } from "../../ledger/erasures.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { Logger } from "../../process/log.ts";
import { every, type Time } from "../../process/time.ts";
import type { Warehouse } from "../engine/warehouse.ts";
import type { ExclusionKeeper } from "../load/exclusion-keeper.ts";
import type { Loader } from "../load/loader.ts";
import { deleteOrganization } from "./delete-organization.ts";
import { eraseUsers, findUsers, noRows } from "./erase.ts";
import { eraseAccount, findAccount } from "./erase-account.ts";
import { dropEvents, firstPossibleDay, type OldEvents } from "./keep-events.ts";
import { dropOldSnapshots } from "./old-snapshots.ts";
import { type RebuildProgress, rebuild, rebuildSteps } from "./rebuild.ts";
import { type RebuildStatus, RebuildWatch } from "./rebuild-watch.ts";
import type { SubscriptionKeeper } from "./subscription-keeper.ts";
import { thinScores } from "./thin-scores.ts";

export interface UpkeepParts {
  readonly warehouse: Warehouse;
  readonly loader: Loader;
  readonly exclusions: ExclusionKeeper;
  readonly subscriptions: SubscriptionKeeper;
  readonly ledger: SharedLedger;
  readonly time: Time;
  readonly log: Logger;
}

/** Erasures in one round, which rewrites each part that has one of the users. */
const usersOfRound = 1_000;
/** A round waits as long as more erasures begin within this time, so that requests that are sent together are
 * one round. */
const gatherMs = 100;
const gatherAtMostMs = 5_000;
/** Days of users in one call of the ledger, which is JSON of about 60 bytes for each. */
const daysOfCall = 100_000;
/** Midnights of all timezones are served together, because each time rewrites the oldest years of all
 * organizations. */
const keepEventsEveryMs = 86_400_000;

type Dropped = Pick<OldEvents, "beforeDay"> & Pick<Organization, "keepEventsDays">;

export class Upkeep {
  readonly #parts: UpkeepParts;
  readonly #endPolling: readonly (() => void)[];
  /** The end of the last piece of work. */
  #last: Promise<void> = Promise.resolve();
  #rebuilds = 0;
  #watch: RebuildWatch | undefined;
  /** By organization: the day before which this process has deleted all events, by which setting. */
  readonly #dropped = new Map<number, Dropped>();
  #droppedAtMs = Number.NEGATIVE_INFINITY;
  /** The UTC day on which old snapshots and scores were last dropped. */
  #scoresDroppedOn = firstPossibleDay;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
    const { upkeepMs, retentionMs } = parts.time.intervals;
    this.#endPolling = [
      this.#poll(() => this.#pending(), upkeepMs),
      this.#poll(() => this.#inTurn(() => this.#dropOldEvents()), retentionMs),
      this.#poll(() => this.#dropOldScores(), retentionMs),
    ];
  }

  get isRebuilding(): boolean {
    return this.#rebuilds > 0;
  }

  /** How far the rebuild is that runs; undefined when none does. */
  get rebuildStatus(): RebuildStatus | undefined {
    return this.#watch?.status();
  }

  /** Computes all days and rollups of an organization again. */
  rebuild(organization: number): Promise<void> {
    return this.#asRebuild(() => this.#inTurn(() => this.#rebuild(organization)));
  }

  /** Resolves when all erasures and deletions that began before the call are complete. */
  finishErasures(): Promise<void> {
    return this.#inTurn(() => this.#finishErasures());
  }

  /** Runs `work` while no other work changes stored rows and no erasure is half done. */
  whileNothingChanges<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#inTurn(async () => {
      await this.#finishErasures();
      return work();
    });
  }

  /** Runs `work` while no other work changes stored rows, no erasure is half done, and days and rollups are
   * complete: a pending rebuild (requested, or interrupted by a crash) is done first. */
  whileWhole<Result>(organization: number, work: () => Promise<Result>): Promise<Result> {
    return this.whileNothingChanges(async () => {
      await this.#rebuildPending(organization);
      return work();
    });
  }

  /** Finishes the work in hand. */
  async stop(): Promise<void> {
    for (const end of this.#endPolling) end();
    await this.#last;
  }

  /** Resolves when everything that is acknowledged by now is in the warehouse. */
  async drain(): Promise<void> {
    const { newestInboxId } = await this.#parts.ledger.inbox.backlog();
    await this.#parts.loader.drain(newestInboxId);
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.#last.then(work);
    this.#last = mine.then(
      () => undefined,
      () => undefined,
    );
    return mine;
  }

  /** Does something every `ms`, but not while the last time still works. */
  #poll(work: () => Promise<void>, ms: number): () => void {
    let working = false;
    return every(ms, async () => {
      if (working) return;
      working = true;
      try {
        await work();
      } catch (error) {
        this.#parts.log.warn({ err: error }, "work on the warehouse failed and will be tried again");
      } finally {
        working = false;
      }
    });
  }

  async #pending(): Promise<void> {
    const { ledger } = this.#parts;
    const [erasures, deletions] = [await ledger.erasures.pending(), await ledger.deletions.pending()];
    if (erasures.length + deletions.length > 0) await this.finishErasures();
    if (this.isRebuilding) return;
    for (const organization of await ledger.rebuildsPending()) {
      await this.#inTurn(() => this.#rebuildPending(organization));
    }
  }

  async #rebuildPending(organization: number): Promise<void> {
    // Checked at its turn: earlier work may have done it.
    if (!(await this.#parts.ledger.rebuildsPending()).includes(organization)) return;
    await this.#asRebuild(() => this.#rebuild(organization));
  }

  async #asRebuild(work: () => Promise<void>): Promise<void> {
    this.#rebuilds += 1;
    try {
      await work();
    } finally {
      this.#rebuilds -= 1;
    }
  }

  async #rebuild(id: number): Promise<void> {
    const { warehouse, loader, subscriptions, ledger, time, log } = this.#parts;
    const { eventsFromDay, name } = await this.#organization(id);
    // Rows of the old timezone have to be in the warehouse, where their day can be changed.
    const { timezone, askedAtMs } = await ledger.rebuildBegun(id);
    await this.drain();
    await loader.pause();
    const watch = new RebuildWatch(warehouse, id, time.nowMs());
    this.#watch = watch;
    try {
      await watch.start(rebuildSteps);
      const progress = (step: RebuildProgress) => {
        watch.stepDone(step);
        const { secondsLeft } = watch.status();
        log.info({ organization: name, ...step, secondsLeft }, "rebuilding");
      };
      const fromDay = eventsFromDay ?? firstPossibleDay;
      const { transitions } = zoneOf(timezone);
      await subscriptions.changeAll(id, () => rebuild(warehouse, id, transitions, progress, fromDay));
      await ledger.rebuildDone(id, askedAtMs);
    } finally {
      this.#watch = undefined;
      await watch.stop();
      loader.resume();
    }
  }

  async #finishErasures(): Promise<void> {
    const { warehouse, loader, exclusions, subscriptions, ledger, log } = this.#parts;
    const pending = await this.#gathered();
    const ofAccounts = Map.groupBy(
      pending.filter(({ account }) => account > 0),
      ({ state }) => state,
    );
    // They may be half done. Other changes would change the blocks that they write again.
    for (const erasure of ofAccounts.get("counted") ?? []) await this.#eraseAccount(erasure);
    const ofUsers = pending.filter(({ account }) => account === 0);
    for (let from = 0; from < ofUsers.length; from += usersOfRound) {
      await this.#eraseUsers(ofUsers.slice(from, from + usersOfRound));
    }
    for (const erasure of ofAccounts.get("begun") ?? []) await this.#eraseAccount(erasure);
    for (const { organization, uptoInboxId } of await ledger.deletions.pending()) {
      await loader.drain(uptoInboxId);
      await exclusions.forgetOrganization(organization, () =>
        subscriptions.forgetOrganization(organization, () => deleteOrganization(warehouse, organization)),
      );
      await ledger.deletions.finish(organization);
      this.#dropped.delete(organization);
      log.info({ organization }, "an organization is deleted, and no row of it is left");
    }
  }

  /** The pending erasures, when no more begin. */
  async #gathered(): Promise<readonly Erasure[]> {
    const { erasures } = this.#parts.ledger;
    let pending = await erasures.pending();
    for (let waitedMs = 0; pending.length > 0 && waitedMs < gatherAtMostMs; waitedMs += gatherMs) {
      await Bun.sleep(gatherMs);
      const later = await erasures.pending();
      if (later.length === pending.length) return later;
      pending = later;
    }
    return pending;
  }

  /** Erases users of any organizations in one round: nothing of a user is left when their erasure is
   * finished. */
  async #eraseUsers(erasures: readonly Erasure[]): Promise<void> {
    const { warehouse, loader, exclusions, subscriptions, ledger, log } = this.#parts;
    await loader.drain(Math.max(...erasures.map(({ uptoInboxId }) => uptoInboxId)));
    const begun = erasures.filter(({ state }) => state === "begun");
    const counted: CountedErasure[] = [];
    for (const [organization, some] of Map.groupBy(begun, (erasure) => erasure.organization)) {
      const found = await findUsers(
        warehouse,
        organization,
        some.map(({ user }) => user),
      );
      for (const { id, user } of some) counted.push({ id, ...(found.get(user) ?? noRows) });
    }
    for (const part of inCalls(counted)) await ledger.erasures.counted(part);
    const organizations = [...new Set(erasures.map(({ organization }) => organization))];
    const erased = [...Map.groupBy(erasures, ({ organization }) => organization)].map(
      ([organization, some]) => ({ organization, numbers: some.map(({ user }) => user) }),
    );
    await exclusions.changeUsers(organizations, () =>
      subscriptions.changeEvents(erased, "user", () => eraseUsers(warehouse, erasures)),
    );
    const ids = erasures.map(({ id }) => id);
    await ledger.erasures.finish(ids);
    log.info({ erasures: ids, organizations }, "users are erased");
  }

  async #eraseAccount(erasure: Erasure): Promise<void> {
    const { warehouse, loader, exclusions, subscriptions, ledger, log } = this.#parts;
    const { id, state, uptoInboxId, organization, account } = erasure;
    await loader.drain(uptoInboxId);
    if (state === "begun") await ledger.erasures.accountCounted(id, await findAccount(warehouse, erasure));
    const erased = [{ organization, numbers: [account] }];
    await exclusions.changeUsers([organization], () =>
      subscriptions.changeEvents(erased, "account", () => eraseAccount(warehouse, erasure, id)),
    );
    await ledger.erasures.finish([id]);
    log.info({ erasure: id, organization }, "an account is erased");
  }

  async #dropOldEvents(): Promise<void> {
    const { warehouse, loader, ledger, time, log } = this.#parts;
    const due: (OldEvents & Dropped & { readonly learns: boolean })[] = [];
    for (const organization of await ledger.organizations.list()) {
      const { id, timezone, keepEventsDays, eventsFromDay } = organization;
      const wanted = keepEventsDays === null ? null : zoneOf(timezone).dayOf(time.nowMs()) - keepEventsDays;
      const known = eventsFromDay ?? firstPossibleDay;
      // Also after a restart: a crash may have come between this day and the deletion.
      const beforeDay = Math.max(wanted ?? firstPossibleDay, known);
      if (beforeDay <= (this.#dropped.get(id)?.beforeDay ?? firstPossibleDay)) continue;
      due.push({ organization: id, beforeDay, keepEventsDays, learns: wanted !== null && wanted > known });
    }
    if (!this.#isTimeToDrop(due)) return;
    for (const { organization, beforeDay, learns } of due) {
      if (learns) await ledger.organizations.eventsDropped(organization, beforeDay);
    }
    const counts = await dropEvents(warehouse, due, async (work) => {
      await loader.pause();
      return work().finally(() => loader.resume());
    });
    this.#droppedAtMs = performance.now();
    for (const { organization, ...dropped } of due) this.#dropped.set(organization, dropped);
    for (const [organization, events] of counts) {
      log.info({ organization, events }, "old events are deleted");
    }
  }

  /** One more day of an organization waits for those of all others. A changed setting does not wait. */
  #isTimeToDrop(due: readonly (OldEvents & Dropped)[]): boolean {
    if (performance.now() - this.#droppedAtMs >= keepEventsEveryMs) return due.length > 0;
    return due.some(
      ({ organization, keepEventsDays }) =>
        this.#dropped.get(organization)?.keepEventsDays !== keepEventsDays,
    );
  }

  async #dropOldScores(): Promise<void> {
    const { warehouse, time, log } = this.#parts;
    const nowMs = time.nowMs();
    const today = zoneOf("UTC").dayOf(nowMs);
    if (this.#scoresDroppedOn === today) return;
    const partitions = await this.#inTurn(() => dropOldSnapshots(warehouse, nowMs));
    if (partitions > 0) log.info({ partitions }, "old snapshots of features are dropped");
    const rows = await this.#inTurn(() => thinScores(warehouse, nowMs));
    if (rows > 0) log.info({ rows }, "old daily scores are deleted");
    this.#scoresDroppedOn = today;
  }

  async #organization(id: number): Promise<Organization> {
    const found = await this.#parts.ledger.organizations.find(id);
    if (found === undefined) throw new Refusal(`there is no organization with the id ${id}.`);
    return found;
  }
}

/** Erasures in lists that one call takes. One user's days are not parted. */
function inCalls(counted: readonly CountedErasure[]): readonly CountedErasure[][] {
  const calls: CountedErasure[][] = [];
  let days = Number.POSITIVE_INFINITY;
  for (const one of counted) {
    days += one.dayCounts.length;
    if (days > daysOfCall) {
      calls.push([]);
      days = one.dayCounts.length;
    }
    calls.at(-1)?.push(one);
  }
  return calls;
}
