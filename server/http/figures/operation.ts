/** Handlers of the JSON API about what comes in and what is left out: warnings, rejected events, exclusions. */
import type { Static } from "typebox";
import type {
  DoneAnswer,
  ExclusionAnswer,
  ExclusionParameters,
  ExclusionPreviewAnswer,
  ExclusionsAnswer,
  HealthCheckAnswer,
  NoParameters,
  RejectedEventsAnswer,
  RejectedEventsParameters,
  SelectedAnswer,
  SelectionParameters,
  WarningsAnswer,
  WarningsParameters,
} from "../../../contract/api/api.ts";
import { matchesOfRules, previewOfRule } from "../../analytics/analytics.ts";
import { formatDay } from "../../calendar/calendar.ts";
import type { DeadLetterSelection } from "../../ledger/ledger.ts";
import { checkedRule, storedWarningKind, warningKindOf } from "../../ledger/ledger.ts";
import { type ApiContext, ApiError } from "../api/route.ts";
import { exclusionRule } from "../api/rows.ts";

/** GET /api/ingestion-warnings */
export async function ingestionWarnings({
  ledger,
  organization,
  query,
}: ApiContext<typeof WarningsParameters, "">): Promise<Static<typeof WarningsAnswer>> {
  const warnings = await ledger.warnings.list(
    organization.id,
    query.limit,
    query.kind && storedWarningKind(query.kind),
  );
  return {
    warnings: warnings.map(({ utcDay, kind, endpoint, detail, count, message, userId, ...times }) => ({
      ...{ day: formatDay(utcDay), kind: warningKindOf(kind), endpoint, detail, count },
      firstSeen: instant(times.firstSeenMs),
      lastSeen: instant(times.lastSeenMs),
      ...{ message, userId },
    })),
  };
}

/** GET /api/rejected-events */
export async function rejectedEvents({
  ledger,
  organization: { id: organization },
  query,
}: ApiContext<typeof RejectedEventsParameters, "">): Promise<Static<typeof RejectedEventsAnswer>> {
  const rows = await ledger.deadLetters.list({ organization }, query.limit);
  return {
    total: await ledger.deadLetters.count({ organization }),
    rejectedEvents: rows.map(({ id, atMs, table, reason, row }) => ({
      ...{ id, at: instant(atMs), table, reason, row },
    })),
  };
}

type Selecting = ApiContext<typeof SelectionParameters, "">;

/** POST /api/rejected-events/retry */
export async function retryRejectedEvents(context: Selecting): Promise<Static<typeof SelectedAnswer>> {
  const { ledger, actor, nowMs } = context;
  return { rows: await ledger.deadLetters.retry(selectionOf(context), actor, nowMs()) };
}

/** DELETE /api/rejected-events */
export async function dropRejectedEvents(context: Selecting): Promise<Static<typeof SelectedAnswer>> {
  const { ledger, actor, nowMs } = context;
  return { rows: await ledger.deadLetters.drop(selectionOf(context), actor, nowMs()) };
}

function selectionOf({ organization, query: { ids, all } }: Selecting): DeadLetterSelection {
  if ((ids === undefined) !== all) {
    throw new ApiError("validation_error", "Say which rejected events: send ids=1,2 or all=true.");
  }
  return { organization: organization.id, ids: ids?.split(",").map(Number) };
}

/** GET /api/exclusions */
export async function exclusions({
  ledger,
  warehouse,
  organization,
  freshness,
}: ApiContext<typeof NoParameters, "">): Promise<Static<typeof ExclusionsAnswer>> {
  const rules = await ledger.exclusions.list(organization.id);
  const [{ excludedUsers }, matches] = await Promise.all([
    freshness(organization.id),
    matchesOfRules(warehouse, { organization: organization.id, rules }),
  ]);
  return {
    excludedUsers,
    rules: rules.map((rule, index) => ({ ...exclusionRule(rule), users: matches[index] ?? 0 })),
  };
}

/** GET /api/exclusions/preview. @throws Refusal when the rule would compare nothing */
export function exclusionPreview({
  warehouse,
  organization,
  query,
}: ApiContext<typeof ExclusionParameters, "">): Promise<Static<typeof ExclusionPreviewAnswer>> {
  return previewOfRule(warehouse, { organization: organization.id, rule: checkedRule(query) }).then(
    ({ examples, ...counts }) => ({ ...counts, examples: [...examples] }),
  );
}

/** POST /api/exclusions */
export async function addExclusion({
  ledger,
  organization,
  actor,
  nowMs,
  query,
}: ApiContext<typeof ExclusionParameters, "">): Promise<Static<typeof ExclusionAnswer>> {
  return exclusionRule(await ledger.exclusions.add(organization.id, query, actor, nowMs()));
}

/** DELETE /api/exclusions/:id */
export async function removeExclusion({
  ledger,
  organization,
  actor,
  nowMs,
  path: { id },
}: ApiContext<typeof NoParameters, "/:id">): Promise<Static<typeof DoneAnswer>> {
  const rules = await ledger.exclusions.list(organization.id);
  if (!rules.some((rule) => String(rule.id) === id)) {
    throw new ApiError("not_found", "There is no such exclusion rule.");
  }
  await ledger.exclusions.remove(organization.id, Number(id), actor, nowMs());
  return { success: true };
}

/** GET /api/health-check */
export async function healthCheck({
  ledger,
  organization,
}: ApiContext<typeof NoParameters, "">): Promise<Static<typeof HealthCheckAnswer>> {
  const last = (await ledger.checks.list()).find((result) => result.organization === organization.id);
  if (last === undefined) return { lastCheck: null };
  const { atMs, tookMs, differences, examples } = last;
  return {
    lastCheck: { at: instant(atMs), tookSeconds: tookMs / 1_000, differences, examples: [...examples] },
  };
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
