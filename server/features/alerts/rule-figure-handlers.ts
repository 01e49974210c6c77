/** The figures of alert rules that are on: alerts by week, and the outcomes of those whose churn horizon is
 * over. The default exemption of a hold-out. */

import { mrrOfHighestTenth } from "../../analytics/revenue/payers-now.ts";
import { formatDay } from "../../calendar/days.ts";
import type { Zone } from "../../calendar/zone.ts";
import { billingOf } from "../../figures/payers.ts";
import type { AnalysisHandlers, OrganizationContext } from "../../http/api/context.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import type { HoldOutFigures } from "./control-groups/figures.ts";
import type { FollowUp } from "./control-groups/follow-up.ts";
import { readRuleFigures } from "./rule-figures.ts";

export const ruleFiguresHandlers = {
  "GET /api/alert-rules/figures": async (context) => {
    const { horizonDays, rules } = await readRuleFigures(context, context.organization);
    return { horizonDays, rules: rules.map((figures) => figuresAnswer(figures, context.zone)) };
  },

  "GET /api/alert-rules/default-exemption": async (context) => ({
    mrrAbove: (await highestMrr(context, "account")) ?? (await highestMrr(context, "user")) ?? null,
  }),
} satisfies Partial<AnalysisHandlers>;

async function highestMrr(context: OrganizationContext, kind: EntityKind): Promise<number | undefined> {
  const { payers } = await billingOf(context, kind, undefined);
  return payers && mrrOfHighestTenth(context.warehouse, payers);
}

type Figures = Awaited<ReturnType<typeof readRuleFigures>>["rules"][number];

function figuresAnswer(
  { rule: { id, name }, fired, sinceDay, perWeek, weeks, experiment, result, followUp, ...figures }: Figures,
  zone: Zone,
) {
  const { untouched, touched, baseRate } = figures;
  return {
    id,
    name,
    fired,
    since: formatDay(sinceDay),
    perWeek,
    untouched: outcomesAnswer(untouched),
    touched: outcomesAnswer(touched),
    weeks: weeks.map((week) => ({ monday: formatDay(week.monday), fired: week.fired })),
    baseRate: { ...baseRate, rate: baseRate.count === 0 ? null : baseRate.churned / baseRate.count },
    holdOut: experiment === undefined ? null : holdOutAnswer(experiment, { result, followUp }, zone),
  };
}

function outcomesAnswer({ interval, ...figures }: Figures["untouched"]) {
  return { ...figures, interval: interval === null ? null : { ...interval } };
}

function holdOutAnswer(
  { share, horizonDays, beganAtMs, entries }: NonNullable<Figures["experiment"]>,
  { result, followUp }: Pick<Figures, "result" | "followUp">,
  zone: Zone,
) {
  const count = (wanted: string) =>
    entries.reduce((sum, one) => sum + (one.arm === wanted ? one.entries : 0), 0);
  return {
    share,
    horizonDays,
    since: formatDay(zone.dayOf(beganAtMs)),
    treated: count("treated"),
    controls: count("control"),
    result: result === undefined ? null : resultAnswer(result),
    followUp: followUp === undefined ? null : followUpAnswer(followUp),
  };
}

function followUpAnswer({ treated, control, ...followUp }: FollowUp) {
  return { ...followUp, arms: { treated: { ...treated }, control: { ...control } } };
}

/** The result of a control group as the API answers it. */
export function resultAnswer({ treated, control, kept, ...result }: HoldOutFigures) {
  return { ...result, arms: { treated: { ...treated }, control: { ...control } }, kept: { ...kept } };
}
