/**
 * The members of segments as of the starts of past days, from what has a history: scores, events, traits,
 * accounts of users and subscriptions. The evaluation of lists says the same of now, and a test compares the
 * two. See docs/decisions/0086.
 */
import type { EventCondition, Filter } from "../../../../contract/segments/filters.ts";
import { parseDay } from "../../../calendar/days.ts";
import type { Segment } from "../../../ledger/ports/actions/segments.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import { monthDays } from "../../../scoring/queries/lists/reading.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { PassiveEvents } from "../../../warehouse/schema/engagement.ts";
import { fallsOf } from "../../entities/list-falls.ts";
import type { PayersQuestion } from "../../revenue/payers-now.ts";
import { DaySets, maxDays } from "./day-sets.ts";
import { activeInPast, seenInPast } from "./past-activity.ts";
import { fellInPast, movedInPast, toCallInPast } from "./past-changes.ts";
import type { PastDays } from "./past-days.ts";
import { doneInPast } from "./past-events.ts";
import { payersInPast } from "./past-payers.ts";
import { renewingInPast } from "./past-renewals.ts";
import {
  bandBeforeInPast,
  churnedInPast,
  type PastRun,
  type PastScores,
  scoresInPast,
  verdictInPast,
} from "./past-scores.ts";
import { type PastStays, pastStays } from "./past-stays.ts";
import { traitInPast } from "./past-traits.ts";

export interface PastParts {
  readonly warehouse: Warehouse;
  readonly past: PastDays;
  readonly passiveEvents: PassiveEvents;
  /** Those of the organization. */
  readonly segments: readonly Segment[];
  /** The users or accounts of a fixed segment. */
  readonly numbersOf: (segment: number) => Promise<readonly number[]>;
  /** The finished runs up to the last day, in the order of days. They begin with the newest one that the
   * first is compared with. */
  readonly runsOf: (kind: EntityKind) => Promise<readonly PastRun[]>;
  /** Undefined without subscriptions of this kind. */
  readonly payersOf: (kind: EntityKind) => Promise<PayersQuestion | undefined>;
}

/** Evaluates segments. Each is evaluated once. */
export class PastMembers {
  readonly #parts: PastParts;
  readonly #members = new Map<number, Promise<DaySets>>();
  #stays: Promise<PastStays> | undefined;
  #sizes: Promise<Readonly<Record<EntityKind, number>>> | undefined;

  constructor(parts: PastParts) {
    this.#parts = parts;
  }

  /** The members of a segment, excluded users among them. @throws WarehouseError */
  of(id: number): Promise<DaySets> {
    const known = this.#members.get(id);
    if (known !== undefined) return known;
    const members = this.#evaluated(this.#segment(id));
    this.#members.set(id, members);
    return members;
  }

  async #evaluated({ id, kind: of, filter }: Segment): Promise<DaySets> {
    const kind = of === "users" ? "user" : "account";
    const entities = (await this.#sizesOf())[kind];
    if (filter === null) return constant(entities, await this.#parts.numbersOf(id));
    let members = new DaySets(entities).not();
    for (const condition of [
      this.#scores,
      this.#verdict,
      this.#changes,
      this.#seen,
      this.#activity,
      this.#payers,
      this.#traits,
      this.#events,
      this.#segments,
    ]) {
      for (const sets of await condition.call(this, kind, filter)) members = members.and(sets);
    }
    return members;
  }

  async #scores(kind: EntityKind, filter: Filter): Promise<DaySets[]> {
    const { state, healthBand, riskBand, isPresent } = filter;
    if ([state, healthBand, riskBand, isPresent].every((value) => value === undefined)) return [];
    return some(await scoresInPast(this.#parts.warehouse, await this.#scored(kind), filter));
  }

  async #verdict(kind: EntityKind, { verdict }: Filter): Promise<DaySets[]> {
    if (verdict === undefined) return [];
    const { warehouse } = this.#parts;
    const isAccountChurned = kind === "user" ? await this.#usersOfChurnedAccounts() : undefined;
    return [await verdictInPast(warehouse, await this.#scored(kind), verdict, isAccountChurned)];
  }

  async #changes(kind: EntityKind, filter: Filter): Promise<DaySets[]> {
    const { healthBandBefore, moved, toCall, comparedWithDays = monthDays } = filter;
    const { warehouse } = this.#parts;
    const past = await this.#scored(kind);
    const sets: DaySets[] = [];
    if (healthBandBefore !== undefined)
      sets.push(await bandBeforeInPast(warehouse, past, healthBandBefore, comparedWithDays));
    if (moved !== undefined) sets.push(await movedInPast(warehouse, past, moved, comparedWithDays));
    if (toCall !== undefined) {
      const called = await toCallInPast(warehouse, past);
      sets.push(toCall ? called : called.not());
    }
    for (const { days, ...fall } of fallsOf(filter)) sets.push(await fellInPast(warehouse, past, fall, days));
    return sets;
  }

  async #usersOfChurnedAccounts(): Promise<DaySets> {
    const churned = await churnedInPast(this.#parts.warehouse, await this.#scored("account"));
    return (await this.#staysOf()).usersOf(churned, (await this.#sizesOf()).user);
  }

  async #seen(kind: EntityKind, { seenWithinDays, notSeenForDays }: Filter): Promise<DaySets[]> {
    const within = seenWithinDays === undefined ? [] : [await this.#seenWithin(kind, seenWithinDays)];
    if (notSeenForDays === undefined) return within;
    return [...within, (await this.#seenWithin(kind, notSeenForDays)).not()];
  }

  async #seenWithin(kind: EntityKind, days: number): Promise<DaySets> {
    const users = await seenInPast(this.#parts.warehouse, await this.#active(), days);
    if (kind === "user") return users;
    return (await this.#staysOf()).accountsOf(users, (await this.#sizesOf()).account);
  }

  async #activity(_: EntityKind, { activeFrom, activeTo, lifecycle }: Filter): Promise<DaySets[]> {
    const [fromDay, toDay] = [parseDay(activeFrom ?? ""), parseDay(activeTo ?? "")];
    if (fromDay === undefined || toDay === undefined) return [];
    const activity = { fromDay, toDay, lifecycle };
    return [await activeInPast(this.#parts.warehouse, await this.#active(), activity)];
  }

  async #payers(kind: EntityKind, filter: Filter): Promise<DaySets[]> {
    const { mrrFrom, mrrTo, subscriptionPlan, subscriptionStatus, renewsWithinDays } = filter;
    const conditions = [mrrFrom, mrrTo, subscriptionPlan, subscriptionStatus, renewsWithinDays];
    if (conditions.every((one) => one === undefined)) return [];
    const { warehouse, past, payersOf } = this.#parts;
    const of = { ...past, entities: (await this.#sizesOf())[kind], payers: await payersOf(kind) };
    const renewing =
      renewsWithinDays === undefined ? undefined : await renewingInPast(warehouse, of, renewsWithinDays);
    return [...some(await payersInPast(warehouse, of, filter)), ...some(renewing)];
  }

  async #traits(kind: EntityKind, { traits = [] }: Filter): Promise<DaySets[]> {
    const { warehouse, past } = this.#parts;
    const entities = (await this.#sizesOf())[kind];
    const sets: DaySets[] = [];
    for (const { trait: key, match = "is", value = "" } of traits) {
      sets.push(await traitInPast(warehouse, kind, past, { entities, filter: { key, match, value } }));
    }
    return sets;
  }

  async #events(kind: EntityKind, { events = [] }: Filter): Promise<DaySets[]> {
    const { warehouse, past } = this.#parts;
    const entities = (await this.#sizesOf())[kind];
    const sets: DaySets[] = [];
    for (const { event, match, times = 1, days } of events as readonly EventCondition[]) {
      const done = await doneInPast(warehouse, kind, past, { event, times, days, entities });
      sets.push(match === "fewerThan" ? done.not() : done);
    }
    return sets;
  }

  async #segments(kind: EntityKind, { segments = [] }: Filter): Promise<DaySets[]> {
    const sets: DaySets[] = [];
    for (const { segment, match } of segments) {
      const members = await this.#as(kind, segment);
      sets.push(match === "isNotIn" ? members.not() : members);
    }
    return sets;
  }

  /** The members, or the users whose account is one. */
  async #as(kind: EntityKind, id: number): Promise<DaySets> {
    const members = await this.of(id);
    if (kind === "account" || this.#segment(id).kind === "users") return members;
    return (await this.#staysOf()).usersOf(members, (await this.#sizesOf()).user);
  }

  async #scored(kind: EntityKind): Promise<PastScores> {
    const { past, runsOf } = this.#parts;
    return { ...past, kind, entities: (await this.#sizesOf())[kind], runs: await runsOf(kind) };
  }

  async #active() {
    const { past, passiveEvents } = this.#parts;
    return { ...past, passiveEvents, users: (await this.#sizesOf()).user };
  }

  #staysOf(): Promise<PastStays> {
    this.#stays ??= pastStays(this.#parts.warehouse, this.#parts.past);
    return this.#stays;
  }

  #sizesOf(): Promise<Readonly<Record<EntityKind, number>>> {
    const { warehouse, past } = this.#parts;
    this.#sizes ??= sizesOf(warehouse, past.organization);
    return this.#sizes;
  }

  #segment(id: number): Segment {
    const segment = this.#parts.segments.find((one) => one.id === id);
    if (segment === undefined) throw new TypeError(`There is no segment ${id} among those that were read`);
    return segment;
  }
}

/** The highest numbers of users and accounts, and one. */
async function sizesOf(
  warehouse: Warehouse,
  organization: number,
): Promise<Readonly<Record<EntityKind, number>>> {
  const [row] = await warehouse.rows<Record<EntityKind, number>>(
    `SELECT (SELECT max(user) + 1 FROM users WHERE organization = {organization:UInt32}) AS user,
       (SELECT max(account) + 1 FROM accounts WHERE organization = {organization:UInt32}) AS account`,
    { organization },
  );
  return { user: row?.user ?? 1, account: row?.account ?? 1 };
}

function constant(entities: number, numbers: readonly number[]): DaySets {
  const all = { sets: new DaySets(1).not(), entity: 0 };
  const sets = new DaySets(entities);
  for (const number of numbers) sets.addFrom(number, all, { from: 0, to: maxDays });
  return sets;
}

const some = (sets: DaySets | undefined): DaySets[] => (sets === undefined ? [] : [sets]);
