/** Reads the plan of a Stripe subscription, in every form that the API has had. */
import { type JsonObject, objectOf } from "../../../contract/json.ts";
import { fieldOf, intervalText, numberOf, objectsOf, textOf } from "../billing/fields.ts";
import type { Plan } from "../billing/plan.ts";
import { isoAmount } from "./minor-units.ts";

/** The id of an object that is either expanded or given by its id. */
export function idOf(value: unknown, ...keys: readonly string[]): string | undefined {
  const found = fieldOf(value, ...keys);
  return textOf(found, "id") ?? (typeof found === "string" && found !== "" ? found : undefined);
}

/** Objects of a list of Stripe's, `{data: […]}`. */
export function listOf(value: unknown, ...keys: readonly string[]): readonly JsonObject[] {
  return objectsOf(value, ...keys, "data");
}

/**
 * The plan of a subscription: of its first item that is not metered, with the amounts of all. In API versions
 * until 2018 a subscription has `plan` and `quantity` itself; since then `items.data[]` with `plan`, and
 * since 2020 with `price` beside it.
 */
export function planOf(subscription: JsonObject): Plan {
  const lines = linesOf(subscription);
  const licensed = lines.filter(({ isMetered }) => !isMetered);
  const [first] = licensed.length > 0 ? licensed : lines;
  const same = licensed.filter(({ currency }) => currency === first?.currency);
  const amounts = same.map(({ amount }) => amount).filter((amount) => amount !== undefined);
  return {
    name: first?.name,
    amount: amounts.length > 0 ? amounts.reduce((sum, amount) => sum + amount, 0) : undefined,
    currency: first?.currency,
    interval: first?.interval,
    quantity: first?.quantity,
  };
}

/** The plan before an update; undefined if the update did not change it. `previous_attributes` has whole
 * lists, but of the `plan` of old versions only the changed fields. */
export function planBefore(subscription: JsonObject, previous: JsonObject): Plan | undefined {
  if (listOf(previous, "items").length > 0) return planOf({ ...subscription, ...previous });
  const isOfPlan = fieldOf(previous, "plan") !== undefined || numberOf(previous, "quantity") !== undefined;
  if (!isOfPlan || fieldOf(subscription, "plan") === undefined) return undefined;
  const plan = { ...objectOf(subscription.plan), ...objectOf(previous.plan) };
  return planOf({ ...subscription, ...previous, plan, items: null });
}

/** Whether two plans differ in name, price or quantity. */
export function isOtherPlan(one: Plan, other: Plan): boolean {
  return (["name", "amount", "currency", "interval", "quantity"] as const).some(
    (key) => one[key] !== other[key],
  );
}

/** The plan of an invoice's first line of a subscription. The newest versions have only ids there. */
export function planOfInvoice(invoice: JsonObject): string | undefined {
  const [line] = listOf(invoice, "lines").filter(
    (one) => fieldOf(one, "price") !== undefined || fieldOf(one, "plan") !== undefined,
  );
  return line === undefined ? undefined : lineOf(line).name;
}

/** A part of a subscription. */
export interface Line extends Plan {
  readonly isMetered: boolean;
  readonly product: string | undefined;
  /** As it was sent. */
  readonly item: JsonObject;
}

/** The parts of a subscription, metered ones too. */
export function linesOf(subscription: JsonObject): readonly Line[] {
  const items = listOf(subscription, "items");
  return (items.length > 0 ? items : [subscription]).map(lineOf);
}

function lineOf(item: JsonObject): Line {
  const price = objectOf(item.price);
  const plan = objectOf(item.plan);
  const quantity = numberOf(item, "quantity");
  const unit =
    numberOf(price, "unit_amount") ??
    numberOf(plan, "amount") ??
    decimalOf(price, "unit_amount_decimal") ??
    decimalOf(plan, "amount_decimal");
  const recurring = fieldOf(price, "recurring") ?? plan;
  const currency = textOf(price, "currency") ?? textOf(plan, "currency");
  return {
    name: nameOf(price) ?? nameOf(plan),
    amount: isoAmount(unit === undefined ? undefined : product(unit, unitsOf(item, quantity ?? 1)), currency),
    currency,
    interval: intervalOf(recurring),
    quantity,
    isMetered: textOf(recurring, "usage_type") === "metered",
    product: idOf(price, "product") ?? idOf(plan, "product"),
    item,
  };
}

/** The number of units that are billed. Of a price per package that is the number of packages: 2 for 8 seats
 * in packages of 5. */
function unitsOf({ price, plan }: JsonObject, quantity: number): number {
  const packages = fieldOf(price, "transform_quantity") ?? fieldOf(plan, "transform_usage");
  const size = numberOf(packages, "divide_by") ?? 0;
  if (size <= 0) return quantity;
  return textOf(packages, "round") === "down" ? Math.floor(quantity / size) : Math.ceil(quantity / size);
}

/** A decimal as Stripe writes prices with fractions of a cent, which have no `unit_amount`. */
function decimalOf(price: JsonObject, key: string): number | undefined {
  const text = textOf(price, key);
  return text !== undefined && /^\d{1,15}(\.\d{1,12})?$/.test(text) ? Number(text) : undefined;
}

/** Of 0.145 and 100 it is 14.5, and no 14.499999999999998, which would be rounded down. */
function product(unit: number, quantity: number): number {
  return Number((unit * quantity).toPrecision(15));
}

/** The first name that exists, from names that people choose to generated ids. Plans had a `name` before
 * products had one. */
function nameOf(price: JsonObject): string | undefined {
  return (
    textOf(price, "nickname") ??
    textOf(price, "product", "name") ??
    textOf(price, "name") ??
    textOf(price, "lookup_key") ??
    textOf(price, "id")
  );
}

function intervalOf(recurring: unknown): string | undefined {
  return intervalText(textOf(recurring, "interval"), numberOf(recurring, "interval_count"));
}
