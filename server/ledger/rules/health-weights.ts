/** Weights of health in settings: percentages that add up to 100, and how older versions stored them. */
import { defaultSettings, type Settings } from "../../../contract/settings.ts";

type Weights = Settings["healthWeights"];

const whole = 100;
/** Decimal fractions have no exact sum: 33.3 + 33.3 + 33.4 is 99.99999999999999. */
const roundingError = 1e-6;
/** Percentages that follow from older weights have two decimals. */
const precision = 100;

/** The problem with the parts of health, as the text of a refusal; undefined for valid ones. */
export function healthProblem({
  healthWeights,
  healthTraits,
}: Pick<Settings, "healthWeights" | "healthTraits">): string | undefined {
  const names = healthTraits.map(({ trait }) => trait);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) return `healthTraits has the trait ${twice} twice: send each once.`;
  const flat = healthTraits.find(({ zeroAt, hundredAt }) => zeroAt === hundredAt);
  if (flat !== undefined) {
    return `healthTraits has ${flat.trait} with the same zeroAt and hundredAt: send two different values.`;
  }
  const weights = [...Object.values(healthWeights), ...healthTraits.map(({ weight }) => weight)];
  const sum = weights.reduce((all, weight) => all + weight, 0);
  if (Math.abs(sum - whole) <= roundingError) return undefined;
  const what = healthTraits.length === 0 ? "healthWeights" : "healthWeights and healthTraits";
  return `${what} add up to ${Number(sum.toFixed(6))}: send percentages that add up to 100.`;
}

/** The weights of settings as any version stored them. In version 0.1.0 only their proportions mattered, and
 * each was at most 1. It had no traits in health. */
export function weightsOfStored({
  healthWeights: weights = defaultSettings.healthWeights,
  healthTraits,
}: Partial<Settings>): Weights {
  const stored = Object.values(weights);
  if (healthTraits !== undefined) return weights;
  const sum = stored.reduce((all, weight) => all + weight, 0);
  const rounded = Object.entries(weights).map(
    ([part, weight]) => [part, Math.round((weight / sum) * whole * precision)] as const,
  );
  // The largest takes what rounding leaves over.
  const [largest] = rounded.toSorted(([, a], [, b]) => b - a)[0] ?? [];
  const left = whole * precision - rounded.reduce((all, [, weight]) => all + weight, 0);
  return Object.fromEntries(
    rounded.map(([part, weight]) => [part, (part === largest ? weight + left : weight) / precision]),
  ) as Weights;
}
