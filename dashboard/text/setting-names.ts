/** Names of settings on the pages. */
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

/** The name of one of the API's settings, or of a single weight, e.g. eventWeights.logged_in. */
export function settingName(setting: string): string {
  const [group, name] = setting.split(/\.(.*)/s);
  if (group === "eventWeights") return `Weight of ${name}`;
  if (group === "currencyRates") return `Rate of ${name}`;
  if (group === "healthTraits") return `${name} in health`;
  return group === "healthWeights" ? `Weight of ${name} in health` : (names[setting] ?? setting);
}

/** The value of a setting as text. */
export function settingValue(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(settingValue).join(", ");
  if (typeof value !== "object") return String(value);
  if (isHealthTrait(value)) return healthTraitText(value);
  return isRiskBounds(value) ? riskBoundsText(value) : JSON.stringify(value);
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
