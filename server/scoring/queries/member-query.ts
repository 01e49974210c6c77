/** How the members of every account are doing: users whose events carry it. */
import type { Bgbb } from "../bgbb.ts";
import { bgbbLogOdds, silenceOver } from "../churn-model.ts";
import type { MemberFeatures } from "../features.ts";
import type { CellRow } from "./cell-query.ts";
import { engagementEvents, type Population, rowVolume, weightParameters } from "./engagement-events.ts";
import { featuresQuery, isScoredRow } from "./feature-query.ts";
import type { Query } from "./query.ts";

/** What `membersQuery` returns of an account. */
export type MemberRow = MemberFeatures & { readonly entity: number };

/** The log-odds of the churn risk of users with each history. */
export interface CellLogOdds {
  readonly cells: readonly number[];
  readonly logOdds: readonly number[];
}

/** One number for a cell, as the query has it too. */
const cellNumber = "n * 10000 + t * 100 + x";

/** Looks up the risk of each cell of users, by a fit to those cells. */
export function logOddsOfCells(cells: readonly CellRow[], tables: Bgbb, horizonDays: number): CellLogOdds {
  return {
    cells: cells.map(({ x, t, n }) => n * 10_000 + t * 100 + x),
    logOdds: cells.map((cell) => bgbbLogOdds(silenceOver(horizonDays, tables, cell))),
  };
}

/**
 * A `MemberRow` for each account that somebody used in the 90 days before the cut-off. The top member's share is of
 * the sum of the members' own volumes. Members without a churn risk, who have been silent for the horizon, do not
 * count in the mean risk. Placeholder horizonDays is bound by the query that this is a part of.
 */
export function membersQuery(population: Population, cutoffDay: number, risks: CellLogOdds): Query {
  const events = engagementEvents({ ...population, kind: "account" }, { daysBefore: 90 }, ["user"]);
  const { entity: _, ...everybody } = population;
  const users = featuresQuery({ ...everybody, kind: "user" }, cutoffDay);
  const sql = `
    SELECT entity,
      countIf(newest <= 28) AS active28,
      countIf(wasActivePrevious28) AS activePrevious28,
      count() AS active90,
      if(sum(volume) = 0, 0, max(volume) / sum(volume)) AS topShare,
      if(countIf(hasRisk) = 0, NULL, avgIf(logOdds, hasRisk)) AS meanRiskLogOdds
    FROM (
      SELECT entity, user, min({cutoffDay:Int32} - epochDay) AS newest,
        max({cutoffDay:Int32} - epochDay BETWEEN 29 AND 56) AS wasActivePrevious28,
        sumIf(${rowVolume}, {cutoffDay:Int32} - epochDay <= 28) AS volume
      FROM (${events.sql}) GROUP BY entity, user) AS members
    LEFT JOIN (
      SELECT entity AS user, true AS hasRisk,
        transform(${cellNumber}, {riskCells:Array(Int32)}, {riskLogOdds:Array(Float64)}, 0.) AS logOdds
      FROM (${users.sql}) WHERE ${isScoredRow}) AS risks USING (user)
    GROUP BY entity`;
  return {
    sql,
    parameters: {
      ...users.parameters,
      ...events.parameters,
      ...weightParameters(population.settings),
      riskCells: risks.cells,
      riskLogOdds: risks.logOdds,
      cutoffDay,
    },
  };
}
