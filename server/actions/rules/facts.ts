/** The figures, reasons and draws of alerts. Figures are from the rows of scores of their day. */
import type { AlertReason } from "../../../contract/actions/rules.ts";
import type { FiredAlert, Organization, RuleVersion } from "../../ledger/ledger.ts";
import type { EntityKind, RunBody, ScoreRecord } from "../../scoring/scoring.ts";
import { dayParameter, type Warehouse } from "../../warehouse/warehouse.ts";
import { conditionSql, type DailyCondition, isOfScores, isOfSegment } from "./conditions.ts";
import { exemptOf, type SegmentParts } from "./segments.ts";

type Run = ScoreRecord<RunBody>;

export interface AlertFacts {
  /** The value of the run that is compared with, and that of the day. */
  readonly before: number | null;
  readonly after: number | null;
  readonly risk: number | null;
  readonly reasons: readonly AlertReason[];
}

export interface FactsQuestion {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly condition: DailyCondition;
  readonly run: Run;
  /** The run that is compared with; undefined without one. */
  readonly before: Run | undefined;
  readonly entities: readonly number[];
}

interface FactsRow extends Omit<AlertFacts, "reasons"> {
  readonly entity: number;
  readonly state: string;
  readonly health: number | null;
  readonly idleDays: number;
  readonly activeDays28: number;
  readonly activeDaysPrevious28: number;
}

/** The facts of entities with a row of the run. @throws WarehouseError */
export async function factsOf(
  warehouse: Warehouse,
  question: FactsQuestion,
): Promise<ReadonlyMap<number, AlertFacts>> {
  const { organization, kind, condition, run, before, entities } = question;
  if (entities.length === 0) return new Map();
  const { value, parameters } =
    isOfScores(condition) && !isOfSegment(condition)
      ? conditionSql(condition)
      : { value: "CAST(NULL AS Nullable(Float64))", parameters: {} };
  const rows = await warehouse.rows<FactsRow>(
    `SELECT entity, state, risk, health, idleDays, activeDays28, activeDaysPrevious28, after, before
     FROM (
       SELECT ${kind} AS entity, state, risk, health, idle_days AS idleDays, active_days_28 AS activeDays28,
         active_days_previous_28 AS activeDaysPrevious28, ${value} AS after
       FROM (SELECT *, volume_28 AS volume28 FROM ${kind}_scores FINAL WHERE ${ofRun("day", "rowsVersion", kind)})) AS now
     LEFT JOIN (
       SELECT ${kind} AS entity, ${value} AS before
       FROM (SELECT *, volume_28 AS volume28 FROM ${kind}_scores FINAL
         WHERE ${ofRun("beforeDay", "beforeVersion", kind)})) AS earlier USING (entity)
     SETTINGS join_use_nulls = 1`,
    {
      ...{ ...parameters, organization, entities },
      ...{ day: run.day, rowsVersion: run.body.rowsVersion },
      ...{ beforeDay: before?.day ?? -1, beforeVersion: before?.body.rowsVersion ?? 0 },
    },
  );
  return new Map(
    rows.map((row) => {
      const { entity, before: earlier, after, risk } = row;
      const facts = { before: before === undefined ? null : earlier, after, risk };
      return [entity, { ...facts, reasons: reasonsOf(condition, row) }];
    }),
  );
}

/** The stores that the figures of firing entities are read from. */
export interface FiringParts extends SegmentParts {
  /** MRR now by number, in minor units of the organization's currency. Entities without revenue are left out. */
  readonly mrrOf: (
    organization: Organization,
    kind: EntityKind,
    entities: readonly number[],
  ) => Promise<ReadonlyMap<number, number>>;
}

/** The entities that fire. */
interface Firing {
  readonly kind: EntityKind;
  readonly entities: readonly number[];
  /** Of those with a row of scores. */
  readonly facts: ReadonlyMap<number, AlertFacts>;
}

type FiringFigures = Pick<FiredAlert, "risk" | "account" | "expectedLoss" | "isExempt">;

/** The unit that an alert draws in the hold-out, and its importance, for daily conditions and moments alike. Reads accounts, MRR and exemptions of entities that fire. The account of a user is that of now, and its MRR counts for the exemption.
 * @returns a function of an entity's number @throws WarehouseError, and ApiError when the exempt segment is not there */
export async function firingFigures(
  parts: FiringParts,
  organization: Organization,
  exemptions: RuleVersion["exemptions"],
  { kind, entities, facts }: Firing,
): Promise<(entity: number) => FiringFigures> {
  const accounts =
    kind === "account"
      ? new Map(entities.map((entity) => [entity, entity]))
      : await accountsOf(parts.warehouse, organization.id, entities);
  const own = await parts.mrrOf(organization, kind, entities);
  const ofAccounts =
    kind === "account" ? own : await parts.mrrOf(organization, "account", [...new Set(accounts.values())]);
  const isExempt = await exemptOf(parts, organization, exemptions, entities);
  return (entity) => {
    const { risk = null } = facts.get(entity) ?? {};
    const account = accounts.get(entity) ?? null;
    const mrr = own.get(entity);
    const mrrOfAccount = account === null ? undefined : ofAccounts.get(account);
    return {
      ...{ risk, account },
      expectedLoss: mrr === undefined || risk === null ? null : risk * mrr,
      isExempt: isExempt(entity, mrrOfAccount ?? mrr),
    };
  };
}

/** The accounts of users that have one. */
async function accountsOf(
  warehouse: Warehouse,
  organization: number,
  users: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (users.length === 0) return new Map();
  const rows = await warehouse.rows<{ user: number; account: number }>(
    `SELECT user, account FROM users FINAL
     WHERE organization = {organization:UInt32} AND user IN {users:Array(UInt32)} AND account != 0`,
    { organization, users },
  );
  return new Map(rows.map(({ user, account }) => [user, account]));
}

function ofRun(day: string, version: string, kind: EntityKind): string {
  return `organization = {organization:UInt32} AND day = ${dayParameter(day)} AND version >= {${version}:UInt64}
    AND ${kind} IN {entities:Array(UInt32)}`;
}

/** The condition's figure first, then the use. */
function reasonsOf(condition: DailyCondition, row: FactsRow): AlertReason[] {
  const { idleDays, activeDays28, activeDaysPrevious28 } = row;
  const activity: AlertReason = {
    text: `Active on ${days(activeDays28)} of 28, was ${activeDaysPrevious28}`,
    values: { activeDays28, activeDaysPrevious28 },
  };
  const idle: AlertReason = { text: `Silent for ${days(idleDays)}`, values: { idleDays } };
  return [...figureOf(condition, row), activity, ...(idleDays > 1 ? [idle] : [])];
}

function figureOf(condition: DailyCondition, { before, after, risk }: FactsRow): AlertReason[] {
  switch (condition.kind) {
    case "riskBand":
    case "riskUp":
      return [{ text: `Churn risk ${compared(percent(after), percent(before))}`, values: { before, after } }];
    case "healthBelow":
    case "healthDown":
      return [{ text: `Health ${compared(rounded(after), rounded(before))}`, values: { before, after } }];
    case "usageDown":
      return [
        { text: `Volume of 28 days ${compared(rounded(after), rounded(before))}`, values: { before, after } },
      ];
    case "keyEventUnseen":
      return [
        {
          text: `${condition.event} not done for ${days(condition.days)}`,
          values: { event: condition.event, days: condition.days },
        },
      ];
    case "inSegment":
      return [{ text: `In the segment ${condition.of.name}`, values: { segment: condition.segment } }];
    case "state":
      return [{ text: `State ${condition.state}`, values: { state: condition.state, risk } }];
    default:
      return [];
  }
}

function compared(now: string, before: string): string {
  return before === "unknown" ? now : `${now}, was ${before}`;
}

const percent = (share: number | null) => (share === null ? "unknown" : `${Math.round(100 * share)} %`);
const rounded = (value: number | null) => (value === null ? "unknown" : String(Math.round(value)));
const days = (count: number) => (count === 1 ? "1 day" : `${count} days`);
