/** Accounts whose health is at risk, the largest first, and their total number. Controls of a hold-out are
 * counted and not listed. */

import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../../warehouse/schema/included.ts";
import type { ActivityOrder } from "../../churn/activity-order.ts";
import { activityPosition } from "./activity-order.ts";
import type { OfRun } from "./reading.ts";
import { shiftsBetween } from "./shifts.ts";
import { rowsOfRun } from "./stored-score.ts";

export interface AccountsAtRiskQuestion {
  readonly run: OfRun;
  /** The earlier run that changes are compared with. */
  readonly earlier: OfRun | undefined;
  /** The order by activity, of a run without a model. */
  readonly activityOrder?: ActivityOrder | undefined;
  /** Numbers of accounts that are counted and not listed. */
  readonly controls: readonly number[];
  /** MRR of the payers by number. If given, only payers count, and the payers with the highest MRR come
   * first. */
  readonly payers?: ReadonlyMap<number, number> | undefined;
  readonly limit: number;
}

export interface AccountAtRisk {
  /** The account's number. */
  readonly entity: number;
  readonly id: string;
  readonly label: string;
  /** Its current users, without excluded ones. */
  readonly members: number;
  /** Members who were active in the 28 days before the run's day. */
  readonly activeMembers: number;
  readonly health: number | null;
  readonly risk: number | null;
  /** The change of health since the earlier run; null when the account was not there. */
  readonly change: number | null;
}

export interface AccountsAtRisk {
  /** All accounts at risk, and their members. */
  readonly total: number;
  readonly members: number;
  /** Without controls of a hold-out. */
  readonly accounts: readonly AccountAtRisk[];
}

interface AccountRow extends AccountAtRisk {
  readonly isControl: boolean;
  /** The number of all accounts at risk, controls included, in every row. */
  readonly total: number;
  readonly allMembers: number;
}

/** Reads accounts at risk: payers by MRR, or else accounts by members, the highest first; then by churn risk,
 * or else by activity, the least active first. */
export async function accountsAtRisk(
  warehouse: Warehouse,
  { run, earlier, activityOrder, controls, payers, limit }: AccountsAtRiskQuestion,
): Promise<AccountsAtRisk> {
  const { kind: _, ...ofRun } = run;
  // Without an earlier run this version finds nothing: no rows have it.
  const { day: earlierDay, rowsVersion: earlierVersion } = earlier ?? {
    day: run.day,
    rowsVersion: noVersion,
  };
  const position = activityPosition(activityOrder);
  const rows = await warehouse.rows<AccountRow>(queryBy(position.sql, payers !== undefined), {
    ...ofRun,
    ...position.parameters,
    ...payerParameters(payers),
    earlierDay,
    earlierVersion,
    controls: [...controls],
    limit,
  });
  return {
    total: rows[0]?.total ?? 0,
    members: rows[0]?.allMembers ?? 0,
    accounts: rows.filter(({ isControl }) => !isControl),
  };
}

/** How many accounts of a run are there and have a score. @param payers only these */
export async function scoredAccounts(
  warehouse: Warehouse,
  { kind: _, ...run }: OfRun,
  payers?: ReadonlyMap<number, number>,
): Promise<number> {
  const [row] = await warehouse.rows<{ scored: number }>(
    `SELECT countIf(colour NOT IN ('churned', 'none')) AS scored FROM account_scores FINAL
     WHERE ${rowsOfRun("account")} ${payers === undefined ? "" : isPayer}`,
    { ...run, ...(payers !== undefined && { payers: [...payers.keys()] }) },
  );
  return row?.scored ?? 0;
}

const isPayer = "AND account IN {payers:Array(UInt32)}";

function payerParameters(payers: AccountsAtRiskQuestion["payers"]) {
  return payers === undefined ? {} : { payers: [...payers.keys()], mrrs: [...payers.values()] };
}

const noVersion = Number.MAX_SAFE_INTEGER;

const queryBy = (activityPosition: string, ofPayers: boolean) => `
  SELECT entity, id, label, members, activeMembers, health, risk, health - before - byRules AS change,
    toBool(entity IN {controls:Array(UInt32)}) AS isControl, count() OVER () AS total, sum(members) OVER () AS allMembers
  FROM (
    SELECT account AS entity, health, risk, active_members_28 AS activeMembers,
      ${activityPosition} AS activityPosition
    FROM (SELECT * FROM account_scores FINAL WHERE ${rowsOfRun("account")} ${ofPayers ? isPayer : ""})
    WHERE colour = 'at_risk') AS scores
  LEFT JOIN (
    SELECT account AS entity, health AS before FROM account_scores FINAL
    WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {earlierDay:Int32})
      AND version >= {earlierVersion:UInt64}) AS earlier USING (entity)
  LEFT JOIN ${shiftsBetween("account", "earlierDay", "day")} AS shifts USING (entity)
  LEFT JOIN (
    SELECT account AS entity, account_id AS id, name AS label FROM accounts FINAL
    WHERE organization = {organization:UInt32}) AS names USING (entity)
  LEFT JOIN (
    SELECT account AS entity, count() AS members FROM users FINAL
    WHERE organization = {organization:UInt32} AND account != 0 AND ${isIncluded("user")}
    GROUP BY account) AS sizes USING (entity)
  ORDER BY isControl, ${ofPayers ? "transform(entity, {payers:Array(UInt32)}, {mrrs:Array(Int64)}, toInt64(0)) DESC, " : ""}members DESC, risk DESC NULLS LAST, activityPosition DESC NULLS LAST, entity
  LIMIT {limit:UInt32}`;
