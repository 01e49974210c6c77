/** Alerts end although nothing is left to recover: usage stays at 0, or the account has no row any more. The
 * preview has the same ends. */
import { expect, test } from "bun:test";
import type { RuleCondition } from "../../contract/alerts/rules.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { replaysOf } from "../../server/features/alerts/rules/preview.ts";
import { msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";
import { type ScoreRow, storeDays } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const today = 20_090;
const horizonDays = 14;

/** The days of alerts and of their ends, before today: of the rule, and of its preview. */
async function lives(organization: number, condition: RuleCondition, days: readonly number[]) {
  const scope = "accounts";
  const ledger = new LedgerInMemory(organization, condition, { scope });
  for (const day of days) await ledger.decide(subject.warehouse, (day + 0.5) * msPerDay);
  const question = {
    organization: { id: organization, zone: new Zone("UTC") },
    scope: { kind: scope } as const,
    condition,
    cooldownDays: null,
    horizonDays,
    today,
  };
  const { replays } = await replaysOf(subject.warehouse, question, {});
  const foretold = [...replays].flatMap(({ fired }) =>
    fired.map(({ day, closed }) => [day - today, closed === null ? null : closed.day - today, closed?.why]),
  );
  const own = ledger.fired.map(({ day }) => {
    const end = ledger.closed.find(({ firedOn }) => firedOn === day);
    return [day - today, end === undefined ? null : end.day - today, end?.why];
  });
  return { foretold, own };
}

test("an alert about usage ends when usage of four weeks before is 0 as well", async () => {
  const organization = subject.newOrganization();
  const days = Array.from({ length: 90 }, (_, at) => today - 89 + at);
  const rows = days.map((day): ScoreRow => {
    return { entity: 1, day, state: "inactive", risk: 0.3, health: 50, volume28: day < today - 50 ? 100 : 0 };
  });
  await storeDays(subject, { organization, kind: "account", days, rows, horizonDays });
  const { own, foretold } = await lives(organization, { kind: "usageDown", percent: 50 }, days.slice(28));
  expect(own).toEqual([[-50, -21, "resolved"]]);
  expect<unknown>(foretold).toEqual(own);
});

test("an alert about an account ends when it has no row any more, although it has members", async () => {
  const organization = subject.newOrganization();
  await subject.warehouse.command(
    "INSERT INTO users (organization, user, account, version) VALUES ({organization:UInt32}, 1, 1, 1)",
    { organization },
  );
  await subject.warehouse.command(
    "INSERT INTO accounts (organization, account, version) VALUES ({organization:UInt32}, 1, 1)",
    { organization },
  );
  const days = Array.from({ length: 30 }, (_, at) => today - 29 + at);
  const rows = days.flatMap((day): ScoreRow[] => {
    const row = { day, state: "active", health: 50, volume28: 1 } as const;
    const other: ScoreRow = { ...row, entity: 9, risk: 0.1 };
    if (day > today - 28) return [other];
    return [other, { ...row, entity: 1, risk: day === today - 28 ? 0.9 : 0.1 }];
  });
  await storeDays(subject, { organization, kind: "account", days, rows, horizonDays });
  const { own, foretold } = await lives(organization, { kind: "riskBand", band: "high" }, days);
  expect(own).toEqual([[-28, -28 + horizonDays, "resolved"]]);
  expect<unknown>(foretold).toEqual(own);
});
