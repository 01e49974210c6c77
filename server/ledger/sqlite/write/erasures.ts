/**
 * The ledger's part of an erasure. The first commit changes the user or the account, the totals and the tombstone. The
 * second changes day counts and rejected events. Then loaded rows of the inbox are deleted in small steps, and last the
 * freed pages and the write-ahead log. After it no byte stays in the files (`secure_delete` zeroes deleted rows within a
 * page).
 */
import type { Database } from "bun:sqlite";
import { type Actor, serviceItself } from "../../ports/audit.ts";
import type { User } from "../../ports/entities.ts";
import {
  type AskedErasure,
  type BegunErasure,
  type Erasure,
  type Erasures,
  erasureNote,
  type FoundInWarehouse,
  type FoundOfAccount,
} from "../../ports/erasures.ts";
import { addressId, type PersonId } from "../../ports/held-events.ts";
import { takenAway } from "../../rules/rejected-event-facts.ts";
import { beginningOfRow } from "../../rules/user-rows.ts";
import { forgetPeople } from "../../stores/events/held-event-rows.ts";
import { takeRowsOfAccount, takeRowsOfUser } from "../../stores/events/rejected-event-rows.ts";
import { forgetExclusion } from "../../stores/exclusions.ts";
import { forgetWarningsOf } from "../../stores/warnings.ts";
import { nextTurn } from "../engine/small-steps.ts";
import { inTransaction, type NotAPromise } from "../engine/sync-transaction.ts";
import type { InboxTidy } from "../inbox/inbox-tidy.ts";
import { AccountErasures, type Members } from "./account-erasures.ts";
import type { Parts } from "./transact.ts";

const columns = `id, organization, user, account, state, upto_inbox_id AS uptoInboxId,
  requested_at_ms AS requestedAtMs, erased_at_ms AS erasedAtMs, members, events, versions, rejected_events AS rejectedEvents, inbox_rows AS inboxRows, days`;

function prepare(db: Database) {
  return {
    begin: db.prepare<Erasure, (number | string)[]>(
      `INSERT INTO erasures (organization, user, account, user_hmac, members, versions, upto_inbox_id, requested_at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${columns}`,
    ),
    find: db.prepare<Erasure, [number]>(`SELECT ${columns} FROM erasures WHERE id = ?`),
    list: db.prepare<Erasure, [number]>(`SELECT ${columns} FROM erasures WHERE organization = ? ORDER BY id`),
    pending: db.prepare<Erasure, []>(`SELECT ${columns} FROM erasures WHERE state <> 'done' ORDER BY id`),
    counted: db.prepare(
      `UPDATE erasures SET state = 'counted', events = ?, versions = ?, rejected_events = ?, inbox_rows = ?, days = ?
       WHERE id = ?`,
    ),
    accountCounted: db.prepare(
      `UPDATE erasures SET state = 'counted', events = ?, rejected_events = ?, inbox_rows = ?, days = ? WHERE id = ?`,
    ),
    done: db.prepare("UPDATE erasures SET state = 'done', erased_at_ms = ? WHERE id = ?"),
    bodies: db.prepare<{ id: number; body: Uint8Array }, [number, number, boolean]>(
      `SELECT id, CAST(body AS BLOB) AS body FROM inbox
       WHERE id > ? AND id <= ? AND (warehouse_table = 'accounts') = ? ORDER BY id LIMIT 64`,
    ),
  };
}

/** The fields of an erasure that begins. */
interface Beginning extends Pick<Erasure, "organization" | "user" | "account" | "members" | "versions"> {
  readonly hmac: string;
  readonly by: Actor;
}

/** The result of a deletion of all rows under a user's ids. */
interface Forgotten {
  readonly isAnything: boolean;
  readonly names: readonly string[];
}

export class SqliteErasures implements Erasures {
  readonly #db: Database;
  readonly #parts: Parts;
  readonly #inboxTidy: InboxTidy;
  readonly #accounts: AccountErasures;
  readonly #clock: () => number;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database, parts: Parts, inboxTidy: InboxTidy, clock: () => number) {
    this.#db = db;
    this.#parts = parts;
    this.#inboxTidy = inboxTidy;
    this.#accounts = new AccountErasures(parts);
    this.#clock = clock;
    this.#statements = prepare(db);
  }

  async begin(
    organization: number,
    userId: string,
    { by = serviceItself, withAccount = false }: AskedErasure = {},
  ): Promise<BegunErasure | undefined> {
    const { users, tombstones, knownUsers } = this.#parts;
    let forgotten: Forgotten = { isAnything: false, names: [] };
    const account = withAccount ? (users.find(organization, userId)?.account ?? 0) : 0;
    const begun = await this.#withMembers(organization, account, (members) => {
      const user = users.find(organization, userId);
      const own = this.#accounts.ofOnlyMember(organization, userId, members);
      forgotten = this.#forgetIds(organization, userId, user);
      if (user === undefined) return undefined;
      const erasure = this.#deleteUser(organization, userId, user, by);
      const { names } = forgotten;
      if (own === undefined) return { ...erasure, names, ofAccount: null };
      const { accountId } = own;
      const ofAccount = this.#deleteAccount(organization, accountId, members, by).erasure;
      return { ...erasure, names, ofAccount: ofAccount ? { accountId, erasure: ofAccount } : null };
    });
    if (!forgotten.isAnything && !begun) return undefined;
    tombstones.remember(organization);
    if (!begun) {
      // There is no erasure to finish, but the write-ahead log still contains the held events.
      await this.#inboxTidy.erase(0);
      return undefined;
    }
    knownUsers.forget(organization, userId);
    return begun;
  }

  async beginAccount(
    organization: number,
    accountId: string,
    { by = serviceItself }: AskedErasure = {},
  ): Promise<Erasure | undefined> {
    const numberNow = () => this.#parts.accounts.find(organization, accountId)?.number ?? 0;
    const deleted = await this.#withMembers(organization, numberNow(), (found) =>
      // The account may have been created, or replaced, during the search for its members.
      found.account === numberNow() ? this.#deleteAccount(organization, accountId, found, by) : undefined,
    );
    if (deleted === undefined) return this.beginAccount(organization, accountId, { by });
    const { erasure, members, held } = deleted;
    if (erasure !== undefined || held > 0) this.#accounts.forget(organization, members);
    // There is no erasure to finish, but the write-ahead log still contains the held events.
    if (erasure === undefined && held > 0) await this.#inboxTidy.erase(0);
    return erasure;
  }

  async pending(): Promise<readonly Erasure[]> {
    return this.#statements.pending.all();
  }

  async counted(id: number, { dayCounts, versions, versionSum, days }: FoundInWarehouse): Promise<void> {
    const inboxRows = await this.#countInboxRows(this.#stored(id));
    inTransaction(this.#db, () => {
      const erasure = this.#stored(id);
      if (erasure.state !== "begun") return;
      const dead = this.#parts.engine.now(takeRowsOfUser(erasure.organization, erasure.user));
      this.#parts.counts.addVersionRows(erasure.organization, {
        rows: -versions - dead.versionRows.rows,
        versions: -versionSum - dead.versionRows.versions,
      });
      for (const day of takenAway([...dayCounts, ...dead.dayCounts])) this.#parts.counts.addDay(day);
      const events = dayCounts.reduce((sum, day) => sum + day.events, 0);
      this.#statements.counted.run(events, versions, dead.count, inboxRows, days, id);
    });
  }

  async accountCounted(id: number, { events, days }: FoundOfAccount): Promise<void> {
    const inboxRows = await this.#countInboxRows(this.#stored(id));
    inTransaction(this.#db, () => {
      const { organization, account, state } = this.#stored(id);
      if (state !== "begun") return;
      const rejectedRows = this.#parts.engine.now(takeRowsOfAccount(organization, account));
      this.#statements.accountCounted.run(events, rejectedRows, inboxRows, days, id);
    });
  }

  async finish(id: number): Promise<void> {
    const { uptoInboxId, state } = this.#stored(id);
    if (state !== "counted") throw new Error(`Erasure ${id} is ${state}, and cannot be finished.`);
    await this.#inboxTidy.erase(uptoInboxId);
    this.#statements.done.run(this.#clock(), id);
  }

  async find(id: number): Promise<Erasure | undefined> {
    return this.#statements.find.get(id) ?? undefined;
  }

  async list(organization: number): Promise<readonly Erasure[]> {
    return this.#statements.list.all(organization);
  }

  #deleteUser(organization: number, userId: string, user: User, by: Actor): Erasure {
    const { users, counts, tombstones, engine } = this.#parts;
    users.delete(organization, user.number);
    const gone = { users: -1, userVersions: -user.version, accounts: 0, accountVersions: 0 };
    counts.addPopulations(organization, gone);
    engine.now(forgetExclusion(organization, "user", userId));
    const hmac = tombstones.hmac(organization, userId);
    return this.#insert({ organization, user: user.number, account: 0, members: 0, versions: 0, hmac, by });
  }

  /** Finds the members of an account, and then runs one transaction. */
  #withMembers<Result>(
    organization: number,
    account: number,
    work: (members: Members) => NotAPromise<Result>,
  ): Promise<Result> {
    return this.#accounts.withMembers(organization, account, (members) => {
      this.#parts.journal.flush();
      return inTransaction<Result>(this.#db, () => work(members));
    });
  }

  /** @returns the result of the deletion, and its erasure. Undefined if there was no such account */
  #deleteAccount(organization: number, accountId: string, found: Members, by: Actor) {
    const deleted = this.#accounts.delete(organization, accountId, found, this.#clock());
    if (deleted.account === undefined) return { ...deleted, erasure: undefined };
    const { number: account, version: versions } = deleted.account;
    const hmac = this.#parts.tombstones.accountHmac(organization, accountId);
    const members = deleted.members.length;
    const erasure = this.#insert({ organization, user: 0, account, members, versions, hmac, by });
    return { ...deleted, erasure };
  }

  /** Records an erasure with its audit entry, inside the caller's transaction. */
  #insert({ organization, user, account, members, versions, hmac, by }: Beginning): Erasure {
    const { inbox, engine } = this.#parts;
    const atMs = this.#clock();
    const values = [organization, user, account, hmac, members, versions, inbox.newestInboxId, atMs];
    const erasure = this.#statements.begin.get(...values);
    if (erasure === null) throw new Error("SQLite returned no row for an erasure.");
    engine.now(engine.audit.note(organization, erasureNote(erasure), by, atMs));
    return erasure;
  }

  /** Deletes the held events and links under the ids of a user, or under an id that was never identified. Deletes the
   * warnings that name one. Leaves tombstones of all ids except the user's own.
   * @returns whether there was any data, and the ids */
  #forgetIds(organization: number, userId: string, user: User | undefined): Forgotten {
    const { heldEvents, users, engine, tombstones } = this.#parts;
    const own: PersonId = { kind: "user", id: userId };
    const linked = [...heldEvents.links.to(organization, userId)];
    const email = user?.email ?? "";
    const address = addressId(email);
    // If other users have the address, they own its held events, too.
    if (address !== undefined && users.withEmail(organization, email).length === 1) {
      linked.push(...heldEvents.links.to(organization, address));
    }
    // An id that was never identified may be a visitor's.
    if (user === undefined) linked.push({ kind: "visitor", id: userId });
    const names = [...new Set([own, ...linked].map(({ id }) => id))];
    const warned = engine.now(forgetWarningsOf(organization, names));
    const gone = engine.now(forgetPeople(organization, [own, ...linked]));
    tombstones.eraseLinked(
      ...([
        organization,
        gone.filter((person) => person !== own || user === undefined),
        this.#clock(),
      ] as const),
    );
    return { isAnything: warned + gone.length > 0, names };
  }

  #stored(id: number): Erasure {
    const erasure = this.#statements.find.get(id);
    if (erasure === null) throw new Error(`There is no erasure ${id}.`);
    return erasure;
  }

  /** Counts the rows of the user, or of the account itself, that the inbox still keeps. */
  async #countInboxRows({ organization, user, account, uptoInboxId }: Erasure): Promise<number> {
    const beginning = Buffer.from(beginningOfRow(organization, user > 0 ? user : account));
    let rows = 0;
    let after = 0;
    while (true) {
      const bodies = this.#statements.bodies.all(after, uptoInboxId, account > 0);
      const last = bodies.at(-1);
      if (last === undefined) return rows;
      for (const { body } of bodies) rows += linesThatBegin(body, beginning);
      after = last.id;
      await nextTurn();
    }
  }
}

function linesThatBegin(body: Uint8Array, beginning: Buffer): number {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let lines = 0;
  for (let at = bytes.indexOf(beginning); at !== -1; at = bytes.indexOf(beginning, at + 1)) {
    if (at === 0 || bytes[at - 1] === 10) lines += 1;
  }
  return lines;
}
