/** What assistants wrote, so that it is limited, never done twice, and can be undone. */
import { assistantLimits } from "../../../contract/assistants/assistants.ts";
import { deleteInParts } from "../../ledger/engine.ts";
import type { Feature } from "../../ledger/feature.ts";
import { run } from "../../ledger/sql.ts";
import type { TableTypes } from "../../ledger/tables.ts";
import { type AssistantWriteStore, assistantWriteStore } from "./store.ts";

declare module "../../ledger/feature.ts" {
  interface FeatureStores {
    readonly assistantWrites: AssistantWriteStore;
  }
}

export const assistants: Feature = {
  name: "assistants",
  // Rows name nobody: an idempotency key is kept as its hash, and a note, task or alert by its number.
  tables: [{ name: "assistant_writes" }],
  migrations: [writesTable],
  stores: (engine) => ({ assistantWrites: assistantWriteStore(engine) }),
  tidyHourly: (engine, nowMs) => {
    const uptoMs = nowMs - assistantLimits.keptDays * 86_400_000;
    return deleteInParts(
      engine,
      (most) => run`
        DELETE FROM assistant_writes
        WHERE id IN (SELECT id FROM assistant_writes WHERE at_ms < ${uptoMs} LIMIT ${most})`,
    );
  },
};

function writesTable({ id, integer, ordered, end }: TableTypes): string {
  return `
  CREATE TABLE assistant_writes (
    id ${id},
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    read_key ${integer} NOT NULL REFERENCES read_keys (id) ON DELETE CASCADE,
    what ${ordered} NOT NULL,
    idempotency_sha256 ${ordered} NOT NULL,
    content_sha256 ${ordered} NOT NULL,
    target ${integer},
    at_ms ${integer} NOT NULL,
    undone_at_ms ${integer},
    UNIQUE (read_key, idempotency_sha256)
  )${end};
  CREATE INDEX assistant_writes_in_order ON assistant_writes (organization, id);
  CREATE INDEX assistant_writes_of_key ON assistant_writes (read_key, at_ms);
  CREATE INDEX assistant_writes_in_time ON assistant_writes (at_ms);
`;
}
