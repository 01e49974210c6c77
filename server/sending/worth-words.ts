/** What a user or an account is worth and who looks after it, in a line of a message. Pure. */
import { currencyDigits } from "../../contract/billing/currencies.ts";
import { inOneLine } from "./message-text.ts";

export interface Worth {
  /** A month, in minor units of the currency. Null without revenue. */
  readonly mrr: number | null;
  readonly plan: string | null;
  /** The name of the team member. */
  readonly owner: string | null;
}

/** What an entity is worth in words, "110 USD a month, Team, owner Olga"; empty where nothing is known. */
export function worthWords({ mrr, plan, owner }: Worth, currency: string): string {
  const words = [
    ...(mrr === null || currency === "" ? [] : [`${amountText(mrr, currency)} a month`]),
    ...(plan === null ? [] : [inOneLine(plan)]),
    ...(owner === null ? [] : [`owner ${inOneLine(owner)}`]),
  ];
  return words.join(", ");
}

/** An amount in whole units: 1,201 EUR. */
export function amountText(minorUnits: number, currency: string): string {
  const amount = (minorUnits / 10 ** currencyDigits(currency)).toLocaleString("en-US", {
    maximumFractionDigits: 0,
  });
  return `${amount} ${currency}`;
}
