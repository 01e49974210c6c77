/** The preview of an alert rule: how it would have done. */

import { conditionOf, whyNotCondition } from "../../../contract/alerts/rule-condition.ts";
import { isOpportunity } from "../../../contract/alerts/rules.ts";
import { errorMessages } from "../../../contract/errors.ts";
import { ApiError } from "../../../contract/refusal.ts";
import { dayOrNull, formatDay } from "../../calendar/days.ts";
import type { AnalysisHandlers } from "../../http/api/context.ts";
import { today } from "../../http/api/days.ts";
import { withDeadline } from "../../scoring/preview/deadline.ts";
import { segmentsInPast } from "../segments/in-past.ts";
import { expectedBase, prospectsOf } from "./control-groups/plan.ts";
import { previewRule } from "./rules/preview.ts";

const retryAfterSeconds = 5;
/** A preview of 100,000 users takes seconds, unless much else is computed. */
const longestMs = 60_000;
const tookLong = "the preview took longer than a minute. Try again when less is computed.";
/** Organizations that wait for a preview: it reads the scores of 90 days. */
const inHand = new Set<number>();

export const rulePreviewHandlers = {
  /** @throws ApiError while another preview of the organization is computed, and Refusal for conditions
   * without a preview */
  "POST /api/alert-rules/preview": async (context) => {
    const { ledger, organization, zone, body } = context;
    const { id } = organization;
    const invalid = whyNotCondition(body.condition, body.scope);
    if (invalid !== undefined) throw new ApiError("validation_error", invalid);
    if (inHand.has(id)) {
      throw new ApiError("rate_limit_exceeded", errorMessages.rulePreviewInHand, retryAfterSeconds);
    }
    inHand.add(id);
    const warehouse = withDeadline(context.warehouse, performance.now() + longestMs, tookLong);
    try {
      const { settings } = await ledger.settings.get(id);
      const horizonDays = settings.churnHorizonDays;
      const condition = conditionOf(body.condition);
      const { days, weeks, precision, baseRate, ...counts } = await previewRule(
        { warehouse, findSegment: segmentsInPast({ ...context, warehouse }) },
        {
          organization: { id, zone },
          horizonDays,
          today: today(context),
          scope: body.scope,
          condition,
          cooldownDays: body.cooldownDays ?? null,
        },
      );
      return {
        fromDay: dayOrNull(days[0] ?? null),
        toDay: dayOrNull(days.at(-1) ?? null),
        scoredDays: days.length,
        horizonDays,
        ...counts,
        weeks: weeks.map(({ monday, fired }) => ({ monday: formatDay(monday), fired })),
        precision: {
          ...precision,
          interval: precision.interval === null ? null : { ...precision.interval },
        },
        controlGroups: isOpportunity(condition)
          ? []
          : prospectsOf(
              expectedBase(condition, precision),
              { entities: counts.entities, days: days.length },
              horizonDays,
            ).map((prospect) => ({ ...prospect })),
        baseRate: { ...baseRate, rate: baseRate.count === 0 ? null : baseRate.churned / baseRate.count },
      };
    } finally {
      inHand.delete(id);
    }
  },
} satisfies Partial<AnalysisHandlers>;
