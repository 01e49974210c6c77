/** The scored entities of a cut-off with their outcomes: the only rows of single entities that leave the engine, at
 * most as many as a sample takes. */

import { clusterOf, type SnapshotRow } from "../churn/snapshot.ts";
import { daysPerPeriod, type MemberFeatures, windowPeriods } from "../scores/features.ts";
import { engagementEvents, type Population } from "./engagement-events.ts";
import { type FeatureRow, featuresOfRow, featuresQuery, isScoredRow } from "./feature-query.ts";
import { horizonQuery } from "./label-query.ts";
import { type CellLogOdds, membersQuery } from "./lists/member-query.ts";
import { type Query, withParts } from "./query.ts";

/** A row with members is an account's, one without is a user's. */
export type LabelledRow = FeatureRow & {
  readonly label: boolean;
  /** Of the entity's number: rows are in its order. */
  readonly hash: string;
} & Partial<MemberFeatures>;

/** Of a user. */
export interface TraitsRow {
  readonly entity: number;
  readonly traits: readonly (readonly [name: string, value: string])[];
}

export interface RowsInput {
  readonly cutoffDay: number;
  readonly horizonDays: number;
  /** The entities whose numbers have the lowest hashes, so the same ones at every cut-off. */
  readonly maxRows: number;
  /** All entities seen in the window, instead of only active and new ones. */
  readonly everyone: boolean;
  /** For accounts. */
  readonly memberRisks?: CellLogOdds;
}

/** The rows of the active and the new, in the order of a hash of their numbers; without traits. */
export function rowsQuery(population: Population, input: RowsInput): Query {
  const { cutoffDay, horizonDays, maxRows, everyone, memberRisks } = input;
  const isOfAccounts = memberRisks !== undefined;
  return withParts(
    {
      features: featuresQuery(population, cutoffDay),
      horizon: horizonQuery(population),
      scored: {
        sql: `SELECT * FROM features WHERE ${everyone ? "n >= 0" : isScoredRow}
          ORDER BY cityHash64(entity), entity LIMIT {maxRows:UInt32}`,
        parameters: { horizonDays, maxRows },
      },
      ...(isOfAccounts && { members: membersQuery(population, cutoffDay, memberRisks) }),
    },
    {
      sql: `
        SELECT entity, scored.* EXCEPT (entity), toBool(NOT wasThere OR leftAgain) AS label, toString(cityHash64(entity)) AS hash
          ${isOfAccounts ? ", active28, activePrevious28, active90, topShare, meanRiskLogOdds" : ""}
        FROM scored LEFT JOIN horizon USING (entity) ${isOfAccounts ? "LEFT JOIN members USING (entity)" : ""}
        ORDER BY cityHash64(entity), entity`,
      parameters: {},
    },
  );
}

/** Rows (entity, account) of users whose number has at most this hash: the account of their latest events of the 26
 * weeks before the cut-off, where these carry one. */
export function accountsQuery(population: Population, cutoffDay: number, hashUpTo: string): Query {
  const events = engagementEvents(population, { daysBefore: daysPerPeriod * windowPeriods });
  return {
    sql: `
      SELECT entity, argMax(events.account, (epochDay, events.account)) AS account FROM (${events.sql}) AS events
      WHERE events.account != 0 AND cityHash64(entity) <= {hashUpTo:UInt64} GROUP BY entity`,
    parameters: { ...events.parameters, cutoffDay, hashUpTo: BigInt(hashUpTo) },
  };
}

/** Facts about an entity beside its own events. */
interface About {
  readonly traits: Readonly<Record<string, string>>;
  /** Of a user. */
  readonly account: number | undefined;
}

/** A row as the models take it. */
export function snapshotRow(row: LabelledRow, cutoffDay: number, { traits, account }: About): SnapshotRow {
  const { x, t, n, label, entity } = row;
  const features = featuresOfRow(row, { traits, members: membersOf(row) });
  const cluster = clusterOf(entity, account);
  return { features: { ...features, cell: { x, t, n } }, label, entity, cutoffDay, cluster };
}

function membersOf(row: LabelledRow): MemberFeatures | null {
  const { active28, activePrevious28 = 0, active90 = 0, topShare = 0, meanRiskLogOdds = null } = row;
  return active28 === undefined ? null : { active28, activePrevious28, active90, topShare, meanRiskLogOdds };
}
