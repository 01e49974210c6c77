/** Handlers of the JSON API about what comes in and what is left out: warnings, rejected events,
 * exclusions. */

import { ApiError } from "../../contract/refusal.ts";
import { matchesOfRules, previewOfRule } from "../analytics/entities/exclusion-matches.ts";
import { formatDay } from "../calendar/days.ts";
import { instant } from "../calendar/instant.ts";
import type { AnalysisHandlers, ApiContext } from "../http/api/context.ts";
import type { RejectedEventSelection } from "../ledger/rules/rejected-event-facts.ts";
import { checkedRule } from "../ledger/stores/exclusions.ts";
import { exclusionRule } from "./rows.ts";

export const operationHandlers = {
  "GET /api/ingestion-warnings": async ({ ledger, organization, query }) => {
    const warnings = await ledger.warnings.list(organization.id, query.limit, query.kind);
    return {
      warnings: warnings.map(({ utcDay, kind, endpoint, detail, count, message, userId, ...times }) => ({
        day: formatDay(utcDay),
        kind,
        endpoint,
        detail,
        count,
        firstSeen: instant(times.firstSeenMs),
        lastSeen: instant(times.lastSeenMs),
        message,
        userId,
      })),
    };
  },

  "GET /api/rejected-events": async ({ ledger, organization: { id: organization }, query }) => {
    const rows = await ledger.rejectedEvents.list({ organization }, query.limit);
    return {
      total: await ledger.rejectedEvents.count({ organization }),
      rejectedEvents: rows.map(({ id, atMs, table, reason, row }) => ({
        id,
        at: instant(atMs),
        table,
        reason,
        row,
      })),
    };
  },

  "POST /api/rejected-events/retry": async (context) => {
    const { ledger, actor, nowMs } = context;
    return { rows: await ledger.rejectedEvents.retry(selectionOf(context), actor, nowMs()) };
  },

  "DELETE /api/rejected-events": async (context) => {
    const { ledger, actor, nowMs } = context;
    return { rows: await ledger.rejectedEvents.drop(selectionOf(context), actor, nowMs()) };
  },

  "GET /api/freshness": async () => ({}),
  "GET /api/exclusions": async ({ ledger, warehouse, organization, freshness }) => {
    const rules = await ledger.exclusions.list(organization.id);
    const [{ excludedUsers }, matches] = await Promise.all([
      freshness(organization.id),
      matchesOfRules(warehouse, { organization: organization.id, rules }),
    ]);
    return {
      excludedUsers,
      rules: rules.map((rule, index) => ({ ...exclusionRule(rule), users: matches[index] ?? 0 })),
    };
  },

  /** @throws Refusal when the rule would compare nothing */
  "GET /api/exclusions/preview": async ({ warehouse, organization, query }) => {
    const question = { organization: organization.id, rule: checkedRule(query) };
    const { examples, ...counts } = await previewOfRule(warehouse, question);
    return { ...counts, examples: [...examples] };
  },

  "POST /api/exclusions": async ({ ledger, organization, actor, nowMs, query }) =>
    exclusionRule(await ledger.exclusions.add(organization.id, query, actor, nowMs())),

  "DELETE /api/exclusions/:id": async ({ ledger, organization, actor, nowMs, path: { id } }) => {
    const rules = await ledger.exclusions.list(organization.id);
    if (!rules.some((rule) => String(rule.id) === id)) {
      throw new ApiError("not_found", "There is no such exclusion rule.");
    }
    await ledger.exclusions.remove(organization.id, Number(id), actor, nowMs());
    return { success: true };
  },

  "GET /api/health-check": async ({ ledger, organization }) => {
    const last = (await ledger.checks.list()).find((result) => result.organization === organization.id);
    if (last === undefined) return { lastCheck: null };
    const { atMs, tookMs, differences, examples } = last;
    return {
      lastCheck: { at: instant(atMs), tookSeconds: tookMs / 1_000, differences, examples: [...examples] },
    };
  },
} satisfies Partial<AnalysisHandlers>;

type Selecting = ApiContext<"DELETE /api/rejected-events">;

function selectionOf({ organization, query: { ids, all } }: Selecting): RejectedEventSelection {
  if ((ids === undefined) !== all) {
    throw new ApiError("validation_error", "Say which rejected events: send ids=1,2 or all=true.");
  }
  return { organization: organization.id, ids: ids?.split(",").map(Number) };
}
