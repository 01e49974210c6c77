/**
 * The users or accounts of segments, as of now. An evaluation reads the segments of an organization once,
 * counts the events of all conditions together, and evaluates each segment once.
 */

import { ApiError } from "../../contract/refusal.ts";
import type { EventCondition, Filter } from "../../contract/segments/filters.ts";
import { type SegmentKind, segmentLimits } from "../../contract/segments/segments.ts";
import {
  accountsOfUsers,
  type EntitySet,
  numbersOfSet,
  type SetCondition,
  setOfNumbers,
} from "../analytics/entities/entity-sets.ts";
import { type EventsDone, eventSets } from "../analytics/entities/event-sets.ts";
import { lists } from "../analytics/entities/lists.ts";
import { withinPayerSet, withinSet } from "../analytics/entities/within-set.ts";
import { today, usersQuestion } from "../http/api/days.ts";
import {
  countConditions,
  type Segment,
  segmentWithThoseBelow,
  tooManyConditions,
} from "../ledger/rules/segment-rules.ts";
import type { EntitiesByNumber } from "../ledger/stores/entity-rows.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { type SelectionContext, selectionOf } from "./segment-selection.ts";
import type { Within } from "./segment-within.ts";

/** The conditions of a filter that need other sets. */
type SetsOfFilter = Pick<Filter, "events" | "segments">;

interface Asked {
  readonly kind: EntityKind;
  readonly filter: SetsOfFilter;
}

/** The kind of a segment's entities. */
export const kindOf: Readonly<Record<SegmentKind, EntityKind>> = { users: "user", accounts: "account" };

/** Prepares the evaluation of filters, with all segments below them. @throws ApiError when there is no such
 * segment */
export async function evaluationOf(
  context: SelectionContext,
  asked: readonly Asked[],
): Promise<Pick<Evaluation, "segments" | "conditions" | "set" | "withThoseBelow">> {
  const evaluation = await uncounted(context, asked);
  await evaluation.countEvents(asked);
  return evaluation;
}

async function uncounted(context: SelectionContext, asked: readonly Asked[]): Promise<Evaluation> {
  const isAny = asked.some(({ filter }) => (filter.events?.length ?? 0) + (filter.segments?.length ?? 0) > 0);
  return new Evaluation(context, isAny ? await context.ledger.segments.list(context.organization.id) : []);
}

/** The conditions of a list on events and segments. @throws ApiError when there is no such segment, or when
 * several have too many conditions together */
export async function setsOfList(
  context: SelectionContext,
  kind: EntityKind,
  { segment, segments = [], events }: SetsOfFilter & { readonly segment?: number | undefined },
): Promise<readonly SetCondition[]> {
  const filter = {
    ...(events !== undefined && { events }),
    segments: [...(segment === undefined ? [] : [{ segment }]), ...segments],
  };
  const evaluation = await uncounted(context, [{ kind, filter }]);
  // A saved segment is within the limit, or older than it.
  if (filter.segments.length > 1) evaluation.refuseTooMany(filter);
  await evaluation.countEvents([{ kind, filter }]);
  return evaluation.conditions(kind, filter);
}

/** The warehouse for figures about the users or the accounts of a segment. Accounts are in segments of
 * accounts only.
 * @param segment undefined for all of them @throws ApiError when there is no such segment of this kind */
export async function warehouseWithin(
  context: SelectionContext,
  segment: number | undefined,
  kind: EntityKind = "user",
): Promise<Warehouse> {
  if (segment === undefined) return context.warehouse;
  const set = await membersOf(context, segment, kind);
  return withinSet(context.warehouse, set.of === kind ? set : await usersOfAccounts(context, set));
}

/** The warehouses for figures about the users and about the accounts of a segment, which is evaluated once.
 * @param segment undefined for all of them @throws ApiError when there is no such segment */
export async function bothWithin(context: SelectionContext, segment: number | undefined): Promise<Within> {
  const { warehouse } = context;
  if (segment === undefined) return { users: warehouse, accounts: warehouse };
  const { users, accounts } = await bothSets(context, segment);
  return { users: withinSet(warehouse, users), accounts: accounts && withinSet(warehouse, accounts) };
}

/** Those of these users and accounts that are in a segment. @throws ApiError when there is no such segment */
export async function thoseInSegment(
  context: SelectionContext,
  segment: number,
  { users, accounts }: EntitiesByNumber,
): Promise<EntitiesByNumber> {
  const members = await numbersOf(context, segment);
  return {
    users: users.filter((number) => members.users.has(number)),
    accounts: accounts.filter((number) => members.accounts.has(number)),
  };
}

/** The numbers of the users and of the accounts of a segment, which has no account if it is one of users.
 * They are not for queries of the ledger, which would block writes while it reads those of a large segment.
 * @throws ApiError when there is no such segment */
export async function numbersOf(
  context: SelectionContext,
  segment: number,
): Promise<Readonly<Record<"users" | "accounts", ReadonlySet<number>>>> {
  const { warehouse } = context;
  const { users, accounts } = await bothSets(context, segment);
  return {
    users: new Set(await numbersOfSet(warehouse, users)),
    accounts: new Set(accounts === undefined ? [] : await numbersOfSet(warehouse, accounts)),
  };
}

async function bothSets(
  context: SelectionContext,
  segment: number,
): Promise<{ readonly users: EntitySet; readonly accounts: EntitySet | undefined }> {
  const set = await membersOf(context, segment);
  if (set.of === "user") return { users: set, accounts: undefined };
  return { users: await usersOfAccounts(context, set), accounts: set };
}

/**
 * The warehouse for figures about the payers of a segment. Of a segment of accounts these are its accounts,
 * and the users of them who pay without an account. Of a segment of users these are its users who pay without
 * an account, and the accounts with at least one member in it. @param segment undefined for all payers
 * @throws ApiError when there is no such segment
 */
export async function warehouseWithinPayers(
  context: SelectionContext,
  segment: number | undefined,
): Promise<Warehouse> {
  const { warehouse, organization } = context;
  if (segment === undefined) return warehouse;
  const set = await membersOf(context, segment);
  return withinPayerSet(
    warehouse,
    set.of === "user"
      ? { users: set, accounts: await accountsOfUsers(warehouse, organization.id, set) }
      : { users: await usersOfAccounts(context, set), accounts: set },
  );
}

/** The users or accounts of a segment. @param kind of the entities that may be in it
 * @throws ApiError when there is no such segment */
async function membersOf(
  context: SelectionContext,
  segment: number,
  kind: EntityKind = "user",
): Promise<EntitySet> {
  const filter = { segments: [{ segment }] };
  return (await evaluationOf(context, [{ kind, filter }])).set(segment);
}

async function usersOfAccounts(context: SelectionContext, set: EntitySet): Promise<EntitySet> {
  return lists.user.set(context.warehouse, {
    ...(await usersQuestion(context, today(context))),
    run: undefined,
    earlier: undefined,
    search: "",
    sets: [{ set, isIn: true }],
  });
}

class Evaluation {
  readonly #context: SelectionContext;
  /** Those of the organization, as they were read. */
  readonly segments: readonly Segment[];
  readonly #segments: ReadonlyMap<number, Segment>;
  readonly #sets = new Map<number, Promise<EntitySet>>();
  readonly #events = new Map<string, EntitySet>();

  constructor(context: SelectionContext, segments: readonly Segment[]) {
    this.#context = context;
    this.segments = segments;
    this.#segments = new Map(segments.map((segment) => [segment.id, segment]));
  }

  /** Counts the events of these filters and of all segments below them, those of each kind together. */
  async countEvents(asked: readonly Asked[]): Promise<void> {
    const all = [...asked];
    const seen = new Set<number>();
    for (const { kind, filter } of all) {
      for (const { segment: id } of filter.segments ?? []) {
        const segment = this.#segmentFor(kind, id);
        if (seen.has(id) || segment.filter === null) continue;
        seen.add(id);
        all.push({ kind: kindOf[segment.kind], filter: segment.filter });
      }
    }
    for (const kind of ["user", "account"] as const) {
      const conditions = all.filter((one) => one.kind === kind).flatMap(({ filter }) => filter.events ?? []);
      const done = [...new Map(conditions.map((one) => [keyOf(kind, one), doneOf(one)]))];
      const toDay = today(this.#context);
      const { warehouse, organization } = this.#context;
      const sets = await eventSets(warehouse, kind, {
        organization: organization.id,
        toDay,
        conditions: done.map(([, condition]) => condition),
      });
      for (const [index, [key]] of done.entries()) {
        const set = sets[index];
        if (set !== undefined) this.#events.set(key, set);
      }
    }
  }

  /** @throws ApiError when a filter has too many conditions, together with those of its segments */
  refuseTooMany(filter: SetsOfFilter): void {
    const below = (filter.segments ?? []).flatMap(({ segment }) => this.withThoseBelow(segment));
    const count = countConditions([{ filter }, ...new Set(below)]);
    if (count <= segmentLimits.conditions) return;
    throw new ApiError("validation_error", tooManyConditions("segments is not valid: the list", count));
  }

  /** The conditions on events and segments. */
  async conditions(kind: EntityKind, { events = [], segments = [] }: SetsOfFilter): Promise<SetCondition[]> {
    const conditions = events.map((condition) => {
      const set = this.#events.get(keyOf(kind, condition));
      if (set === undefined) throw new Error("The events of a condition were not counted.");
      return { set, isIn: condition.match !== "fewerThan" };
    });
    for (const { segment, match } of segments) {
      conditions.push({ set: await this.set(segment), isIn: match !== "isNotIn" });
    }
    return conditions;
  }

  /** The users or accounts of a segment, without excluded users. */
  set(id: number): Promise<EntitySet> {
    const known = this.#sets.get(id);
    if (known !== undefined) return known;
    const set = this.#evaluated(this.#segment(id));
    this.#sets.set(id, set);
    return set;
  }

  /** A segment, and those that its filter names, on all levels. */
  withThoseBelow(id: number): readonly [Segment, ...Segment[]] {
    const [, ...below] = segmentWithThoseBelow(this.segments, id);
    return [this.#segment(id), ...below];
  }

  async #evaluated({ id, kind, filter }: Segment): Promise<EntitySet> {
    const { warehouse, ledger, organization } = this.#context;
    const of = kindOf[kind];
    if (filter === null) {
      const numbers = await ledger.segments.numbers(organization.id, id);
      return setOfNumbers(warehouse, of, { organization: organization.id, numbers });
    }
    const { selection } = await selectionOf(this.#context, of, filter, await this.conditions(of, filter));
    return lists[of].set(warehouse, selection);
  }

  #segmentFor(kind: EntityKind, id: number): Segment {
    const segment = this.#segment(id);
    if (kind === "user" || segment.kind === "accounts") return segment;
    throw new ApiError("validation_error", `segment is not valid: ${segment.name} is a segment of users.`);
  }

  #segment(id: number): Segment {
    const segment = this.#segments.get(id);
    if (segment !== undefined) return segment;
    throw new ApiError("validation_error", `segment is not valid: there is no segment with the id ${id}.`);
  }
}

function doneOf({ event, times = 1, days }: EventCondition): EventsDone {
  return { event, times, days };
}

function keyOf(kind: EntityKind, condition: EventCondition): string {
  const { event, times, days } = doneOf(condition);
  return JSON.stringify([kind, event, times, days]);
}
