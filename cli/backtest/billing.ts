/** Billing events in the log of a back-test. */
import { billingEventNames } from "../../contract/billing/events.ts";
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { Refusal } from "../../contract/refusal.ts";
import type { Zone } from "../../server/calendar/zone.ts";
import type { ReadRow } from "../../server/features/imports/reading/row.ts";
import { admitBilling } from "../../server/intake/admission/admit-billing.ts";
import { isInvalid } from "../../server/intake/admission/json.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { objectIn } from "./json-object.ts";

const names: ReadonlySet<string> = new Set(billingEventNames);

/** The contents of a billing event. */
export interface LogBilling {
  /** JSON text. */
  readonly properties: string;
  /** The account that the event names as the one that pays. */
  readonly payer: string | undefined;
}

/**
 * The billing event of a row, by the rules of the write API. Undefined for any other event.
 * @param column of the events' properties: a JSON object, as text or as it is
 * @throws Refusal for properties that cannot be read, naming the line
 */
export function billingOf(
  { line, columns, cells }: ReadRow,
  event: string,
  column: string | undefined,
  zone: Zone,
): LogBilling | undefined {
  if (column === undefined || !names.has(event)) return undefined;
  const properties = propertiesOf(cells[columns.indexOf(column)], line, column);
  const admitted = admitBilling(event, properties, { zone });
  if (admitted === undefined) return undefined;
  if (isInvalid(admitted)) throw new Refusal(`line ${line}: ${admitted.invalid}`);
  return { properties: JSON.stringify(properties), payer: admitted.payer?.accountId };
}

function propertiesOf(cell: unknown, line: number, column: string): JsonObject {
  if (cell === undefined || cell === null || cell === "") return {};
  if (isJsonObject(cell)) return cell;
  const what = `line ${line}: the column ${JSON.stringify(column)}`;
  if (typeof cell !== "string") throw new Refusal(`${what} is not a JSON object.`);
  return objectIn(cell, what);
}

/** @throws Refusal when no entity of the kind ever paid for a subscription */
export async function refuseWithoutPayers(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
): Promise<void> {
  const [found] = await warehouse.rows<Record<EntityKind, number>>(
    `SELECT countIf(arrayExists(account -> account != 0, payer_account)) AS account,
       countIf(has(payer_account, 0)) AS user
     FROM subscriptions FINAL WHERE organization = {organization:UInt32}`,
    { organization },
  );
  const { account = 0, user = 0 } = found ?? {};
  if (account + user === 0) {
    throw new Refusal(
      "no event tells of a subscription: billing events have their names, subscription_started say, and a subscriptionId.",
    );
  }
  if (kind === "user" && user === 0) {
    throw new Refusal("all subscriptions are of accounts: give --account COLUMN and --score account.");
  }
  if (kind === "account" && account === 0) {
    throw new Refusal("all subscriptions are of users without an account: leave out --score account.");
  }
}
