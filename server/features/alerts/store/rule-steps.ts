/** Runs the steps of alert rules: tasks, and further messages, while an alert is open. A step and what says
 * that it ran are one commit, so that it runs once. */
import { createHash } from "node:crypto";
import { type RuleStep, ruleLimits } from "../../../../contract/alerts/rules.ts";
import { serviceItself } from "../../../ledger/audit.ts";
import type { AuditLog } from "../../../ledger/audit-log.ts";
import { forUpdate, records } from "../../../ledger/dialect.ts";
import type { Engine } from "../../../ledger/engine.ts";
import {
  integer,
  json,
  nullable,
  RowOf,
  real,
  run,
  select,
  text,
  type Work,
  word,
} from "../../../ledger/sql.ts";
import type { EntityNumbers } from "../../../ledger/stores/entity-rows.ts";
import { lockOrganization } from "../../../ledger/stores/organization-rows.ts";
import type { TableTypes } from "../../../ledger/tables.ts";
import { addDeliveries, type NewDelivery } from "../../../sending/delivery-store.ts";
import { addTasksOfRule } from "../../notes-and-tasks/tasks.ts";
import { isKept } from "./which-alerts.ts";

/** A step as it is stored. */
export interface StoredStep extends RuleStep {
  /** It runs for alerts for which it is due on this day or later: one that is added today does not make up
   * for the past. */
  readonly sinceDay: number;
}

/** A row says that a step ran for an alert. The other table says up to where a rule's steps were looked
 * for. */
export function stepTables({ integer: int, text: words, keyed }: TableTypes): string {
  return `
  CREATE TABLE alert_steps (
    alert ${int} NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
    kind ${words} NOT NULL,
    after_days ${int} NOT NULL,
    organization ${int} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    ran_at_ms ${int} NOT NULL,
    PRIMARY KEY (alert, kind, after_days)
  )${keyed};
  CREATE INDEX alert_steps_in_time ON alert_steps (organization, ran_at_ms);
  CREATE TABLE alert_rule_steps (
    rule ${int} PRIMARY KEY REFERENCES alert_rules (id) ON DELETE CASCADE,
    day ${int} NOT NULL,
    sequence ${int} NOT NULL
  )${keyed};
`;
}

/** Alerts whose steps run in one commit. */
const alertsTogether = 100;

/** The clock of an organization. */
export interface StepClock {
  readonly today: number;
  readonly nowMs: number;
  readonly nextMorningMs: number;
}

/** What a commit did. */
export interface StepsRun {
  /** The last alert that was looked at, where to go on. Null: all steps of the rule ran. */
  readonly after: number | null;
  /** Tasks that were not added, because there are as many as there may be. The next day tries again. */
  readonly refusedTasks: number;
}

/** A message that a step sent about an open alert. */
export interface StepMessage extends EntityNumbers {
  readonly id: number;
  readonly rule: { readonly id: number; readonly name: string };
  readonly atMs: number;
}

const messageRow = new RowOf<
  Omit<StepMessage, "rule"> & { readonly ruleId: number; readonly ruleName: string }
>({
  id: integer("alert * 1000 + after_days"),
  user: integer("user_number"),
  account: integer("account_number"),
  ruleId: integer("alert_rules.id"),
  ruleName: text("alert_rules.name"),
  atMs: integer("ran_at_ms"),
});
const dueRow = new RowOf<{ readonly rule: number }>({ rule: integer("alert_rules.id") });
interface RuleOfSteps {
  readonly name: string;
  readonly sequence: number;
  readonly settings: {
    readonly steps?: readonly StoredStep[];
    readonly cap: number;
    readonly when: string;
  };
}
const ruleRow = new RowOf<RuleOfSteps>({
  name: word("alert_rules.name"),
  sequence: integer("alert_rules.sequence"),
  settings: json(),
});
interface OpenAlert {
  readonly id: number;
  readonly user: number;
  readonly account: number;
  readonly assignee: number | null;
  readonly expectedLoss: number | null;
  readonly risk: number | null;
}
const openRow = new RowOf<OpenAlert>({
  id: integer("alerts.id"),
  user: integer("user_number"),
  account: integer("account_number"),
  assignee: nullable(integer()),
  expectedLoss: nullable(real()),
  risk: nullable(real()),
});
const destinationRow = new RowOf<{ readonly id: number; readonly kind: string }>({
  id: integer("destinations.id"),
  kind: word("destinations.kind"),
});

/** The store of steps. */
export function ruleSteps(engine: Engine) {
  return {
    /** Rules whose steps were not looked for since their last decision or change, or not today.
     * @param today in the organization's timezone */
    due: (organization: number, today: number): Promise<readonly number[]> =>
      engine.alone(
        (function* () {
          const rows = yield* select(dueRow)`
            FROM alert_rules LEFT JOIN alert_rule_steps ON alert_rule_steps.rule = alert_rules.id
            WHERE alert_rules.organization = ${organization} AND is_paused = 0 AND ${isKept}
              AND settings LIKE '%"steps":[{%'
              AND (day IS NULL OR day <> ${today} OR alert_rule_steps.sequence <> alert_rules.sequence)
            ORDER BY alert_rules.id`;
          return rows.map(({ rule }) => rule);
        })(),
      ),

    /** Messages of steps since an instant, in the order of their ids. Each counts as a touch of its user or
     * account. @param after only of higher ids */
    messagesSince: (
      organization: number,
      sinceMs: number,
      after: number,
      limit: number,
    ): Promise<readonly StepMessage[]> =>
      engine.alone(
        (function* () {
          const rows = yield* select(messageRow)`
            FROM alert_steps JOIN alerts ON alerts.id = alert_steps.alert JOIN alert_rules ON alert_rules.id = alerts.rule
            WHERE alert_steps.organization = ${organization} AND ran_at_ms >= ${sinceMs} AND kind = 'message' AND ${isKept}
              AND alert * 1000 + after_days > ${after}
            ORDER BY alert * 1000 + after_days LIMIT ${limit}`;
          return rows.map(({ ruleId, ruleName, ...row }) => ({
            ...row,
            rule: { id: ruleId, name: ruleName },
          }));
        })(),
      ),

    /** Runs the steps that are due, of at most so many alerts. @param after only alerts with higher ids
     * @throws Refusal when another node leads */
    run: async (organization: number, rule: number, after: number, clock: StepClock): Promise<StepsRun> => {
      const nowMs = await engine.sharedNowMs(clock.nowMs);
      return engine.leadingTransaction((audit) =>
        runSteps(audit, { organization, rule, after }, { ...clock, nowMs }),
      );
    },
  };
}

export type RuleSteps = ReturnType<typeof ruleSteps>;

interface Asked {
  readonly organization: number;
  readonly rule: number;
  readonly after: number;
}

function* runSteps(audit: AuditLog, { organization, rule, after }: Asked, clock: StepClock): Work<StepsRun> {
  yield* lockOrganization(organization);
  const [found] = yield* select(ruleRow)`
    FROM alert_rules WHERE organization = ${organization} AND id = ${rule} AND is_paused = 0 AND ${isKept} ${forUpdate}`;
  if (found === undefined) return { after: null, refusedTasks: 0 };
  const groups = Map.groupBy(found.settings.steps ?? [], ({ kind, afterDays }) => `${kind} ${afterDays}`);
  let last = after;
  let isMore = false;
  let refusedTasks = 0;
  for (const steps of groups.values()) {
    const [first] = steps as [StoredStep];
    const alerts = yield* waiting({ organization, rule, after }, first, clock.today);
    isMore ||= alerts.length === alertsTogether;
    last = Math.max(last, alerts.at(-1)?.id ?? after);
    const ran =
      first.kind === "task"
        ? yield* addTasks(audit, organization, alerts, steps, clock)
        : yield* sendAgain({ organization, rule, found }, alerts, first, clock);
    refusedTasks += alerts.length - ran.length;
    yield* keepRun(organization, ran, first, clock.nowMs);
  }
  if (isMore) return { after: last, refusedTasks };
  yield* run`
    INSERT INTO alert_rule_steps (rule, day, sequence) VALUES (${rule}, ${clock.today}, ${found.sequence})
    ON CONFLICT (rule) DO UPDATE SET day = excluded.day, sequence = excluded.sequence`;
  return { after: null, refusedTasks };
}

/** Open alerts for which a step is due and did not run. Those of controls are left out. */
function waiting(
  { organization, rule, after }: Asked,
  { kind, afterDays, sinceDay }: StoredStep,
  today: number,
) {
  return select(openRow)`
    FROM alerts WHERE organization = ${organization} AND rule = ${rule} AND closed_day IS NULL AND verdict IS NULL
      AND control_until IS NULL AND fired_day BETWEEN ${sinceDay - afterDays} AND ${today - afterDays}
      AND alerts.id > ${after} AND NOT EXISTS (
        SELECT 1 FROM alert_steps WHERE alert = alerts.id AND kind = ${kind} AND after_days = ${afterDays})
    ORDER BY alerts.id LIMIT ${alertsTogether}`;
}

/** Adds the tasks of a day for alerts. @returns the alerts that have all of them */
function* addTasks(
  audit: AuditLog,
  organization: number,
  alerts: readonly OpenAlert[],
  steps: readonly StoredStep[],
  { today, nowMs }: StepClock,
): Work<readonly OpenAlert[]> {
  const done: OpenAlert[] = [];
  for (const alert of alerts) {
    const { user, account, assignee: owner } = alert;
    const tasks = steps.map(({ title, dueDays, assignee }) => ({
      title: title ?? "",
      dueDay: dueDays === null ? null : today + dueDays,
      assignee: assignee ?? owner,
    }));
    if (yield* addTasksOfRule(audit, organization, { user, account }, tasks, serviceItself, nowMs))
      done.push(alert);
  }
  return done;
}

/** Adds messages about alerts that are still open: one for each to webhooks, and one for all to Slack and by
 * e-mail. */
function* sendAgain(
  {
    organization,
    rule,
    found,
  }: { readonly organization: number; readonly rule: number; readonly found: RuleOfSteps },
  alerts: readonly OpenAlert[],
  { afterDays }: StoredStep,
  { nowMs, nextMorningMs }: StepClock,
): Work<readonly OpenAlert[]> {
  const { cap, when } = found.settings;
  if (alerts.length === 0) return [];
  const destinations = yield* select(destinationRow)`
    FROM alert_rule_destinations JOIN destinations ON destinations.id = alert_rule_destinations.destination
    WHERE rule = ${rule} ORDER BY destinations.id`;
  const sent = alerts.toSorted(byWorth).slice(0, cap);
  const about = { rule, cap, openForDays: afterDays };
  const added = destinations.flatMap(({ id: destination, kind }): readonly NewDelivery[] => {
    const delivery = (ids: readonly number[], total: number, dueAtMs: number): NewDelivery => ({
      destination,
      message: { messageId: messageIdOf(rule, afterDays, ids), type: "alert.fired", body: "" },
      about: { ...about, alerts: ids, total },
      dueAtMs,
    });
    if (kind === "webhook") return sent.map(({ id }) => delivery([id], 1, nowMs));
    const ids = sent.map(({ id }) => id);
    return ids.length === 0 ? [] : [delivery(ids, alerts.length, when === "at once" ? nowMs : nextMorningMs)];
  });
  yield* addDeliveries(organization, added, nowMs);
  return alerts;
}

/** By expected loss, then by risk, the highest first. */
function byWorth(a: OpenAlert, b: OpenAlert): number {
  return (b.expectedLoss ?? -1) - (a.expectedLoss ?? -1) || (b.risk ?? -1) - (a.risk ?? -1) || a.id - b.id;
}

function messageIdOf(rule: number, afterDays: number, alerts: readonly number[]): string {
  const hash = createHash("sha256").update(JSON.stringify(["step", rule, afterDays, alerts]));
  return `msg_${hash.digest("hex").slice(0, 32)}`;
}

function* keepRun(
  organization: number,
  alerts: readonly OpenAlert[],
  { kind, afterDays }: StoredStep,
  nowMs: number,
): Work<void> {
  if (alerts.length === 0) return;
  const given = records(
    alerts.map(({ id }) => ({ alert: id })),
    { alert: "bigint" },
  );
  yield* run`
    INSERT INTO alert_steps (alert, kind, after_days, organization, ran_at_ms)
    SELECT alert, ${kind}, CAST(${afterDays} AS bigint), CAST(${organization} AS bigint), CAST(${nowMs} AS bigint)
    FROM ${given} WHERE true ON CONFLICT DO NOTHING`;
}

/** The steps of a change as they are stored: a step that was there before keeps its first day. */
export function storedSteps(
  steps: readonly RuleStep[],
  before: readonly StoredStep[],
  today: number,
): readonly StoredStep[] {
  return steps.map((step) => {
    const known = before.find(({ kind, afterDays }) => kind === step.kind && afterDays === step.afterDays);
    return { ...step, sinceDay: known?.sinceDay ?? today };
  });
}

/** Without what only the store needs. */
export function stepsIn(stored: readonly StoredStep[] = []): readonly RuleStep[] {
  return stored.map(({ sinceDay: _, ...step }) => step).slice(0, ruleLimits.steps);
}
