/** Rows of alerts that decisions add and close, and that erasures delete. */
import { type AlertReason, ruleLimits } from "../../../../contract/alerts/rules.ts";
import type { SenderName } from "../../../../contract/sources.ts";
import { ids, records } from "../../../ledger/dialect.ts";
import { deleteInParts, type Engine } from "../../../ledger/engine.ts";
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
} from "../../../ledger/sql.ts";
import { type EntityNumbers, keyOfEntity, type RuleEntity } from "../../../ledger/stores/entity-rows.ts";
import { forgetListed } from "../control-groups/asked-arms.ts";
import { findControlsAmong, forgetEntriesOf, tidyEntries } from "../control-groups/entries-store.ts";
import { entityOfNumbers, numbersOf, numberTypes } from "./alert-states.ts";
import {
  type AlertKey,
  type AlertsInMessages,
  type AlertsOfCap,
  type ClosedAlert,
  type DrawnAlert,
  keyOfOpenAlert,
  type MessageAlert,
  type OpenMoment,
  type UnsentAlert,
} from "./decisions.ts";
import { deleteVerdictsOf, tidyVerdicts } from "./verdicts.ts";
import { isKept } from "./which-alerts.ts";

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
const unsentColumns = {
  userNumber: integer(),
  accountNumber: integer(),
  source: word<UnsentRow["source"]>(),
  day: integer("fired_day"),
  eventId: text(),
  before: nullable(real("before_value")),
  after: nullable(real("after_value")),
  reasons: text(),
  risk: nullable(real()),
  expectedLoss: nullable(real()),
};
const unsentRow = new RowOf<UnsentRow>(unsentColumns);

/** The plus keeps SQLite from the index of rules: it would read all alerts of two years. */
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

function unsentAlert<Row extends UnsentRow>(row: Row) {
  const { userNumber, accountNumber, source, eventId, reasons, ...alert } = row;
  return {
    ...alert,
    entity: entityOfNumbers(userNumber, accountNumber, source),
    eventId: eventId === "" ? null : eventId,
    reasons: JSON.parse(reasons) as readonly AlertReason[],
  };
}

interface MessageRow extends UnsentRow, Omit<MessageAlert, keyof UnsentAlert> {
  readonly drawn: number;
}
const messageRow = new RowOf<MessageRow>({
  ...unsentColumns,
  id: integer(),
  version: integer(),
  drawn: integer("coalesce(drawn_account, account_number)"),
  closedDay: nullable(integer()),
  closedWhy: nullable(word()),
});
const namedRow = new RowOf<AlertsInMessages["rule"]>({ id: integer(), name: text() });

/** Answers `RuleDecisions.inMessages`. The pluses leave SQLite the ids. */
export function* findInMessages(
  organization: number,
  rule: number,
  wanted: readonly number[],
  today: number,
): Work<AlertsInMessages | undefined> {
  const [named] = yield* select(namedRow)`
    FROM alert_rules WHERE organization = ${organization} AND id = ${rule} AND ${isKept}`;
  if (named === undefined) return undefined;
  const rows = yield* select(messageRow)`
    FROM alerts WHERE id IN (SELECT id FROM ${ids(wanted)}) AND +organization = ${organization} AND +rule = ${rule}
      AND (closed_why IS NULL OR closed_why <> 'excluded')`;
  const among = {
    users: rows.map(({ userNumber }) => userNumber),
    accounts: rows.map(({ drawn }) => drawn),
  };
  const controls = yield* findControlsAmong(organization, { rule, day: today }, among);
  const held = {
    users: new Set(controls.flatMap(({ user }) => (user > 0 ? [user] : []))),
    accounts: new Set(controls.flatMap(({ account }) => (account > 0 ? [account] : []))),
  };
  const isNamed = (row: MessageRow) => !held.users.has(row.userNumber) && !held.accounts.has(row.drawn);
  return { rule: named, alerts: rows.filter(isNamed).map(unsentAlert) };
}

interface KeyRow extends Pick<OpenMoment, "id" | "firedOn" | "eventId"> {
  readonly userNumber: number;
  readonly accountNumber: number;
  readonly source: SenderName | "";
}
const keyRow = new RowOf<KeyRow>({
  id: integer("alerts.id"),
  userNumber: integer(),
  accountNumber: integer(),
  source: word("alerts.source"),
  firedOn: integer("fired_day"),
  eventId: text(),
});

function keyOfRow({ userNumber, accountNumber, source, ...key }: KeyRow): OpenMoment {
  return { ...key, entity: entityOfNumbers(userNumber, accountNumber, source) };
}

/** Answers `RuleDecisions.openMoments`. */
export function* findOpenMoments(
  organization: number,
  rule: number,
  after: number,
  limit: number,
): Work<readonly OpenMoment[]> {
  const rows = yield* select(keyRow)`
    FROM alerts WHERE organization = ${organization} AND rule = ${rule} AND closed_day IS NULL AND event_id <> ''
      AND id > ${after}
    ORDER BY id LIMIT ${limit}`;
  return rows.map(keyOfRow);
}

/** Answers `RuleDecisions.toldOpen`. CROSS keeps SQLite from reading all alerts of the rule. */
export function* findToldOpen(
  organization: number,
  rule: number,
  entities: readonly RuleEntity[],
): Work<readonly string[]> {
  const given = records(entities.map(numbersOf), numberTypes);
  const rows = yield* select(keyRow)`
    FROM ${given} CROSS JOIN alerts
    WHERE organization = ${organization} AND rule = ${rule} AND user_number = given."user"
      AND account_number = given.account AND alerts.source = given.source AND closed_day IS NULL AND is_sent = 1`;
  return rows.map((row) => keyOfOpenAlert(keyOfRow(row)));
}

/** Finds the ids of alerts: of two versions of a rule, that of the newer. CROSS keeps SQLite from reading all
 * alerts of the rule. */
export function* findIds(
  rule: number,
  alerts: readonly AlertKey[],
): Work<(alert: AlertKey) => number | undefined> {
  const given = records(
    alerts.map(({ entity, firedOn, eventId }) => ({ ...numbersOf(entity), firedOn, eventId })),
    { ...numberTypes, firedOn: "bigint", eventId: "text" },
  );
  const rows = yield* select(keyRow)`
    FROM ${given} CROSS JOIN alerts
    WHERE alerts.rule = ${rule} AND alerts.user_number = given."user" AND alerts.account_number = given.account
      AND alerts.source = given.source AND alerts.fired_day = given."firedOn" AND alerts.event_id = given."eventId"
    ORDER BY alerts.id`;
  const textOf = ({ entity, firedOn, eventId }: AlertKey) =>
    JSON.stringify([keyOfEntity(entity), firedOn, eventId]);
  const found = new Map(rows.map((row) => [textOf(keyOfRow(row)), row.id]));
  return (alert) => found.get(textOf(alert));
}

/** Closes open alerts. */
export function* closeAlerts(rule: number, closed: readonly ClosedAlert[], nowMs: number): Work<void> {
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
}

/** Deletes the alerts and states of an erased user or account, and its row of the call list. Counts of
 * hold-outs stay. */
export function* deleteAlertsOf(organization: number, entity: EntityNumbers): Work<void> {
  yield* forgetEntriesOf(organization, entity);
  yield* forgetListed(organization, entity);
  yield* deleteVerdictsOf(organization, entity);
  for (const table of ["calls_set_aside", "alerts", "alert_states"]) {
    yield* run`
      DELETE FROM ${sqlText(table)} WHERE organization = ${organization} AND user_number = ${entity.user}
        AND account_number = ${entity.account}`;
  }
}

/** Deletes alerts that are older than they are kept. */
export async function tidyAlerts(engine: Engine, nowMs: number): Promise<void> {
  await tidyEntries(engine, nowMs);
  await tidyVerdicts(engine, nowMs);
  const uptoMs = nowMs - ruleLimits.keptDays * 86_400_000;
  await engine.alone(run`DELETE FROM alert_rule_days WHERE decided_at_ms < ${uptoMs}`);
  await deleteInParts(
    engine,
    (most) => run`
      DELETE FROM alerts WHERE id IN (
        SELECT id FROM alerts WHERE fired_at_ms < ${uptoMs} LIMIT ${most})`,
  );
}
