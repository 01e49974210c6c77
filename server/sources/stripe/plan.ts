/** Reads the plan of a Stripe subscription, in every form that the API has had. */
import { isJsonObject, type JsonObject, objectOf } from "../../../contract/json.ts";
import { isoAmount } from "./minor-units.ts";

/** The price and name of a subscription. Values that the payload lacks are undefined. */
export interface Plan {
  readonly name: string | undefined;
  /** For one interval and the whole quantity, in the currency's minor units. */
  readonly amount: number | undefined;
  readonly currency: string | undefined;
  /** `month`, or `3 months`. */
  readonly interval: string | undefined;
  readonly quantity: number | undefined;
}

/** A field of an object; undefined for null, for an absent field, and without an object. */
export function fieldOf(value: unknown, ...keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) {
    if (!isJsonObject(found) || !Object.hasOwn(found, key)) return undefined;
    found = found[key];
  }
  return found ?? undefined;
}

/** As `fieldOf`, if it is a non-empty string. */
export function textOf(value: unknown, ...keys: readonly string[]): string | undefined {
  const found = fieldOf(value, ...keys);
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** As `fieldOf`, if it is a number that JSON represents exactly. */
export function numberOf(value: unknown, ...keys: readonly string[]): number | undefined {
  const found = fieldOf(value, ...keys);
  return typeof found === "number" && Math.abs(found) <= Number.MAX_SAFE_INTEGER ? found : undefined;
}

/** The id of an object that is either expanded or given by its id. */
export function idOf(value: unknown, ...keys: readonly string[]): string | undefined {
  const found = fieldOf(value, ...keys);
  return textOf(found, "id") ?? (typeof found === "string" && found !== "" ? found : undefined);
}

/** Objects of a list of Stripe's, `{data: […]}`. */
function listOf(value: unknown, ...keys: readonly string[]): readonly JsonObject[] {
  const data = fieldOf(value, ...keys, "data");
  return Array.isArray(data) ? data.filter(isJsonObject) : [];
}

/**
 * The plan of a subscription: of its first item that is not metered, with the amounts of all. In API
 * versions until 2018 a subscription has `plan` and `quantity` itself; since then `items.data[]` with `plan`, and since 2020 with
 * `price` beside it.
 */
export function planOf(subscription: JsonObject): Plan {
  const items = listOf(subscription, "items");
  const lines = (items.length > 0 ? items : [subscription]).map(lineOf);
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

/** The plan before an update; undefined if the update did not change it. `previous_attributes` has whole lists, but of the `plan`
 * of old versions only the changed fields. */
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

interface Line extends Plan {
  readonly isMetered: boolean;
}

function lineOf(item: JsonObject): Line {
  const price = objectOf(item.price);
  const plan = objectOf(item.plan);
  const quantity = numberOf(item, "quantity");
  const unit = numberOf(price, "unit_amount") ?? numberOf(plan, "amount");
  const recurring = fieldOf(price, "recurring") ?? plan;
  const currency = textOf(price, "currency") ?? textOf(plan, "currency");
  return {
    name: nameOf(price) ?? nameOf(plan),
    amount: isoAmount(unit === undefined ? undefined : unit * (quantity ?? 1), currency),
    currency,
    interval: intervalOf(recurring),
    quantity,
    isMetered: textOf(recurring, "usage_type") === "metered",
  };
}

/** The first name that exists, from names that people choose to generated ids. Plans had a `name` before products had one. */
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
  const interval = textOf(recurring, "interval");
  const count = numberOf(recurring, "interval_count") ?? 1;
  return interval === undefined || count === 1 ? interval : `${count} ${interval}s`;
}
