/** Amounts that lead from a start to an end. Movements are small beside the whole, so the bars do not begin
 * at zero: the scale is drawn wide enough to see them, and says where it begins. */
import type { ReactElement } from "react";
import type { Money } from "../text/money.ts";
import { WaterfallRow } from "./waterfall.tsx";
import { scaleOfSums } from "./waterfall-steps.ts";

interface Amount {
  readonly label: string;
  readonly hint?: string;
  /** In minor units, with its sign. */
  readonly amount: number;
  readonly note: string;
}

interface MoneyWaterfallProps {
  /** The chart's name for screen readers. */
  readonly label: string;
  readonly money: Money;
  readonly start: Amount;
  /** They add up to the difference of end and start. */
  readonly steps: readonly Amount[];
  readonly end: Amount;
}

export function MoneyWaterfall({ label, money, start, steps, end }: MoneyWaterfallProps): ReactElement {
  let sum = start.amount;
  const placed = steps.map((step) => {
    const from = sum;
    sum += step.amount;
    return { ...step, from, to: sum };
  });
  const { low, high } = scaleOfSums([start.amount, ...placed.map(({ to }) => to), end.amount]);
  const place = (amount: number) => (high === low ? 0 : ((amount - low) / (high - low)) * 100);
  const whole = (one: Amount, bar: string, isTotal: boolean) => (
    <WaterfallRow
      label={one.label}
      note={one.note}
      bar={bar}
      isTotal={isTotal}
      text={money.exact(one.amount)}
      left={0}
      right={place(one.amount)}
    />
  );
  return (
    <div>
      <table aria-label={label} className="w-full border-separate border-spacing-y-1">
        <tbody>
          {whole(start, "bg-edge", false)}
          {placed.map(({ from, to, ...step }) => (
            <WaterfallRow
              key={step.label}
              label={step.label}
              hint={step.hint}
              note={step.note}
              text={money.change(step.amount)}
              left={place(Math.min(from, to))}
              right={place(Math.max(from, to))}
              bar={barOf(step.amount)}
            />
          ))}
          {whole(end, "bg-ink", true)}
        </tbody>
      </table>
      {low > 0 && (
        <p className="mt-1 text-sm text-soft">The bars begin at {money.short(low)}, not at zero.</p>
      )}
    </div>
  );
}

function barOf(amount: number): string {
  if (amount === 0) return "bg-edge";
  return amount > 0 ? "bg-healthy" : "bg-at-risk";
}
