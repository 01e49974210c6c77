/** The scored entities of a cut-off with their outcomes: the only rows of single entities that leave the
 * engine, at most as many as a sample takes. */

import { clusterOf, isCancelingRow, type SnapshotRow } from "../churn/snapshot.ts";
import { billingOf } from "../scores/billing.ts";
import type { AccountFeatures, MemberFeatures } from "../scores/features.ts";
import type { CellRisks } from "./cell-table.ts";
import type { Population } from "./engagement-events.ts";
import { type FeatureRow, featureColumns, featuresOfRow } from "./feature-query.ts";
import { labelsOf } from "./label-query.ts";
import { accountsOfUsersQuery, membersQuery, ownAccountColumns } from "./lists/member-query.ts";
import { type Query, withParts } from "./query.ts";
import { saidOfAccountsQuery, seatsColumns } from "./seats-query.ts";
import type { SnapshotRows } from "./snapshot-rows.ts";
import { billedQuery } from "./subscription-query.ts";
import { isScoredRow, withLeft } from "./target-query.ts";
import { sampleHash } from "./trait-query.ts";
import type { TraitFacts } from "./trait-reading.ts";

/** A row of features: of an account if it has members, else of a user. */
export type LabelledRow = FeatureRow & {
  readonly label: boolean;
  readonly isInvoluntary: boolean;
  /** `sampleHash`: rows are in its order. */
  readonly hash: string;
  /** Of a user: the account of the latest events of 26 weeks that carry an account; 0 without such events. */
  readonly account?: number;
  /** By `billingFacts`. */
  readonly billing: readonly (number | null)[];
  /** Of a user with an account. */
  readonly ownAccountActive28?: number | null;
  readonly ownAccountPrevious28?: number | null;
  /** Of an account. */
  readonly seats?: number | null;
  readonly pulse?: number | null;
} & Partial<MemberFeatures>;

export interface RowsInput {
  readonly snapshot: SnapshotRows;
  readonly horizonDays: number;
  /** The entities with the lowest hashes at this cut-off. */
  readonly maxRows: number;
  /** Takes all entities seen in the window, not only entities with a churn risk. */
  readonly everyone: boolean;
  /** Takes only churned entities, with higher hashes than this. */
  readonly churnedAbove?: string;
  /** For accounts. */
  readonly memberRisks?: CellRisks;
}

const memberColumns = [
  "active28, activePrevious28, active90, topShare, meanRiskLogOdds",
  ...Object.entries(seatsColumns).map(([name, sql]) => `${sql} AS ${name}`),
].join(", ");
const userColumns = [
  "account",
  ...Object.entries(ownAccountColumns).map(([name, sql]) => `${sql} AS ${name}`),
].join(", ");

/** The rows of entities with a churn risk, in the order of `sampleHash`; without traits. */
export function rowsQuery(population: Population, input: RowsInput): Query {
  const { snapshot, horizonDays, maxRows, memberRisks, churnedAbove } = input;
  const { day: cutoffDay, users } = snapshot;
  const isOfAccounts = memberRisks !== undefined;
  const hash = sampleHash("entity");
  const { features, candidates, churned, isInvoluntary } = outcomesOf(population, input);
  return withParts(
    {
      features,
      scored: {
        sql: `SELECT * FROM features
          WHERE ${candidates.sql}
            ${churnedAbove === undefined ? "" : `AND ${churned.sql} AND ${hash} > {churnedAbove:UInt64}`}
          ORDER BY ${hash}, entity LIMIT {maxRows:UInt32}`,
        parameters: {
          ...candidates.parameters,
          maxRows,
          sampledDay: cutoffDay,
          ...(churnedAbove !== undefined && { churnedAbove: BigInt(churnedAbove) }),
        },
      },
      about: isOfAccounts ? membersQuery(users, memberRisks) : accountsOfUsersQuery(users),
      billed: billedQuery(population, cutoffDay),
      ...(isOfAccounts && { said: saidOfAccountsQuery(population, cutoffDay) }),
    },
    {
      sql: `
        SELECT entity, ${featureColumns}, billing, ${churned.sql} AS label,
          toBool(label AND ${isInvoluntary.sql}) AS isInvoluntary, toString(${hash}) AS hash,
          ${isOfAccounts ? memberColumns : userColumns}
        FROM scored LEFT JOIN about ${isOfAccounts ? "USING (entity)" : "USING (account)"}
          LEFT JOIN billed USING (entity) ${isOfAccounts ? "LEFT JOIN said USING (entity)" : ""}
        ORDER BY ${hash}, entity SETTINGS allow_simdjson = 0`,
      parameters: {
        ...churned.parameters,
        ...isInvoluntary.parameters,
        ...(isOfAccounts && { horizonDays }),
      },
    },
  );
}

type OutcomesInput = Pick<RowsInput, "snapshot" | "horizonDays" | "everyone">;

/** One row: how many entities with a churn risk there are, and how many of them churned. */
export function outcomesQuery(population: Population, input: OutcomesInput): Query {
  const { features, candidates, churned } = outcomesOf(population, input);
  return withParts(
    { features },
    {
      sql: `
        SELECT count() AS entities, countIf(${churned.sql}) AS churned
        FROM features WHERE ${candidates.sql} SETTINGS allow_simdjson = 0`,
      parameters: { ...candidates.parameters, ...churned.parameters },
    },
  );
}

/** The rows of a day, the condition of those that are taken, and whether they churned and why. */
function outcomesOf(population: Population, { snapshot, horizonDays, everyone }: OutcomesInput) {
  const { day: cutoffDay, entities } = snapshot;
  const { churned, isInvoluntary, isLabelled } = labelsOf(population, { cutoffDay, horizonDays });
  const isScored = everyone ? { sql: "n >= 0", parameters: {} } : isScoredRow(population, horizonDays);
  const candidates: Query = {
    sql: `${isScored.sql} AND ${isLabelled.sql}`,
    parameters: { ...isScored.parameters, ...isLabelled.parameters },
  };
  return { features: withLeft(population, cutoffDay, entities), candidates, churned, isInvoluntary };
}

/** A row as the models take it. @param facts of a user's traits */
export function snapshotRow(
  row: LabelledRow,
  { cutoffDay, settings }: Pick<Population, "settings"> & { readonly cutoffDay: number },
  facts: TraitFacts,
): SnapshotRow {
  const { x, t, n, label, isInvoluntary, entity, account } = row;
  const features = featuresOfRow(row, {
    ...facts,
    account: accountOf(row),
    members: membersOf(row),
    billing: billingOf(row.billing),
    ...seatsOf(row),
  });
  const cluster = clusterOf(entity, account);
  return {
    features: { ...features, cell: { x, t, n } },
    label,
    isInvoluntary,
    entity,
    cutoffDay,
    cluster,
    isCanceling: isCancelingRow(features, settings),
  };
}

/** The account of a user as it is read or stored. */
export function accountOf({
  ownAccountActive28 = null,
  ownAccountPrevious28 = null,
}: Pick<LabelledRow, "ownAccountActive28" | "ownAccountPrevious28">): AccountFeatures | null {
  if (ownAccountActive28 === null || ownAccountPrevious28 === null) return null;
  return { active28: ownAccountActive28, activePrevious28: ownAccountPrevious28 };
}

/** Seats and pulse of an account as they are read or stored; nothing of a user. */
export function seatsOf({
  seats,
  pulse,
}: Pick<LabelledRow, "seats" | "pulse">): Pick<LabelledRow, "seats" | "pulse"> {
  return { ...(seats !== undefined && { seats }), ...(pulse !== undefined && { pulse }) };
}

function membersOf(row: LabelledRow): MemberFeatures | null {
  const { active28, activePrevious28 = 0, active90 = 0, topShare = 0, meanRiskLogOdds = null } = row;
  return active28 === undefined ? null : { active28, activePrevious28, active90, topShare, meanRiskLogOdds };
}
