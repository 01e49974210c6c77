/** The figures and reasons of alerts, from the rows of scores of their day. */
import type { AlertReason } from "../../../contract/actions/rules.ts";
import type { EntityKind, RunBody, ScoreRecord } from "../../scoring/scoring.ts";
import { dayParameter, type Warehouse } from "../../warehouse/warehouse.ts";
import { conditionSql, type DailyCondition, isOfScores, isOfSegment } from "./conditions.ts";

type Run = ScoreRecord<RunBody>;

export interface AlertFacts {
  /** The value of the run that is compared with, and that of the day. */
  readonly before: number | null;
  readonly after: number | null;
  readonly risk: number | null;
  /** The account itself, or that of the user. Null for a user without one. */
  readonly account: number | null;
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

interface FactsRow extends Omit<AlertFacts, "reasons" | "account"> {
  readonly entity: number;
  readonly account: number;
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
    `SELECT entity, state, risk, health, idleDays, activeDays28, activeDaysPrevious28, after, before,
       ${kind === "account" ? "entity" : "account"} AS account
     FROM (
       SELECT ${kind} AS entity, state, risk, health, idle_days AS idleDays, active_days_28 AS activeDays28,
         active_days_previous_28 AS activeDaysPrevious28, ${value} AS after
       FROM (SELECT *, volume_28 AS volume28 FROM ${kind}_scores FINAL WHERE ${ofRun("day", "rowsVersion", kind)})) AS now
     LEFT JOIN (
       SELECT ${kind} AS entity, ${value} AS before
       FROM (SELECT *, volume_28 AS volume28 FROM ${kind}_scores FINAL
         WHERE ${ofRun("beforeDay", "beforeVersion", kind)})) AS earlier USING (entity)
     ${
       kind === "account"
         ? ""
         : `LEFT JOIN (SELECT user AS entity, account FROM users FINAL
              WHERE organization = {organization:UInt32} AND user IN {entities:Array(UInt32)}) AS members USING (entity)`
     }
     SETTINGS join_use_nulls = 1`,
    {
      ...{ ...parameters, organization, entities },
      ...{ day: run.day, rowsVersion: run.body.rowsVersion },
      ...{ beforeDay: before?.day ?? -1, beforeVersion: before?.body.rowsVersion ?? 0 },
    },
  );
  return new Map(
    rows.map((row) => {
      const { entity, before: earlier, after, risk, account } = row;
      const facts = { before: before === undefined ? null : earlier, after, risk };
      return [entity, { ...facts, account: account || null, reasons: reasonsOf(condition, row) }];
    }),
  );
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
