/** Reads the values that `rekindle settings set` takes. Text of another form is refused here; the ledger
 * checks names and the limits of numbers. */
import { InvalidArgumentError } from "commander";
import type { ChurnTarget } from "../contract/api/churn-targets.ts";
import type { HealthTrait } from "../contract/api/health-traits.ts";
import type { RiskBounds } from "../contract/api/risk-bands.ts";

/** Days of the week on which weeks may begin, as they are stored. */
export const weekStarts = [
  { name: "monday", day: 1 },
  { name: "sunday", day: 7 },
] as const;

/** A number of days. */
export function readChurnHorizon(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give 7, 14, 28, 56 or 84.");
}

/** `engagement=40,outlook=30` as percentages by the part's name. */
export function readHealthWeights(text: string): Record<string, number> {
  const weights = text.split(",").map((pair): [string, number] => {
    const [name, weight] = splitPair(pair);
    return [name, decimal(weight)];
  });
  if (new Set(weights.map(([name]) => name)).size < weights.length) {
    throw new InvalidArgumentError("Give each part once.");
  }
  return Object.fromEntries(weights);
}

/** `report_created=3`, or `report_created=default`, which is null. */
export function readEventWeight(text: string): [string, number | null] {
  const [name, weight] = splitPair(text);
  return [name, weight === "default" ? null : decimal(weight)];
}

/** `nps=0..10:20`: the values that mean 0 and 100, and the percentage. */
export function readHealthTrait(text: string): HealthTrait {
  const [trait, scale] = splitPair(text);
  const [range = "", weight, ...more] = scale.split(":");
  const [zeroAt, hundredAt, ...others] = range.split("..");
  if (
    zeroAt === undefined ||
    hundredAt === undefined ||
    weight === undefined ||
    more.length + others.length > 0
  ) {
    throw new InvalidArgumentError("Give TRAIT=ZERO..HUNDRED:WEIGHT, such as nps=0..10:20.");
  }
  return { trait, zeroAt: signed(zeroAt), hundredAt: signed(hundredAt), weight: decimal(weight) };
}

/** The text of a part of health, as it is read. */
export function healthTraitText({ trait, zeroAt, hundredAt, weight }: HealthTrait): string {
  return `${trait}=${zeroAt}..${hundredAt}:${weight}`;
}

/** The form that `readRiskBands` takes. */
export const riskBandsForm = "MEDIUM,HIGH, such as .1,.3, or default";

/** Two churn risks; null for `default`. */
export function readRiskBands(text: string): { bounds: RiskBounds | null } {
  if (text === "default") return { bounds: null };
  const [medium, high, ...more] = text.split(",");
  if (medium === undefined || high === undefined || more.length > 0) {
    throw new InvalidArgumentError(`Give ${riskBandsForm}.`);
  }
  return { bounds: { medium: decimal(medium), high: decimal(high) } };
}

/** The text of bounds, as it is read. */
export function riskBandsText(bounds: RiskBounds | null): string {
  return bounds === null ? "default" : `${bounds.medium},${bounds.high}`;
}

function signed(text: string): number {
  return text.startsWith("-") ? -decimal(text.slice(1)) : decimal(text);
}

/** The forms that `readChurnTarget` takes. */
export const churnTargetForms =
  'silence, "event NAME", "event NAME undone by NAME", "trait NAME = VALUE, VALUE", or subscription';

/** A churn target. Names of events have no white space. */
export function readChurnTarget(text: string): ChurnTarget {
  if (text === "silence" || text === "subscription") return { by: text };
  const [, event, undoneBy] = /^event +(\S+)(?: +undone +by +(\S+))?$/.exec(text) ?? [];
  if (event !== undefined) return { by: "event", event, undoneBy: undoneBy ?? null };
  const equals = text.indexOf("=");
  if (text.startsWith("trait ") && equals > 0) {
    const values = text.slice(equals + 1).split(",");
    return {
      by: "trait",
      trait: text.slice("trait ".length, equals).trim(),
      values: values.map((value) => value.trim()),
    };
  }
  throw new InvalidArgumentError(`Give ${churnTargetForms}.`);
}

/** The text of a target, as it is read. */
export function churnTargetText(target: ChurnTarget): string {
  if (target.by === "event") {
    return `event ${target.event}${target.undoneBy === null ? "" : ` undone by ${target.undoneBy}`}`;
  }
  return target.by === "trait" ? `trait ${target.trait} = ${target.values.join(", ")}` : target.by;
}

/** At the last sign: names of events may have some of their own. */
function splitPair(text: string): [string, string] {
  const at = text.lastIndexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new InvalidArgumentError("Give NAME=WEIGHT.");
}

function decimal(text: string): number {
  if (/^(\d+(\.\d*)?|\.\d+)$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`${JSON.stringify(text)} is no number: give one such as 3 or .5.`);
}
