/** How the members of every account are doing. Members are users whose events carry the account. */
import { silence } from "../../../../contract/api/churn-targets.ts";
import type { Bgbb } from "../../churn/bgbb.ts";
import { bgbbLogOdds, silenceOver } from "../../churn/churn-model.ts";
import type { EngagementScale } from "../../scores/engagement.ts";
import type { CellRow } from "../cell-query.ts";
import { engagementEvents, type Population, volumeQuery } from "../engagement-events.ts";
import { featuresQuery, historyQuery } from "../feature-query.ts";
import type { Query } from "../query.ts";
import { userEngagement } from "./user-engagement.ts";

/** The log-odds of the churn risk of users with each history. */
export interface CellLogOdds {
  readonly cells: readonly number[];
  readonly logOdds: readonly number[];
}

/** One number for a cell. */
const cellNumber = "n * 10000 + t * 100 + x";

/** Computes the risk of each cell, here and not in the engine: they are few. */
export function logOddsOfCells(cells: readonly CellRow[], tables: Bgbb, horizonDays: number): CellLogOdds {
  return {
    cells: cells.map(({ x, t, n }) => n * 10_000 + t * 100 + x),
    logOdds: cells.map((cell) => bgbbLogOdds(silenceOver(horizonDays, tables, cell))),
  };
}

/** The users of a population of accounts: all users, or one account's members of 90 days. Accounts take the silence of
 * their members, whatever the churn targets are. */
function usersOf({ entity, ...accounts }: Population): Population {
  const users = { ...accounts, kind: "user" as const, settings: { ...accounts.settings, target: silence } };
  return entity === undefined ? users : { ...users, usersIn: membersOf({ ...accounts, entity }, 90) };
}

/** Users who were active in this many days before the cut-off. */
function membersOf(population: Population, daysBefore: number): Query {
  const { sql, parameters } = engagementEvents(population, { daysBefore });
  return { sql: `SELECT user FROM (${sql})`, parameters };
}

/**
 * The mean engagement of one account's members of the 28 days before the cut-off, as a run has it; no row when there
 * are none.
 */
export function memberEngagementQuery(
  account: Population & { readonly entity: number },
  cutoffDay: number,
  scale: EngagementScale,
): Query {
  const features = featuresQuery({ ...usersOf(account), usersIn: membersOf(account, 28) }, cutoffDay);
  const { columns, parameters } = userEngagement(scale);
  return {
    sql: `
      SELECT avg(score) AS meanEngagement FROM (SELECT ${columns.engagementScore} AS score FROM (${features.sql}))
      HAVING count() > 0`,
    parameters: { ...features.parameters, ...parameters },
  };
}

/**
 * `MemberFeatures` and the number of each account with a user in the 90 days before the cut-off. The top member's
 * share is of the sum of the members' own volumes. Members without a churn risk, who have been silent for the
 * horizon, do not count in the mean risk. The outer query binds horizonDays.
 */
export function membersQuery(population: Population, cutoffDay: number, risks: CellLogOdds): Query {
  const users = historyQuery(usersOf(population), cutoffDay);
  return ofMembers(population, cutoffDay, risks, {
    users: {
      sql: `SELECT entity AS user, n >= 0 AND idleDays < {horizonDays:Int32} AS hasRisk, ${cellNumber} AS cell FROM (${users.sql})`,
      parameters: users.parameters,
    },
    more: "",
  });
}

/**
 * The same and `meanEngagement`, of the members of 28 days, from the users' scores of the same day in place of their
 * events.
 * @param usersVersion of the rows of the users' run
 */
export function scoredMembersQuery(
  population: Population,
  cutoffDay: number,
  risks: CellLogOdds,
  usersVersion: number,
): Query {
  const isKnown = "newest <= 28 AND isKnown";
  return ofMembers(population, cutoffDay, risks, {
    users: {
      sql: `
        SELECT user, n >= 0 AND idle_days < {horizonDays:Int32} AS hasRisk, ${cellNumber} AS cell,
          assumeNotNull(engagement) AS score, true AS isKnown
        FROM user_scores FINAL
        WHERE organization = {organization:UInt32} AND version = {usersVersion:UInt64}
          AND day = addDays(toDate32('1970-01-01'), {cutoffDay:Int32})`,
      parameters: { usersVersion },
    },
    more: `, if(countIf(${isKnown}) = 0, 0, avgIf(score, ${isKnown})) AS meanEngagement`,
  });
}

/** @param users rows (user, hasRisk, cell), and the columns that `more` is made of */
function ofMembers(
  population: Population,
  cutoffDay: number,
  risks: CellLogOdds,
  { users, more }: { readonly users: Query; readonly more: string },
): Query {
  const events = engagementEvents(population, { daysBefore: 90 });
  const volumes = volumeQuery(population, "entity, user");
  const sql = `
    SELECT entity,
      countIf(newest <= 28) AS active28,
      countIf(wasActivePrevious28) AS activePrevious28,
      count() AS active90,
      if(sum(volume28) = 0, 0, max(volume28) / sum(volume28)) AS topShare,
      if(countIf(hasRisk) = 0, NULL, avgIf(logOdds, hasRisk)) AS meanRiskLogOdds
      ${more}
    FROM (
      SELECT entity, user, min({cutoffDay:Int32} - epochDay) AS newest,
        max({cutoffDay:Int32} - epochDay BETWEEN 29 AND 56) AS wasActivePrevious28
      FROM (${events.sql}) GROUP BY entity, user) AS members
    LEFT JOIN (${volumes.sql}) AS volumes USING (entity, user)
    LEFT JOIN (
      SELECT *, transform(cell, {riskCells:Array(Int32)}, {riskLogOdds:Array(Float64)}, 0.) AS logOdds
      FROM (${users.sql})) AS users USING (user)
    GROUP BY entity`;
  return {
    sql,
    parameters: {
      ...users.parameters,
      ...events.parameters,
      ...volumes.parameters,
      riskCells: risks.cells,
      riskLogOdds: risks.logOdds,
      cutoffDay,
    },
  };
}
