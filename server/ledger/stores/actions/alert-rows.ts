/** Rows of alerts that decisions add and close, and that erasures delete. */
import { type AlertReason, ruleLimits } from "../../../../contract/alerts/rules.ts";
import type { SenderName } from "../../../../contract/sources.ts";
import { records } from "../../engine/dialect.ts";
import { deleteInParts, type Engine } from "../../engine/engine.ts";
import {
  count,
  integer,
  nullable,
  part,
  RowOf,
  real,
  run,
  select,
  sqlText,
  text,
  type Work,
  word,
} from "../../engine/sql.ts";
import type { RuleEntity } from "../../ports/actions/rule-entities.ts";
import {
  type AlertsOfCap,
  type ClosedAlert,
  type DrawnAlert,
  type GatheredAlerts,
  type GatheringMessage,
  keyOfOpenAlert,
  type OpenMoment,
  type UnsentAlert,
} from "../../ports/actions/rules.ts";
import type { EntityNumbers } from "../entity-rows.ts";
import { entityOfNumbers, numbersOf, numberTypes } from "./alert-states.ts";
import { forgetEntriesOf, tidyEntries } from "./hold-outs.ts";
import { leaveMessages } from "./sending/waiting-messages.ts";

interface OfRule {
  readonly organization: number;
  readonly rule: number;
  readonly version: number;
  readonly experiment: number;
}

const firedTypes = {
  ...numberTypes,
  day: "bigint",
  eventId: "text",
  before: "double precision",
  after: "double precision",
  reasons: "text",
  risk: "double precision",
  loss: "double precision",
  drawn: "bigint",
  arm: "text",
  controlUntil: "bigint",
  sent: "bigint",
  assignee: "bigint",
} as const;

/** Adds alerts. The alert of an event that was there before is not added again. */
export function* addAlerts(of: OfRule, fired: readonly DrawnAlert[], nowMs: number): Work<void> {
  if (fired.length === 0) return;
  const given = records(
    fired.map((alert) => ({
      ...numbersOf(alert.entity),
      day: alert.day,
      eventId: alert.eventId ?? "",
      before: alert.before,
      after: alert.after,
      reasons: JSON.stringify(alert.reasons.slice(0, ruleLimits.reasons)),
      risk: alert.risk,
      loss: alert.expectedLoss,
      drawn: alert.account,
      arm: alert.arm,
      controlUntil: alert.controlUntil,
      sent: alert.isSent ? 1 : 0,
      assignee: alert.assignee ?? null,
    })),
    firedTypes,
  );
  yield* run`
    INSERT INTO alerts (organization, rule, version, experiment, user_number, account_number, source, fired_day,
      fired_at_ms, event_id, before_value, after_value, reasons, risk, expected_loss, drawn_account, arm, control_until,
      is_sent, assignee)
    SELECT CAST(${of.organization} AS bigint), CAST(${of.rule} AS bigint), CAST(${of.version} AS bigint),
      CAST(${of.experiment} AS bigint), "user", account, source, day, CAST(${nowMs} AS bigint), "eventId", before, after,
      reasons, risk, loss, drawn, arm, "controlUntil", sent,
      (SELECT person FROM memberships WHERE memberships.organization = ${of.organization} AND person = assignee)
    FROM ${given} WHERE true ON CONFLICT DO NOTHING`;
}

interface UnsentRow extends Omit<UnsentAlert, "entity" | "eventId" | "reasons"> {
  readonly userNumber: number;
  readonly accountNumber: number;
  readonly source: SenderName | "";
  readonly eventId: string;
  readonly reasons: string;
}
const unsentRow = new RowOf<UnsentRow>({
  userNumber: integer(),
  accountNumber: integer(),
  source: word(),
  day: integer("fired_day"),
  eventId: text(),
  before: nullable(real("before_value")),
  after: nullable(real("after_value")),
  reasons: text(),
  risk: nullable(real()),
  expectedLoss: nullable(real()),
});

/** As in `findGathered`, the plus keeps SQLite from the index of rules. */
const ofCap = (organization: number, rule: number, of: AlertsOfCap) =>
  "day" in of
    ? part`organization = ${organization} AND rule = ${rule} AND fired_day = ${of.day}`
    : part`+organization = ${organization} AND +rule = ${rule} AND fired_at_ms >= ${of.sinceMs} AND event_id <> ''`;

/** Answers `RuleDecisions.sentOn`. */
export function countSent(organization: number, rule: number, of: AlertsOfCap) {
  return count`FROM alerts WHERE ${ofCap(organization, rule, of)} AND is_sent = 1`;
}

/** Answers `RuleDecisions.unsent`. */
export function* findUnsent(
  organization: number,
  rule: number,
  of: AlertsOfCap,
): Work<readonly UnsentAlert[]> {
  const rows = yield* select(unsentRow)`
    FROM alerts WHERE ${ofCap(organization, rule, of)} AND is_sent = 0
      AND closed_day IS NULL AND control_until IS NULL
    ORDER BY id`;
  return rows.map(unsentAlert);
}

function unsentAlert(row: UnsentRow): UnsentAlert {
  const { userNumber, accountNumber, source, eventId, reasons, ...alert } = row;
  return {
    ...alert,
    entity: entityOfNumbers(userNumber, accountNumber, source),
    eventId: eventId === "" ? null : eventId,
    reasons: JSON.parse(reasons) as readonly AlertReason[],
  };
}

const sinceRow = new RowOf<{ readonly sinceMs: number | null }>({
  sinceMs: nullable(integer("min(created_at_ms)")),
});

/** Answers `RuleDecisions.gathered`. The plus keeps SQLite from the index of rules: it would read all alerts
 * of two years. */
export function* findGathered(
  organization: number,
  rule: number,
  { messageId, dueAtMs }: GatheringMessage,
  without: readonly RuleEntity[],
  limit: number,
): Work<GatheredAlerts> {
  const [since] = yield* select(sinceRow)`
    FROM deliveries WHERE message_id = ${messageId} AND tries = 0
      AND destination IN (SELECT id FROM destinations WHERE organization = ${organization})
      AND (state IN ('pending', 'held') OR (state = 'canceled' AND due_at_ms = ${dueAtMs}))`;
  const sinceMs = since?.sinceMs ?? null;
  if (sinceMs === null) return { total: 0, alerts: [] };
  const given = records(without.map(numbersOf), numberTypes);
  const which = part`
    FROM alerts WHERE fired_at_ms >= ${sinceMs} AND +organization = ${organization} AND +rule = ${rule} AND event_id <> ''
      AND control_until IS NULL AND (closed_why IS NULL OR closed_why <> 'excluded')
      AND NOT EXISTS (
        SELECT 1 FROM ${given} WHERE given."user" = user_number AND given.account = account_number)`;
  const total = yield* count`${which}`;
  const rows = yield* select(unsentRow)`
    ${which} ORDER BY coalesce(expected_loss, -1) DESC, coalesce(risk, -1) DESC, id LIMIT ${limit}`;
  return { total, alerts: rows.map(unsentAlert) };
}

interface OpenMomentRow extends Pick<OpenMoment, "id" | "firedOn" | "eventId"> {
  readonly userNumber: number;
  readonly accountNumber: number;
}
const openMomentRow = new RowOf<OpenMomentRow>({
  id: integer(),
  userNumber: integer(),
  accountNumber: integer(),
  firedOn: integer("fired_day"),
  eventId: text(),
});

/** Answers `RuleDecisions.openMoments`. */
export function* findOpenMoments(
  organization: number,
  rule: number,
  after: number,
  limit: number,
): Work<readonly OpenMoment[]> {
  const rows = yield* select(openMomentRow)`
    FROM alerts WHERE organization = ${organization} AND rule = ${rule} AND closed_day IS NULL AND event_id <> ''
      AND id > ${after}
    ORDER BY id LIMIT ${limit}`;
  return rows.map(({ userNumber, accountNumber, ...moment }) => ({
    ...moment,
    entity: entityOfNumbers(userNumber, accountNumber, ""),
  }));
}

interface ToldRow {
  readonly userNumber: number;
  readonly accountNumber: number;
  readonly source: SenderName | "";
  readonly eventId: string;
}
const toldRow = new RowOf<ToldRow>({
  userNumber: integer(),
  accountNumber: integer(),
  source: word("alerts.source"),
  eventId: text(),
});

/** Answers `RuleDecisions.toldOpen`. CROSS keeps SQLite from reading all alerts of the rule. */
export function* findToldOpen(
  organization: number,
  rule: number,
  entities: readonly RuleEntity[],
): Work<readonly string[]> {
  const given = records(entities.map(numbersOf), numberTypes);
  const rows = yield* select(toldRow)`
    FROM ${given} CROSS JOIN alerts
    WHERE organization = ${organization} AND rule = ${rule} AND user_number = given."user"
      AND account_number = given.account AND alerts.source = given.source AND closed_day IS NULL AND is_sent = 1`;
  return rows.map(({ userNumber, accountNumber, source, eventId }) =>
    keyOfOpenAlert({ entity: entityOfNumbers(userNumber, accountNumber, source), eventId }),
  );
}

/** Records that open alerts were in a message. CROSS keeps SQLite from reading all alerts of the rule. */
export function* markSent(rule: number, alerts: readonly UnsentAlert[]): Work<void> {
  if (alerts.length === 0) return;
  const given = records(
    alerts.map(({ entity, day, eventId }) => ({ ...numbersOf(entity), day, eventId: eventId ?? "" })),
    { ...numberTypes, day: "bigint", eventId: "text" },
  );
  yield* run`
    UPDATE alerts SET is_sent = 1 WHERE id IN (
      SELECT alerts.id FROM ${given} CROSS JOIN alerts
      WHERE alerts.rule = ${rule} AND closed_day IS NULL AND alerts.user_number = given."user"
        AND alerts.account_number = given.account AND alerts.source = given.source AND alerts.fired_day = given.day
        AND alerts.event_id = given."eventId")`;
}

/** Closes open alerts. Excluded entities leave the messages that wait. */
export function* closeAlerts(
  organization: number,
  rule: number,
  closed: readonly ClosedAlert[],
  nowMs: number,
): Work<void> {
  if (closed.length === 0) return;
  const given = records(
    closed.map(({ entity, eventId = "", ...alert }) => ({ ...numbersOf(entity), ...alert, eventId })),
    { ...numberTypes, firedOn: "bigint", day: "bigint", why: "text", eventId: "text" },
  );
  yield* run`
    UPDATE alerts SET closed_day = given.day, closed_why = given.why, closed_at_ms = ${nowMs}
    FROM ${given} WHERE alerts.rule = ${rule} AND closed_day IS NULL AND alerts.user_number = given."user"
      AND alerts.account_number = given.account AND alerts.source = given.source AND alerts.fired_day = given."firedOn"
      AND alerts.event_id = given."eventId"`;
  for (const { entity, why } of closed) {
    if (why === "excluded") yield* leaveMessages(organization, numbersOf(entity));
  }
}

/** Deletes the alerts and states of an erased user or account, and what messages said about it. Counts of
 * hold-outs stay. */
export function* deleteAlertsOf(organization: number, entity: EntityNumbers): Work<void> {
  yield* leaveMessages(organization, entity, { isErased: true });
  yield* forgetEntriesOf(organization, entity);
  for (const table of ["alerts", "alert_states", "delivery_entities"]) {
    yield* run`
      DELETE FROM ${sqlText(table)} WHERE organization = ${organization} AND user_number = ${entity.user}
        AND account_number = ${entity.account}`;
  }
}

/** Deletes alerts that are older than they are kept. */
export async function tidyAlerts(engine: Engine, nowMs: number): Promise<void> {
  await tidyEntries(engine, nowMs);
  const uptoMs = nowMs - ruleLimits.keptDays * 86_400_000;
  await engine.alone(run`DELETE FROM alert_rule_days WHERE decided_at_ms < ${uptoMs}`);
  await deleteInParts(
    engine,
    (most) => run`
      DELETE FROM alerts WHERE id IN (
        SELECT id FROM alerts WHERE fired_at_ms < ${uptoMs} LIMIT ${most})`,
  );
}
