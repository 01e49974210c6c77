/**
 * Who was in an experiment with a control group, and what that does to the rows that models learn from. Those
 * who were treated stayed more often than without it, so a model that learned from them would say that they
 * are safe. Their rows are left out, and those of controls stand for them: each weighs 1 ÷ share (Horvitz and
 * Thompson 1952).
 */
import type { EntityKind } from "../queries/engagement-events.ts";
import type { Query } from "../queries/query.ts";

/** A user or an account that entered an experiment. */
export interface Entered {
  /** Its number. */
  readonly entity: number;
  /** The day of the alert, or of the request for the arm. */
  readonly day: number;
  /** Names the experiment. Several alerts in one are drawn once. */
  readonly experiment: string;
  readonly arm: "treated" | "control" | "exempt";
  /** The share of controls. */
  readonly share: number;
}

/** Reads all who entered between two days, the later excluded. */
export type ReadEntered = (
  of: { readonly organization: number; readonly kind: EntityKind },
  fromDay: number,
  toDay: number,
) => Promise<readonly Entered[]>;

/** How many rows of training are of each arm. */
export interface ArmRows {
  /** They are left out. */
  readonly treated: number;
  readonly control: number;
  /** They stay as they are. */
  readonly exempt: number;
}

/** What an entity's row of a cut-off weighs. */
export class LabelWeights {
  readonly #entered: ReadonlyMap<number, readonly Entered[]>;
  readonly #horizonDays: number;

  constructor(entered: readonly Entered[], horizonDays: number) {
    this.#entered = Map.groupBy(entered, ({ entity }) => entity);
    this.#horizonDays = horizonDays;
  }

  /** The arm and the weight of a row whose label is of the horizon from a day: 0 of a treated entity, 1 ÷
   * share of a control, 1 of others. An entry counts for a horizon, so that labels whose horizons meet it are
   * of its arm. */
  of(entity: number, cutoffDay: number): { readonly arm: Entered["arm"] | null; readonly weight: number } {
    const own = (this.#entered.get(entity) ?? []).filter(
      ({ day }) => Math.abs(day - cutoffDay) < this.#horizonDays,
    );
    if (own.some(({ arm }) => arm === "treated")) return { arm: "treated", weight: 0 };
    const controls = new Map(
      own.flatMap(({ arm, experiment, share }) => (arm === "control" ? [[experiment, share]] : [])),
    );
    if (controls.size === 0) return { arm: own.length === 0 ? null : "exempt", weight: 1 };
    return { arm: "control", weight: [...controls.values()].reduce((weight, share) => weight / share, 1) };
  }

  /** An expression of the weight of the column `entity` at a cut-off. */
  sql(cutoffDay: number): Query {
    const weights = [...this.#entered.keys()]
      .map((entity) => ({ entity, weight: this.of(entity, cutoffDay).weight }))
      .filter(({ weight }) => weight !== 1);
    if (weights.length === 0) return { sql: "1", parameters: {} };
    return {
      sql: "transform(entity, {weighted:Array(UInt32)}, {weights:Array(Float64)}, toFloat64(1))",
      parameters: {
        weighted: weights.map(({ entity }) => entity),
        weights: weights.map(({ weight }) => weight),
      },
    };
  }
}

/** The weights of an organization without experiments. */
export const noWeights = new LabelWeights([], 1);

/** The rows, each as often as it weighs, so that shares and errors are of those for whom they stand. Copies
 * are of one cluster: no interval becomes narrower by them. Fractions are carried from row to row. */
export function repeated<Row extends { readonly weight?: number | undefined }>(
  rows: readonly Row[],
): readonly Row[] {
  if (rows.every(({ weight }) => weight === undefined)) return rows;
  let [due, copies] = [0, 0];
  return rows.flatMap((row) => {
    due += row.weight ?? 1;
    const times = Math.round(due) - copies;
    copies += times;
    return Array<Row>(times).fill(row);
  });
}
