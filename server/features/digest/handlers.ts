/** The digest as the API answers it. */

import { dayOrNull, formatDay } from "../../calendar/days.ts";
import { instant } from "../../calendar/instant.ts";
import type { AnalysisHandlers } from "../../http/api/context.ts";
import { today } from "../../http/api/days.ts";
import { hasNews } from "./digest.ts";
import { readDigest } from "./digest-reader.ts";

export const digestHandlers = {
  "GET /api/digest": async (context) => {
    const digest = await readDigest(context, context.organization, context.query.period, today(context));
    const { entered, left, top, precision, changes, data, alerts, done } = digest;
    const { period, kind, currency, movedBySettings, insideBySettings } = digest;
    return {
      period,
      day: formatDay(digest.day),
      kind,
      currency,
      hasNews: hasNews(digest),
      movedBySettings,
      insideBySettings,
      scoredDay: dayOrNull(digest.scoredDay),
      sinceDay: dayOrNull(digest.sinceDay),
      hasModel: digest.hasModel,
      lacksData: digest.lacksData,
      entered: { total: entered.total, named: entered.named.map(entityAnswer) },
      left: { total: left.total, named: left.named.map(entityAnswer) },
      top: top.map(entityAnswer),
      alerts: { ...alerts },
      done: { ...done, outcomes: { ...done.outcomes } },
      changes: [...changes],
      precision: { ...precision, interval: precision.interval === null ? null : { ...precision.interval } },
      data: {
        ...data,
        silent: data.silent.map(({ source, sinceMs }) => ({ source, since: instant(sinceMs) })),
        stoppedSince: dayOrNull(data.stoppedSince),
      },
    };
  },
} satisfies Partial<AnalysisHandlers>;

function entityAnswer<Entity extends { readonly number: number }>({ number: _, ...entity }: Entity) {
  return entity;
}
