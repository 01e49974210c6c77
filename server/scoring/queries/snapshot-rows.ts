/**
 * The rows of snapshots: as they are computed from users' days, and as they are stored. Readers take either.
 * Runs, training and back-tests read stored rows. One entity under other settings is computed anew.
 */
import { silence } from "../../../contract/api/churn-targets.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { type CarriedAccounts, carriedAccountsQuery, memberDays } from "./carried-accounts.ts";
import { type EntityKind, engagementEvents, type Population } from "./engagement-events.ts";
import { featuresQuery, type SnapshotFeatures } from "./feature-query.ts";
import type { Query } from "./query.ts";

/** The rows of one day. */
export interface SnapshotRows {
  /** T: only events before it count. */
  readonly day: number;
  /** `SnapshotFeatures` of the entities, with `CarriedAccounts` if they are users. */
  readonly entities: Query;
  /** Rows of users, from which accounts take the silence of their members. */
  readonly users: Query;
}

/** The columns of the tables, by the names that queries use. */
const commonColumns: Readonly<Record<Exclude<keyof SnapshotFeatures, "entity">, string>> = {
  idleDays: "idle_days",
  tenureDays: "tenure_days",
  activeDays28: "active_days_28",
  activeDaysPrevious28: "active_days_previous_28",
  activeDays84: "active_days_84",
  activeDaysByWeek: "active_days_by_week",
  meanGapDays: "mean_gap_days",
  gapVariability: "gap_variability",
  hasSingleActiveDay: "has_single_active_day",
  volume28: "volume_28",
  eventNames28: "event_names_28",
  eventCounts28: "event_counts_28",
  adoption: "adoption",
  keyEventIdleDays: "key_event_idle_days",
  x: "x",
  t: "t",
  n: "n",
};

const userColumns: Readonly<Record<keyof CarriedAccounts, string>> = {
  account: "account",
  accountNumbers: "`accounts.account`",
  accountIdleDays: "`accounts.idle_days`",
  accountPrevious28: "`accounts.was_active_previous_28`",
  accountVolumes28: "`accounts.volume_28`",
};

function columnsOf(kind: EntityKind): readonly (readonly [name: string, column: string])[] {
  return Object.entries(kind === "user" ? { ...commonColumns, ...userColumns } : commonColumns);
}

/** A snapshot in the warehouse. Its rows, and no others, have its version. */
export interface StoredSnapshot {
  readonly kind: EntityKind;
  readonly organization: number;
  readonly day: number;
  readonly rowsVersion: number;
}

/** The stored rows, without users who are excluded now. */
export function storedRows({ kind, organization, day, rowsVersion }: StoredSnapshot): Query {
  const [dayName, versionName] = [`${kind}SnapshotDay`, `${kind}SnapshotVersion`];
  return {
    sql: `
      SELECT ${kind} AS entity, ${columnsOf(kind)
        .map(([name, column]) => (name === column ? name : `${column} AS ${name}`))
        .join(", ")}
      FROM ${kind}_snapshots
      WHERE organization = {organization:UInt32} AND day = ${dayParameter(dayName)}
        AND version = {${versionName}:UInt64} ${kind === "user" ? `AND ${isIncluded("user")}` : ""}`,
    parameters: { organization, [dayName]: day, [versionName]: rowsVersion },
  };
}

/** The rows of all users, or all accounts, computed now.
 * @param counted names of events of which a row has counts */
export function computedRows(population: Population, day: number, counted: readonly string[] = []): Query {
  const features = featuresQuery(population, day, counted);
  if (population.kind === "account") return features;
  const accounts = carriedAccountsQuery(population, day);
  return {
    sql: `SELECT * FROM (${features.sql}) AS features LEFT JOIN (${accounts.sql}) AS carried USING (entity)`,
    parameters: { ...features.parameters, ...accounts.parameters },
  };
}

/** The rows of one entity, and for an account also the rows of its members, computed now.
 * @param counted names of events of which a row has counts */
export function computedEntity(
  population: Population & { readonly entity: number },
  day: number,
  counted: readonly string[] = [],
): SnapshotRows {
  if (population.kind === "user") {
    const entities = computedRows(population, day, counted);
    return { day, entities, users: entities };
  }
  const { entity: _, ...accounts } = population;
  const users = {
    ...accounts,
    kind: "user" as const,
    settings: { ...accounts.settings, target: silence },
    usersIn: membersOf(population, day),
  };
  return { day, entities: featuresQuery(population, day, counted), users: computedRows(users, day) };
}

function membersOf(account: Population, day: number): Query {
  const { sql, parameters } = engagementEvents(account, day, { daysBefore: memberDays });
  return { sql: `SELECT user FROM (${sql})`, parameters };
}

/** The statement that stores a snapshot. */
export function insertSnapshotQuery(
  population: Population,
  { kind, organization, day, rowsVersion }: StoredSnapshot,
  counted: readonly string[],
): Query {
  const rows = computedRows(population, day, counted);
  const columns = columnsOf(kind);
  return {
    sql: `
      INSERT INTO ${kind}_snapshots (organization, day, version, ${kind}, ${columns.map(([, column]) => column).join(", ")})
      SETTINGS insert_deduplicate = 0
      SELECT {organization:UInt32}, ${dayParameter("snapshotDay")}, {rowsVersion:UInt64}, entity,
        ${columns.map(([name]) => name).join(", ")}
      FROM (${rows.sql})`,
    parameters: { ...rows.parameters, organization, snapshotDay: day, rowsVersion },
  };
}
