/** Which users exclusion rules match: how many each rule, which rules one user, and a preview of a rule
 * before it is added. By the conditions by which users are excluded. */
import type { ExclusionRule } from "../../ledger/stores/exclusions.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import {
  isMatched,
  matchedColumns,
  ruleMatches,
  ruleOrder,
  ruleParameters,
  ruleSettings,
} from "../../warehouse/load/exclusions.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import { traitName } from "../json-text.ts";

/** Users who are shown as examples. */
const maxExamples = 3;
/** The number of no account. */
const noAccount = 4_294_967_295;

/** How many users each rule matches, in the order of the rules. A user who is matched by several rules counts
 * in each.
 * @param user only this user, by its number: then 1 means that the rule matches */
export async function matchesOfRules(
  warehouse: Warehouse,
  question: {
    readonly organization: number;
    readonly rules: readonly ExclusionRule[];
    readonly user?: number;
  },
): Promise<number[]> {
  const { organization, rules, user } = question;
  if (rules.length === 0) return [];
  // The rules by kind, each with its place among all.
  const places = rules.map((rule, place) => ({ rule, place }));
  const ordered = ruleOrder.flatMap((kind) => places.filter(({ rule }) => rule.kind === kind));
  const asked = ordered.map(({ rule }) => rule);
  const [row] = await warehouse.rows<{ matches: number[] }>(
    `SELECT sumForEach(${ruleMatches}) AS matches
     FROM (
       SELECT ${matchedColumns} FROM users FINAL
       WHERE organization = {organization:UInt32}${user === undefined ? "" : " AND user = {user:UInt32}"})
     SETTINGS ${ruleSettings}`,
    {
      ...ruleParameters({ rules: asked, accounts: await accountsOf(warehouse, organization, asked) }),
      organization,
      ...(user !== undefined && { user }),
    },
  );
  const byPlace = new Map(ordered.map(({ place }, index) => [place, row?.matches[index] ?? 0]));
  return rules.map((_, place) => byPlace.get(place) ?? 0);
}

export interface ExclusionPreview {
  /** Users whom the rule matches. */
  readonly users: number;
  /** Matched users who are excluded already. */
  readonly alreadyExcluded: number;
  /** The first few, with users who are not excluded yet first. */
  readonly examples: readonly {
    readonly userId: string;
    readonly name: string | null;
    readonly email: string | null;
  }[];
}

/** The users that a rule would exclude. */
export async function previewOfRule(
  warehouse: Warehouse,
  { organization, rule }: { readonly organization: number; readonly rule: ExclusionRule },
): Promise<ExclusionPreview> {
  const accounts = await accountsOf(warehouse, organization, [rule]);
  const parameters = { organization, ...ruleParameters({ rules: [rule], accounts }) };
  const from = `FROM users FINAL WHERE organization = {organization:UInt32} AND ${isMatched}`;
  const [[counts], examples] = await Promise.all([
    warehouse.rows<{ matched: number; excluded: number }>(
      `SELECT count() AS matched, countIf(NOT ${isIncluded("user")}) AS excluded ${from} SETTINGS ${ruleSettings}`,
      parameters,
    ),
    warehouse.rows<{ userId: string; label: string; address: string }>(
      `SELECT user_id AS userId, ${traitName("traits")} AS label, email AS address ${from}
       ORDER BY NOT ${isIncluded("user")}, user LIMIT ${maxExamples} SETTINGS ${ruleSettings}`,
      parameters,
    ),
  ]);
  return {
    users: counts?.matched ?? 0,
    alreadyExcluded: counts?.excluded ?? 0,
    examples: examples.map(({ userId, label, address }) => ({
      userId,
      name: label === "" ? null : label,
      email: address === "" ? null : address,
    })),
  };
}

/** The number of the account of each rule of this kind, in their order. */
async function accountsOf(
  warehouse: Warehouse,
  organization: number,
  rules: readonly ExclusionRule[],
): Promise<number[]> {
  const ids = rules.filter(({ kind }) => kind === "account").map(({ value }) => value);
  if (ids.length === 0) return [];
  const rows = await warehouse.rows<{ account: number; accountId: string }>(
    `SELECT account, account_id AS accountId FROM accounts FINAL
     WHERE organization = {organization:UInt32} AND account_id IN {ids:Array(String)}`,
    { organization, ids },
  );
  const numbers = new Map(rows.map(({ account, accountId }) => [accountId, account]));
  return ids.map((id) => numbers.get(id) ?? noAccount);
}
