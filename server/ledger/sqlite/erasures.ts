/**
 * The ledger's side of an erasure. The user, the totals and the tombstone change in one commit; day counts and
 * dead letters in a second; loaded rows of the inbox go in small steps, and the freed pages and the write-ahead
 * log after them, so that no byte stays in the files (`secure_delete` zeroes what is deleted within a page).
 */
import type { Database } from "bun:sqlite";
import { takenAway } from "../dead-letter-facts.ts";
import type { Erasure, Erasures, FoundInWarehouse } from "../erasures.ts";
import type { User } from "../ledger.ts";
import { addressId, type PersonId } from "../parking.ts";
import { beginningOfRow } from "../user-rows.ts";
import { DeadLettersOfUser } from "./dead-letters-of-user.ts";
import type { SqliteExclusions } from "./exclusions.ts";
import type { InboxTidy } from "./inbox-tidy.ts";
import { nextTurn } from "./small-steps.ts";
import type { Parts } from "./transact.ts";
import { inTransaction } from "./transaction.ts";
import type { SqliteWarnings } from "./warnings.ts";

const columns = `id, organization, user, state, upto_inbox_id AS uptoInboxId, requested_at_ms AS requestedAtMs,
  erased_at_ms AS erasedAtMs, events, versions, dead_letters AS deadLetters, inbox_rows AS inboxRows, days`;

function prepare(db: Database) {
  return {
    begin: db.prepare<Erasure, [number, number, string, number, number]>(
      `INSERT INTO erasures (organization, user, user_hmac, upto_inbox_id, requested_at_ms)
       VALUES (?, ?, ?, ?, ?) RETURNING ${columns}`,
    ),
    find: db.prepare<Erasure, [number]>(`SELECT ${columns} FROM erasures WHERE id = ?`),
    list: db.prepare<Erasure, [number]>(`SELECT ${columns} FROM erasures WHERE organization = ? ORDER BY id`),
    pending: db.prepare<Erasure, []>(`SELECT ${columns} FROM erasures WHERE state <> 'done' ORDER BY id`),
    counted: db.prepare(
      `UPDATE erasures SET state = 'counted', events = ?, versions = ?, dead_letters = ?, inbox_rows = ?, days = ?
       WHERE id = ?`,
    ),
    done: db.prepare("UPDATE erasures SET state = 'done', erased_at_ms = ? WHERE id = ?"),
    bodies: db.prepare<{ id: number; body: Uint8Array }, [number, number]>(
      `SELECT id, CAST(body AS BLOB) AS body FROM inbox
       WHERE id > ? AND id <= ? AND warehouse_table <> 'accounts' ORDER BY id LIMIT 64`,
    ),
  };
}

/** What a user may be named in, too. */
interface NamesUsers {
  readonly warnings: SqliteWarnings;
  readonly exclusions: SqliteExclusions;
}

export class SqliteErasures implements Erasures {
  readonly #db: Database;
  readonly #parts: Parts & NamesUsers;
  readonly #inboxTidy: InboxTidy;
  readonly #deadLetters: DeadLettersOfUser;
  readonly #clock: () => number;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database, parts: Parts & NamesUsers, inboxTidy: InboxTidy, clock: () => number) {
    this.#db = db;
    this.#parts = parts;
    this.#inboxTidy = inboxTidy;
    this.#deadLetters = new DeadLettersOfUser(db);
    this.#clock = clock;
    this.#statements = prepare(db);
  }

  async begin(organization: number, userId: string): Promise<Erasure | undefined> {
    const { users, counts, inbox, tombstones, knownUsers, exclusions } = this.#parts;
    this.#parts.journal.flush();
    let isAnythingGone = false;
    const begun = inTransaction(this.#db, () => {
      const user = users.find(organization, userId);
      isAnythingGone = this.#forgetIds(organization, userId, user);
      if (user === undefined) return undefined;
      users.delete(organization, user.number);
      const gone = { users: -1, userVersions: -user.version, accounts: 0, accountVersions: 0 };
      counts.addPopulations(organization, gone);
      exclusions.forgetUser(organization, userId);
      const hmac = tombstones.hmac(organization, userId);
      return this.#statements.begin.get(
        ...([organization, user.number, hmac, inbox.newestInboxId, this.#clock()] as const),
      );
    });
    if (!isAnythingGone && !begun) return undefined;
    tombstones.remember(organization);
    if (!begun) {
      // There is no erasure to be finished, but what was parked is in the log still.
      await this.#inboxTidy.erase(0);
      return undefined;
    }
    knownUsers.forget(organization, userId);
    return begun;
  }

  async pending(): Promise<readonly Erasure[]> {
    return this.#statements.pending.all();
  }

  async counted(id: number, { dayCounts, versions, versionSum, days }: FoundInWarehouse): Promise<void> {
    const inboxRows = await this.#countInboxRows(this.#stored(id));
    inTransaction(this.#db, () => {
      const erasure = this.#stored(id);
      if (erasure.state !== "begun") return;
      const dead = this.#deadLetters.take(erasure);
      this.#parts.counts.addVersionRows(erasure.organization, {
        rows: -versions - dead.versionRows.rows,
        versions: -versionSum - dead.versionRows.versions,
      });
      for (const day of takenAway([...dayCounts, ...dead.dayCounts])) this.#parts.counts.addDay(day);
      const events = dayCounts.reduce((sum, day) => sum + day.events, 0);
      this.#statements.counted.run(events, versions, dead.count, inboxRows, days, id);
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

  /** Forgets what waits and is linked under the ids of a user, or of somebody who was never identified, and the warnings
   * that name one; leaves tombstones of all but the user's own.
   * @returns whether there was anything */
  #forgetIds(organization: number, userId: string, user: User | undefined): boolean {
    const { parking, users, warnings, tombstones } = this.#parts;
    const own: PersonId = { kind: "user", id: userId };
    const linked = [...parking.links.to(organization, userId)];
    const email = user?.email ?? "";
    const address = addressId(email);
    // What waits for an address that others have is theirs, too.
    if (address !== undefined && users.withEmail(organization, email).length === 1) {
      linked.push(...parking.links.to(organization, address));
    }
    // Of one who was never identified nobody knows whether the id was a visitor's.
    if (user === undefined) linked.push({ kind: "visitor", id: userId });
    const warned = [own, ...linked].filter(({ id }) => warnings.forgetUser(organization, id));
    const gone = parking.forget(organization, [own, ...linked]);
    tombstones.eraseLinked(
      ...([
        organization,
        gone.filter((person) => person !== own || user === undefined),
        this.#clock(),
      ] as const),
    );
    return warned.length + gone.length > 0;
  }

  #stored(id: number): Erasure {
    const erasure = this.#statements.find.get(id);
    if (erasure === null) throw new Error(`There is no erasure ${id}.`);
    return erasure;
  }

  /** Rows of the user that the inbox still keeps. */
  async #countInboxRows({ organization, user, uptoInboxId }: Erasure): Promise<number> {
    const beginning = Buffer.from(beginningOfRow(organization, user));
    let rows = 0;
    let after = 0;
    while (true) {
      const bodies = this.#statements.bodies.all(after, uptoInboxId);
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
