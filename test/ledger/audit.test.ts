/** The audit log is bounded by how many entries an organization has. */

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import { commandLine, settingUp } from "../../server/ledger/audit.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";

const nowMs = Date.UTC(2026, 0, 1);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rekindle-audit-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = () => openSqliteLedger({ features, file: join(folder, "ledger.sqlite"), clock: () => nowMs });

/** An entry of an organization, at a time. */
const entry = (organization: number, atMs: number) =>
  ({
    organization,
    actor: commandLine,
    atMs,
    action: "settings.changed",
    summary: "changed",
    detail: {},
  }) as const;

test("beyond 100,000 the oldest of an organization go, and another's stay", async () => {
  const first = await open();
  const many = await first.organizations.create({ name: "many", timezone: "UTC", nowMs }, settingUp);
  const few = await first.organizations.create({ name: "few", timezone: "UTC", nowMs }, settingUp);
  await first.audit.add(entry(few.id, nowMs));
  await first.close();
  const db = new Database(join(folder, "ledger.sqlite"));
  db.run(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100500)
     INSERT INTO audit_log (organization, at_ms, action, summary, detail)
     SELECT ?, ?, 'settings.changed', 'entry ' || n, '{}' FROM numbers`,
    [many.id, nowMs],
  );
  db.close();
  const ledger = await open();
  await ledger.audit.add(entry(many.id, nowMs));
  const all = await ledger.audit.list(many.id, { limit: 200_000 });
  expect(all).toHaveLength(100_000);
  expect(all[1]?.summary).toBe("entry 100500");
  expect(await ledger.audit.list(few.id, { limit: 10 })).toHaveLength(1);
  await ledger.close();
});
