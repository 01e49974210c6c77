/** After a crash a batch may lie frozen, its rows half in the warehouse. No figure is served before it is
 * whole: the first question that is asked finds it. */

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import { currentSchema, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { createLogger } from "../../server/process/log.ts";
import { systemTime } from "../../server/process/time.ts";
import { openAnalysis } from "../../server/warehouse/analysis.ts";
import { needs, writes } from "../ledger/writes.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-replay-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rows = 1_000;

function body(): string {
  const event = { organization: 1, user: 1, account: 0, event: "opened", timeMs: 0, day: 0, receivedAtMs: 0 };
  const lines = Array.from({ length: rows }, (_, n) =>
    eventRow({ ...event, id: String(n).padStart(32, "0"), messageId: null, properties: "{}" }),
  );
  return `${lines.join("\n")}\n`;
}

test("a batch that a crash left frozen is in the first answer", async () => {
  const ledger = await openSqliteLedger({ features, file: join(folder, "ledger.sqlite") });
  await ledger.organizations.create({ name: "acme", timezone: "UTC", nowMs: 0 }, settingUp);
  await ledger.transact(needs({}), () =>
    writes(0, { inbox: [{ table: "events", year: 1970, schema: currentSchema.events, rows, body: body() }] }),
  );
  expect(await ledger.inbox.freeze(rows)).toHaveLength(1);

  const analysis = await openAnalysis(folder, ledger, createLogger("test", "warn"), systemTime);
  const question =
    "SELECT (SELECT count() FROM events) AS events, (SELECT sum(count) FROM user_event_days) AS rollup";
  expect(await analysis.warehouse.rows(question)).toEqual([{ events: rows, rollup: rows }]);
  await analysis.close();
  await ledger.close();
});
