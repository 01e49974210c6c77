/**
 * The ledger's side of an erasure. The user, the totals and the tombstone change in one commit; day counts and dead
 * letters in a second; segments of the inbox that may hold rows of the user are dropped when they are loaded.
 *
 * Invariant: when an erasure begins nobody else is writing rows, so that no row of the user stands behind it.
 */
import { takenAway } from "../dead-letter-facts.ts";
import { emailKey } from "../email-key.ts";
import type { Erasure, Erasures, FoundInWarehouse } from "../erasures.ts";
import { addressId, type PersonId } from "../parking.ts";
import { personOf } from "../person-text.ts";
import { tombstoneOf } from "../user-rows.ts";
import type { Queries, Sql, Tx } from "./connect.ts";
import { addDayCounts, addVersionRows } from "./counts.ts";
import { takeLettersOfUser } from "./dead-letter-rows.ts";
import { tellErased } from "./erased-names.ts";
import type { PostgresExclusions } from "./exclusions.ts";
import { countWaiting, newestInboxId, type Position } from "./inbox-counts.ts";
import { countRowsOfUser, dropErased } from "./inbox-erasing.ts";
import { inboxPatienceMs, lockInbox, sealWritten } from "./inbox-segments.ts";
import { lockOrganizations } from "./loaded.ts";
import { forgetParked } from "./parking-writes.ts";
import { restored, storable } from "./text.ts";
import { eraseLinked, erasureKey } from "./tombstones.ts";
import { inTransaction, lockIsHeld, notInOrder, repeated, tableIsGone } from "./transaction.ts";
import { forgetWarningsOf } from "./warnings.ts";

type StoredErasure = Erasure & { readonly uptoSegment: number };

interface Beginning {
  readonly organization: number;
  readonly userId: string;
  readonly counted: Position;
  readonly patienceMs: number;
}

/** Of `day_counts`: any will do, since nobody waits for this. */
const slot = 0;

export class PostgresErasures implements Erasures {
  readonly #sql: Sql;
  readonly #exclusions: PostgresExclusions;
  readonly #clock: () => number;

  constructor(sql: Sql, exclusions: PostgresExclusions, clock: () => number) {
    this.#sql = sql;
    this.#exclusions = exclusions;
    this.#clock = clock;
  }

  begin(organization: number, userId: string): Promise<Erasure | undefined> {
    return repeated(
      async (refusals) => {
        const patienceMs = inboxPatienceMs(refusals);
        const counted = await countWaiting(this.#sql, patienceMs);
        return inTransaction(this.#sql, (tx) =>
          this.#begin(tx, { organization, userId, counted, patienceMs }),
        );
      },
      [...notInOrder, ...tableIsGone, ...lockIsHeld],
      { attempts: 15, pauseMs: 500 },
    );
  }

  async pending(): Promise<readonly Erasure[]> {
    const sql = this.#sql;
    const rows = await sql<StoredErasure[]>`
      SELECT ${columns(sql)} FROM erasures WHERE state <> 'done' ORDER BY id`;
    return rows.map(erasure);
  }

  async counted(id: number, { dayCounts, versions, versionSum, days }: FoundInWarehouse): Promise<void> {
    const begun = await stored(this.#sql, id);
    const inboxRows = await countRowsOfUser(this.#sql, begun, begun);
    await inTransaction(this.#sql, async (tx) => {
      const { state, organization, user } = await stored(tx, id, "for update");
      if (state !== "begun") return;
      const dead = await takeLettersOfUser(tx, { organization, user });
      await addVersionRows(tx, organization, {
        rows: -versions - dead.versionRows.rows,
        versions: -versionSum - dead.versionRows.versions,
      });
      await addDayCounts(tx, takenAway([...dayCounts, ...dead.dayCounts]), slot);
      const events = dayCounts.reduce((sum, day) => sum + day.events, 0);
      await tx`
        UPDATE erasures SET state = 'counted', events = ${events}, versions = ${versions},
          dead_letters = ${dead.count}, inbox_rows = ${inboxRows}, days = ${days}
        WHERE id = ${id}`;
    });
  }

  async finish(id: number): Promise<void> {
    const counted = await stored(this.#sql, id);
    if (counted.state !== "counted") {
      throw new Error(`Erasure ${id} is ${counted.state}, and cannot be finished.`);
    }
    await dropErased(this.#sql, counted);
    await this.#sql`UPDATE erasures SET state = 'done', erased_at_ms = ${this.#clock()} WHERE id = ${id}`;
  }

  async find(id: number): Promise<Erasure | undefined> {
    const found = await find(this.#sql, id);
    return found === undefined ? undefined : erasure(found);
  }

  async list(organization: number): Promise<readonly Erasure[]> {
    const sql = this.#sql;
    const rows = await sql<StoredErasure[]>`
      SELECT ${columns(sql)} FROM erasures WHERE organization = ${organization} ORDER BY id`;
    return rows.map(erasure);
  }

  async #begin(
    tx: Tx,
    { organization, userId, counted, patienceMs }: Beginning,
  ): Promise<Erasure | undefined> {
    const [locked] = await lockOrganizations(tx, [organization]);
    if (locked === undefined) return undefined;
    await lockInbox(tx, patienceMs);
    const [user] = await tx<{ number: number; version: number; email: string }[]>`
      DELETE FROM users WHERE organization = ${organization} AND user_id = ${storable(userId)}
      RETURNING number, version, email`;
    const key = await erasureKey(tx);
    const atMs = this.#clock();
    await forgetIds(tx, { key, organization, userId, email: user && restored(user.email), atMs });
    if (user === undefined) return undefined;
    await tx`
      UPDATE populations SET users = users - 1, user_versions = user_versions - ${user.version}
      WHERE organization = ${organization}`;
    await this.#exclusions.forgetUser(tx, organization, userId);
    const hmac = tombstoneOf(key, organization, userId);
    const uptoInboxId = await newestInboxId(tx, counted);
    const uptoSegment = await sealWritten(tx, atMs);
    const [begun] = await tx<StoredErasure[]>`
      INSERT INTO erasures (organization, "user", user_hmac, upto_inbox_id, upto_segment, requested_at_ms)
      VALUES (${organization}, ${user.number}, ${hmac}, ${uptoInboxId}, ${uptoSegment}, ${atMs})
      RETURNING ${columns(tx)}`;
    if (begun === undefined) throw new Error("PostgreSQL returned no row for an erasure.");
    return erasure(begun);
  }
}

interface Forgotten {
  readonly key: Uint8Array;
  readonly organization: number;
  readonly userId: string;
  /** Empty for a user without an address; undefined for a person who was never identified. */
  readonly email: string | undefined;
  readonly atMs: number;
}

/** Forgets what waits and is linked under the ids of a user who is deleted by now, or of somebody who was never identified,
 * and the warnings that name one; leaves tombstones of all but the user's own. */
async function forgetIds(tx: Tx, { key, organization, userId, email, atMs }: Forgotten): Promise<void> {
  const own: PersonId = { kind: "user", id: userId };
  const address = email === undefined || email === "" ? undefined : addressId(email);
  const linked = [...(await linkedTo(tx, organization, userId))];
  // What waits for an address that others have is theirs, too.
  if (email !== undefined && address !== undefined && !(await hasUserWith(tx, organization, email))) {
    linked.push(...(await linkedTo(tx, organization, address)));
  }
  // Of one who was never identified nobody knows whether the id was a visitor's.
  if (email === undefined) linked.push({ kind: "visitor", id: userId });
  const gone = await forgetParked(tx, organization, [own, ...linked]);
  const left = gone.filter((person) => person !== own || email === undefined);
  if (left.length > 0) await eraseLinked(tx, key, organization, left, atMs);
  const names = [...new Set([userId, ...linked.map(({ id }) => id)])];
  await tellErased(tx, organization, names);
  await forgetWarningsOf(tx, organization, names);
}

async function linkedTo(tx: Tx, organization: number, userId: string): Promise<readonly PersonId[]> {
  const links = await tx<{ id: string }[]>`
    SELECT id FROM person_links WHERE organization = ${organization} AND user_id = ${storable(userId)}`;
  return links.map(({ id }) => personOf(restored(id)));
}

async function hasUserWith(tx: Tx, organization: number, email: string): Promise<boolean> {
  const [any] = await tx`
    SELECT FROM users WHERE organization = ${organization} AND email_key <> ''
      AND email_key = ${storable(emailKey(email))} LIMIT 1`;
  return any !== undefined;
}

async function stored(queries: Queries, id: number, lock?: "for update"): Promise<StoredErasure> {
  const found = await find(queries, id, lock);
  if (found === undefined) throw new Error(`There is no erasure ${id}.`);
  return found;
}

async function find(queries: Queries, id: number, lock?: "for update"): Promise<StoredErasure | undefined> {
  const [found] = await queries<StoredErasure[]>`
    SELECT ${columns(queries)} FROM erasures WHERE id = ${id} ${lock === undefined ? queries`` : queries`FOR UPDATE`}`;
  return found;
}

function columns(queries: Queries) {
  return queries`id, organization, "user", state, upto_inbox_id AS "uptoInboxId", upto_segment AS "uptoSegment",
    requested_at_ms AS "requestedAtMs", erased_at_ms AS "erasedAtMs", events, versions,
    dead_letters AS "deadLetters", inbox_rows AS "inboxRows", days`;
}

function erasure({ uptoSegment: _, ...row }: StoredErasure): Erasure {
  return row;
}
