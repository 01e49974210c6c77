/**
 * The cost of previewing alert rules: users with scores of 91 days, made by the engine, some of which come inside. Prints the time
 * of each kind of condition, and how many entities left the engine.
 *
 *   cli/with-bun bench/rule-preview.ts [users, 100,000]
 */
import { withTemporaryWarehouse } from "../cli/backtest/warehouse.ts";
import type { RuleCondition } from "../contract/actions/rules.ts";
import { previewRule } from "../server/actions/rules/preview.ts";
import { msPerDay, Zone } from "../server/calendar/zone.ts";
import type { Warehouse } from "../server/warehouse/engine/warehouse.ts";
import { storeRuns } from "../test/actions/rules-support.ts";
import { printTook, timed } from "./history/timed.ts";

const users = Number(process.argv[2] ?? 100_000);
const organization = 1;
const today = Date.UTC(2026, 5, 1) / msPerDay;
const days = 91;
const horizonDays = 28;
const repeats = 3;

const conditions: readonly RuleCondition[] = [
  { kind: "riskBand", band: "high" },
  { kind: "healthBelow", below: 60 },
  { kind: "riskUp", by: 0.2, days: 7 },
  { kind: "usageDown", percent: 50 },
  { kind: "keyEventUnseen", event: "report", days: 14 },
];

/** A number from 0 to 1 that follows from these columns. */
const uniform = (...of: string[]) => `(sipHash64(${of.join(", ")}) / 18446744073709551616.)`;

/** Risks go up and down with periods of their own. A user who has churned stays so. */
async function fill(warehouse: Warehouse): Promise<void> {
  for (let at = 0; at < days; at += 1) {
    await warehouse.command(
      `INSERT INTO user_scores (organization, day, user, version, state, colour, risk, health, tenure_days, n, volume_28)
       SELECT {organization:UInt32}, addDays(toDate32('1970-01-01'), {day:Int32}), user, 1000,
         if(isChurned, 'churned', 'active'), 'watch', if(isChurned, NULL, risk), if(isChurned, 0, 100 * (1 - risk)),
         200 + {at:Int32}, 20, round(100 * (1 - risk))
       FROM (
         SELECT toUInt32(number + 1) AS user, {at:Int32} >= 20 + 400 * ${uniform("number", "'churned'")} AS isChurned,
           1 / (1 + exp(2.6 - 1.4 * ${uniform("number", "'level'")} - 1.2 * sin({at:Int32} / (5 + 20 * ${uniform("number", "'pace'")}) + number)
             - 0.2 * ${uniform("number", "{at:Int32}", "'noise'")})) AS risk
         FROM numbers({users:UInt32}))`,
      { organization, users, at, day: today - days + 1 + at },
    );
  }
  await warehouse.command(
    `INSERT INTO user_event_days (organization, user, day, event, account, count)
     SELECT {organization:UInt32}, user, addDays(toDate32('1970-01-01'), day), 'report', 0, 1
     FROM (SELECT toUInt32(number + 1) AS user, {today:Int32} - arrayJoin(range(1, 130)) AS day FROM numbers({users:UInt32}))
     WHERE ${uniform("user", "day")} < 0.3 * ${uniform("user", "'often'")}`,
    { organization, users, today },
    { maxSeconds: 600 },
  );
  const scored = Array.from({ length: days }, (_, at) => today - days + 1 + at);
  await storeRuns(warehouse, { organization, kind: "user", days: scored });
}

await withTemporaryWarehouse(async (warehouse) => {
  await fill(warehouse);
  for (const condition of conditions) {
    const ask = () =>
      previewRule(warehouse, {
        ...{ organization: { id: organization, zone: new Zone("UTC") }, scope: { kind: "users" } },
        ...{ condition, cooldownDays: null, horizonDays, today },
      });
    const { fired, entities, precision, baseRate, missed, churnedEntities } = await ask();
    const rate = precision.rate === null ? "none" : precision.rate.toFixed(3);
    printTook(
      `${users} users, ${condition.kind}`,
      await timed(ask, repeats),
      `${fired} alerts of ${entities} users, precision ${rate}, base rate ${(baseRate.churned / baseRate.count).toFixed(3)}, missed ${missed} of ${churnedEntities}`,
    );
  }
});
