/** Entities with the largest changes of health between two runs, with their activity before each of them. */
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { HealthBand } from "../../scores/health.ts";
import { nameOf } from "../names.ts";
import { type DayScore, movedConditions, type OfRun, scoresWithChange } from "./reading.ts";

export interface MoversQuestion {
  readonly run: OfRun;
  readonly earlier: OfRun;
  /** Of the largest falls and rises, only these. */
  readonly state: string | undefined;
  /** Movers of each direction, at most. */
  readonly limit: number;
}

/** The activity in the 28 days before a run. */
interface Activity {
  /** Days on which anything was done. */
  readonly activeDays28: number;
  readonly idleDays: number;
  /** For an account: members who were active; 0 for a user. */
  readonly activeMembers28: number;
  /** Whether a declared churn target is met. */
  readonly hasLeft: boolean;
}

export interface Mover {
  readonly direction: "fell" | "rose" | "returned";
  /** How many entities moved in this direction, in every row of the direction. */
  readonly total: number;
  /** The number of the user or the account. */
  readonly entity: number;
  readonly id: string;
  readonly label: string;
  /** Of a user: null without an account, and for an account itself. */
  readonly accountId: string | null;
  readonly accountName: string | null;
  readonly state: DayScore["state"];
  readonly healthBand: HealthBand;
  readonly health: number | null;
  readonly risk: number | null;
  readonly engagement: number | null;
  readonly momentum: number | null;
  /** The change of health since the earlier run. */
  readonly change: number;
  readonly now: Activity;
  readonly before: Activity;
}

type Row = Omit<Mover, "now" | "before"> &
  Activity & { readonly [Name in keyof Activity as `${Name}Before`]: Activity[Name] };

/** Reads movers, the largest change of each direction first. Entities that came back from churned are a
 * direction of their own. */
export async function moversBetween(warehouse: Warehouse, question: MoversQuestion): Promise<Mover[]> {
  const { run, earlier, state, limit } = question;
  const { sql, parameters } = scoresWithChange(run, earlier);
  const rows = await warehouse.rows<Row>(queryOf(run.kind, sql, state), {
    ...parameters,
    limit,
    ...(state !== undefined && { state }),
  });
  return rows.map(({ activeDays28Before, idleDaysBefore, activeMembers28Before, hasLeftBefore, ...row }) => {
    const { activeDays28, idleDays, activeMembers28, hasLeft, ...mover } = row;
    return {
      ...mover,
      now: { activeDays28, idleDays, activeMembers28, hasLeft },
      before: {
        activeDays28: activeDays28Before,
        idleDays: idleDaysBefore,
        activeMembers28: activeMembers28Before,
        hasLeft: hasLeftBefore,
      },
    };
  });
}

function queryOf(kind: OfRun["kind"], scores: string, state: string | undefined): string {
  const activity = (suffix: string) => `
    active_days_28 AS activeDays28${suffix}, idle_days AS idleDays${suffix}, toBool(has_left) AS hasLeft${suffix},
    ${kind === "account" ? "active_members_28" : "toUInt32(0)"} AS activeMembers28${suffix}`;
  // The health of a churned entity is 0, so the rise says nothing about its return.
  return `
    SELECT direction, total, entity, id, label, ${accountOf(kind)}, state, healthBand, health, risk, engagement, momentum, change,
      activeDays28, idleDays, hasLeft, activeMembers28,
      activeDays28Before, idleDaysBefore, hasLeftBefore, activeMembers28Before
    FROM (
      SELECT *, multiIf((${movedConditions.returned}), 'returned', change > 0, 'rose', 'fell') AS direction,
        count() OVER (PARTITION BY direction) AS total
      FROM (${scores})
      WHERE (${movedConditions.returned}) OR (healthBandBefore != 'churned' AND ifNull(change != 0, false)
        ${state === undefined ? "" : "AND state = {state:String}"})
      ORDER BY direction, abs(change) DESC, entity
      LIMIT {limit:UInt32} BY direction) AS moved
    INNER JOIN (SELECT ${kind} AS entity, ${activity("")} FROM ${kind}_scores FINAL
      WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {day:Int32})
        AND version >= {rowsVersion:UInt64}) AS now USING (entity)
    INNER JOIN (SELECT ${kind} AS entity, ${activity("Before")} FROM ${kind}_scores FINAL
      WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {earlierDay:Int32})
        AND version >= {earlierVersion:UInt64}) AS before USING (entity)
    LEFT JOIN (${nameOf(kind)}) AS names USING (entity)
    ${kind === "user" ? ofAccount : ""}
    ORDER BY direction, abs(change) DESC, entity SETTINGS allow_simdjson = 0`;
}

function accountOf(kind: OfRun["kind"]): string {
  return kind === "user"
    ? "nullIf(account_id, '') AS accountId, if(accountId IS NULL, NULL, account_name) AS accountName"
    : "CAST(NULL AS Nullable(String)) AS accountId, CAST(NULL AS Nullable(String)) AS accountName";
}

const ofAccount = `
  LEFT JOIN (
    SELECT user AS entity, account_id, account_name
    FROM (SELECT user, account FROM users FINAL WHERE organization = {organization:UInt32}) AS members
    INNER JOIN (SELECT account, account_id, name AS account_name FROM accounts FINAL
      WHERE organization = {organization:UInt32}) AS named USING (account)) AS accounts_of_users USING (entity)`;
