/**
 * What a feature adds to the ledger. A feature has a directory of its own in `server/features/`, and
 * describes itself with one object of this type. Whoever opens a ledger passes all of them, so that
 * migrations, moves, erasures and exports need not know any by name.
 */

import type { Engine } from "./engine/engine.ts";
import type { Work } from "./engine/sql.ts";
import type { MovedTable, TableTypes } from "./engine/tables.ts";
import type { EntityNumbers, EntityRef } from "./stores/entity-rows.ts";

/** The stores of features, by their names in the ledger. Each feature declares its own here. */
// biome-ignore lint/suspicious/noEmptyInterface: features extend it where their stores are.
export interface FeatureStores {}

export interface Feature {
  readonly name: string;
  /** Its tables, and how a move to PostgreSQL copies them: rows refer only to rows of earlier tables, or of
   * the ledger's own. */
  readonly tables: readonly MovedTable[];
  /** SQL of migrations. Their places are in the lists of both engines, as `ofFeature(name, index)`. Never
   * edit a released text. */
  readonly migrations: readonly ((types: TableTypes) => string)[];
  readonly stores: (engine: Engine) => Partial<FeatureStores>;
  /** Deletes what names an erased user or account, in the commit of the erasure. */
  readonly erase?: (organization: number, entity: EntityNumbers) => Work<void>;
  /** Takes away the assignee where it is a team member who is removed, in the same commit, and returns the
   * number of rows. By the name of a row in the audit log: `task`. */
  readonly freeAfterMember?: Readonly<
    Record<
      string,
      (organization: number, member: { readonly id: number; readonly name: string }) => Work<number>
    >
  >;
  readonly exports?: readonly ExportedRows[];
}

/** A value in an exported row. */
export type ExportedValue = string | number | boolean | null;

export interface ExportedRow {
  readonly id: number;
  readonly line: Readonly<Record<string, ExportedValue>>;
}

/** Rows of the ledger that are exported, also in the document about one person. */
export interface ExportedRows {
  readonly name: string;
  readonly columns: readonly string[];
  /** Rows of the organization in the order of their ids. @param after only ids above it */
  page(
    stores: FeatureStores,
    organization: number,
    after: number,
    limit: number,
  ): Promise<readonly ExportedRow[]>;
  /** All rows about a user, in pages. */
  ofUser(stores: FeatureStores, organization: number, user: EntityRef): AsyncIterable<readonly ExportedRow[]>;
}

/** A step of the migrations that a feature has. */
export interface FeatureStep {
  readonly feature: string;
  readonly index: number;
}

/** The place of a feature's step in a list of migrations. */
export function ofFeature(feature: string, index = 0): FeatureStep {
  return { feature, index };
}

/** The SQL of a feature's step. @throws Error when the ledger is opened without the feature */
export function stepOf(
  features: readonly Feature[],
  { feature, index }: FeatureStep,
  types: TableTypes,
): string {
  const step = features.find(({ name }) => name === feature)?.migrations[index];
  if (step === undefined) throw new Error(`The ledger needs step ${index} of the feature ${feature}.`);
  return step(types);
}
