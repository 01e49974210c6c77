/**
 * The ledger's part of an erasure. The first commit changes the user or the account, the totals and the tombstone. The
 * second changes day counts and rejected events. Segments of the inbox that may have rows of the user are dropped when
 * they are loaded.
 *
 * Invariant: when an erasure begins, no transaction is writing rows, so that no row of the user follows it.
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
import { tombstoneOf } from "../../rules/user-rows.ts";
import type { AuditLog } from "../../stores/engine/audit-log.ts";
import { takeRowsOfAccount, takeRowsOfUser } from "../../stores/events/rejected-event-rows.ts";
import { forgetExclusion } from "../../stores/exclusions.ts";
import type { Queries, Sql, Tx } from "../client/connect.ts";
import { runOn } from "../client/store-engine.ts";
import { restored, storable } from "../client/text.ts";
import { inTransaction } from "../client/transaction.ts";
import { newestInboxId, type Position } from "../inbox/inbox-counts.ts";
import { countErasedRows, dropErased } from "../inbox/inbox-erasing.ts";
import { sealWritten } from "../inbox/inbox-segments.ts";
import { accountOfOnlyMember, deleteAccount } from "./account-erasures.ts";
import { whileNoneWrites } from "./alone.ts";
import { addDayCounts, addVersionRows } from "./counts.ts";
import { forgetIds } from "./forget-ids.ts";
import { erasureKey } from "./tombstones.ts";

type StoredErasure = Erasure & { readonly uptoSegment: number };

/** The fields of an erasure that begins. */
interface Deleted extends Pick<Erasure, "organization" | "user" | "account" | "members" | "versions"> {
  readonly hmac: string;
  readonly by: Actor;
  readonly atMs: number;
}

/** A slot of `day_counts`. Any slot is right, because no request waits for this. */
const slot = 0;

export class PostgresErasures implements Erasures {
  readonly #sql: Sql;
  readonly #audit: AuditLog;
  readonly #clock: () => number;

  constructor(sql: Sql, audit: AuditLog, clock: () => number) {
    this.#sql = sql;
    this.#audit = audit;
    this.#clock = clock;
  }

  begin(
    organization: number,
    userId: string,
    { by = serviceItself, withAccount = false }: AskedErasure = {},
  ): Promise<BegunErasure | undefined> {
    return whileNoneWrites(this.#sql, organization, async (tx, counted) => {
      const own = withAccount ? await accountOfOnlyMember(tx, organization, userId) : undefined;
      const begun = await this.#user(tx, counted, { organization, userId, by });
      if (begun === undefined) return undefined;
      const account = own === undefined ? undefined : { organization, accountId: own, by };
      const ofAccount = account && (await this.#account(tx, counted, account));
      return {
        ...begun,
        ofAccount: account && ofAccount ? { accountId: account.accountId, erasure: ofAccount } : null,
      };
    });
  }

  beginAccount(
    organization: number,
    accountId: string,
    { by = serviceItself }: AskedErasure = {},
  ): Promise<Erasure | undefined> {
    return whileNoneWrites(this.#sql, organization, (tx, counted) =>
      this.#account(tx, counted, { organization, accountId, by }),
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
    const inboxRows = await countErasedRows(this.#sql, begun, begun);
    await inTransaction(this.#sql, async (tx) => {
      const { state, organization, user } = await stored(tx, id, "for update");
      if (state !== "begun") return;
      const dead = await runOn(tx, takeRowsOfUser(organization, user));
      await addVersionRows(tx, organization, {
        rows: -versions - dead.versionRows.rows,
        versions: -versionSum - dead.versionRows.versions,
      });
      await addDayCounts(tx, takenAway([...dayCounts, ...dead.dayCounts]), slot);
      const events = dayCounts.reduce((sum, day) => sum + day.events, 0);
      await tx`
        UPDATE erasures SET state = 'counted', events = ${events}, versions = ${versions},
          rejected_events = ${dead.count}, inbox_rows = ${inboxRows}, days = ${days}
        WHERE id = ${id}`;
    });
  }

  async accountCounted(id: number, { events, days }: FoundOfAccount): Promise<void> {
    const begun = await stored(this.#sql, id);
    const inboxRows = await countErasedRows(this.#sql, begun, begun);
    await inTransaction(this.#sql, async (tx) => {
      const { state, organization, account } = await stored(tx, id, "for update");
      if (state !== "begun") return;
      const rejectedRows = await runOn(tx, takeRowsOfAccount(organization, account));
      await tx`
        UPDATE erasures SET state = 'counted', events = ${events}, rejected_events = ${rejectedRows},
          inbox_rows = ${inboxRows}, days = ${days}
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

  async #user(
    tx: Tx,
    counted: Position,
    { organization, userId, by }: { organization: number; userId: string; by: Actor },
  ): Promise<Omit<BegunErasure, "ofAccount"> | undefined> {
    const [user] = await tx<{ number: number; version: number; email: string }[]>`
      DELETE FROM users WHERE organization = ${organization} AND user_id = ${storable(userId)}
      RETURNING number, version, email`;
    const key = await erasureKey(tx);
    const atMs = this.#clock();
    const names = await forgetIds(tx, {
      key,
      organization,
      userId,
      email: user && restored(user.email),
      atMs,
    });
    if (user === undefined) return undefined;
    await tx`
      UPDATE populations SET users = users - 1, user_versions = user_versions - ${user.version}
      WHERE organization = ${organization}`;
    await runOn(tx, forgetExclusion(organization, "user", userId));
    const hmac = tombstoneOf(key, organization, userId);
    const deleted = { organization, user: user.number, account: 0, members: 0, versions: 0, hmac, by, atMs };
    return { ...(await this.#insert(tx, counted, deleted)), names };
  }

  async #account(
    tx: Tx,
    counted: Position,
    { organization, accountId, by }: { organization: number; accountId: string; by: Actor },
  ): Promise<Erasure | undefined> {
    const [key, atMs] = [await erasureKey(tx), this.#clock()];
    const deleted = await deleteAccount(tx, { key, organization, accountId, atMs });
    if (deleted === undefined) return undefined;
    const { number: account, version: versions, members, hmac } = deleted;
    return this.#insert(tx, counted, { organization, user: 0, account, members, versions, hmac, by, atMs });
  }

  /** Records an erasure with its audit entry. */
  async #insert(
    tx: Tx,
    counted: Position,
    { organization, user, account, members, versions, hmac, by, atMs }: Deleted,
  ): Promise<Erasure> {
    const uptoInboxId = await newestInboxId(tx, counted);
    const uptoSegment = await sealWritten(tx, atMs);
    const [begun] = await tx<StoredErasure[]>`
      INSERT INTO erasures (organization, "user", account, members, versions, user_hmac, upto_inbox_id, upto_segment,
        requested_at_ms)
      VALUES (${organization}, ${user}, ${account}, ${members}, ${versions}, ${hmac}, ${uptoInboxId}, ${uptoSegment},
        ${atMs})
      RETURNING ${columns(tx)}`;
    if (begun === undefined) throw new Error("PostgreSQL returned no row for an erasure.");
    await runOn(tx, this.#audit.note(organization, erasureNote(begun), by, atMs));
    return erasure(begun);
  }
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
  return queries`id, organization, "user", account, members, state, upto_inbox_id AS "uptoInboxId", upto_segment AS "uptoSegment",
    requested_at_ms AS "requestedAtMs", erased_at_ms AS "erasedAtMs", events, versions,
    rejected_events AS "rejectedEvents", inbox_rows AS "inboxRows", days`;
}

function erasure({ uptoSegment: _, ...row }: StoredErasure): Erasure {
  return row;
}
