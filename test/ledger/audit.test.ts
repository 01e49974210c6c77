/** The audit log is bounded: by age, and by how many entries an organization has. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine } from "../../server/ledger/audit.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";

const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 0, 1);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rekindle-audit-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = () => openSqliteLedger({ file: join(folder, "ledger.sqlite"), clock: () => nowMs });

/** An entry of an organization, at a time. */
const entry = (organization: number, atMs: number, detail = {}) =>
  ({
    organization,
    actor: commandLine,
    atMs,
    action: "settings.changed",
    summary: "changed",
    detail,
  }) as const;

test("entries older than two years go", async () => {
  const ledger = await open();
  const { id } = await ledger.organizations.create({ name: "a", timezone: "UTC", nowMs });
  for (const days of [731, 729, 0]) await ledger.audit.add(entry(id, nowMs - days * dayMs));
  await ledger.tidy(nowMs);
  const left = await ledger.audit.list(id, { limit: 10 });
  expect(left.map(({ atMs }) => (nowMs - atMs) / dayMs)).toEqual([0, 729]);
  await ledger.close();
});

test("beyond 100,000 the oldest of an organization go, and another's stay", async () => {
  const first = await open();
  const many = await first.organizations.create({ name: "many", timezone: "UTC", nowMs });
  const few = await first.organizations.create({ name: "few", timezone: "UTC", nowMs });
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

test("a detail that is too large is left out, and the entry stays", async () => {
  const ledger = await open();
  const { id } = await ledger.organizations.create({ name: "a", timezone: "UTC", nowMs });
  await ledger.audit.add(entry(id, nowMs, { from: "x".repeat(20_000) }));
  const [kept] = await ledger.audit.list(id, { limit: 1 });
  expect(kept).toMatchObject({ summary: "changed", detail: { by: "command line" } });
  expect(JSON.stringify(kept?.detail).length).toBeLessThan(1_000);
  await ledger.close();
});
