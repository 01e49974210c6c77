/**
 * The cost of previewing alert rules: users with scores of 91 days, made by the engine, some of which come
 * inside. Prints the time of each kind of condition, and how many entities left the engine.
 *
 *   cli/with-bun bench/rule-preview.ts [users, 100,000] [only conditions with this text]
 */
import { withTemporaryWarehouse } from "../cli/backtest/warehouse.ts";
import type { RuleCondition, RuleScope } from "../contract/alerts/rules.ts";
import type { Filter } from "../contract/segments/filters.ts";
import { comparedDays } from "../server/analytics/segments/past/history-of-filter.ts";
import { PastMembers } from "../server/analytics/segments/past/past-members.ts";
import { msPerDay, Zone } from "../server/calendar/zone.ts";
import type { FindSegment } from "../server/features/alerts/rules/past-segments.ts";
import { previewRule } from "../server/features/alerts/rules/preview.ts";
import type { Segment } from "../server/ledger/ports/actions/segments.ts";
import { absoluteRiskScale } from "../server/scoring/scores/risk-scale.ts";
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

/** Segments with conditions of each kind, by their ids from 1 on. */
const filters: readonly Filter[] = [
  { riskBand: "high" },
  { traits: [{ trait: "plan", value: "pro" }] },
  { events: [{ event: "report", days: 28 }] },
  { events: [{ event: "report", times: 5, days: 28 }] },
  { notSeenForDays: 14 },
  { mrrFrom: 5_000, subscriptionStatus: "active" },
  { state: "active", segments: [{ segment: 2 }, { segment: 4, match: "isNotIn" }] },
  { healthBandBefore: "watch" },
  { moved: "fell" },
  { toCall: true },
  { renewsWithinDays: 30 },
];

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
  ...filters.map((_, at): Rule => ({ condition: { kind: "inSegment", segment: at + 1 } })),
  ...filters.map((_, at): Rule => ({ condition: ofScope, scope: { kind: "users", segment: at + 1 } })),
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
  await fillSubjects(warehouse);
  const scored = Array.from({ length: days }, (_, at) => today - days + 1 + at);
  await storeRuns(warehouse, { organization, kind: "user", days: scored });
}

/** Users with a plan that changed for some of them, activity, and a subscription each that was changed
 * twice. */
async function fillSubjects(warehouse: Warehouse): Promise<void> {
  const bound = { organization, users, today };
  const at = (daysAgo: string) =>
    `addDays(toDateTime64('1970-01-01 12:00:00', 3, 'UTC'), {today:Int32} - ${daysAgo})`;
  await warehouse.command(
    `INSERT INTO users (organization, user, user_id, traits, account, first_identified_at, updated_at, version)
     SELECT {organization:UInt32}, number + 1, toString(number), '{}', 0, ${at("130")}, ${at("130")}, 1
     FROM numbers({users:UInt32})`,
    bound,
  );
  await warehouse.command(
    `INSERT INTO user_versions (organization, user, version, at, traits)
     SELECT {organization:UInt32}, user, version, ${at(`if(version = 1, 130, toInt32(90 * ${uniform("user", "'when'")}))`)},
       if(${uniform("user", "version")} < 0.5, '{"plan":"pro"}', '{"plan":"free"}')
     FROM (SELECT toUInt32(number + 1) AS user, arrayJoin([1, 2]) AS version FROM numbers({users:UInt32}))`,
    bound,
  );
  const { today: _, ...counted } = bound;
  await warehouse.command(
    `INSERT INTO active_days (organization, day, users)
     SELECT organization, day, groupBitmapState(user) FROM user_event_days WHERE organization = {organization:UInt32}
     GROUP BY organization, day`,
    { organization: counted.organization },
  );
  await warehouse.command(
    `INSERT INTO subscriptions (organization, subscription, version, "from", status, plan, mrr, currency, payer_account, payer_user, period_end, ends_at)
     SELECT {organization:UInt32}, user, 1, [${at("120")}, ${at("60")}, ${at("20")}], ['active', 'past_due', 'active'],
       ['pro', 'pro', 'pro'], [4000, 6000, 3000 + intDiv(user, 20)], ['USD', 'USD', 'USD'], [0, 0, 0], [user, user, user],
       [NULL, ${at("toInt32(user % 60)")}, ${at("toInt32(user % 90) - 60")}], [NULL, NULL, NULL]
     FROM (SELECT toUInt32(number + 1) AS user FROM numbers({users:UInt32}))`,
    bound,
  );
}

const runs = Array.from({ length: days }, (_, at) => {
  return { day: today - days + 1 + at, rowsVersion: 1_000, riskScale: absoluteRiskScale };
});

const findSegment =
  (warehouse: Warehouse): FindSegment =>
  async (_, segment) => ({
    name: `Segment ${segment}`,
    readsScores: false,
    countsDays: false,
    sinceDay: null,
    comparedDays: comparedDays(filters[segment - 1] ?? {}),
    membersOn: (scored) =>
      new PastMembers({
        warehouse,
        passiveEvents: [],
        past: { organization, days: scored, startsMs: scored.map((day) => day * msPerDay) },
        segments: filters.map((filter, at) => ({ id: at + 1, kind: "users", filter })) as object as Segment[],
        numbersOf: async () => [],
        runsOf: async () => runs,
        payersOf: async (kind) => ({
          organization,
          kind,
          nowMs: today * msPerDay,
          untilMs: null,
          transitions: zone.transitions,
          reporting: "USD",
          rates: {},
          used: ["USD"],
          hasTransfers: false,
        }),
      }).of(segment),
  });

function nameOf({ scope, condition }: Rule): string {
  const segment = condition.kind === "inSegment" ? condition.segment : scope?.segment;
  const where = scope === undefined ? condition.kind : `${condition.kind} in the scope`;
  return segment === undefined ? where : `${where} ${JSON.stringify(filters[segment - 1])}`;
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
