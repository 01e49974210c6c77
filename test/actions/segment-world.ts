/** An organization with a segment whose members a test sets, and the keeper that records them. */
import type { Filter } from "../../contract/segments/filters.ts";
import type { SegmentCause } from "../../contract/segments/segments.ts";
import { setOfNumbers } from "../../server/analytics/entities/entity-sets.ts";
import { segmentChangesOf, segmentDays } from "../../server/features/segments/members-history.ts";
import { SegmentKeeper, type SegmentKeeperParts } from "../../server/features/segments/segment-keeper.ts";
import type { ErasedAccounts } from "../../server/ledger/erasures.ts";
import type { Segment } from "../../server/ledger/rules/segment-rules.ts";
import type { Logger } from "../../server/process/log.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";

export const subject = new WarehouseUnderTest();
export const today = 20_000;
export const quarterMs = 15 * 60_000;
const log = { warn: () => undefined } as object as Logger;
const segmentId = 7;
const none = { eachMs: 0, longestMs: 0 };

/** An organization with one segment of users, whose members a test sets. */
export class World {
  readonly organization = subject.newOrganization();
  nowMs = today * msPerDay + 3_600_000;
  members: number[] = [];
  batches = 0;
  bulkLoadedAtMs: number | null = null;
  revision = 1;
  erased: ErasedAccounts[] = [];
  isStopped = false;
  timezone = "UTC";
  isRebuilding = false;
  readsScores = false;
  /** The kind of its members. */
  readonly of: "user" | "account";
  segments: Segment[];
  evaluations = 0;
  /** Called when the members of a segment are read. */
  reads: (segment: number) => void = () => undefined;
  /** Never comes while a backup has it, for example. */
  turn: Promise<void> = Promise.resolve();
  #keeper = this.#keeperOf(subject.warehouse);

  constructor(of: "user" | "account" = "user", filter: Filter = { state: "active" }) {
    this.of = of;
    this.segments = [segmentOf(this.organization, of, filter)];
  }

  /** Stores users, who belong to the account with their number from the third on, and as many accounts. */
  async fill(users = 6): Promise<this> {
    await subject.warehouse.command(
      `INSERT INTO accounts (organization, account, account_id, name, created_at, updated_at, version)
       SELECT {organization:UInt32}, number, concat('a', toString(number)), '', now64(3), now64(3), 1
       FROM numbers(1, {users:UInt32})`,
      { organization: this.organization, users },
    );
    await subject.warehouse.command(
      `INSERT INTO users (organization, user, user_id, traits, account, first_identified_at, updated_at, version)
       SELECT {organization:UInt32}, number, concat('u', toString(number)), '{}',
         if(number < 3, 0, number), now64(3), now64(3), 1
       FROM numbers(1, {users:UInt32})`,
      { organization: this.organization, users },
    );
    return this;
  }

  /** Runs a keeper that knows nothing yet. */
  async look(warehouse: Warehouse = subject.warehouse): Promise<void> {
    this.#keeper = this.#keeperOf(warehouse);
    await this.lookAgain();
  }

  /** Runs the last keeper again, with its memory. */
  lookAgain(): Promise<void> {
    return this.#keeper.run();
  }

  /** The service stops. */
  stop(): void {
    this.#keeper.stop();
  }

  /** New data, and a quarter of an hour. */
  load(...members: readonly number[]): void {
    this.members = [...members];
    this.batches += 1;
    this.nowMs += quarterMs;
  }

  edit(): void {
    this.segments = this.segments.map((one) => ({ ...one, contentAtMs: one.contentAtMs + 1 }));
  }

  async changes(): Promise<[user: number, entered: boolean, cause: SegmentCause][]> {
    const question = { organization: this.organization, segment: segmentId, of: this.of, limit: 100 };
    const rows = await segmentChangesOf(subject.warehouse, question);
    return rows.map(({ entity, entered, cause }) => [entity, entered, cause]);
  }

  days(): Promise<Awaited<ReturnType<typeof segmentDays>>> {
    const period = { fromDay: today - 10, toDay: today + 10 };
    return segmentDays(subject.warehouse, { organization: this.organization, segment: segmentId, ...period });
  }

  async size(): Promise<number | undefined> {
    return (await this.days()).at(-1)?.size;
  }

  rows(table: string): Promise<number> {
    return subject.count(table, this.organization);
  }

  #keeperOf(warehouse: Warehouse): SegmentKeeper {
    const parts = {
      warehouse,
      log,
      nowMs: () => this.nowMs,
      rests: { betweenChecks: none, afterEvaluation: { times: 0, longestMs: 0 } },
      ledger: {
        segments: { organizations: async () => [this.organization], list: async () => this.segments },
        organizations: {
          find: async (id: number) =>
            id === this.organization ? { id, timezone: this.timezone } : undefined,
        },
        rebuildsPending: async () => (this.isRebuilding ? [this.organization] : []),
        settings: { get: async () => ({ version: 1 }) },
        exclusions: { rules: async () => ({ revision: this.revision }) },
        erasures: {
          accountsSince: async (_: number, sinceMs: number) =>
            this.erased.filter(({ requestedAtMs }) => requestedAtMs >= sinceMs),
        },
        lastBulkLoadAtMs: async () => this.bulkLoadedAtMs,
        freshness: async () => ({ loadedUptoMs: this.nowMs }),
      },
      host: {
        drain: async () => undefined,
        whileNothingChanges: <Result>(work: () => Promise<Result>) => this.turn.then(work),
        loadedBatches: () => this.batches,
      },
      sources: { stoppedFor: async () => (this.isStopped ? { source: null, sinceMs: 0 } : null) },
      evaluate: async (_: unknown, segments: readonly number[], read: Warehouse) => {
        this.evaluations += segments.length;
        const numbers = { organization: this.organization, numbers: this.members };
        return {
          segments: this.segments,
          membersOf: async (segment: number) => {
            this.reads(segment);
            return setOfNumbers(read, this.of, numbers);
          },
          readsScores: () => this.readsScores,
        };
      },
    };
    return new SegmentKeeper(parts as object as SegmentKeeperParts);
  }
}

/** A world whose segment has been evaluated for the first time. */
export async function begun(...members: readonly number[]): Promise<World> {
  return begin(new World(), ...members);
}

/** The same with another world. */
export async function begin(world: World, ...members: readonly number[]): Promise<World> {
  await world.fill();
  world.members = [...members];
  await world.look();
  return world;
}

function segmentOf(organization: number, of: "user" | "account", filter: Filter): Segment {
  return {
    id: segmentId,
    kind: `${of}s`,
    name: `Segment ${organization}`,
    filter,
    fixed: null,
    createdBy: null,
    createdAtMs: 1,
    updatedAtMs: 1,
    contentAtMs: 1,
  };
}
