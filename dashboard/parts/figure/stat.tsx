/** A figure with its change and a sparkline. */
import type { ReactElement, ReactNode } from "react";
import { classes } from "../../text/classes.ts";

interface StatProps {
  readonly label: string;
  readonly value: ReactNode;
  /** The change as text, with its sign, and whether it is good news. `text` names the comparison. */
  readonly change?:
    | { readonly value: string; readonly isGood: boolean | null; readonly text: string }
    | undefined;
  /** The full definition of the figure, shown on hover. */
  readonly hint?: string;
  /** A line below the value, where there is no change to show. */
  readonly note?: ReactNode;
  /** Values over time, the oldest first, for a small line without axes. */
  readonly line?: readonly number[] | undefined;
}

/** One figure. Good and bad differ by their sign, not only by colour. */
export function Stat({ label, value, change, hint, note, line }: StatProps): ReactElement {
  return (
    <div title={hint} className="flex min-w-0 items-start justify-between gap-4 px-4 py-3">
      <dl className="min-w-0">
        <dt className="truncate text-sm text-soft">{label}</dt>
        <dd className="text-2xl font-medium tracking-[-0.02em]">{value}</dd>
        {change !== undefined && (
          <dd className="text-sm text-soft">
            <span
              className={classes(
                "font-medium",
                change.isGood === true && "text-healthy",
                change.isGood === false && "text-at-risk",
              )}
            >
              {change.value}
            </span>{" "}
            {change.text}
          </dd>
        )}
        {note != null && note !== false && <dd className="text-sm text-soft">{note}</dd>}
      </dl>
      {line !== undefined && line.length > 1 && <Sparkline values={line} />}
    </div>
  );
}

/** Figures side by side, with hairlines between. @param isDense two beside each other on a phone, too */
export function Stats({
  children,
  isDense = false,
}: {
  children: ReactNode;
  isDense?: boolean;
}): ReactElement {
  return (
    <div
      className={classes(
        "grid gap-px overflow-hidden rounded border border-line bg-line *:bg-surface",
        isDense
          ? "grid-cols-2 sm:grid-cols-[repeat(auto-fit,minmax(11rem,1fr))] max-sm:*:last:odd:col-span-2"
          : "grid-cols-[repeat(auto-fit,minmax(min(100%,13rem),1fr))]",
      )}
    >
      {children}
    </div>
  );
}

/** A line without axes. It decorates a figure that stands beside it as text. */
export function Sparkline({
  values,
  width = 96,
  height = 32,
}: {
  values: readonly number[];
  width?: number;
  height?: number;
}): ReactElement {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const range = most - least || 1;
  const point = (value: number, index: number) =>
    [
      1 + (index / Math.max(1, values.length - 1)) * (width - 5),
      height - 3 - ((value - least) / range) * (height - 6),
    ] as const;
  const points = values.map(point);
  const last = points.at(-1) ?? [0, 0];
  return (
    <svg width={width} height={height} aria-hidden="true" className="mt-5 shrink-0 text-ember">
      <polyline
        points={points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinejoin="round"
      />
      <circle cx={last[0]} cy={last[1]} r="2.5" fill="currentColor" />
    </svg>
  );
}
