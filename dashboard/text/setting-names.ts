/** Names of settings on the pages. */
import type { ChurnTarget } from "../../contract/api/churn-targets.ts";
import { type HealthFigure, healthFigureOf } from "../../contract/health-figures.ts";
import { numbers } from "./format.ts";

const names: Readonly<Record<string, string>> = {
  churnHorizonDays: "Churn horizon, in days",
  passiveEvents: "Passive events",
  keyEvents: "Key events",
  "churnTargets.user": "Churn of users",
  "churnTargets.account": "Churn of accounts",
  "riskBands.user": "Risk bands of users",
  "riskBands.account": "Risk bands of accounts",
  ordinaryEvents: "Events that do not mean churn",
  weekStart: "First day of the week",
  reportingCurrency: "Reporting currency",
  name: "Name",
  timezone: "Timezone",
  requestsPerSecond: "Requests per second",
  itemsPerSecond: "Items per second",
  keepEventsDays: "Days that raw events are kept",
};

/** The name of an own part of health: a trait, or a figure of accounts. */
export function healthTraitName(trait: string): string {
  const figure = healthFigureOf(trait);
  return figure === undefined ? trait : healthFigureNames[figure];
}

/** Seats used are in per cent. */
const healthFigureNames: Readonly<Record<HealthFigure, string>> = {
  $seatsUsed: "Seats used",
  $pulse: "Pulse",
};

/** The name of one of the API's settings, or of a single weight, e.g. eventWeights.logged_in. */
export function settingName(setting: string): string {
  const [group, name] = setting.split(/\.(.*)/s);
  if (group === "eventWeights") return `Weight of ${name}`;
  if (group === "currencyRates") return `Rate of ${name}`;
  if (group === "healthTraits") return `${healthTraitName(name ?? "")} in health`;
  return group === "healthWeights" ? `Weight of ${name} in health` : (names[setting] ?? setting);
}

/** The value of a setting as text. */
export function settingValue(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(settingValue).join(", ");
  if (typeof value !== "object") return String(value);
  if (isHealthTrait(value)) return healthTraitText(value);
  if (isRiskBounds(value)) return riskBoundsText(value);
  if (isChurnTarget(value)) return churnTargetText(value);
  return Object.entries(value)
    .map(([name, inside]) => `${name} ${settingValue(inside)}`)
    .join(", ");
}

function isChurnTarget(value: object): value is ChurnTarget {
  return "by" in value && typeof value.by === "string" && Object.hasOwn(targetTexts, value.by);
}

const targetTexts: Readonly<Record<ChurnTarget["by"], string>> = {
  silence: "no activity for the churn horizon",
  event: "an event",
  trait: "a trait",
  subscription: "the last subscription ended",
};

/** What counts as churn, in words. */
export function churnTargetText(target: ChurnTarget): string {
  if (target.by === "trait") return `${target.trait} is ${target.values.join(" or ")}`;
  if (target.by !== "event") return targetTexts[target.by];
  return target.undoneBy === null ? target.event : `${target.event}, not undone by ${target.undoneBy}`;
}

interface HealthTraitValue {
  readonly zeroAt: number;
  readonly hundredAt: number;
  readonly weight: number;
}

function isHealthTrait(value: object): value is HealthTraitValue {
  return "zeroAt" in value && "hundredAt" in value && "weight" in value;
}

/** A part of health of the organization's own, in words: 20%, 0 to 10. */
export function healthTraitText({ zeroAt, hundredAt, weight }: HealthTraitValue): string {
  return `${numbers.precise(weight)}%, ${numbers.precise(zeroAt)} to ${numbers.precise(hundredAt)}`;
}

interface RiskBoundsValue {
  readonly medium: number;
  readonly high: number;
}

function isRiskBounds(value: object): value is RiskBoundsValue {
  return "medium" in value && "high" in value;
}

/** Bounds of risk bands in words. */
export function riskBoundsText({ medium, high }: RiskBoundsValue): string {
  return `medium from ${numbers.share(medium)}, high from ${numbers.share(high)}`;
}

/** The author of a change, without the number of the team member. */
export function authorText(by: string | null): string {
  return by === "command line"
    ? "the command line"
    : (by ?? "an unknown author").replace(/ \(person \d+\)$/, "");
}
