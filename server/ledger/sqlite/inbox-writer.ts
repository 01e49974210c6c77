/** Adds rows of stores to the inbox. */

import type { InboxWriter } from "../engine.ts";
import type { InboxRows } from "../inbox.ts";
import { run, type Work } from "../sql.ts";
import type { SqliteInbox } from "./inbox.ts";
import { bytesOfBody } from "./inbox-read.ts";
import type { Journal } from "./journal.ts";

/** The inbox of a SQLite ledger for its stores. */
export function inboxWriter(inbox: SqliteInbox, journal: Journal): InboxWriter {
  return {
    // They take about 2 ms of the thread that answers requests.
    partLimits: { rows: 200, bytes: 1024 * 1024 },
    flush: () => journal.flush(),
    append: (added) => append(inbox.newestInboxId, added),
    appended: (added) => inbox.appended(added),
  };
}

function* append(newestInboxId: number, added: readonly InboxRows[]): Work<void> {
  for (const [index, { table, year, schema, rows, body }] of added.entries()) {
    yield* run`
      INSERT INTO inbox (id, warehouse_table, year, schema, rows, bytes, body)
      VALUES (${newestInboxId + 1 + index}, ${table}, ${year}, ${schema}, ${rows}, ${bytesOfBody(body)}, ${body})`;
  }
}
