/**
 * The cost of previewing alert rules: users with scores of 91 days, made by the engine, some of which come
 * inside. Prints the time of each kind of condition, and how many entities left the engine.
 *
 *   cli/with-bun bench/rule-preview.ts [users, 100,000] [only conditions with this text]
 */
import { withTemporaryWarehouse } from "../cli/backtest/warehouse.ts";
import type { RuleCondition, RuleScope } from "../contract/alerts/rules.ts";
import { recordedDays } from "../server/analytics/entities/recorded-days.ts";
import { msPerDay, Zone } from "../server/calendar/zone.ts";
import type { FindSegment } from "../server/features/alerts/rules/past-segments.ts";
import { previewRule } from "../server/features/alerts/rules/preview.ts";
import type { Warehouse } from "../server/warehouse/engine/warehouse.ts";
import { storeRuns } from "../test/actions/rules-support.ts";
import { printTook, timed } from "./history/timed.ts";

const users = Number(process.argv[2] ?? 100_000);
const wanted = process.argv[3] ?? "";
const organization = 1;
const today = Date.UTC(2026, 5, 1) / msPerDay;
const days = 91;
const horizonDays = 28;
const zone = new Zone("UTC");
const repeats = 3;

/** Segments by the share of users who are members, with ids from 1 on. Each day a tenth of the users is drawn
 * again. */
const shares: readonly number[] = [0.01, 0.1, 0.5];

interface Rule {
  readonly scope?: RuleScope;
  readonly condition: RuleCondition;
}

const ofScope: RuleCondition = { kind: "riskBand", band: "high" };
const rules: readonly Rule[] = [
  { condition: ofScope },
  { condition: { kind: "healthBelow", below: 60 } },
  { condition: { kind: "riskUp", by: 0.2, days: 7 } },
  { condition: { kind: "usageDown", percent: 50 } },
  { condition: { kind: "keyEventUnseen", event: "report", days: 14 } },
  ...shares.map((_, at): Rule => ({ condition: { kind: "inSegment", segment: at + 1 } })),
  ...shares.map((_, at): Rule => ({ condition: ofScope, scope: { kind: "users", segment: at + 1 } })),
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
  await recordMembers(warehouse);
  const scored = Array.from({ length: days }, (_, at) => today - days + 1 + at);
  await storeRuns(warehouse, { organization, kind: "user", days: scored });
}

/** An evaluation a day of each segment, with the changes since the day before. */
async function recordMembers(warehouse: Warehouse): Promise<void> {
  const isMember = (at: string) =>
    `${uniform("number", "segment", `intDiv({at:Int32} + ${at} + number, 10)`)} < {share:Float64}`;
  for (const [index, share] of shares.entries()) {
    for (let at = 0; at < days; at += 1) {
      const day = today - days + 1 + at;
      const bound = { organization, segment: index + 1, evaluation: day * msPerDay };
      await warehouse.command(
        `INSERT INTO user_segment_changes (organization, segment, evaluation, user, at, entered, cause)
         SELECT {organization:UInt32}, segment, {evaluation:UInt64}, number + 1, now64(3), isIn, 'change'
         FROM (
           SELECT number, {segment:UInt32} AS segment, ${isMember("0")} AS isIn, {at:Int32} > 0 AND ${isMember("-1")} AS wasIn
           FROM numbers({users:UInt32}))
         WHERE isIn != wasIn`,
        { ...bound, users, share, at },
      );
      await warehouse.command(
        `INSERT INTO segment_evaluations (organization, segment, sequence, evaluation, day, scored_day)
         SELECT {organization:UInt32}, {segment:UInt32}, {at:UInt32}, {evaluation:UInt64},
           addDays(toDate32('1970-01-01'), {day:Int32}), {day:Int32}`,
        { ...bound, at, day },
      );
    }
  }
}

const findSegment =
  (warehouse: Warehouse): FindSegment =>
  async (_, id) => ({
    id,
    name: `Segment ${id}`,
    readsScores: false,
    countsDays: false,
    recorded: await recordedDays(warehouse, { organization, segment: id, content: "" }),
  });

function nameOf({ scope, condition }: Rule): string {
  const segment = condition.kind === "inSegment" ? condition.segment : scope?.segment;
  const where = scope === undefined ? condition.kind : `${condition.kind} in the scope`;
  return segment === undefined ? where : `${where} with ${100 * (shares[segment - 1] ?? 0)} % of the users`;
}

await withTemporaryWarehouse(async (warehouse) => {
  await fill(warehouse);
  for (const rule of rules.filter((one) => nameOf(one).includes(wanted))) {
    const { scope = { kind: "users" }, condition } = rule;
    const ask = () =>
      previewRule(
        { warehouse, findSegment: findSegment(warehouse) },
        {
          organization: { id: organization, zone },
          scope,
          condition,
          cooldownDays: null,
          horizonDays,
          today,
        },
      );
    const { fired, entities, precision, baseRate, missed, churnedEntities } = await ask();
    const rate = precision.rate === null ? "none" : precision.rate.toFixed(3);
    printTook(
      `${users} users, ${nameOf(rule)}`,
      await timed(ask, repeats),
      `${fired} alerts of ${entities} users, precision ${rate}, base rate ${(baseRate.churned / baseRate.count).toFixed(3)}, missed ${missed} of ${churnedEntities}`,
    );
  }
});
