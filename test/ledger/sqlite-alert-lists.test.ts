/** Statements of the inbox on SQLite: it runs on the thread that answers writes, so they must not sort or read the rows of all alerts. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AlertFilter } from "../../server/ledger/ports/actions/alerts.ts";
import type { Ledger } from "../../server/ledger/ports/ledger.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/engine/open.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-alert-lists-"));
const file = join(folder, "ledger.sqlite");
const day = 20_000;
let ledger: Ledger;
const prepared = spyOn(Database.prototype, "prepare");

beforeAll(async () => {
  ledger = await openSqliteLedger({ file, clock: () => day * 86_400_000 });
});
afterAll(async () => {
  prepared.mockRestore();
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

/** How SQLite runs each statement about alerts that a call prepares. */
async function plansOf(call: () => Promise<unknown>): Promise<readonly (readonly string[])[]> {
  prepared.mockClear();
  await call();
  const texts = prepared.mock.calls.map(([text]) => text).filter((text) => text.includes("FROM alerts"));
  const db = new Database(file, { readonly: true });
  try {
    return texts.map((text) =>
      db
        .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`)
        .all()
        .map(({ detail }) => detail),
    );
  } finally {
    db.close();
  }
}

test.each<[what: string, filter: Partial<AlertFilter>]>([
  ["all alerts", { state: "all" }],
  ["open alerts", { state: "open" }],
  ["snoozed alerts", { state: "snoozed" }],
  ["handled alerts", { state: "handled" }],
  ["closed alerts", { state: "closed" }],
  ["alerts of a rule", { state: "closed", rule: 1 }],
  ["alerts of a team member", { assignee: 1 }],
  ["alerts of a rule without assignee", { state: "open", rule: 1, assignee: null }],
])("%s are counted and chosen by an index alone", async (_, filter) => {
  const question = { state: "all", today: day, limit: 50, offset: 100, ...filter } as const;
  const plans = await plansOf(() => ledger.alerts.list(1, question));
  const byIndex = [expect.stringContaining("USING COVERING INDEX alerts_by_weight (organization=?)")];
  expect(plans).toEqual([byIndex, byIndex]);
});

test("readers of all alerts go on by an index, and open alerts are counted by one", async () => {
  const calls = [
    () => ledger.alerts.all(1, day, 7, 9),
    () => ledger.alerts.weights(1, { state: "closed", today: day }, 7, 9),
    () => ledger.alerts.fired(1, { fromDay: 1, toDay: day, today: day, limit: 9 }),
  ];
  for (const call of calls) {
    const [plan] = await plansOf(call);
    expect(plan?.[0]).toContain("USING INDEX alerts_in_order (organization=?");
    expect(plan?.join()).not.toContain("TEMP B-TREE");
  }
  const [counted] = await plansOf(() => ledger.alertRules.list(1, day));
  expect(counted).toEqual([expect.stringContaining("USING COVERING INDEX alerts_open (organization=?")]);
});
