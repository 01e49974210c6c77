/** Who was scored at a cut-off, with what became of them: the only rows of single entities that leave the engine,
 * and at most as many as a sample takes. */
import type { MemberFeatures } from "../features.ts";
import type { SnapshotRow } from "../snapshot.ts";
import type { Population } from "./engagement-events.ts";
import { type FeatureRow, featuresOfRow, featuresQuery, isScoredRow } from "./feature-query.ts";
import { horizonQuery } from "./label-query.ts";
import { type CellLogOdds, membersQuery } from "./member-query.ts";
import { type Query, withParts } from "./query.ts";
import { traitsQuery } from "./trait-query.ts";

/** A row with traits is a user's, one without is an account's and has members. */
export type LabelledRow = FeatureRow & { readonly label: boolean } & (UserColumns | MemberFeatures);

interface UserColumns {
  readonly traits: readonly (readonly [name: string, value: string])[];
}

export interface RowsInput {
  readonly cutoffDay: number;
  readonly horizonDays: number;
  /** Those whose number has the lowest hashes, so the same entities at every cut-off. */
  readonly maxRows: number;
  /** Everybody seen in the window, and not only the active and the new. */
  readonly everyone: boolean;
  /** For accounts. */
  readonly memberRisks?: CellLogOdds;
}

/**
 * The rows of the active and the new, in the order of a hash of their numbers.
 *
 * The engine's quick parser of JSON takes no integer beyond 2^64, and a user with one would have no traits.
 */
export function rowsQuery(population: Population, input: RowsInput): Query {
  const { cutoffDay, horizonDays, maxRows, everyone, memberRisks } = input;
  const about =
    memberRisks === undefined
      ? traitsQuery(population.organization, population.zone.startOfDay(cutoffDay))
      : membersQuery(population, cutoffDay, memberRisks);
  const aboutColumns =
    memberRisks === undefined ? "traits" : "active28, activePrevious28, active90, topShare, meanRiskLogOdds";
  return withParts(
    {
      features: featuresQuery(population, cutoffDay),
      horizon: horizonQuery(population),
      scored: {
        sql: `SELECT * FROM features WHERE ${everyone ? "n >= 0" : isScoredRow}
          ORDER BY cityHash64(entity), entity LIMIT {maxRows:UInt32}`,
        parameters: { horizonDays, maxRows },
      },
      about,
    },
    {
      sql: `
        SELECT scored.*, toBool(NOT wasThere OR leftAgain) AS label, ${aboutColumns}
        FROM scored LEFT JOIN horizon USING (entity) LEFT JOIN about USING (entity)
        ORDER BY cityHash64(entity), entity
        SETTINGS allow_simdjson = 0`,
      parameters: {},
    },
  );
}

/** A row as the models take it. */
export function snapshotRow(row: LabelledRow): SnapshotRow {
  const { x, t, n, label } = row;
  const about =
    "traits" in row
      ? { traits: Object.fromEntries(row.traits), members: null }
      : { traits: {}, members: membersOf(row) };
  return { features: { ...featuresOfRow(row, about), cell: { x, t, n } }, label };
}

function membersOf({ active28, activePrevious28, active90, topShare, meanRiskLogOdds }: MemberFeatures) {
  return { active28, activePrevious28, active90, topShare, meanRiskLogOdds };
}
