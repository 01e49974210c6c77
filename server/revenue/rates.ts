/** Amounts of several currencies in one, at one set of rates for all dates. */
import { currencyDigits } from "../../contract/billing/currencies.ts";
import { divideHalfEven } from "./half-even.ts";

export interface Rates {
  /** The currency of figures. */
  readonly reporting: string;
  /** Units of the reporting currency for one unit of a currency: 1.08 for EUR, 0.0067 for JPY. */
  readonly rates: Readonly<Record<string, number>>;
}

/** Minor units of the reporting currency for minor units of another; undefined for a currency without a
 * rate. */
export type Conversion = (minorUnits: number, currency: string) => number | undefined;

/**
 * The conversion at these rates. A rate is the decimal number that its digits say, so 1.1 is exactly 11/10.
 * Each amount is rounded half to even to the reporting currency's minor unit. Figures convert the MRR of each
 * subscription and add the results, so parts of a total add up to it exactly.
 * @throws RangeError when a rate is not a finite number above 0
 */
export function conversionAt({ reporting, rates }: Rates): Conversion {
  const fractions = new Map<string, readonly [bigint, bigint]>();
  for (const [currency, rate] of Object.entries({ ...rates, [reporting]: 1 })) {
    fractions.set(currency, minorUnitRate(rate, currencyDigits(reporting) - currencyDigits(currency)));
  }
  return (minorUnits, currency) => {
    if (currency === reporting) return minorUnits;
    const fraction = fractions.get(currency);
    if (fraction === undefined) return undefined;
    return Number(divideHalfEven(BigInt(minorUnits) * fraction[0], fraction[1]));
  };
}

/** A rate times a power of ten, as numerator and denominator.
 * @throws RangeError when the rate is not a finite number above 0 */
export function minorUnitRate(rate: number, shiftedDigits: number): readonly [bigint, bigint] {
  if (!(rate > 0 && rate < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`a rate is ${rate}, not a finite number above 0`);
  }
  const [digits = "", exponent = "0"] = rate.toString().split("e");
  const [whole = "", fraction = ""] = digits.split(".");
  const power = Number(exponent) - fraction.length + shiftedDigits;
  const scale = 10n ** BigInt(Math.abs(power));
  return power < 0 ? [BigInt(whole + fraction), scale] : [BigInt(whole + fraction) * scale, 1n];
}
