/** Groups of payers: by the plan, or by an attribute of the account, for payers without account by the user's
 * trait. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { jsonKey, jsonSettings, jsonText, maxValueCharacters } from "../json-text.ts";
import { rawValue, readable } from "../retention/trait-split.ts";
import type { Sql } from "../sql.ts";
import { accountPayers, isPaying } from "./steps.ts";

/** `plan`, or an attribute. */
export type RevenueSplit = { readonly by: "plan" } | { readonly by: "trait"; readonly trait: string };

const ofOrganization = "organization = {organization:UInt32}";

/** An aggregate over a payer's steps: the plan of its newest MRR, or of its first. Of MRR that begins at one
 * instant, that plan is taken whose 19 bits of a hash are higher: with the instant they fill a whole number
 * of 64 bits. */
export function planOf(which: "now" | "entry"): string {
  const place = "moment * 524288 + toInt64(bitAnd(cityHash64(began_plan), 524287))";
  return `${which === "now" ? "argMaxIf" : "argMinIf"}(began_plan, ${place}, began_plan != '')`;
}

/** Rows of `of_payer` and `said`: the attribute's value now; null without one. Queries need
 * `jsonSettings`. */
export function traitsOfPayers(trait: string): Sql {
  const isField = trait === "id" || trait === "name";
  const value = `nullIf(${jsonText("traits")}, '')`;
  const ofAccount = isField
    ? `nullIf(leftUTF8(${trait === "id" ? "account_id" : "name"}, ${maxValueCharacters}), '')`
    : value;
  return {
    text: `
      SELECT toUInt64(account) + ${accountPayers} AS of_payer, ${ofAccount} AS said
      FROM accounts FINAL WHERE ${ofOrganization} AND ${isPaying.account}
      UNION ALL
      SELECT toUInt64(user), ${value} FROM users FINAL WHERE ${ofOrganization} AND ${isPaying.user}`,
    parameters: jsonKey(trait),
  };
}

/** A value counts as known at entry when it came within a day: many applications create the account after the
 * payment. */
const entryMs = 86_400_000;

/**
 * Rows of payers with `said`: the attribute as it was when the payer first had MRR. Before anything was known
 * of the payer it is the first known value. An account's `id` and `name` are those of now. Queries need
 * `jsonSettings`.
 * @param payers rows of `payer`, `first_paid` and the other columns
 */
export function withTraitAtEntry(payers: Sql, trait: string, columns: readonly string[]): Sql {
  if (trait === "id" || trait === "name") {
    const { text, parameters } = traitsOfPayers(trait);
    return {
      text: `SELECT payers.*, said FROM (${payers.text}) AS payers LEFT JOIN (${text}) AS traits ON of_payer = payers.payer`,
      parameters: { ...payers.parameters, ...parameters },
    };
  }
  const version = `toUnixTimestamp64Milli(at) AS said_ms, version AS said_version, ${rawValue} AS raw`;
  const place = "toInt128(said_ms) * 4294967296 + said_version";
  return {
    text: `
      SELECT ${columns.join(", ")}, ${readable("known")} AS said
      FROM (
        SELECT ${columns.join(", ")},
          argMaxIf(raw, if(said_ms < first_paid + ${entryMs}, ${place}, -(${place})), raw != '') AS known
        FROM (${payers.text}) AS payers
        LEFT JOIN (
          SELECT toUInt64(account) + ${accountPayers} AS of_payer, ${version} FROM account_versions
          WHERE ${ofOrganization} AND ${isPaying.account}
          UNION ALL
          SELECT toUInt64(user), ${version} FROM user_versions WHERE ${ofOrganization} AND ${isPaying.user}) AS versions
        ON of_payer = payers.payer
        GROUP BY ${columns.join(", ")})`,
    parameters: { ...payers.parameters, ...jsonKey(trait) },
  };
}

/**
 * The values with the most payers, at most so many: groups of their own. A query before that of the figures,
 * because an attribute may have as many values as payers: sums of each of them took 25 times as long as those
 * of 20 groups.
 * @param payers rows with `said`
 * @throws WarehouseError
 */
export async function largestValues(warehouse: Warehouse, payers: Sql, limit: number): Promise<string[]> {
  const rows = await warehouse.rows<{ said: string }>(
    `SELECT said FROM (${payers.text}) WHERE isNotNull(said)
     GROUP BY said ORDER BY count() DESC, said LIMIT {limit:UInt32} ${jsonSettings}`,
    { ...payers.parameters, limit },
  );
  return rows.map(({ said }) => said);
}

/** The place of a payer's group in SQL: that of its value from 1, 0 for a value of few payers, -1 for none.
 * Queries need the parameter `values`. */
export const groupPlace =
  "if(isNull(said), -1, toInt32(indexOf({values:Array(String)}, assumeNotNull(said))))";

/** The group at a place. @param values of the split; null without one */
export function groupAt(values: readonly string[] | null, place: number): PayerGroup {
  if (values === null) return { kind: "all", value: null };
  if (place <= 0) return { kind: place === 0 ? "other" : "none", value: null };
  return { kind: "value", value: values[place - 1] ?? null };
}

/** A group: all payers; those with a value; with one that few have; with none. */
export interface PayerGroup {
  readonly kind: "all" | "value" | "other" | "none";
  readonly value: string | null;
}
