/** Customers of a billing tool's export who match no user. The rows of the file are read once for it. */
import { randomUUID } from "node:crypto";
import type { ImportRow } from "../../../intake/import-rows.ts";
import { heldVerdict, type Importer, maxImportRows } from "../../../intake/importer.ts";
import {
  type StripeCustomer,
  stripeCustomerOf,
  unmatchedStripeItems,
} from "../../../sources/exports/stripe.ts";
import { objectOfRow } from "./export-rows.ts";
import type { RowSource } from "./row.ts";

/** Asks for the outcome that rows would have. */
export type Check = (rows: readonly ImportRow[]) => ReturnType<Importer["check"]>;

/** The customers whose events would be held, in the order of the file. A customer whose user a row's metadata
 * names is matched. */
export async function unmatchedCustomers(
  rows: RowSource,
  nowMs: number,
  check: Check,
): Promise<readonly StripeCustomer[]> {
  const customers = new Map<string, StripeCustomer>();
  const named = new Set<string>();
  for await (const row of rows) {
    if ("unreadable" in row) continue;
    const customer = stripeCustomerOf(objectOfRow(row));
    if (customer === undefined) continue;
    if (customer.isNamed) named.add(customer.id);
    if (customers.get(customer.id)?.email === undefined) customers.set(customer.id, customer);
  }
  const asked = [...customers.values()].filter(({ id }) => !named.has(id));
  const unmatched: StripeCustomer[] = [];
  for (let from = 0; from < asked.length; from += maxImportRows) {
    const part = asked.slice(from, from + maxImportRows);
    const verdicts = await check(
      part.map((one) => ({ items: unmatchedStripeItems(one, nowMs, randomUUID()) })),
    );
    unmatched.push(...part.filter((_, index) => verdicts[index] === heldVerdict));
  }
  return unmatched;
}
