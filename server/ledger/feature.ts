/**
 * What a feature adds to the ledger. A feature has a directory of its own in `server/features/`, and
 * describes itself with one object of this type. Whoever opens a ledger passes all of them, so that
 * migrations, moves, erasures and exports need not know any by name.
 */

import type { AuditLog } from "./audit-log.ts";
import type { Engine } from "./engine.ts";
import type { Work } from "./sql.ts";
import type { EntityNumbers } from "./stores/entity-rows.ts";
import type { MovedTable, TableTypes } from "./tables.ts";

/** The stores of features, by their names in the ledger. Each feature declares its own here. */
// biome-ignore lint/suspicious/noEmptyInterface: features extend it where their stores are.
export interface FeatureStores {}

/** Of each of these stores, the methods that only the process that writes the ledger calls. */
// biome-ignore lint/suspicious/noEmptyInterface: as above.
export interface OwnCallsOfFeatures {}

/** The stores of features without those: what other processes call. */
export type SharedFeatureStores = {
  readonly [Name in keyof FeatureStores]: Name extends keyof OwnCallsOfFeatures
    ? Omit<FeatureStores[Name], OwnCallsOfFeatures[Name]>
    : FeatureStores[Name];
};

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
  /** Deletes rows that are done or too old. Called about once a second. */
  readonly tidy?: (engine: Engine, nowMs: number) => Promise<void>;
  /** Deletes rows that may wait for an hour. Called once an hour. */
  readonly tidyHourly?: (engine: Engine, nowMs: number) => Promise<void>;
  /** Pauses what two installations must not do at once, in the commit in which the ledger notices that it was
   * restored, copied or moved. @returns how much was paused */
  readonly pauseElsewhere?: (audit: AuditLog, nowMs: number) => Work<number>;
  readonly exports?: readonly ExportedRows[];
  /** Sections of the document about one person: objects in pages, so that a million need no more memory than
   * ten. */
  readonly aboutUser?: Readonly<
    Record<string, (stores: SharedFeatureStores, user: ExportedUser) => AsyncIterable<readonly object[]>>
  >;
}

/** The user whose data is exported. */
export interface ExportedUser {
  readonly organization: number;
  /** The user's number. */
  readonly user: number;
  readonly userId: string;
}

/** A value in an exported row. */
export type ExportedValue = string | number | boolean | null;

export interface ExportedRow {
  readonly id: number;
  readonly line: Readonly<Record<string, ExportedValue>>;
}

/** Rows of the ledger that are exported. */
export interface ExportedRows {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns with amounts in minor units of the organization's currency. A CSV has units, and the currency in
   * the column `currency`. */
  readonly amounts?: readonly string[];
  /** Rows of the organization in the order of their ids. @param after only ids above it @param today in the
   * organization's timezone */
  page(
    stores: SharedFeatureStores,
    organization: number,
    after: number,
    limit: number,
    today: number,
  ): Promise<readonly ExportedRow[]>;
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
