/** The figures of rules that are on: alerts by week, and the outcomes of alerts whose churn horizon is
 * over. */
import { zoneOf } from "../../calendar/zone.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import { runsBetween } from "../../scoring/run/records.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { HoldOutExperiment } from "./control-groups/experiments.ts";
import { type HoldOutFigures, holdOutFigures } from "./control-groups/figures.ts";
import { type FollowUp, readFollowUp } from "./control-groups/follow-up.ts";
import { type AlertOutcome, outcomesOf } from "./outcomes.ts";
import { type BaseRate, baseRateOf } from "./rules/base-rate.ts";
import { matureDays, medianOf, mondayOf, type Precision, precisionOf } from "./rules/preview-figures.ts";
import type { FiredRecord } from "./store/alerts.ts";
import type { AlertRule } from "./store/rules.ts";

interface RuleFiguresParts {
  readonly warehouse: Warehouse;
  readonly ledger: Pick<SharedLedger, "alertRules" | "alerts" | "holdOutResults" | "settings">;
  readonly nowMs: () => number;
}

/** Mature alerts and what followed them. */
export interface OutcomeFigures extends Precision {
  /** The median days from the alert to the churn; null when no entity churned. */
  readonly medianLeadDays: number | null;
}

export interface RuleFigures {
  readonly rule: AlertRule;
  /** Alerts by week, from its Monday, controls included. */
  readonly weeks: readonly { readonly monday: number; readonly fired: number }[];
  /** Alerts since `sinceDay` (90 days ago, or the day on which the rule began), controls included. */
  readonly fired: number;
  readonly sinceDay: number;
  /** Alerts a week since `sinceDay`. Null before a week is over. */
  readonly perWeek: number | null;
  readonly untouched: OutcomeFigures;
  readonly touched: OutcomeFigures;
  /** The base rate of all users, or accounts, on the Mondays of these days. Empty for a rule about a
   * source. */
  readonly baseRate: BaseRate;
  /** The present experiment. Undefined without a hold-out. */
  readonly experiment: HoldOutExperiment | undefined;
  /** What it shows. Undefined before it is planned. */
  readonly result: HoldOutFigures | undefined;
  /** What became of the money of its entries. Undefined before any can be followed up. */
  readonly followUp: FollowUp | undefined;
}

/** How long daily scores are kept. */
const pastDays = 90;
/** The newest mature alerts of a rule that count: the 95 % interval of 2,000 is narrower than ±2.2 points. */
const mostMature = 2_000;

/** The figures of all rules, by name. @throws WarehouseError */
export async function readRuleFigures(
  { warehouse, ledger, nowMs }: RuleFiguresParts,
  { id, timezone }: Pick<Organization, "id" | "timezone">,
): Promise<{ readonly horizonDays: number; readonly rules: readonly RuleFigures[] }> {
  const zone = zoneOf(timezone);
  const today = zone.dayOf(nowMs());
  const horizonDays = (await ledger.settings.get(id)).settings.churnHorizonDays;
  const [rules, experiments, resultOf, firedByDay] = await Promise.all([
    ledger.alertRules.list(id, today),
    ledger.alertRules.experiments(id),
    resultsOfHoldOuts(ledger, id, nowMs()),
    ledger.alerts.firedByDay(id, today - pastDays, today),
  ]);
  const mature: FiredRecord[] = [];
  const question = { fromDay: today - pastDays - horizonDays, toDay: today - horizonDays, today };
  for (const { id: rule } of rules) {
    mature.push(...(await ledger.alerts.fired(id, { ...question, rule, limit: mostMature })));
  }
  const about = { organization: { id, zone }, today, horizonDays };
  const bases = await basesOf(warehouse, about, rules);
  const outages = bases.get("user")?.outages ?? bases.get("account")?.outages ?? [];
  const outcomes = await outcomesOf(warehouse, { ...about, outages }, mature);
  const figures: RuleFigures[] = [];
  for (const rule of rules) {
    const own = outcomes.filter((one) => one.rule === rule.id);
    const fired = firedByDay.filter((one) => one.rule === rule.id);
    const kind = kindOf(rule);
    const experiment = experiments.find((one) => one.rule === rule.id && one.experiment === rule.experiment);
    figures.push({
      rule,
      weeks: weeksOf(fired, today),
      ...rateOf(fired, zone.dayOf(rule.createdAtMs), today),
      untouched: figuresOf(own.filter(({ isTouched }) => !isTouched)),
      touched: figuresOf(own.filter(({ isTouched }) => isTouched)),
      baseRate: (kind && bases.get(kind)?.rate) ?? { count: 0, churned: 0 },
      experiment,
      result: experiment && resultOf(experiment),
      followUp: experiment && (await readFollowUp({ warehouse, ledger }, { id, zone, today }, experiment)),
    });
  }
  return { horizonDays, rules: figures };
}

/** The results of an organization's experiments. @returns that of one; undefined before it is planned */
export async function resultsOfHoldOuts(
  { holdOutResults }: Pick<SharedLedger, "holdOutResults">,
  organization: number,
  nowMs: number,
): Promise<(experiment: HoldOutExperiment) => HoldOutFigures | undefined> {
  const [arms, plans] = await Promise.all([
    holdOutResults.arms(organization),
    holdOutResults.plans(organization),
  ]);
  return ({ rule, experiment, share, beganAtMs }) => {
    const isOwn = (one: { readonly rule: number; readonly experiment: number }) =>
      one.rule === rule && one.experiment === experiment;
    const plan = plans.find(isOwn);
    if (plan === undefined || share === null) return undefined;
    const { primary, base, planned } = plan;
    const running = { share, runningMs: nowMs - beganAtMs };
    return holdOutFigures(arms.filter(isOwn), { primary, base, planned }, running);
  };
}

/** Undefined for a rule about a source. */
function kindOf({ scope, condition }: AlertRule): EntityKind | undefined {
  if (condition.kind === "sourceSilent") return undefined;
  return scope.kind === "users" ? "user" : "account";
}

/** The base rates of the kinds that rules are about, with the outages that the newest run knows. */
async function basesOf(
  warehouse: Warehouse,
  {
    organization: { id: organization },
    today,
    horizonDays,
  }: { readonly organization: { readonly id: number }; readonly today: number; readonly horizonDays: number },
  rules: readonly AlertRule[],
) {
  const kinds = [...new Set(rules.map(kindOf))].filter((kind) => kind !== undefined);
  const bases = kinds.map(async (kind) => {
    const span = { fromDay: today - pastDays - horizonDays, toDay: today };
    const runs = await runsBetween(warehouse, { organization, kind }, span);
    const outages = runs.at(-1)?.body.outages ?? [];
    const days = matureDays({ days: runs.map(({ day }) => day), horizonDays, outages });
    const rate = await baseRateOf(warehouse, { organization, kind, runs, horizonDays, days });
    return [kind, { rate, outages }] as const;
  });
  return new Map(await Promise.all(bases));
}

/**
 * The number of a rule's alerts, in all and a week.
 * @param createdDay of the rule. Its first alerts may be of the scored day before
 */
export function rateOf(
  fired: readonly { readonly day: number; readonly alerts: number }[],
  createdDay: number,
  today: number,
): Pick<RuleFigures, "fired" | "sinceDay" | "perWeek"> {
  const total = fired.reduce((sum, { alerts }) => sum + alerts, 0);
  const began = Math.min(today, createdDay, ...fired.map(({ day }) => day));
  const sinceDay = Math.max(today - pastDays, began);
  const perWeek = today - sinceDay < 7 ? null : total / ((today - sinceDay + 1) / 7);
  return { fired: total, sinceDay, perWeek };
}

/** All weeks of the past days, also those without an alert. */
export function weeksOf(
  fired: readonly { readonly day: number; readonly alerts: number }[],
  today: number,
): RuleFigures["weeks"] {
  const byWeek = new Map<number, number>();
  for (let monday = mondayOf(today - pastDays); monday <= today; monday += 7) byWeek.set(monday, 0);
  for (const { day, alerts } of fired) {
    byWeek.set(mondayOf(day), (byWeek.get(mondayOf(day)) ?? 0) + alerts);
  }
  return [...byWeek].map(([monday, count]) => ({ monday, fired: count }));
}

function figuresOf(outcomes: readonly AlertOutcome[]): OutcomeFigures {
  const leads = outcomes.flatMap(({ leadDays }) => leadDays ?? []);
  const churned = outcomes.filter(({ hasChurned }) => hasChurned).length;
  return { ...precisionOf(outcomes.length, churned), medianLeadDays: medianOf(leads) };
}
