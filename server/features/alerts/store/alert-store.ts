/** Stores alerts as team members work with them. */

import type { AlertReason } from "../../../../contract/alerts/rules.ts";
import type { SenderName } from "../../../../contract/sources.ts";
import type { Actor } from "../../../ledger/audit.ts";
import type { AuditLog } from "../../../ledger/audit-log.ts";
import { ids, onSqlite } from "../../../ledger/dialect.ts";
import type { Engine } from "../../../ledger/engine.ts";
import {
  count,
  exists,
  type Fragment,
  flag,
  integer,
  nullable,
  part,
  RowOf,
  real,
  run,
  select,
  text,
  type Work,
  word,
} from "../../../ledger/sql.ts";
import {
  type EntitiesByNumber,
  type EntityOfRow,
  type EntityRef,
  entityColumns,
  entityOf,
  isAmongEach,
  isOfEntity,
  lockEntity,
  namedEntity,
  namedPerson,
  refuseStranger,
} from "../../../ledger/stores/entity-rows.ts";
import { lockKnownOrganization, lockOrganization } from "../../../ledger/stores/organization-rows.ts";
import { findControls } from "../control-groups/entries-store.ts";
import { entityOfNumbers } from "./alert-states.ts";
import {
  type Alert,
  type AlertChange,
  type AlertFilter,
  type AlertQuestion,
  type AlertWeight,
  alertNote,
  type CallChange,
  type Control,
  callNote,
  type FiredQuestion,
  type FiredRecord,
  type OpenSpan,
  type WorkOnCall,
  wordsOf,
} from "./alerts.ts";
import { findVerdicts, type GivenVerdict, keepVerdict } from "./verdicts.ts";
import { deletedRules, isNamed, isNoControl, isOpen, ofKeptRule } from "./which-alerts.ts";

interface AlertRow
  extends EntityOfRow,
    Omit<Alert, "rule" | "entity" | "eventId" | "reasons" | "assignee" | "verdictBy"> {
  readonly ruleId: number;
  readonly ruleName: string;
  readonly source: SenderName | "";
  readonly eventId: string;
  readonly reasons: string;
  readonly assigneeId: number | null;
  readonly assigneeName: string | null;
  readonly judgeId: number | null;
  readonly judge: string | null;
}

const alertRow = new RowOf<AlertRow>({
  ...entityColumns,
  id: integer("alerts.id"),
  ruleId: integer("alerts.rule"),
  ruleName: text("alert_rules.name"),
  version: integer("alerts.version"),
  source: word("alerts.source"),
  firedDay: integer(),
  firedAtMs: integer(),
  eventId: text(),
  before: nullable(real("before_value")),
  after: nullable(real("after_value")),
  reasons: text(),
  risk: nullable(real()),
  expectedLoss: nullable(real()),
  arm: nullable(word()),
  controlUntil: nullable(integer()),
  isSent: flag(),
  closedDay: nullable(integer()),
  closedWhy: nullable(word()),
  assigneeId: nullable(integer("assigned.id")),
  assigneeName: nullable(text("assigned.name")),
  snoozedUntil: nullable(integer()),
  verdict: nullable(word()),
  outcome: nullable(word("alerts.outcome")),
  judgeId: nullable(integer("judges.id")),
  judge: nullable(text("judges.name")),
  verdictAtMs: nullable(integer()),
  note: nullable(text("alerts.note")),
});
const joined = part`FROM alerts JOIN alert_rules ON alert_rules.id = alerts.rule ${entityOf("alerts")}
  LEFT JOIN people AS assigned ON assigned.id = alerts.assignee
  LEFT JOIN people AS judges ON judges.id = alerts.verdict_by`;

const dayRow = new RowOf<{ readonly rule: number; readonly day: number; readonly alerts: number }>({
  rule: integer(),
  day: integer("fired_day"),
  alerts: integer("count(*)"),
});

/** The store of alerts. Controls are in no list before their horizon is over. Every change and its entry in
 * the audit log are one commit. */
export function alertStore(engine: Engine) {
  return {
    /** The highest expected loss first, then the highest risk, then the newest. */
    list: (
      organization: number,
      question: AlertQuestion,
    ): Promise<{ readonly total: number; readonly alerts: readonly Alert[] }> =>
      listAlerts(engine, organization, question),

    /** All that are asked for, in the order of their ids. @param after only ids above it */
    weights: (
      organization: number,
      filter: AlertFilter,
      after: number,
      limit: number,
    ): Promise<readonly AlertWeight[]> =>
      engine.alone(select(weightRow)`
        FROM alerts WHERE alerts.organization = ${organization} AND ${isNamed(organization, filter.today)}
          AND ${isAsked(organization, filter)} AND id > ${after}
        ORDER BY id LIMIT ${limit}`),

    /** The alerts with these ids that the filter takes, in the order of the ids. */
    withIds: (organization: number, ids: readonly number[], filter: AlertFilter): Promise<readonly Alert[]> =>
      findInOrder(engine, organization, ids, filter),

    /** All of one user or account, those of controls among them, in the order of their ids. @param after only
     * ids above it */
    ofEntity: (
      organization: number,
      entity: EntityRef,
      after: number,
      limit: number,
    ): Promise<readonly Alert[]> =>
      engine.alone(
        findAlerts(part`
          WHERE ${isOfEntity(organization, "alerts", entity)} AND ${ofKeptRule(organization)} AND alerts.id > ${after}
          ORDER BY alerts.id LIMIT ${limit}`),
      ),

    /** The alerts and the calls of some users and accounts that have a verdict since a time, or that are open
     * and snoozed. @param today in the organization's timezone */
    workedOn: (
      organization: number,
      among: EntitiesByNumber,
      sinceMs: number,
      today: number,
    ): Promise<readonly WorkOnCall[]> =>
      engine.alone(select(workRow)`
        FROM (
          SELECT user_number, account_number, snoozed_until, verdict_at_ms FROM alerts
          WHERE ${isAmongEach("alerts", organization, among)} AND ${isNamed(organization, today)}
            AND (verdict_at_ms >= ${sinceMs} OR ${isSnoozed(today)})
          UNION ALL SELECT user_number, account_number, snoozed_until, verdict_at_ms FROM calls_set_aside
          WHERE ${isAmongEach("calls_set_aside", organization, among)}
            AND (verdict_at_ms >= ${sinceMs} OR (verdict IS NULL AND snoozed_until > ${today}))) AS worked`),

    /** Verdicts about users and accounts since an instant, in the order of their ids.
     * @param after only of higher ids */
    verdicts: (
      organization: number,
      sinceMs: number,
      after: number,
      limit: number,
    ): Promise<readonly GivenVerdict[]> =>
      engine.alone(
        findVerdicts(part`
          WHERE verdicts.organization = ${organization} AND verdicts.id > ${after} AND said_at_ms >= ${sinceMs}
            AND user_number + account_number > 0
          ORDER BY verdicts.id LIMIT ${limit}`),
      ),

    /** The alerts of some users and accounts that were open at some time between two instants. Those of
     * controls are left out. @param today in the organization's timezone */
    openBetween: (
      organization: number,
      among: EntitiesByNumber,
      { fromMs, toMs, today }: { readonly fromMs: number; readonly toMs: number; readonly today: number },
    ): Promise<readonly OpenSpan[]> =>
      engine.alone(
        (function* () {
          const rows = yield* select(spanRow)`
            FROM alerts JOIN alert_rules ON alert_rules.id = alerts.rule
            WHERE ${isAmongEach("alerts", organization, among)} AND ${isNamed(organization, today)}
              AND fired_at_ms < ${toMs} AND (closed_at_ms IS NULL OR closed_at_ms >= ${fromMs})
            ORDER BY alerts.id`;
          return rows.map(({ ruleId, ruleName, ...row }) => ({
            ...row,
            rule: { id: ruleId, name: ruleName },
          }));
        })(),
      ),

    /** Sets the row of a user or an account on the call list aside, whether or not there is an alert.
     * @returns false when there is no such user or account */
    setCallAside: (
      organization: number,
      entity: EntityRef,
      change: CallChange,
      by: Actor,
      nowMs: number,
    ): Promise<boolean> =>
      engine.transaction((audit) => setCallAside(audit, { organization, entity }, change, by, nowMs)),

    /** All of an organization, in the order of their ids. @param today in its timezone @param after only ids
     * above it */
    all: (organization: number, today: number, after: number, limit: number): Promise<readonly Alert[]> =>
      engine.alone(
        findAlerts(part`
          WHERE alerts.organization = ${organization} AND ${isNamed(organization, today)} AND alerts.id > ${after}
          ORDER BY alerts.id LIMIT ${limit}`),
      ),

    /** Alerts that fired on some days, the newest first. */
    fired: (organization: number, question: FiredQuestion): Promise<readonly FiredRecord[]> =>
      engine.alone(findFired(organization, question)),

    /** How many alerts of a rule fired on a day, those of all controls among them. Days without one are left
     * out. */
    firedByDay: (
      organization: number,
      fromDay: number,
      toDay: number,
    ): Promise<readonly { readonly rule: number; readonly day: number; readonly alerts: number }[]> =>
      engine.alone(select(dayRow)`
        FROM alerts WHERE organization = ${organization} AND fired_day BETWEEN ${fromDay} AND ${toDay}
          AND ${ofKeptRule(organization)}
        GROUP BY rule, fired_day ORDER BY rule, fired_day`),

    /** The controls of today, each once. The account that was drawn for a user is one, too: its other users
     * follow it.
     * @param today in the organization's timezone */
    controls: (organization: number, today: number): Promise<readonly Control[]> =>
      engine.alone(controlsOf(organization, today)),

    /** @returns undefined when the organization has no such alert, or only of a control
     * @throws Refusal when the assignee is no team member */
    change: (
      organization: number,
      id: number,
      change: AlertChange,
      by: Actor,
      today: number,
      nowMs: number,
    ): Promise<Alert | undefined> =>
      engine.transaction((audit) => changeAlert(audit, { organization, id, today }, change, by, nowMs)),
  };
}

export type AlertStore = ReturnType<typeof alertStore>;

function* controlsOf(organization: number, today: number): Work<readonly Control[]> {
  const rows = yield* findControls(organization, today);
  const controls = new Map<string, Control>();
  const add = (kind: Control["kind"], number: number, untilDay: number) => {
    const known = controls.get(`${kind} ${number}`)?.untilDay ?? untilDay;
    if (number > 0) controls.set(`${kind} ${number}`, { kind, number, untilDay: Math.max(known, untilDay) });
  };
  for (const { user, account, untilDay } of rows) {
    add("user", user, untilDay);
    add("account", account, untilDay);
  }
  return [...controls.values()];
}

const weightRow = new RowOf<AlertWeight>({
  id: integer(),
  ofRule: integer("rule"),
  user: integer("user_number"),
  account: integer("account_number"),
  expectedLoss: nullable(real()),
  risk: nullable(real()),
});
const idRow = new RowOf<{ readonly id: number }>({ id: integer() });
const spanRow = new RowOf<Omit<OpenSpan, "rule"> & { readonly ruleId: number; readonly ruleName: string }>({
  user: integer("user_number"),
  account: integer("account_number"),
  ruleId: integer("alert_rules.id"),
  ruleName: text("alert_rules.name"),
  firedAtMs: integer("fired_at_ms"),
  closedAtMs: nullable(integer("closed_at_ms")),
});
const workRow = new RowOf<WorkOnCall>({
  user: integer("user_number"),
  account: integer("account_number"),
  snoozedUntil: nullable(integer()),
  verdictAtMs: nullable(integer()),
});

/** One page. Alerts are counted and chosen by an index that has all columns of the filter, and only those of
 * the page are joined with their users, accounts and people. The first of them are read in the same snapshot.
 * Without a deleted rule SQLite counts in half the time. */
async function listAlerts(
  engine: Engine,
  organization: number,
  { limit, offset, ...filter }: AlertQuestion,
): ReturnType<AlertStore["list"]> {
  const { joined: together } = engine.partRows;
  const { total, chosen, first } = await engine.snapshot(
    (function* () {
      const ofEntity = filter.entity !== undefined;
      const { today } = filter;
      const hasDeleted = yield* exists`${deletedRules(organization)}`;
      const named = hasDeleted ? isNamed(organization, today) : isNoControl(today);
      const which = part`FROM alerts ${ofEntity ? part`` : byWeight}
        WHERE alerts.organization = ${organization} AND ${named} AND ${isAsked(organization, filter)}`;
      const total = yield* count`${which}`;
      const shown = Math.min(limit, total - offset);
      if (shown <= 0) return { total, chosen: [], first: [] };
      const rows = yield* select(idRow)`
        ${which} ORDER BY expected_loss DESC NULLS LAST, risk DESC NULLS LAST, id DESC LIMIT ${shown} OFFSET ${offset}`;
      const chosen = rows.map(({ id }) => id);
      const first = yield* findChosen(organization, chosen.slice(0, together), filter);
      return { total, chosen, first };
    })(),
  );
  const rest = await findInOrder(engine, organization, chosen.slice(together), filter);
  return { total, alerts: [...first, ...rest] };
}

/** Without statistics SQLite chooses an index by its first columns, and would read and sort all rows of a
 * rule. */
const byWeight = onSqlite(part`INDEXED BY alerts_by_weight`);

/** Many are read in parts, so that other requests run in between. */
async function findInOrder(
  engine: Engine,
  organization: number,
  chosen: readonly number[],
  filter: AlertFilter,
): Promise<readonly Alert[]> {
  const { joined: together } = engine.partRows;
  const alerts: Alert[] = [];
  for (let at = 0; at < chosen.length; at += together) {
    await engine.nextTurn();
    const some = chosen.slice(at, at + together);
    alerts.push(...(await engine.alone(findChosen(organization, some, filter))));
  }
  return alerts;
}

function* findChosen(
  organization: number,
  chosen: readonly number[],
  filter: AlertFilter,
): Work<readonly Alert[]> {
  if (chosen.length === 0) return [];
  const found = yield* findAlerts(part`
    WHERE alerts.id IN (SELECT id FROM ${ids(chosen)}) AND +alerts.organization = ${organization}
      AND ${isNamed(organization, filter.today)} AND ${isAsked(organization, filter)}`);
  const byId = new Map(found.map((alert) => [alert.id, alert]));
  return chosen.flatMap((id) => byId.get(id) ?? []);
}

function isAsked(organization: number, { state, today, rule, entity, assignee }: AlertFilter): Fragment {
  const states: Readonly<Record<AlertQuestion["state"], Fragment>> = {
    open: isOpen(today),
    snoozed: isSnoozed(today),
    handled: part`verdict IS NOT NULL`,
    closed: part`closed_day IS NOT NULL`,
    all: part`true`,
  };
  return part`${states[state]}
    ${rule === undefined ? part`` : part`AND alerts.rule = ${rule}`}
    ${entity === undefined ? part`` : part`AND ${isOfEntity(organization, "alerts", entity)}`}
    ${assignee === undefined ? part`` : assignee === null ? part`AND assignee IS NULL` : part`AND assignee = ${assignee}`}`;
}

const isSnoozed = (today: number): Fragment =>
  part`closed_day IS NULL AND verdict IS NULL AND snoozed_until > ${today}`;

interface FiredRow extends Omit<FiredRecord, "entity"> {
  readonly userNumber: number;
  readonly accountNumber: number;
  readonly source: SenderName | "";
}
const firedRow = new RowOf<FiredRow>({
  rule: integer(),
  userNumber: integer(),
  accountNumber: integer(),
  source: word(),
  firedDay: integer(),
  closedWhy: nullable(word()),
  verdict: nullable(word()),
  verdictAtMs: nullable(integer()),
  taskAtMs: nullable(
    integer(`(SELECT min(tasks.created_at_ms) FROM tasks WHERE tasks.organization = alerts.organization
      AND tasks.user_number = alerts.user_number AND tasks.account_number = alerts.account_number
      AND tasks.created_at_ms >= alerts.fired_at_ms)`),
  ),
});

function* findFired(
  organization: number,
  { fromDay, toDay, today, rule, limit }: FiredQuestion,
): Work<readonly FiredRecord[]> {
  const rows = yield* select(firedRow)`
    FROM alerts WHERE organization = ${organization} AND fired_day BETWEEN ${fromDay} AND ${toDay} AND ${isNamed(organization, today)}
      ${rule === undefined ? part`` : part`AND rule = ${rule}`}
    ORDER BY id DESC LIMIT ${limit}`;
  return rows.map(({ userNumber, accountNumber, source, ...record }) => ({
    ...record,
    entity: entityOfNumbers(userNumber, accountNumber, source),
  }));
}

function* changeAlert(
  audit: AuditLog,
  { organization, id, today }: { readonly organization: number; readonly id: number; readonly today: number },
  change: AlertChange,
  by: Actor,
  nowMs: number,
): Work<Alert | undefined> {
  yield* lockOrganization(organization);
  const where = part`WHERE alerts.organization = ${organization} AND alerts.id = ${id} AND ${isNamed(organization, today)}`;
  const [row] = yield* select(alertRow)`${joined} ${where}`;
  if (row === undefined) return undefined;
  const before = {
    assignee: row.assigneeId,
    snoozedUntil: row.snoozedUntil,
    verdict: row.verdict,
    outcome: row.outcome,
    note: row.note,
  };
  const after = Object.assign({}, before, change, wordsOf(change, row));
  const names = Object.keys(before) as (keyof typeof before)[];
  const fields = names.filter((name) => before[name] !== after[name]);
  if (fields.length === 0) return alertOf(row);
  if (fields.includes("assignee")) yield* refuseStranger(organization, after.assignee);
  // Another outcome leaves the time at which it was handled.
  const judged = part`verdict_by = ${after.verdict === null ? null : (by.person?.id ?? null)},
    verdict_at_ms = ${after.verdict === null ? null : nowMs},`;
  yield* run`
    UPDATE alerts SET ${fields.includes("verdict") ? judged : part``} assignee = ${after.assignee},
      snoozed_until = ${after.snoozedUntil}, verdict = ${after.verdict}, outcome = ${after.outcome}, note = ${after.note}
    WHERE id = ${id}`;
  const numbers = { user: row.userNumber, account: row.accountNumber };
  if (fields.includes("verdict") || fields.includes("outcome"))
    yield* keepVerdict(organization, { ...numbers, alert: id, rule: row.ruleId }, after, by, nowMs);
  yield* audit.note(organization, alertNote(id, numbers, fields), by, nowMs);
  const [changed] = yield* findAlerts(where);
  return changed;
}

/** What team members said about the user's row of the call list. */
export interface PersonCall extends Pick<Alert, "snoozedUntil" | "verdict" | "outcome" | "verdictAtMs"> {}

/** A row of `calls_set_aside`. */
export const callRow = new RowOf<PersonCall>({
  snoozedUntil: nullable(integer()),
  verdict: nullable(word()),
  outcome: nullable(word()),
  verdictAtMs: nullable(integer()),
});

function* setCallAside(
  audit: AuditLog,
  { organization, entity }: { readonly organization: number; readonly entity: EntityRef },
  change: CallChange,
  by: Actor,
  nowMs: number,
): Work<boolean> {
  yield* lockKnownOrganization(organization);
  const numbers = yield* lockEntity(organization, entity);
  if (numbers === undefined) return false;
  const { user, account } = numbers;
  const where = part`WHERE organization = ${organization} AND user_number = ${user} AND account_number = ${account}`;
  const [stored] = yield* select(callRow)`FROM calls_set_aside ${where}`;
  const before = stored ?? { snoozedUntil: null, verdict: null, outcome: null, verdictAtMs: null };
  const { snoozedUntil = before.snoozedUntil, note = null } = change;
  const after = { snoozedUntil, ...wordsOf(change, before) };
  const names = ["snoozedUntil", "verdict", "outcome"] as const;
  // A call that is handled once more, after a horizon, has the same verdict at another time.
  const isSaid = (change.verdict ?? null) !== null || (change.outcome ?? null) !== null;
  const fields = names.filter((name) => before[name] !== after[name] || (name === "verdict" && isSaid));
  if (fields.length === 0) return true;
  const isJudged = fields.includes("verdict") || fields.includes("outcome");
  const judgedAtMs = after.verdict === null ? null : fields.includes("verdict") ? nowMs : before.verdictAtMs;
  yield* run`DELETE FROM calls_set_aside ${where}`;
  if (after.snoozedUntil !== null || after.verdict !== null) {
    yield* run`
      INSERT INTO calls_set_aside (organization, user_number, account_number, snoozed_until, verdict, outcome, verdict_at_ms)
      VALUES (${organization}, ${user}, ${account}, ${after.snoozedUntil}, ${after.verdict}, ${after.outcome}, ${judgedAtMs})`;
  }
  if (isJudged)
    yield* keepVerdict(organization, { ...numbers, alert: null, rule: null }, { ...after, note }, by, nowMs);
  yield* audit.note(organization, callNote(numbers, fields), by, nowMs);
  return true;
}

/** Leaves the open alerts of a person who is removed without an assignee, snoozed ones and those of controls
 * among them.
 * @returns how many there are */
export function* unassignAlertsOf(organization: number, person: { readonly id: number }): Work<number> {
  return yield* run`
    UPDATE alerts SET assignee = NULL
    WHERE organization = ${organization} AND assignee = ${person.id} AND closed_day IS NULL AND verdict IS NULL`;
}

/** Alerts. @param which the end of the statement, from WHERE on */
export function* findAlerts(which: Fragment): Work<readonly Alert[]> {
  return (yield* select(alertRow)`${joined} ${which}`).map(alertOf);
}

function alertOf(row: AlertRow): Alert {
  const { id, version, firedDay, firedAtMs, before, after, risk, expectedLoss, arm, controlUntil } = row;
  const { isSent, closedDay, closedWhy, snoozedUntil, verdict, outcome, verdictAtMs, note, source } = row;
  return {
    id,
    rule: { id: row.ruleId, name: row.ruleName },
    version,
    firedDay,
    firedAtMs,
    entity: source === "" ? namedEntity(row) : { kind: "source", source },
    eventId: row.eventId === "" ? null : row.eventId,
    before,
    after,
    risk,
    expectedLoss,
    reasons: JSON.parse(row.reasons) as readonly AlertReason[],
    arm,
    controlUntil,
    isSent,
    closedDay,
    closedWhy,
    snoozedUntil,
    verdict,
    outcome,
    verdictAtMs,
    note,
    assignee: namedPerson(row.assigneeId, row.assigneeName),
    verdictBy: namedPerson(row.judgeId, row.judge),
  };
}
