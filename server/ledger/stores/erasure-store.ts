/**
 * The ledger's part of an erasure. The first commit changes the user or the account, the totals and the
 * tombstones. The second changes day counts and rejected events. Last, the engine deletes the rows of its
 * inbox.
 */

import { type Actor, serviceItself } from "../audit.ts";
import { forUpdate, ids as idsAsRows, onPostgres, records } from "../dialect.ts";
import { type Engine, inParts } from "../engine.ts";
import {
  type AskedErasure,
  type BegunErasure,
  type CountedErasure,
  type ErasedAccounts,
  type Erasure,
  type Erasures,
  erasureNote,
  type FoundInWarehouse,
  type FoundOfAccount,
} from "../erasures.ts";
import type { Feature } from "../feature.ts";
import type { DayCount } from "../inbox.ts";
import { countsOf, countsOfUser, summed, takenAway } from "../rules/rejected-event-facts.ts";
import {
  type Fragment,
  integer,
  json,
  nullable,
  part,
  RowOf,
  returningOne,
  run,
  select,
  type Work,
  word,
} from "../sql.ts";
import { addAccountVersionRows, addDayCounts, addVersionRows } from "./counts.ts";
import { accountNumber, accountOfUser, type Deleted, deleteAccount, deleteUser } from "./deleted-rows.ts";
import { takeRowsOfAccount, takeRowsOfUsers } from "./rejected-event-rows.ts";

/** The inbox has no row of the user or the account after these. SQLite has no segments. */
export interface InboxEnd {
  readonly uptoInboxId: number;
  readonly uptoSegment: number;
}

/** A transaction that begins erasures. */
export interface Beginning {
  /** The number of the account whose members may change. 0 if there is none. */
  account(): Work<number>;
  /** @param among a condition that all members of the account meet */
  delete(among: Fragment): Work<Deleted>;
  /** Records the erasures of what was deleted. */
  record(deleted: Deleted, end: InboxEnd): Work<readonly Erasure[]>;
}

/** The rows that a transaction deleted, and the erasures that it recorded. */
export interface Begun {
  readonly deleted: Deleted;
  readonly erasures: readonly Erasure[];
}

const erasureRow = new RowOf<Erasure>({
  id: integer(),
  organization: integer(),
  user: integer('"user"'),
  account: integer(),
  state: word(),
  uptoInboxId: integer(),
  requestedAtMs: integer(),
  erasedAtMs: nullable(integer()),
  members: integer(),
  events: integer(),
  versions: integer(),
  rejectedEvents: integer(),
  inboxRows: integer(),
  days: integer(),
});
const accountsRow = new RowOf<ErasedAccounts>({
  requestedAtMs: integer(),
  account: integer(),
  ofAccounts: json(),
});

export abstract class ErasureStore implements Erasures {
  protected readonly engine: Engine;
  protected readonly clock: () => number;
  readonly #features: readonly Feature[];

  constructor(engine: Engine, clock: () => number, features: readonly Feature[]) {
    this.engine = engine;
    this.clock = clock;
    this.#features = features;
  }

  /** Deletes and records in one transaction. While it runs, no other transaction writes rows, so that no row
   * of the user follows. @returns undefined when there is no such organization */
  protected abstract beginWith(organization: number, beginning: Beginning): Promise<Begun | undefined>;

  /** The number of rows that the inbox keeps of each user, or of each account itself, by the erasure's id. An
   * erasure without rows may be left out. The inbox is read once for the list. @param erasures all of users
   * or all of accounts */
  protected abstract countInboxRows(erasures: readonly Erasure[]): Promise<ReadonlyMap<number, number>>;

  /** Deletes the rows of the inbox up to the newest erasure. @throws Error while they are not loaded */
  protected abstract deleteInboxRows(erasures: readonly Erasure[]): Promise<void>;

  async begin(
    organization: number,
    userId: string,
    { by = serviceItself, withAccount = false }: AskedErasure = {},
  ): Promise<BegunErasure | undefined> {
    const atMs = this.clock();
    const begun = await this.beginWith(organization, {
      account: () => accountOfUser(organization, withAccount ? userId : undefined),
      delete: (among) =>
        deleteUser({ organization, atMs, among, features: this.#features }, userId, withAccount),
      record: (deleted, end) => this.#record(deleted, end, by, atMs),
    });
    const [erasure, ofAccount] = begun?.erasures ?? [];
    if (begun === undefined || erasure === undefined) return undefined;
    const { names, accountId } = begun.deleted;
    return {
      ...erasure,
      names,
      ofAccount:
        ofAccount === undefined || accountId === undefined ? null : { accountId, erasure: ofAccount },
    };
  }

  async beginAccount(
    organization: number,
    accountId: string,
    { by = serviceItself }: AskedErasure = {},
  ): Promise<Erasure | undefined> {
    const atMs = this.clock();
    const begun = await this.beginWith(organization, {
      account: () => accountNumber(organization, accountId),
      delete: (among) => deleteAccount({ organization, atMs, among, features: this.#features }, accountId),
      record: (deleted, end) => this.#record(deleted, end, by, atMs),
    });
    return begun?.erasures[0];
  }

  async pending(): Promise<readonly Erasure[]> {
    return this.engine.alone(select(erasureRow)`FROM erasures WHERE state <> 'done' ORDER BY id`);
  }

  async counted(found: readonly CountedErasure[]): Promise<void> {
    if (found.length === 0) return;
    const inboxRows = await this.countInboxRows(await this.engine.alone(stored(found.map(({ id }) => id))));
    await inParts(this.engine, found, async (part) => {
      await this.engine.transaction(() => countUsers(part, inboxRows));
    });
  }

  async accountCounted(id: number, { events, versions, versionSum, days }: FoundOfAccount): Promise<void> {
    const inboxRows = await this.countInboxRows(await this.engine.alone(stored([id])));
    await this.engine.transaction(function* () {
      for (const { organization, account } of yield* begunOf([id])) {
        const { rows: rejectedEvents, deleted } = yield* takeRowsOfAccount(organization, account);
        const rejected = countsOf(deleted).accountVersionRows;
        yield* addAccountVersionRows(organization, {
          rows: -versions - rejected.length,
          versions: rejected.reduce((sum, row) => sum - row.versions, -versionSum),
        });
        const counted = { id, events, versions: null, rejectedEvents, days, ofAccounts: "[]" };
        yield* markCounted([{ ...counted, inboxRows: inboxRows.get(id) ?? 0 }]);
      }
    });
  }

  async finish(ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    const erasures = await this.engine.alone(stored(ids));
    for (const { id, state } of erasures) {
      if (state !== "counted") throw new Error(`Erasure ${id} is ${state}, and cannot be finished.`);
    }
    await this.deleteInboxRows(erasures);
    await this.engine.alone(run`
      UPDATE erasures SET state = 'done', erased_at_ms = ${this.clock()}
      WHERE id IN (SELECT id FROM ${idsAsRows(ids)})`);
  }

  async find(id: number): Promise<Erasure | undefined> {
    const [erasure] = await this.engine.alone(select(erasureRow)`FROM erasures WHERE id = ${id}`);
    return erasure;
  }

  async list(organization: number): Promise<readonly Erasure[]> {
    return this.engine.alone(
      select(erasureRow)`FROM erasures WHERE organization = ${organization} ORDER BY id`,
    );
  }

  async accountsSince(organization: number, sinceMs: number): Promise<readonly ErasedAccounts[]> {
    return this.engine.alone(
      select(accountsRow)`
        FROM erasures WHERE organization = ${organization} AND requested_at_ms >= ${sinceMs} ORDER BY id`,
    );
  }

  *#record(
    { erased }: Deleted,
    { uptoInboxId, uptoSegment }: InboxEnd,
    by: Actor,
    atMs: number,
  ): Work<readonly Erasure[]> {
    const erasures: Erasure[] = [];
    for (const { organization, user, account, members, versions, hmac } of erased) {
      const erasure = yield* returningOne(erasureRow)`
        INSERT INTO erasures (organization, "user", account, members, versions, user_hmac, upto_inbox_id,
          ${onPostgres(part`upto_segment,`)} requested_at_ms)
        VALUES (${organization}, ${user}, ${account}, ${members}, ${versions}, ${hmac}, ${uptoInboxId},
          ${onPostgres(part`${uptoSegment},`)} ${atMs})`;
      yield* this.engine.audit.note(organization, erasureNote(erasure), by, atMs);
      erasures.push(erasure);
    }
    return erasures;
  }
}

/** Erasures by their ids. @throws Error when one is not there */
function* stored(ids: readonly number[]): Work<readonly Erasure[]> {
  const erasures = yield* select(erasureRow)`
    FROM erasures WHERE id IN (SELECT id FROM ${idsAsRows(ids)}) ORDER BY id`;
  const found = new Set(erasures.map(({ id }) => id));
  for (const id of ids) if (!found.has(id)) throw new Error(`There is no erasure ${id}.`);
  return erasures;
}

/** Those that are not counted yet, locked until the commit. */
function begunOf(ids: readonly number[]) {
  return select(erasureRow)`
    FROM erasures WHERE state = 'begun' AND id IN (SELECT id FROM ${idsAsRows(ids)}) ORDER BY id ${forUpdate}`;
}

/** The second commit of erasures of users. @param inboxRows by the erasure's id */
function* countUsers(found: readonly CountedErasure[], inboxRows: ReadonlyMap<number, number>): Work<void> {
  const begun = yield* begunOf(found.map(({ id }) => id));
  const foundOf = new Map(found.map((one) => [one.id, one]));
  const dayCounts: DayCount[] = [];
  const counted: Counted[] = [];
  for (const [organization, some] of Map.groupBy(begun, (erasure) => erasure.organization)) {
    const taken = yield* takeRowsOfUsers(
      organization,
      some.map(({ user }) => user),
    );
    const versionRows = { rows: 0, versions: 0 };
    for (const { id, user } of some) {
      const { dayCounts: days, accounts = [], ...sums } = foundOf.get(id) ?? nothing;
      const rejected = countsOfUser(organization, taken.get(user) ?? []);
      versionRows.rows -= sums.versions + rejected.versionRows.rows;
      versionRows.versions -= sums.versionSum + rejected.versionRows.versions;
      for (const day of [...days, ...rejected.dayCounts]) dayCounts.push(day);
      counted.push({
        id,
        versions: sums.versions,
        days: sums.days,
        inboxRows: inboxRows.get(id) ?? 0,
        events: days.reduce((sum, { events }) => sum + events, 0),
        rejectedEvents: taken.get(user)?.length ?? 0,
        ofAccounts: JSON.stringify(accounts),
      });
    }
    yield* addVersionRows(organization, versionRows);
  }
  yield* addDayCounts(takenAway(summed(dayCounts)));
  yield* markCounted(counted);
}

const nothing: FoundInWarehouse = { dayCounts: [], versions: 0, versionSum: 0, days: 0 };

/** The counts of an erasure. The versions of an account are those of its first commit: null. */
interface Counted extends Pick<Erasure, "id" | "events" | "rejectedEvents" | "inboxRows" | "days"> {
  readonly versions: number | null;
  /** As JSON. */
  readonly ofAccounts: string;
}

function markCounted(counted: readonly Counted[]) {
  const given = records(counted, {
    id: "bigint",
    events: "bigint",
    versions: "bigint",
    rejectedEvents: "bigint",
    inboxRows: "bigint",
    days: "bigint",
    ofAccounts: "text",
  });
  return run`
    UPDATE erasures SET state = 'counted', events = given.events,
      versions = coalesce(given.versions, erasures.versions), rejected_events = given."rejectedEvents",
      inbox_rows = given."inboxRows", days = given.days, of_accounts = given."ofAccounts"
    FROM ${given} WHERE erasures.id = given.id`;
}
