/** A ledger whose alerts have arms, and no table of experiments, is brought to today's form, on both
 * engines. */
import { describe, expect, test } from "bun:test";
import { olderLedgers } from "./older-ledgers.ts";

/** Steps before experiments had a table. */
const steps = { sqliteSteps: 31, postgresSteps: 19 };

const scope = { kind: "users" } as const;
const condition = { kind: "keyEventUnseen", event: 'a "holdOutShare":0.7 \u0000', days: 14 } as const;
const settings = (holdOutShare: number) => JSON.stringify({ scope, condition, cap: 20, holdOutShare });
const text = (value: string) => `'${value.replaceAll("'", "''")}'`;

/** One rule has had another share before, one has not fired yet, and one has no hold-out. */
const stored = [
  "INSERT INTO organizations (name, timezone, requests_per_second, created_at_ms) VALUES ('acme', 'UTC', 1000, 1)",
  ...[
    ["changed", 2, 0.25],
    ["quiet", 3, 0.5],
    ["whole", 1, 0],
  ].map(
    ([name, experiment, share]) =>
      `INSERT INTO alert_rules (organization, name, settings, is_paused, version, experiment, sequence, takes_over,
         created_at_ms, updated_at_ms)
       VALUES (1, '${name}', ${text(settings(Number(share)))}, 0, 1, ${experiment}, 1, 0, 1, 7)`,
  ),
  ...[1, 2, 3].map(
    (rule) => `INSERT INTO alert_rule_versions (rule, version, scope, condition, created_at_ms)
      VALUES (${rule}, 1, ${text(JSON.stringify(scope))}, ${text(JSON.stringify(condition))}, 1)`,
  ),
  // 20000 is 2024-10-04.
  ...[
    [1, 1, 1, 20_000, "'control'", 20_027],
    [1, 2, 1, 20_001, "'treated'", "NULL"],
    [1, 3, "NULL", 20_001, "'exempt'", "NULL"],
    [2, 1, 1, 20_040, "'treated'", "NULL"],
    [2, 3, "NULL", 20_041, "'control'", 20_100],
    [2, 3, "NULL", 20_110, "'control'", 20_169],
  ].map(
    ([experiment, user, drawn, day, arm, until], at) =>
      `INSERT INTO alerts (organization, rule, version, experiment, user_number, account_number, source, fired_day,
         fired_at_ms, event_id, reasons, drawn_account, arm, control_until, is_sent)
       VALUES (1, 1, 1, ${experiment}, ${user}, 0, '', ${day}, ${100 + at}, '', '[]', ${drawn}, ${arm}, ${until}, 0)`,
  ),
];

describe.each(olderLedgers({ ...steps, stored }))("%s", (_, open) => {
  test("experiments have the first entries of their units, and the share and the horizon that are known", async () => {
    const ledger = await open();
    try {
      const of = { rule: 1, version: 1, scope, condition, deletedRule: null };
      const one = { outcome: null, isForgotten: false, entries: 1 };
      expect(await ledger.alertRules.experiments(1)).toEqual([
        {
          ...of,
          experiment: 1,
          share: null,
          horizonDays: 28,
          beganAtMs: 100,
          entries: [{ ...one, arm: "control", month: 19_997 }],
        },
        {
          ...of,
          experiment: 2,
          share: 0.25,
          horizonDays: 60,
          beganAtMs: 103,
          entries: [
            { ...one, arm: "control", month: 20_028 },
            { ...one, arm: "treated", month: 20_028 },
          ],
        },
        { ...of, rule: 2, experiment: 3, share: 0.5, horizonDays: null, beganAtMs: 7, entries: [] },
      ]);
      // The same horizon goes on with the experiment, and another one begins the next.
      expect(await ledger.ruleDecisions.holdOut(1, 1, 60, 200)).toMatchObject({ experiment: 2 });
      expect(await ledger.ruleDecisions.holdOut(1, 1, 90, 200)).toMatchObject({ experiment: 3 });
      expect(await ledger.ruleDecisions.holdOut(1, 2, 90, 200)).toMatchObject({ experiment: 3 });
    } finally {
      await ledger.close();
    }
  });
});
