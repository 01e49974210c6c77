/** Weights of the parts of health: percentages that add up to 100. */
import type { ReactElement } from "react";
import type { Settings } from "../../../../contract/settings.ts";
import { Button } from "../../../parts/form/button.tsx";
import { Icon } from "../../../parts/icons.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { numbers } from "../../../text/format.ts";
import type { SectionProps } from "./event-rules.tsx";
import { HealthTraits } from "./health-traits.tsx";
import { PercentInput } from "./percent-input.tsx";
import { scaledTo100, sumOf } from "./scaled-weights.ts";

type Weights = Settings["healthWeights"];

/** The parts of health, in the order in which they are shown. */
export const healthParts: readonly {
  readonly name: keyof Weights;
  readonly label: string;
  readonly about: string;
}[] = [
  {
    name: "engagement",
    label: "engagement",
    about: "How often, how much and how widely the product is used.",
  },
  {
    name: "outlook",
    label: "outlook",
    about: "100 = no churn risk, 50 = twice the usual.",
  },
  { name: "momentum", label: "momentum", about: "Whether use rises or falls." },
  { name: "adoption", label: "adoption", about: "The share of key events used within 90 days." },
];

/** The fields of all weights, the organization's own parts, and the sum. */
export function HealthWeights({ draft, errorOf }: SectionProps): ReactElement {
  const { healthWeights: weights, healthTraits: traits, keyEvents } = draft.values;
  const hasNoKeyEvents = keyEvents.length === 0;
  const all = [...healthParts.map(({ name }) => weights[name]), ...traits.map(({ weight }) => weight)];
  const scale = (scaled: readonly number[]) => {
    const of = (at: number) => scaled[at] ?? 0;
    draft.set({
      healthWeights: {
        ...weights,
        ...Object.fromEntries(healthParts.map(({ name }, at) => [name, of(at)])),
      },
      ...(traits.length > 0 && {
        healthTraits: traits.map((trait, at) => ({ ...trait, weight: of(healthParts.length + at) })),
      }),
    });
  };
  return (
    <Panel title="Health" note="The weight of each part. Missing parts are left out.">
      <WeightBar weights={all} />
      <div className="grid gap-5 sm:grid-cols-2 lg:grid-cols-4">
        {healthParts.map(({ name, label, about }) => (
          <div key={name} className="grid content-start gap-1">
            <PercentInput
              label={label.charAt(0).toUpperCase() + label.slice(1)}
              value={weights[name]}
              onChange={(weight) => draft.set({ healthWeights: { ...weights, [name]: weight } })}
            />
            {name === "adoption" && hasNoKeyEvents && (
              <p className="text-sm font-medium">Not counted: no key events yet.</p>
            )}
            <p className="text-sm text-soft">{about}</p>
          </div>
        ))}
      </div>
      <HealthTraits draft={draft} errorOf={errorOf} />
      <WeightSum weights={all} error={errorOf("healthWeights")} onScale={scale} />
    </Panel>
  );
}

/** Weights as shares of one bar. */
function WeightBar({ weights }: { weights: readonly number[] }): ReactElement {
  const counted = weights.map((weight) => Math.max(0, weight || 0));
  const whole = Math.max(100, sumOf(counted));
  return (
    <svg viewBox="0 0 100 1" preserveAspectRatio="none" className="mb-4 h-1.5 w-full" aria-hidden="true">
      {counted.map((weight, at) => (
        <rect
          key={String(at)}
          x={(100 * sumOf(counted.slice(0, at))) / whole}
          width={(100 * weight) / whole}
          height={1}
          fill={`var(--color-series-${(at % 6) + 1})`}
        />
      ))}
    </svg>
  );
}

/** Of sums of decimal fractions. */
const roundingError = 1e-6;

/** The sum of weights, and a way to 100 when it is another. */
function WeightSum({
  weights,
  error,
  onScale,
}: {
  weights: readonly number[];
  error: string | undefined;
  /** Called with weights in the same proportions that add up to 100. */
  onScale: (scaled: readonly number[]) => void;
}): ReactElement {
  const sum = sumOf(weights);
  const isWhole = Math.abs(sum - 100) <= roundingError;
  return (
    <div role="status" className="mt-4 flex flex-wrap items-center gap-x-3 gap-y-2 text-sm">
      <p className={isWhole ? "text-soft" : "font-medium text-at-risk"}>
        {!isWhole && <Icon name="warning" size={13} className="mr-1 inline align-[-2px]" />}
        {isWhole
          ? "The weights add up to 100%."
          : `The weights add up to ${numbers.precise(sum)}%, not 100%.`}
      </p>
      {!isWhole && sum > 0 && (
        <Button isSmall onClick={() => onScale(scaledTo100(weights))}>
          Scale to 100%
        </Button>
      )}
      {error !== undefined && isWhole && <p className="text-at-risk">{error}</p>}
    </div>
  );
}
