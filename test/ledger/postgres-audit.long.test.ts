/** Limits on the number of rows in PostgreSQL. To reach them through the ledger would take minutes. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { features } from "../../server/features/features.ts";
import { commandLine, settingUp } from "../../server/ledger/audit.ts";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { openPostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { PostgresServer } from "../postgres.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

test("beyond 100,000 entries the oldest of an organization go, and another's stay", async () => {
  const url = await server.database();
  const nodes = [
    await openPostgresLedger({ features, url }),
    await openPostgresLedger({ features, url }),
  ] as const;
  const [{ organizations, audit }, other] = nodes;
  const many = await organizations.create({ name: "many", timezone: "UTC", nowMs: 1 }, settingUp);
  const few = await organizations.create({ name: "few", timezone: "UTC", nowMs: 1 }, settingUp);
  const entry = (organization: number) =>
    ({
      organization,
      actor: commandLine,
      atMs: 1,
      action: "settings.changed",
      summary: "changed",
      detail: {},
    }) as const;
  await audit.add(entry(few.id));
  const sql = openPool(url, { connections: 1 });
  await sql`
    INSERT INTO audit_log (organization, at_ms, action, summary, detail)
    SELECT ${many.id}, 1, 'settings.changed', 'entry ' || n, '{}' FROM generate_series(1, 100500) AS numbers (n)
    ORDER BY n`;
  await sql.end();
  // Each node looks for surplus entries at its own first entry. The nodes do not wait for each other.
  await Promise.all([audit.add(entry(many.id)), other.audit.add(entry(many.id))]);
  const all = await audit.list(many.id, { limit: 200_000 });
  // Neither sees the other's entry before its commit.
  expect([100_000, 100_001]).toContain(all.length);
  expect(all[2]?.summary).toBe("entry 100500");
  expect(await audit.list(few.id, { limit: 10 })).toHaveLength(1);
  for (const node of nodes) await node.close();
});
