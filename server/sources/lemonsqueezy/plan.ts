/** The plan of a LemonSqueezy subscription, which has no price and no interval of its own. */
import { billingInterval } from "../../../contract/billing/events.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { textOf } from "../billing/fields.ts";

/** The product with its variant: `Team Monthly`. A product without variants has one called Default. */
export function nameOf(attributes: JsonObject): string | undefined {
  const [product, variant] = [textOf(attributes, "product_name"), textOf(attributes, "variant_name")];
  const names = [product, variant === "Default" ? undefined : variant].filter((name) => name !== undefined);
  return names.length === 0 ? undefined : names.join(" ");
}

/** Words of variants' names, the rarest first: what is "monthly, billed annually" is paid by the year. A bare
 * noun says nothing, as in "7 day trial". */
const words = [
  [/\b(annual|annually|yearly)\b|(\/ ?|\bper )year\b|^year$/i, "year"],
  [/\bquarterly\b|(\/ ?|\bper )quarter\b|^quarter$/i, "3 months"],
  [/\bmonthly\b|(\/ ?|\bper )month\b|^month$/i, "month"],
  [/\bweekly\b|(\/ ?|\bper )week\b|^week$/i, "week"],
  [/\bdaily\b|(\/ ?|\bper )day\b|^day$/i, "day"],
] as const;

/** The interval that the checkout's custom data says, or a word of the variant's name. */
export function intervalOf(attributes: JsonObject, custom: unknown): string | undefined {
  const said = textOf(custom, "interval");
  if (said !== undefined && billingInterval(said) !== undefined) return said;
  const variant = textOf(attributes, "variant_name") ?? "";
  return words.find(([word]) => word.test(variant))?.[1];
}
