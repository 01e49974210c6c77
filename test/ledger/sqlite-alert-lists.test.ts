/** Statements of the inbox on SQLite: it runs on the thread that answers writes, so they must not sort or
 * read the rows of all alerts. */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AlertFilter } from "../../server/features/alerts/store/alerts.ts";
import { features } from "../../server/features/features.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-alert-lists-"));
const file = join(folder, "ledger.sqlite");
const day = 20_000;
let ledger: Ledger;
/** One alert for each filter: its assignee, its snooze, its verdict and the day on which it closed. */
const stored = [
  "INSERT INTO organizations (name, timezone, requests_per_second, created_at_ms) VALUES ('acme', 'UTC', 1, 1)",
  `INSERT INTO alert_rules (organization, name, settings, is_paused, version, experiment, sequence, takes_over,
    created_at_ms, updated_at_ms) VALUES (1, 'r', '{}', 0, 1, 1, 1, 0, 1, 1)`,
  ...["NULL, NULL, NULL, NULL", `NULL, ${day + 9}, NULL, NULL`, `1, NULL, 'handled', ${day}`].map(
    (values, index) => `
      INSERT INTO alerts (organization, rule, version, experiment, user_number, account_number, source, fired_day,
        fired_at_ms, event_id, reasons, is_sent, assignee, snoozed_until, verdict, closed_day)
      VALUES (1, 1, 1, 1, ${index + 1}, 0, '', ${day}, 1, '', '[]', 0, ${values})`,
  ),
];
const prepared = spyOn(Database.prototype, "prepare");

beforeAll(async () => {
  ledger = await openSqliteLedger({ features, file, clock: () => day * 86_400_000 });
  const db = new Database(file);
  for (const statement of stored) db.run(statement);
  db.close();
});
afterAll(async () => {
  prepared.mockRestore();
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

/** How SQLite runs each statement about alerts that a call prepares, without those that read some by their
 * ids. */
async function plansOf(call: () => Promise<unknown>): Promise<readonly (readonly string[])[]> {
  prepared.mockClear();
  await call();
  const texts = prepared.mock.calls
    .map(([text]) => text)
    .filter((text) => text.includes("FROM alerts") && !text.includes("alerts.id IN"));
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

/** The rules that are deleted are read once. */
const deletedRules = [
  "LIST SUBQUERY 1",
  "SEARCH alert_rules USING INDEX alert_rules_deleted (organization=?)",
  "CREATE BLOOM FILTER",
];

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
  const question = { state: "all", today: day, limit: 50, offset: 0, ...filter } as const;
  const plans = await plansOf(() => ledger.alerts.list(1, question));
  const byIndex = "SEARCH alerts USING COVERING INDEX alerts_by_weight (organization=?)";
  expect(plans).toEqual([[byIndex], [byIndex]]);
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
  expect(counted).toEqual([
    "SEARCH alerts USING COVERING INDEX alerts_open (organization=?)",
    ...deletedRules,
  ]);
});

test("arms of users and accounts are found by indexes of them, however many controls there are", async () => {
  const of = { rule: 1, experiment: 1, day };
  const [plan = []] = await plansOf(() =>
    ledger.ruleDecisions.knownArms(1, of, { users: [1], accounts: [2] }),
  );
  expect(plan.filter((step) => / USING INDEX (alerts|hold_out)/.test(step))).toEqual([
    "SEARCH alerts USING INDEX alerts_of_entity (organization=? AND user_number=?)",
    "SEARCH alerts USING INDEX alerts_of_held_accounts (organization=? AND <expr>=?)",
    "SEARCH hold_out_entries USING INDEX hold_out_entries_by_user (organization=? AND user_number=?)",
    "SEARCH hold_out_entries USING INDEX hold_out_entries_by_account (organization=? AND account_number=?)",
  ]);
});
