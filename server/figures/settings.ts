/** Handlers of the JSON API about an organization's settings. */

import { suitsSubscription } from "../../contract/api/churn-targets.ts";
import { askedAbout, isDepartureName } from "../../contract/api/departures-body.ts";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { revenueSettings } from "../../contract/billing/currency-rates.ts";
import { errorMessages } from "../../contract/errors.ts";
import { ApiError, noSuch } from "../../contract/refusal.ts";
import { defaultSettings } from "../../contract/settings.ts";
import { subscriptionCount } from "../analytics/entities/subscription-count.ts";
import { usersOfEvents } from "../analytics/users-of-events.ts";
import { dayOrNull } from "../calendar/days.ts";
import { instant, instantOrNull } from "../calendar/instant.ts";
import type { AnalysisHandlers, ApiParts } from "../http/api/context.ts";
import { today } from "../http/api/days.ts";
import {
  type SettingDifference,
  type SettingsVersion,
  settingDifferences,
  settingsAfter,
} from "../ledger/stores/settings.ts";
import type { BandMove } from "../scoring/preview/moves.ts";
import { type HorizonProof, type KindPreview, uncountedSettings } from "../scoring/preview/preview.ts";
import { eventNamesOf } from "../warehouse/schema/engagement.ts";
import { withLabels } from "./event-labels.ts";

const retryAfterSeconds = 10;
/** Organizations that wait for a preview. Those that train models take turns, a statement at a time. */
const inHand = new Set<number>();

export const settingsHandlers = {
  "GET /api/settings": async ({ ledger, organization }) =>
    settingsAnswer(await ledger.settings.get(organization.id)),

  "PATCH /api/settings": async ({ ledger, organization, body, actor, rights, nowMs }) => {
    if (revenueSettings.some((name) => body[name] !== undefined)) onlyOwners(rights);
    return settingsAnswer(await ledger.settings.change(organization.id, body, actor, nowMs()));
  },

  "GET /api/settings/history": async ({ ledger, organization, query: { limit, before } }) => {
    const page = { limit, ...(before !== undefined && { beforeVersion: before }) };
    const [records, { settings: current }] = await Promise.all([
      ledger.settings.history(organization.id, page),
      ledger.settings.get(organization.id),
    ]);
    return {
      versions: records.map(({ version, changedAtMs, changedBy, changes, settings }) => ({
        version,
        changedAt: instant(changedAtMs),
        changedBy,
        changes: copied(changes),
        restoring: copied(settingDifferences(current, settings)),
      })),
      restoringDefaults: copied(settingDifferences(current, defaultSettings)),
    };
  },

  "POST /api/settings/restore": async ({ ledger, organization, body, actor, rights, nowMs }) => {
    if (!rights.includes("own") && (await restoresRates(ledger, organization.id, body.to)))
      onlyOwners(rights);
    const restored = await ledger.settings.restore(organization.id, body, actor, nowMs());
    if (restored === undefined) throw noSuch("version of the settings");
    return settingsAnswer(restored);
  },

  "GET /api/departures": async (context) => {
    const { warehouse, ledger, organization } = context;
    const { settings } = await ledger.settings.get(organization.id);
    const events = askedAbout(await eventNamesOf(warehouse, organization.id), settings);
    const known = await subscriptionCount(warehouse, organization.id);
    const subscriptions = suitsSubscription(settings.churnTargets, known) ? known : null;
    if (events.length === 0) return { events: [], subscriptions };
    const question = { organization: organization.id, events, toDay: today(context), limit: maxAsked };
    const rows = await withLabels(context, await usersOfEvents(warehouse, question));
    return { events: rows.map((row) => ({ ...row, isPassive: isDepartureName(row.event) })), subscriptions };
  },

  /** @throws ApiError while another preview of the organization is computed */
  "POST /api/settings/preview": async (context) => {
    const { ledger, scoring, organization, body } = context;
    const { id } = organization;
    const stored = await ledger.settings.get(id);
    const after = settingsAfter(stored, body);
    const changes = settingDifferences(stored.settings, after);
    if (inHand.has(id)) {
      throw new ApiError("rate_limit_exceeded", errorMessages.previewInHand, retryAfterSeconds);
    }
    inHand.add(id);
    try {
      const kinds = await scoring.preview({ organization: id, before: stored.settings, after });
      return {
        version: stored.version,
        changes: changes.map((change) => ({ ...change })),
        uncounted: uncountedOf(changes),
        kinds: kinds.map(kindAnswer),
      };
    } finally {
      inHand.delete(id);
    }
  },
} satisfies Partial<AnalysisHandlers>;

/** @throws ApiError for callers who are no owner. No read key is one. */
function onlyOwners(rights: readonly string[]): void {
  if (rights.includes("own")) return;
  throw new ApiError(
    "forbidden",
    "Only owners change reportingCurrency and currencyRates: they restate all figures of revenue.",
  );
}

/** Whether an older version has another reporting currency or other rates than the current one. */
async function restoresRates(
  ledger: ApiParts["ledger"],
  organization: number,
  version: number,
): Promise<boolean> {
  const current = await ledger.settings.get(organization);
  if (version >= current.version) return false;
  const [older] =
    version === 0
      ? []
      : await ledger.settings.history(organization, { limit: 1, beforeVersion: version + 1 });
  return settingDifferences(current.settings, older?.settings ?? defaultSettings).some(({ setting }) =>
    revenueSettings.some((name) => setting.split(".")[0] === name),
  );
}

const copied = (differences: readonly SettingDifference[]) => differences.map((one) => ({ ...one }));

function settingsAnswer(stored: SettingsVersion): RouteAnswer<"GET /api/settings"> {
  const { version, changedAtMs, changedBy, settings } = stored;
  return { version, changedAt: instantOrNull(changedAtMs), changedBy, settings };
}

/** More questions than this do not fit one page. */
const maxAsked = 20;

type Preview = RouteAnswer<"POST /api/settings/preview">;

function uncountedOf(changes: readonly SettingDifference[]): string[] {
  return changes
    .map(({ setting }) => setting)
    .filter((setting) => uncountedSettings.some((name) => setting.split(".")[0] === name));
}

function kindAnswer({
  kind,
  day,
  moves,
  health,
  definition,
  horizons,
}: KindPreview): Preview["kinds"][number] {
  const countOf = (some: readonly BandMove[]) => some.reduce((sum, { count }) => sum + count, 0);
  const ofHealth = moves.filter((move) => move.healthBefore !== move.healthAfter);
  const ofRisk = moves.filter((move) => move.riskBefore !== move.riskAfter);
  return {
    kind,
    day: dayOrNull(day),
    entities: countOf(moves),
    healthChanged: countOf(ofHealth),
    riskChanged: countOf(ofRisk),
    health: summed(ofHealth.map((move) => ({ ...move, from: move.healthBefore, to: move.healthAfter }))),
    risk: summed(ofRisk.map((move) => ({ ...move, from: move.riskBefore, to: move.riskAfter }))),
    pastHealth: health && pastHealthAnswer(health),
    definition: definition && definitionAnswer(definition),
    horizons:
      horizons === null ? null : { before: proofAnswer(horizons.before), after: proofAnswer(horizons.after) },
  };
}

function pastHealthAnswer({ difference, ...health }: NonNullable<KindPreview["health"]>) {
  return {
    ...health,
    differenceLow: difference?.low ?? null,
    differenceHigh: difference?.high ?? null,
  };
}

function definitionAnswer({ states, ...departures }: NonNullable<KindPreview["definition"]>) {
  const moves = states
    .map(({ stateBefore: from, stateAfter: to, count }) => ({ from, to, count }))
    .filter(({ from, to }) => from !== to);
  return { ...departures, stateChanged: moves.reduce((sum, { count }) => sum + count, 0), states: moves };
}

interface Move<Band> {
  readonly from: Band;
  readonly to: Band;
  readonly count: number;
}

/** Moves with equal bands together, the most first. */
function summed<Band>(moves: readonly Move<Band>[]): Move<Band>[] {
  const sums = new Map<string, Move<Band>>();
  for (const { from, to, count } of moves) {
    const key = `${from} ${to}`;
    sums.set(key, { from, to, count: (sums.get(key)?.count ?? 0) + count });
  }
  return [...sums.values()].sort((a, b) => b.count - a.count);
}

function proofAnswer({ horizonDays, metrics, departures, cutoffs }: HorizonProof) {
  const none = { count: 0, baseRate: null, auc: null, logLoss: null, skill: null };
  return { horizonDays, cutoffs, departures, ...none, ...metrics };
}
