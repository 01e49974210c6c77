/**
 * The ledger's part of an erasure. The first commit changes the user or the account, the totals and the tombstones. The
 * second changes day counts and rejected events. Last, the engine deletes the rows of its inbox.
 */
import { type Actor, serviceItself } from "../../ports/audit.ts";
import {
  type AskedErasure,
  type BegunErasure,
  type Erasure,
  type Erasures,
  erasureNote,
  type FoundInWarehouse,
  type FoundOfAccount,
} from "../../ports/erasures.ts";
import { takenAway } from "../../rules/rejected-event-facts.ts";
import { forUpdate, onPostgres } from "../engine/dialect.ts";
import type { Engine } from "../engine/engine.ts";
import {
  type Fragment,
  integer,
  nullable,
  part,
  RowOf,
  returningOne,
  run,
  select,
  type Work,
  word,
} from "../engine/sql.ts";
import { addDayCounts, addVersionRows } from "../events/counts.ts";
import { takeRowsOfAccount, takeRowsOfUser } from "../events/rejected-event-rows.ts";
import { accountNumber, accountOfUser, type Deleted, deleteAccount, deleteUser } from "./deleted-rows.ts";

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
export abstract class ErasureStore implements Erasures {
  protected readonly engine: Engine;
  protected readonly clock: () => number;

  constructor(engine: Engine, clock: () => number) {
    this.engine = engine;
    this.clock = clock;
  }

  /** Deletes and records in one transaction. While it runs, no other transaction writes rows, so that no row of the user
   * follows. @returns undefined when there is no such organization */
  protected abstract beginWith(organization: number, beginning: Beginning): Promise<Begun | undefined>;

  /** The number of rows of a user, or of an account itself, that the inbox keeps. */
  protected abstract countInboxRows(erasure: Erasure): Promise<number>;

  /** Deletes the rows of the inbox up to the erasure. @throws Error while they are not loaded */
  protected abstract deleteInboxRows(erasure: Erasure): Promise<void>;

  async begin(
    organization: number,
    userId: string,
    { by = serviceItself, withAccount = false }: AskedErasure = {},
  ): Promise<BegunErasure | undefined> {
    const atMs = this.clock();
    const begun = await this.beginWith(organization, {
      account: () => accountOfUser(organization, withAccount ? userId : undefined),
      delete: (among) => deleteUser({ organization, atMs, among }, userId, withAccount),
      record: (deleted, end) => this.#record(deleted, end, by, atMs),
    });
    const [erasure, ofAccount] = begun?.erasures ?? [];
    if (begun === undefined || erasure === undefined) return undefined;
    const { names, accountId } = begun.deleted;
    return {
      ...{ ...erasure, names },
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
      delete: (among) => deleteAccount({ organization, atMs, among }, accountId),
      record: (deleted, end) => this.#record(deleted, end, by, atMs),
    });
    return begun?.erasures[0];
  }

  async pending(): Promise<readonly Erasure[]> {
    return this.engine.alone(select(erasureRow)`FROM erasures WHERE state <> 'done' ORDER BY id`);
  }

  async counted(id: number, found: FoundInWarehouse): Promise<void> {
    await this.#count(id, found.days, function* ({ organization, user }) {
      const rejected = yield* takeRowsOfUser(organization, user);
      yield* addVersionRows(organization, {
        rows: -found.versions - rejected.versionRows.rows,
        versions: -found.versionSum - rejected.versionRows.versions,
      });
      yield* addDayCounts(takenAway([...found.dayCounts, ...rejected.dayCounts]));
      yield* run`UPDATE erasures SET versions = ${found.versions} WHERE id = ${id}`;
      const events = found.dayCounts.reduce((sum, day) => sum + day.events, 0);
      return { events, rejected: rejected.count };
    });
  }

  async accountCounted(id: number, { events, days }: FoundOfAccount): Promise<void> {
    await this.#count(id, days, function* ({ organization, account }) {
      return { events, rejected: yield* takeRowsOfAccount(organization, account) };
    });
  }

  async finish(id: number): Promise<void> {
    const erasure = await this.engine.alone(stored(id));
    if (erasure.state !== "counted") {
      throw new Error(`Erasure ${id} is ${erasure.state}, and cannot be finished.`);
    }
    await this.deleteInboxRows(erasure);
    await this.engine.alone(
      run`UPDATE erasures SET state = 'done', erased_at_ms = ${this.clock()} WHERE id = ${id}`,
    );
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

  /** Runs the second commit, once. @param subtract changes the counts */
  async #count(
    id: number,
    days: number,
    subtract: (erasure: Erasure) => Work<{ readonly events: number; readonly rejected: number }>,
  ): Promise<void> {
    const inboxRows = await this.countInboxRows(await this.engine.alone(stored(id)));
    await this.engine.transaction(function* () {
      const erasure = yield* stored(id, forUpdate);
      if (erasure.state !== "begun") return;
      const { events, rejected } = yield* subtract(erasure);
      yield* run`
        UPDATE erasures SET state = 'counted', events = ${events}, rejected_events = ${rejected},
          inbox_rows = ${inboxRows}, days = ${days}
        WHERE id = ${id}`;
    });
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

function* stored(id: number, lock = part``): Work<Erasure> {
  const [erasure] = yield* select(erasureRow)`FROM erasures WHERE id = ${id} ${lock}`;
  if (erasure === undefined) throw new Error(`There is no erasure ${id}.`);
  return erasure;
}
