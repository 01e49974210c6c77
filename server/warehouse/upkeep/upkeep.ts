/**
 * The long work on the warehouse, one piece after another: rebuilds, erasures, and the deletion of old raw events.
 * Work is pending in the ledger until it is done, so that a crash only delays it.
 */

import { Refusal } from "../../../contract/refusal.ts";
import { zoneOf } from "../../calendar/calendar.ts";
import type { Erasure, Organization, SharedLedger } from "../../ledger/ledger.ts";
import type { Logger } from "../../process/process.ts";
import type { Warehouse } from "../engine/warehouse.ts";
import type { ExclusionKeeper } from "../load/exclusion-keeper.ts";
import type { Loader } from "../load/loader.ts";
import { deleteOrganization } from "./delete-organization.ts";
import { eraseUsers, findUsers } from "./erase.ts";
import { eraseAccount, findAccount } from "./erase-account.ts";
import { dropEvents, firstPossibleDay } from "./keep-events.ts";
import { type RebuildProgress, rebuild, rebuildSteps } from "./rebuild.ts";
import { type RebuildStatus, RebuildWatch } from "./rebuild-watch.ts";

export interface UpkeepParts {
  readonly warehouse: Warehouse;
  readonly loader: Loader;
  readonly exclusions: ExclusionKeeper;
  readonly ledger: SharedLedger;
  readonly log: Logger;
}

/** How soon a rebuild starts after a change of timezone, and an erasure after a crash. */
const pollMs = 2_000;
/** Erasures in one round, which rewrites each part that has one of the users. */
const usersOfRound = 1_000;
/** How often a midnight is looked for, and a changed setting. */
const keepEventsPollMs = 5_000;

export class Upkeep {
  readonly #parts: UpkeepParts;
  readonly #timers: ReturnType<typeof setInterval>[];
  /** The end of the last piece of work. */
  #last: Promise<void> = Promise.resolve();
  #rebuilds = 0;
  #watch: RebuildWatch | undefined;
  /** By organization: the day before which this process has deleted all events. */
  readonly #dropped = new Map<number, number>();

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
    this.#timers = [
      this.#poll(() => this.#pending(), pollMs),
      this.#poll(() => this.#inTurn(() => this.#dropOldEvents()), keepEventsPollMs),
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

  /** The same, with complete days and rollups: a pending rebuild (requested, or interrupted by a crash) is done
   * first. */
  whileWhole<Result>(organization: number, work: () => Promise<Result>): Promise<Result> {
    return this.whileNothingChanges(async () => {
      await this.#rebuildPending(organization);
      return work();
    });
  }

  /** Finishes the work in hand. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
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
  #poll(work: () => Promise<void>, ms: number): ReturnType<typeof setInterval> {
    let working = false;
    return setInterval(async () => {
      if (working) return;
      working = true;
      try {
        await work();
      } catch (error) {
        this.#parts.log.warn({ err: error }, "work on the warehouse failed and will be tried again");
      } finally {
        working = false;
      }
    }, ms);
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
    const { warehouse, loader, ledger, log } = this.#parts;
    const { eventsFromDay, name } = await this.#organization(id);
    // Rows of the old timezone have to be in the warehouse, where their day can be changed.
    const { timezone, askedAtMs } = await ledger.rebuildBegun(id);
    await this.drain();
    await loader.pause();
    const watch = new RebuildWatch(warehouse, id);
    this.#watch = watch;
    try {
      await watch.start(rebuildSteps);
      const progress = (step: RebuildProgress) => {
        watch.stepDone(step);
        const { secondsLeft } = watch.status();
        log.info({ organization: name, ...step, secondsLeft }, "rebuilding");
      };
      const fromDay = eventsFromDay ?? firstPossibleDay;
      await rebuild(warehouse, id, zoneOf(timezone).transitions, progress, fromDay);
      await ledger.rebuildDone(id, askedAtMs);
    } finally {
      this.#watch = undefined;
      await watch.stop();
      loader.resume();
    }
  }

  async #finishErasures(): Promise<void> {
    const { warehouse, loader, exclusions, ledger, log } = this.#parts;
    const pending = await ledger.erasures.pending();
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
      await exclusions.forgetOrganization(organization, () => deleteOrganization(warehouse, organization));
      await ledger.deletions.finish(organization);
      this.#dropped.delete(organization);
      log.info({ organization }, "an organization is deleted, and no row of it is left");
    }
  }

  /** Erases users of any organizations in one round: nothing of a user is left when their erasure is finished. */
  async #eraseUsers(erasures: readonly Erasure[]): Promise<void> {
    const { warehouse, loader, exclusions, ledger, log } = this.#parts;
    await loader.drain(Math.max(...erasures.map(({ uptoInboxId }) => uptoInboxId)));
    const begun = erasures.filter(({ state }) => state === "begun");
    for (const [organization, some] of Map.groupBy(begun, (erasure) => erasure.organization)) {
      const found = await findUsers(
        warehouse,
        organization,
        some.map(({ user }) => user),
      );
      for (const { id, user } of some) {
        const rows = found.get(user);
        if (rows !== undefined) await ledger.erasures.counted(id, rows);
      }
    }
    const organizations = new Set(erasures.map(({ organization }) => organization));
    await exclusions.changeUsers(organizations, () => eraseUsers(warehouse, erasures));
    for (const { id, organization } of erasures) {
      await ledger.erasures.finish(id);
      log.info({ erasure: id, organization }, "a user is erased");
    }
  }

  async #eraseAccount(erasure: Erasure): Promise<void> {
    const { warehouse, loader, exclusions, ledger, log } = this.#parts;
    const { id, state, uptoInboxId, organization } = erasure;
    await loader.drain(uptoInboxId);
    if (state === "begun") await ledger.erasures.accountCounted(id, await findAccount(warehouse, erasure));
    await exclusions.changeUsers([organization], () => eraseAccount(warehouse, erasure, id));
    await ledger.erasures.finish(id);
    log.info({ erasure: id, organization }, "an account is erased");
  }

  async #dropOldEvents(): Promise<void> {
    const { warehouse, ledger, log } = this.#parts;
    for (const organization of await ledger.organizations.list()) {
      const { id, timezone, keepEventsDays, eventsFromDay } = organization;
      const wanted = keepEventsDays === null ? null : zoneOf(timezone).dayOf(Date.now()) - keepEventsDays;
      if (wanted !== null && wanted > (eventsFromDay ?? firstPossibleDay)) {
        await ledger.organizations.eventsDropped(id, wanted);
      }
      // Also after a restart: a crash may have come between this day and the deletion.
      const fromDay = Math.max(wanted ?? firstPossibleDay, eventsFromDay ?? firstPossibleDay);
      if (fromDay <= (this.#dropped.get(id) ?? firstPossibleDay)) continue;
      const events = await dropEvents(warehouse, id, fromDay);
      this.#dropped.set(id, fromDay);
      if (events > 0) log.info({ organization: organization.name, events }, "old events are deleted");
    }
  }

  async #organization(id: number): Promise<Organization> {
    const found = await this.#parts.ledger.organizations.find(id);
    if (found === undefined) throw new Refusal(`there is no organization with the id ${id}.`);
    return found;
  }
}
