/** Alert rules and changes of alerts. The right to read shows rules. Changes need the right to manage. */
import { conditionOf, type SentCondition, whyNotCondition } from "../../../contract/alerts/rule-condition.ts";
import {
  type AlertRuleSettings,
  isMoment,
  isOpportunity,
  type RuleCondition,
  type RuleStep,
  ruleLimits,
} from "../../../contract/alerts/rules.ts";
import { ApiError, noSuch } from "../../../contract/refusal.ts";
import { formatDay, parseDay } from "../../calendar/days.ts";
import { instant } from "../../calendar/instant.ts";
import { zoneOf } from "../../calendar/zone.ts";
import type { Place } from "../../http/api/gate.ts";
import type { IntakeHandlers, IntakeParts } from "../../http/api/intake-api.ts";
import { idIn } from "../../http/api/request.ts";
import type { EntityRef } from "../../ledger/stores/entity-rows.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import { notFound } from "../notes-and-tasks/handlers.ts";
import { alertAnswer } from "./alert-list.ts";
import { defaultExemption } from "./control-groups/default-exemption.ts";
import type { AlertChange } from "./store/alerts.ts";
import type { AlertRule } from "./store/rules.ts";

type RuleBody = Pick<AlertRuleSettings, "name" | "scope"> &
  Partial<Omit<AlertRuleSettings, "isPaused" | "condition" | "exemptions" | "steps">> & {
    readonly condition: SentCondition;
    readonly steps?: readonly SentStep[];
    readonly exemptions?: { readonly segment?: number; readonly mrrAbove?: number | null };
  };

export const alertRuleHandlers = {
  "GET /api/alert-rules": async ({ ledger, place: { organization }, nowMs }) => {
    const rules = await ledger.alertRules.list(organization.id, todayOf(organization, nowMs));
    return { answer: { rules: rules.map(ruleAnswer) } };
  },

  "POST /api/alert-rules": async (context) => {
    const { ledger, body, nowMs } = context;
    const { organization, actor } = context.place;
    const settings = { ...(await settingsIn(context, body, undefined)), isPaused: false };
    return { answer: ruleAnswer(await ledger.alertRules.add(organization.id, settings, actor, nowMs)) };
  },

  "PUT /api/alert-rules/:id": async (context) => {
    const { ledger, nowMs, body, path } = context;
    const { organization } = context.place;
    const before = await ledger.alertRules.find(
      organization.id,
      ruleId(path.id),
      todayOf(organization, nowMs),
    );
    if (before === undefined) throw noSuch("alert rule");
    return change(context, path.id, await settingsIn(context, body, before));
  },

  "POST /api/alert-rules/:id/pause": async (context) => change(context, context.path.id, { isPaused: true }),
  "POST /api/alert-rules/:id/resume": async (context) =>
    change(context, context.path.id, { isPaused: false }),

  "DELETE /api/alert-rules/:id": async ({ ledger, place: { organization, actor }, path, nowMs }) => {
    const isGone = await ledger.alertRules.remove(organization.id, ruleId(path.id), actor, nowMs);
    if (!isGone) throw noSuch("alert rule");
    return {};
  },

  "PATCH /api/alerts/:id": async ({ ledger, place: { organization, actor }, path, body, nowMs }) => {
    const { snoozedUntil, ...others } = body;
    const wanted: AlertChange = {
      ...others,
      ...(snoozedUntil !== undefined && { snoozedUntil: snoozeDay(snoozedUntil) }),
    };
    const today = todayOf(organization, nowMs);
    const id = idIn(path.id, "alert");
    const alert = await ledger.alerts.change(organization.id, id, wanted, actor, today, nowMs);
    if (alert === undefined) throw noSuch("alert");
    return { answer: alertAnswer(alert) };
  },

  "PATCH /api/users/:userId/call": (context) =>
    setCallAside(context, { kind: "user", id: context.path.userId }),
  "PATCH /api/accounts/:accountId/call": (context) =>
    setCallAside(context, { kind: "account", id: context.path.accountId }),
} satisfies Partial<IntakeHandlers>;

interface Changing extends Pick<IntakeParts, "ledger"> {
  readonly place: Place;
  readonly nowMs: number;
}

type Settings = Omit<AlertRuleSettings, "isPaused">;

/** The settings with the exemption of a hold-out by MRR, which is filled in when a hold-out begins.
 * @param before the rule that is changed
 * @throws ApiError for a condition with fields of another kind, and when analysis does not answer */
async function settingsIn(
  { analysis, place }: Pick<IntakeParts, "analysis"> & { readonly place: Place },
  body: RuleBody,
  before: AlertRule | undefined,
): Promise<Settings> {
  const settings = settingsOf(body);
  const { segment, mrrAbove: sent } = body.exemptions ?? {};
  const unsent = async () =>
    before !== undefined && hasDraws(before)
      ? before.exemptions.mrrAbove
      : await defaultExemption(analysis, place);
  const mrrAbove = sent === undefined && hasDraws(settings) ? await unsent() : sent;
  return {
    ...settings,
    exemptions: { ...(segment !== undefined && { segment }), ...(mrrAbove != null && { mrrAbove }) },
  };
}

/** Sources are not drawn. */
function hasDraws({ holdOutShare, condition }: Pick<Settings, "holdOutShare" | "condition">): boolean {
  return holdOutShare > 0 && condition.kind !== "sourceSilent";
}

async function change(
  { ledger, place: { organization, actor }, nowMs }: Changing,
  id: string,
  wanted: Partial<AlertRuleSettings>,
) {
  const rule = await ledger.alertRules.change(organization.id, ruleId(id), wanted, actor, nowMs);
  if (rule === undefined) throw noSuch("alert rule");
  return { answer: ruleAnswer(rule) };
}

/** Settings with their defaults. A change keeps whether the rule is paused.
 * @throws ApiError for a condition with fields of another kind */
function settingsOf(body: RuleBody): Omit<Settings, "exemptions"> {
  const invalid = whyNotCondition(body.condition, body.scope);
  if (invalid !== undefined) throw new ApiError("validation_error", invalid);
  const condition = conditionOf(body.condition);
  if (condition.kind === "sourceSilent" && body.scope.segment !== undefined) {
    throw new ApiError("validation_error", "scope.segment does not belong to sourceSilent: leave it out.");
  }
  if (isOpportunity(condition) && (body.holdOutShare ?? 0) > 0) {
    throw new ApiError(
      "validation_error",
      `holdOutShare does not belong to ${condition.kind}: a control group shows how many leave, and this rule is about customers who could buy more. Send 0.`,
    );
  }
  return {
    name: body.name.trim(),
    scope: body.scope,
    condition,
    cooldownDays: body.cooldownDays ?? null,
    cap: body.cap ?? ruleLimits.defaultCap,
    when: body.when ?? "08:00",
    destinations: body.destinations ?? [],
    holdOutShare: body.holdOutShare ?? 0,
    steps: stepsOf(body.steps ?? [], condition),
    // A moment has no present state: older events are passed over.
    includeCurrent: !isMoment(condition) && (body.includeCurrent ?? false),
  };
}

type SentStep = Pick<RuleStep, "kind" | "afterDays"> & Partial<RuleStep>;

/** @throws ApiError for a step that has no meaning */
function stepsOf(sent: readonly SentStep[], condition: RuleCondition): readonly RuleStep[] {
  if (sent.length > 0 && condition.kind === "sourceSilent") throw invalidSteps("a source has none");
  if (sent.filter(({ kind }) => kind === "task").length > ruleLimits.tasks)
    throw invalidSteps(`send at most ${ruleLimits.tasks} tasks`);
  return sent.map(({ kind, afterDays, title = null, dueDays = null, assignee = null }) => {
    if (kind === "task" && title === null) throw invalidSteps("a task has a title");
    if (kind === "message" && (afterDays === 0 || (title ?? dueDays ?? assignee) !== null))
      throw invalidSteps("a message has only afterDays, of at least 1");
    return { kind, afterDays, title: title?.trim() ?? null, dueDays, assignee };
  });
}

function invalidSteps(why: string): ApiError {
  return new ApiError("validation_error", `steps is not valid: ${why}.`);
}

function ruleAnswer(rule: AlertRule) {
  const { experiment: _, decidedThrough, createdAtMs, updatedAtMs, destinations, steps, ...shown } = rule;
  return {
    ...shown,
    destinations: [...destinations],
    steps: steps.map((step) => ({ ...step })),
    decidedThrough: decidedThrough === null ? null : formatDay(decidedThrough),
    createdAt: instant(createdAtMs),
    updatedAt: instant(updatedAtMs),
  };
}

type Called = Parameters<IntakeHandlers["PATCH /api/users/:userId/call"]>[0];

/** @throws ApiError for an unknown user or account, and for a day that is in no calendar */
async function setCallAside(
  { ledger, place, body, nowMs }: Pick<Called, "ledger" | "place" | "body" | "nowMs">,
  entity: EntityRef,
) {
  const { snoozedUntil, ...others } = body;
  const change = {
    ...others,
    ...(snoozedUntil !== undefined && { snoozedUntil: snoozeDay(snoozedUntil) }),
  };
  // Where it would stand is the verdict.
  if (body.note != null && body.verdict == null && body.outcome == null)
    throw new ApiError("validation_error", "note is not valid alone: send it with verdict or outcome.");
  const { organization, actor } = place;
  if (!(await ledger.alerts.setCallAside(organization.id, entity, change, actor, nowMs))) {
    throw notFound(entity);
  }
  return {};
}

function snoozeDay(text: string | null): number | null {
  if (text === null) return null;
  const day = parseDay(text);
  if (day === undefined) {
    throw new ApiError(
      "validation_error",
      "snoozedUntil is not valid: send a date such as 2027-03-31, or null.",
    );
  }
  return day;
}

function ruleId(text: string): number {
  return idIn(text, "alert rule");
}

function todayOf({ timezone }: Organization, nowMs: number): number {
  return zoneOf(timezone).dayOf(nowMs);
}
