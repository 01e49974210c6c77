/**
 * Owners of users and accounts. The owner is the team member whose e-mail address or name is the trait
 * `owner` of a user or the attribute `owner` of an account, upper and lower case alike. A user without one
 * has the owner of the account. A text that means no team member means nobody.
 */
import { ownerTrait } from "../../../contract/notes-and-tasks.ts";
import type { Owner, Owners } from "../../ledger/rules/owners.ts";
import type { Sql } from "../sql.ts";
import { condition } from "./list-scores.ts";

/** Only rows with this owner, by the id; 0 for rows without one. */
export interface OwnerFilter {
  /** Needed by the filter and by the order. */
  readonly owners?: Owners | undefined;
  readonly ownerId?: number | undefined;
}

/** The text of the trait or attribute in a column of traits; empty without one. Queries need
 * `jsonSettings`. */
export function ownerText(column: string): string {
  return `if(position(${column}, '"${ownerTrait}":') > 0, JSONExtractString(${column}, '${ownerTrait}'), '')`;
}

const accountOwner = "owned.owner";
const numberOf = (column: string) => `transform(lowerUTF8(${ownerText(column)}), {ownerKeys:Array(String)},
  {ownerIds:Array(UInt64)}, toUInt64(0))`;

/** The owner's id of a row, an expression; 0 without one. That of a user reads the join of `ownerSql`. */
function ownerNumber(kind: "user" | "account"): string {
  const own = numberOf("listed.traits");
  if (kind === "account") return own;
  return `if(${own} != 0, ${own}, ${accountOwner})`;
}

/** The expression of the order by the owner's name; null without one. */
export function ownerOrder(kind: "user" | "account"): string {
  return `nullIf(transform(${ownerNumber(kind)}, {ownerIds:Array(UInt64)}, {ownerNames:Array(String)}, ''), '')`;
}

/** The joins and conditions of a list's query about owners. @param order the expression of the order */
export function ownerSql(
  { owners = new Map(), ownerId }: OwnerFilter,
  kind: "user" | "account",
  order: string,
): { readonly joins: readonly Sql[]; readonly conditions: readonly Sql[] } {
  if (ownerId === undefined && !order.includes("{ownerNames:")) return { joins: [], conditions: [] };
  // Arrays that are never empty have a type.
  const all: readonly (readonly [string, Owner])[] = [["", { id: 0, name: "" }], ...owners];
  const isOrdered = order.includes("{ownerNames:");
  const parameters = {
    ownerKeys: all.map(([text]) => text),
    ownerIds: all.map(([, { id }]) => id),
    ...(isOrdered && { ownerNames: all.map(([, { name }]) => name.toLowerCase()) }),
  };
  const ofAccounts = `LEFT JOIN (
    SELECT account, ${numberOf("traits")} AS owner FROM accounts FINAL WHERE organization = {organization:UInt32}) AS owned
    ON owned.account = listed.account`;
  return {
    joins: [condition(kind === "user" ? ofAccounts : "", parameters)],
    conditions:
      ownerId === undefined
        ? []
        : [condition(`${ownerNumber(kind)} = {ownerId:UInt64}`, { ownerId, ...parameters })],
  };
}
