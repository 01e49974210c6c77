/** Contributions that add up: each begins where the one before ends, and the last bar is their sum.
 * Intermediate sums stay within 0 to 100. Figures stand beside the bars, so that no information depends on
 * colour or length alone. */
import type { ReactElement } from "react";
import { classes } from "../text/classes.ts";
import { numbers } from "../text/format.ts";
import { downToTenths } from "../text/rounding.ts";
import { stepsOf } from "./waterfall-steps.ts";

interface WaterfallProps {
  /** The chart's name for screen readers. */
  readonly label: string;
  /** Where the first step begins, with its name. 0 without a row of its own. */
  readonly start?: { readonly label: string; readonly value: number };
  readonly steps: readonly { readonly label: string; readonly hint?: string; readonly points: number }[];
  readonly total: { readonly label: string; readonly value: number };
  /** Shown after each figure, e.g. "%". */
  readonly unit?: string;
  /** Whether more is better: decides the colour of what adds. */
  readonly isMoreGood: boolean;
}

/** Rows of bars on one scale of 0 to 100. */
export function Waterfall(props: WaterfallProps): ReactElement {
  const { label, start, steps, total, unit = "", isMoreGood } = props;
  const first = start?.value ?? 0;
  const placed = stepsOf(first, steps, total.value);
  return (
    <table aria-label={label} className="w-full border-separate border-spacing-y-1">
      <tbody>
        {start !== undefined && (
          <WaterfallRow
            label={start.label}
            text={`${numbers.tenths(downToTenths(start.value))}${unit}`}
            left={0}
            right={start.value}
            bar="bg-edge"
          />
        )}
        {placed.map(({ label: name, hint, points, from, to }) => (
          <WaterfallRow
            key={name}
            label={name}
            hint={hint}
            text={numbers.tenthsChange(points)}
            left={Math.min(from, to)}
            right={Math.max(from, to)}
            bar={points >= 0 === isMoreGood ? "bg-healthy" : "bg-at-risk"}
          />
        ))}
        <WaterfallRow
          label={total.label}
          text={`${numbers.tenths(downToTenths(total.value))}${unit}`}
          left={0}
          right={total.value}
          bar="bg-ink"
          isTotal
        />
      </tbody>
    </table>
  );
}

interface WaterfallRowProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Quiet, behind the label. */
  readonly note?: string;
  /** The figure beside the bar. */
  readonly text: string;
  /** Where the bar begins and ends, in per cent of the width. */
  readonly left: number;
  readonly right: number;
  /** The class of its colour. */
  readonly bar: string;
  readonly isTotal?: boolean;
}

/** A row of a waterfall: label, bar, figure. */
export function WaterfallRow({
  label,
  hint,
  note,
  text,
  left,
  right,
  bar,
  isTotal = false,
}: WaterfallRowProps): ReactElement {
  return (
    <tr className="align-middle" title={hint}>
      <th
        scope="row"
        className={classes(
          "w-[42%] py-0.5 pr-3 text-left text-sm",
          isTotal ? "border-t border-line font-medium" : "font-normal",
        )}
      >
        {label}
        {note !== undefined && <span className="ml-2 inline-block font-normal text-soft">{note}</span>}
      </th>
      <td aria-hidden="true" className={classes(isTotal && "border-t border-line")}>
        <span className="relative block h-4 bg-sunk">
          <span
            className={classes("absolute inset-y-0", bar)}
            style={{ left: `${left}%`, width: `max(1px, ${right - left}%)` }}
          />
        </span>
      </td>
      <td
        className={classes(
          "w-16 py-0.5 pl-3 text-right text-sm whitespace-nowrap",
          isTotal ? "border-t border-line font-semibold" : "font-medium",
        )}
      >
        {text}
      </td>
    </tr>
  );
}
