/**
 * A query in parts. Each part has its text and the values of its placeholders, because the warehouse refuses
 * missing and unused values.
 */
import type { Parameter, Warehouse } from "../../warehouse/engine/warehouse.ts";

export interface Query {
  readonly sql: string;
  readonly parameters: Record<string, Parameter>;
}

/**
 * `WITH name AS (…), … select`, and the values of all. An earlier part may be read by a later one.
 * The engine computes a part anew for each time that it is read: read it once.
 */
export function withParts(parts: Readonly<Record<string, Query>>, select: Query): Query {
  const names = Object.entries(parts).map(([name, { sql }]) => `${name} AS (${sql})`);
  return {
    sql: `WITH ${names.join(",\n")}\n${select.sql}`,
    parameters: Object.assign({}, ...Object.values(parts).map(parametersOf), select.parameters),
  };
}

/** Names of columns, and the expressions that they have. */
export type Columns = Readonly<Record<string, string>>;

/** Columns, and the values that they bind. */
export interface Expressions<Name extends string = string> {
  readonly columns: Readonly<Record<Name, string>>;
  readonly parameters: Query["parameters"];
}

/** Columns in steps, and the values that they bind. A step may use the columns of earlier steps. */
export interface Steps {
  readonly steps: readonly Columns[];
  readonly parameters: Query["parameters"];
}

/**
 * Rows with more columns. Each step is a `SELECT` of its own: within one the engine copies an expression to
 * each place that names it. Scores in one step took 270 ms of analysis a statement, whatever their number.
 */
export function withColumns(rows: string, steps: readonly Columns[]): string {
  return steps.reduce((from, columns) => `SELECT *, ${columnList(columns)} FROM (${from})`, rows);
}

/** `expression AS name, …` */
export function columnList(columns: Columns): string {
  return Object.entries(columns)
    .map(([name, sql]) => `${sql} AS ${name}`)
    .join(",\n");
}

/** All of an organization's history is read: seconds, and minutes on a busy machine. */
export const scoringLimits = { maxSeconds: 600 };

/** Runs a query of scoring. */
export function read<Row>(warehouse: Warehouse, { sql, parameters }: Query): Promise<Row[]> {
  return warehouse.rows<Row>(sql, parameters, scoringLimits);
}

function parametersOf({ parameters }: Query): Query["parameters"] {
  return parameters;
}
