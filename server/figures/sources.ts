/** Handlers of the JSON API about what sends. */

import type { Static } from "typebox";
import { ApiError } from "../../contract/refusal.ts";
import {
  type SenderName,
  type SourceAnswer,
  senderNames,
  sourceLimits,
  sourceOutcomes,
} from "../../contract/sources.ts";
import { instant, instantOrNull } from "../calendar/instant.ts";
import { msPerHour } from "../calendar/zone.ts";
import type { AnalysisHandlers } from "../http/api/context.ts";
import type { SourceHour } from "../ledger/stores/sources.ts";
import { type SourceStatus, takenOf } from "../scoring/run/source-watch.ts";
import { rhythmInWords } from "../scoring/scores/rhythm.ts";

const { shownHours } = sourceLimits;

export const sourcesHandlers = {
  "GET /api/sources": async ({ ledger, sources: watch, organization, zone, nowMs }) => {
    const thisHour = Math.floor(nowMs() / msPerHour);
    // Asked first: it writes down what was only counted, which the totals then have.
    const hours = await ledger.sources.hours(organization.id, thisHour - shownHours + 1);
    const [statuses, held, imported] = await Promise.all([
      watch.statuses({ id: organization.id, zone }),
      ledger.heldEvents.counts(organization.id),
      ledger.imported(organization.id),
    ]);
    const { people, items, droppedFull, droppedExpired, links } = held;
    return {
      imported: { rows: imported.rows, lastAt: instantOrNull(imported.lastAtMs) },
      held: { people, items, oldestAt: instantOrNull(held.oldestAtMs), droppedFull, droppedExpired, links },
      sources: senderNames.map((source) =>
        sourceAnswer(
          source,
          statuses.find((status) => status.source === source),
          hours.filter((hour) => hour.source === source),
          thisHour,
        ),
      ),
    };
  },

  "POST /api/sources/:source/retire": async ({ ledger, organization, actor, nowMs, path }) => {
    const source = senderNames.find((name) => name === path.source);
    const retiredAtMs = source && (await ledger.sources.retire(organization.id, source, actor, nowMs()));
    if (source === undefined || retiredAtMs === undefined) {
      throw new ApiError("not_found", "No such source has ever sent anything.");
    }
    return { source, retiredAt: instant(retiredAtMs) };
  },
} satisfies Partial<AnalysisHandlers>;

function sourceAnswer(
  source: SenderName,
  status: SourceStatus | undefined,
  hours: readonly SourceHour[],
  thisHour: number,
): Static<typeof SourceAnswer> {
  const taken = new Array<number>(shownHours).fill(0);
  for (const hour of hours) taken[hour.utcHour - thisHour + shownHours - 1] = takenOf(hour);
  const { rhythm, silentFromMs = null, share = null, freezesScores = false } = status ?? {};
  return {
    source,
    state: status?.state ?? "never_sent",
    share,
    freezesScores,
    firstSentAt: instantOrNull(status?.firstMs),
    lastSentAt: instantOrNull(status?.lastMs),
    silentSince: instantOrNull(status?.state === "silent" ? status.lastHeardMs : null),
    retiredAt: instantOrNull(status?.retiredAtMs),
    rhythm: rhythm === undefined ? null : rhythmInWords(rhythm),
    silentFrom: instantOrNull(status?.state === "retired" ? null : silentFromMs),
    day: sumOf(hours.filter(({ utcHour }) => utcHour > thisHour - 24)),
    week: sumOf(hours),
    hours: taken,
  };
}

function sumOf(hours: readonly SourceHour[]) {
  const sum = { accepted: 0, held: 0, duplicate: 0, rejected: 0, ignored: 0 };
  for (const hour of hours) {
    for (const outcome of sourceOutcomes) sum[outcome] += hour[outcome];
  }
  return sum;
}
