/**
 * Decides daily rules: computes the steps from their watermarks to today, and commits them in chunks. A
 * watermark says what is next, so a decision that was cut off between two commits goes on from there. Rules
 * that decide one day are read together. See docs/decisions/0086.
 */
import { zoneOf } from "../../../calendar/zone.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import { rulesKey } from "../../../scoring/preview/scores-by-rules.ts";
import type { RuleToDecide } from "../store/decisions.ts";
import { membersOfRun } from "./changed-members.ts";
import { lookbackOf } from "./conditions.ts";
import { commitDay, type Day, decisionsOfDay, type RuleOnDay } from "./decide-day.ts";
import { type LastDecision, lastDecision } from "./decided-by.ts";
import type { DecisionParts } from "./decision-parts.ts";
import { type DueRule, dueDays, type Run } from "./due-days.ts";
import { hadOutage } from "./past-segments.ts";
import { exitDaysOfScores } from "./preview.ts";
import { baseOf } from "./readings.ts";
import type { DailyRuleCondition } from "./segments.ts";
import { statesOf } from "./states.ts";

/** Rules in one statement. */
const rulesTogether = 25;
/** States in memory at the same time, unless a single rule has more. */
const statesTogether = 200_000;

type Failed = (rule: Pick<RuleToDecide, "version">, error: unknown) => void;

/** Decides rules on all scored days after their watermarks, day by day. A rule that fails does not stop the
 * other rules. */
export async function decideDays(
  parts: DecisionParts,
  organization: Organization,
  rules: readonly (readonly [rule: RuleToDecide, condition: DailyRuleCondition])[],
  failed: Failed,
): Promise<void> {
  let due: DueRule[] = [];
  for (const [rule, condition] of rules) {
    const one = await dueDays(parts, organization, rule, condition).catch((error: unknown) => {
      failed(rule, error);
    });
    if (one !== undefined) due.push(one);
  }
  while (due.length > 0) {
    const left: DueRule[] = [];
    for (const some of Map.groupBy(due, sameDay).values()) {
      for (let at = 0; at < some.length; ) {
        const group = await togetherFrom(parts, some, at);
        left.push(...(await decideTogether(parts, organization, group, failed)));
        at += group.length;
      }
    }
    due = left.filter(({ days }) => days.length > 0);
  }
}

/** A key of rules that are judged on one day and compared with one day. */
function sameDay(due: DueRule): string {
  const [run] = due.days;
  return JSON.stringify([due.kind, run?.day, lastOf(due)?.day]);
}

/** The run of the last decided day. */
function lastOf({ runs, days: [run], watermark }: DueRule): Run | undefined {
  const decidedThrough = watermark.decidedThrough ?? (run?.day ?? 0) - 1;
  return runs.findLast(({ day }) => day <= decidedThrough);
}

/** The rules from a place on that are decided together. */
async function togetherFrom(parts: DecisionParts, due: readonly DueRule[], at: number): Promise<RuleOnDay[]> {
  const rules: RuleOnDay[] = [];
  let states = 0;
  for (const one of due.slice(at, at + rulesTogether)) {
    const rule = await onDay(parts, one);
    rules.push(rule);
    states += rule.states.size;
    if (states > statesTogether) break;
  }
  return rules;
}

async function onDay({ rules }: DecisionParts, due: DueRule): Promise<RuleOnDay> {
  const { version, kind, segments, runs, days, watermark, through } = due;
  const { condition, scope, readsScores, countsDays } = segments;
  const [run] = days;
  if (run === undefined) throw new TypeError("a rule without a day is not due");
  const last = lastOf(due);
  const lookback = lookbackOf(condition);
  const before = lookback === 0 ? undefined : baseOf(runs, run.day, lookback);
  const decided = last === undefined ? undefined : lastDecision(watermark, runs, last, due.timezone);
  const change = decided?.changeTo(run);
  const isAfterOutage = countsDays && last !== undefined && hadOutage(last.day, run);
  const ofLast = decided?.members === undefined ? undefined : membersOfRun(decided.members, decided.sinceMs);
  return {
    due,
    condition,
    scope,
    watermark,
    through,
    takesOver: watermark.takesOver,
    membersBefore: before === undefined ? ofLast : membersOfRun(before),
    before,
    reference: referenceOf({ run, last, before }, change),
    times: {
      cooldownDays: version.cooldownDays ?? run.body.settings.churnHorizonDays,
      exitDays: condition.kind === "inSegment" ? 1 : exitDaysOfScores,
    },
    states: await statesOf(rules, version, kind),
    decidedUpto: watermark.part?.day === run.day ? watermark.part.uptoNumber : -1,
    isBySettings:
      due.isAfterBulkChange || isAfterOutage || change === "ground" || (change === "weights" && readsScores),
  };
}

/** The run that entities which cross are compared with by the model of the day; undefined without a refit. */
function referenceOf(
  {
    run,
    last,
    before,
  }: { readonly run: Run; readonly last: Run | undefined; readonly before: Run | undefined },
  change: ReturnType<LastDecision["changeTo"]>,
): Run | undefined {
  if (before !== undefined) return rulesKey(before) === rulesKey(run) ? undefined : before;
  return change === "weights" ? last : undefined;
}

/** Decides the next day of rules. When reading them together fails, each is read alone, so that only the rule
 * that fails is not decided.
 * @returns the decided rules, with the days that are left */
async function decideTogether(
  parts: DecisionParts,
  organization: Organization,
  rules: readonly RuleOnDay[],
  failed: Failed,
): Promise<DueRule[]> {
  const [first] = rules;
  const run = first?.due.days[0];
  if (first === undefined || run === undefined) return [];
  const zoned = { id: organization.id, zone: zoneOf(organization.timezone) };
  const day: Day = { organization: zoned, kind: first.due.kind, run, last: lastOf(first.due), rules };
  let decisions: Awaited<ReturnType<typeof decisionsOfDay>>;
  try {
    decisions = await decisionsOfDay(parts, organization, day);
  } catch (error) {
    if (rules.length > 1) return decideEach(parts, organization, rules, failed);
    failed(first.due, error);
    return [];
  }
  const decided: DueRule[] = [];
  const as = { run, timezone: organization.timezone };
  for (const rule of rules) {
    const { due } = rule;
    try {
      const watermark = await commitDay(parts, rule, as, decisions.get(rule) ?? []);
      decided.push({
        ...due,
        days: due.days.slice(1),
        watermark,
        through: watermark.decidedThrough,
        isAfterBulkChange: false,
      });
    } catch (error) {
      failed(due, error);
    }
  }
  return decided;
}

async function decideEach(
  parts: DecisionParts,
  organization: Organization,
  rules: readonly RuleOnDay[],
  failed: Failed,
): Promise<DueRule[]> {
  const decided: DueRule[] = [];
  for (const rule of rules) decided.push(...(await decideTogether(parts, organization, [rule], failed)));
  return decided;
}
