/**
 * Erasures in SQLite. After the commits, loaded rows of the inbox are deleted in small steps, and last the
 * freed pages and the write-ahead log. After it no byte stays in the files (`secure_delete` zeroes deleted
 * rows within a page).
 */
import type { Database } from "bun:sqlite";
import { texts } from "../../dialect.ts";
import type { Erasure } from "../../erasures.ts";
import type { Feature } from "../../feature.ts";
import { RowsOf } from "../../rules/user-rows.ts";
import { part } from "../../sql.ts";
import { type Beginning, type Begun, ErasureStore } from "../../stores/erasure-store.ts";
import type { InboxTidy } from "../inbox-tidy.ts";
import { nextTurn } from "../small-steps.ts";
import type { Parts } from "./transact.ts";

function prepareBodies(db: Database) {
  return db.prepare<{ id: number; body: Uint8Array }, [number, number, boolean]>(
    `SELECT id, CAST(body AS BLOB) AS body FROM inbox
     WHERE id > ? AND id <= ? AND (warehouse_table IN ('accounts', 'account_versions')) = ? ORDER BY id LIMIT 64`,
  );
}

export class SqliteErasures extends ErasureStore {
  readonly #parts: Parts;
  readonly #inboxTidy: InboxTidy;
  readonly #bodies: ReturnType<typeof prepareBodies>;

  constructor(
    db: Database,
    parts: Parts,
    inboxTidy: InboxTidy,
    clock: () => number,
    features: readonly Feature[],
  ) {
    super(parts.engine, clock, features);
    this.#parts = parts;
    this.#inboxTidy = inboxTidy;
    this.#bodies = prepareBodies(db);
  }

  /** Finds the account's members first, in small steps, and then runs one transaction. */
  protected async beginWith(organization: number, beginning: Beginning): Promise<Begun> {
    const { engine, users, journal, inbox, tombstones, knownUsers } = this.#parts;
    const account = engine.now(beginning.account());
    const { userIds, end } = await users.watchMembers(organization, account);
    try {
      journal.flush();
      const begun = await engine.transaction(
        function* () {
          // The user may have changed accounts, and the account may have been replaced, during the search.
          if ((yield* beginning.account()) !== account) return "again";
          const deleted = yield* beginning.delete(
            part`AND user_id IN (SELECT text FROM ${texts([...userIds])})`,
          );
          const inboxEnd = { uptoInboxId: inbox.newestInboxId, uptoSegment: 0 };
          return { deleted, erasures: yield* beginning.record(deleted, inboxEnd) };
        },
        (committed) => {
          if (committed === "again" || !committed.deleted.isAnything) return;
          tombstones.remember(organization);
          for (const id of [...committed.deleted.names, ...userIds]) knownUsers.forget(organization, id);
        },
      );
      if (begun !== "again") {
        // If there is no erasure to finish, the write-ahead log still contains the held events.
        if (begun.deleted.isAnything && begun.erasures.length === 0) await this.#inboxTidy.erase(0);
        return begun;
      }
    } finally {
      end();
    }
    return this.beginWith(organization, beginning);
  }

  protected async countInboxRows(erasures: readonly Erasure[]): Promise<ReadonlyMap<number, number>> {
    const numbered = erasures.map(({ id, organization, user, account }) => ({
      id,
      organization,
      number: user > 0 ? user : account,
    }));
    const counted = new RowsOf(numbered);
    const isOfAccounts = erasures.some(({ account }) => account > 0);
    for (let after = 0; ; await nextTurn()) {
      const bodies = this.#bodies.all(after, newest(erasures), isOfAccounts);
      const last = bodies.at(-1);
      if (last === undefined) break;
      for (const { body } of bodies) counted.add(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
      after = last.id;
    }
    return new Map(
      numbered.map(({ id, organization, number }) => [id, counted.rowsOf(organization, number)]),
    );
  }

  protected deleteInboxRows(erasures: readonly Erasure[]): Promise<void> {
    return this.#inboxTidy.erase(newest(erasures));
  }
}

/** The inbox has no row of these erasures after this id. */
function newest(erasures: readonly Erasure[]): number {
  return Math.max(...erasures.map(({ uptoInboxId }) => uptoInboxId));
}
