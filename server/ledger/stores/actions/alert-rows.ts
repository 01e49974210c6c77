/** Rows of alerts that decisions add and close, and that erasures delete. */
import { type AlertReason, ruleLimits } from "../../../../contract/actions/rules.ts";
import type { SenderName } from "../../../../contract/sources.ts";
import type { ClosedAlert, DrawnAlert, UnsentAlert } from "../../ports/actions/rules.ts";
import type { EntityNumbers } from "../../ports/actions/work.ts";
import { records } from "../engine/dialect.ts";
import { deleteInParts, type Engine } from "../engine/engine.ts";
import {
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
} from "../engine/sql.ts";
import { entityOfNumbers, numbersOf, numberTypes } from "./alert-states.ts";
import { forgetEntriesOf, tidyEntries } from "./hold-outs.ts";

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
} as const;

/** Adds alerts. The alert of an event that was there before is not added again. */
export function* addAlerts(of: OfRule, fired: readonly DrawnAlert[], nowMs: number): Work<void> {
  if (fired.length === 0) return;
  const given = records(
    fired.map((alert) => ({
      ...{ ...numbersOf(alert.entity), day: alert.day, eventId: alert.eventId ?? "", before: alert.before },
      ...{ after: alert.after, reasons: JSON.stringify(alert.reasons.slice(0, ruleLimits.reasons)) },
      ...{ risk: alert.risk, loss: alert.expectedLoss, drawn: alert.account, arm: alert.arm },
      ...{ controlUntil: alert.controlUntil, sent: alert.isSent ? 1 : 0 },
    })),
    firedTypes,
  );
  yield* run`
    INSERT INTO alerts (organization, rule, version, experiment, user_number, account_number, source, fired_day,
      fired_at_ms, event_id, before_value, after_value, reasons, risk, expected_loss, drawn_account, arm, control_until,
      is_sent)
    SELECT CAST(${of.organization} AS bigint), CAST(${of.rule} AS bigint), CAST(${of.version} AS bigint),
      CAST(${of.experiment} AS bigint), "user", account, source, day, CAST(${nowMs} AS bigint), "eventId", before, after,
      reasons, risk, loss, drawn, arm, "controlUntil", sent
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

/** Open alerts of a rule and day that were in no message, without those of controls. */
export function* findUnsent(organization: number, rule: number, day: number): Work<readonly UnsentAlert[]> {
  const rows = yield* select(unsentRow)`
    FROM alerts WHERE organization = ${organization} AND rule = ${rule} AND fired_day = ${day} AND is_sent = 0
      AND closed_day IS NULL AND control_until IS NULL
    ORDER BY id`;
  return rows.map(({ userNumber, accountNumber, source, eventId, reasons, ...alert }) => ({
    ...{ ...alert, entity: entityOfNumbers(userNumber, accountNumber, source) },
    ...{ eventId: eventId === "" ? null : eventId, reasons: JSON.parse(reasons) as readonly AlertReason[] },
  }));
}

/** Records that alerts were in a message. */
export function* markSent(rule: number, alerts: readonly UnsentAlert[]): Work<void> {
  if (alerts.length === 0) return;
  const given = records(
    alerts.map(({ entity, day, eventId }) => ({ ...numbersOf(entity), day, eventId: eventId ?? "" })),
    { ...numberTypes, day: "bigint", eventId: "text" },
  );
  yield* run`
    UPDATE alerts SET is_sent = 1
    FROM ${given} WHERE alerts.rule = ${rule} AND alerts.user_number = given."user"
      AND alerts.account_number = given.account AND alerts.source = given.source AND alerts.fired_day = given.day
      AND alerts.event_id = given."eventId"`;
}

/** Closes open alerts. Waiting messages about excluded entities are canceled. */
export function* closeAlerts(
  organization: number,
  rule: number,
  closed: readonly ClosedAlert[],
  nowMs: number,
): Work<void> {
  if (closed.length === 0) return;
  const given = records(
    closed.map(({ entity, firedOn, day, why }) => ({ ...numbersOf(entity), firedOn, day, why })),
    { ...numberTypes, firedOn: "bigint", day: "bigint", why: "text" },
  );
  yield* run`
    UPDATE alerts SET closed_day = given.day, closed_why = given.why, closed_at_ms = ${nowMs}
    FROM ${given} WHERE alerts.rule = ${rule} AND closed_day IS NULL AND alerts.user_number = given."user"
      AND alerts.account_number = given.account AND alerts.source = given.source AND alerts.fired_day = given."firedOn"
      AND alerts.event_id = ''`;
  for (const { entity, why } of closed) {
    if (why === "excluded") yield* cancelMessagesOf(organization, numbersOf(entity), false);
  }
}

/** Cancels waiting messages that name an entity. @param isErased also deletes bodies and answers of those that were sent */
function* cancelMessagesOf(
  organization: number,
  { user, account }: EntityNumbers,
  isErased: boolean,
): Work<void> {
  const named = part`id IN (
    SELECT delivery FROM delivery_entities WHERE organization = ${organization} AND user_number = ${user}
      AND account_number = ${account})`;
  if (isErased) yield* run`UPDATE deliveries SET body = '', said = NULL WHERE ${named}`;
  yield* run`UPDATE deliveries SET state = 'canceled' WHERE state IN ('pending', 'held') AND ${named}`;
}

/** Deletes the alerts and states of an erased user or account, and what messages said about it. Counts of hold-outs stay. */
export function* deleteAlertsOf(organization: number, entity: EntityNumbers): Work<void> {
  yield* cancelMessagesOf(organization, entity, true);
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
