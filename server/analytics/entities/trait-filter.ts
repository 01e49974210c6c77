/** Conditions on traits of users or attributes of accounts, and the order by one. Queries need
 * `jsonSettings`. */

import { jsonKey, jsonText } from "../json-text.ts";
import type { Sql } from "../sql.ts";
import { condition } from "./list-scores.ts";

/** A condition on a trait. Numbers and the like are compared as their JSON. */
export interface TraitFilter {
  readonly key: string;
  readonly match: "is" | "isNot" | "contains" | "isEmpty" | "isNotEmpty";
  readonly value: string;
}

/** An order by the values of a trait. */
export interface SortTrait {
  readonly trait: string;
}

/** The expressions of an order by a trait: numbers come before texts. @param column of the traits */
export function traitOrder(column: string): readonly string[] {
  const value = jsonText(column, "sort");
  return [`toFloat64OrNull(${value})`, `nullIf(lowerUTF8(${value}), '')`];
}

/** The parameters of that order. */
export function sortedTrait({ trait }: SortTrait): Sql["parameters"] {
  return jsonKey(trait, "sort");
}

/** By the text of the trait, and the value that is bound. */
const traitConditions: Record<TraitFilter["match"], (text: string, value: string) => string> = {
  is: (text, value) => `ifNull(${text} = ${value}, false)`,
  isNot: (text, value) => `ifNull(${text} != ${value}, true)`,
  contains: (text, value) => `ifNull(positionCaseInsensitiveUTF8(${text}, ${value}) > 0, false)`,
  isEmpty: (text) => `ifNull(${text}, '') = ''`,
  isNotEmpty: (text) => `ifNull(${text}, '') != ''`,
};

/** The condition on the column `traits`. @param index of the filter among those of the query */
export function traitCondition({ key, match, value }: TraitFilter, index: number): Sql {
  const [trait, bound] = [`trait${index}`, `value${index}`];
  const text = traitConditions[match](jsonText("traits", trait), `{${bound}:String}`);
  return condition(text, { ...jsonKey(key, trait), ...(text.includes(`{${bound}:`) && { [bound]: value }) });
}
