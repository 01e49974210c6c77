/** Health and churn risk on all pages: a colour, a shape and a word. */
import type { ReactElement, ReactNode } from "react";
import { classes } from "../../text/classes.ts";
import { numbers } from "../../text/format.ts";

/** Health bands, as the API names them. */
export type HealthBand = "healthy" | "watch" | "at_risk" | "onboarding" | "churned" | "none";

/** Each band's word, and a shape that shows it without colour. Written out, so that the styles are found. */
const looks: Record<HealthBand, { word: string; ink: string; wash: string; shape: string }> = {
  healthy: {
    word: "Healthy",
    ink: "text-healthy",
    wash: "bg-healthy-wash",
    shape: "M6 1a5 5 0 1 1 0 10A5 5 0 0 1 6 1Z",
  },
  watch: { word: "Watch", ink: "text-watch", wash: "bg-watch-wash", shape: "M6 .5 11.5 6 6 11.5.5 6Z" },
  at_risk: { word: "At risk", ink: "text-at-risk", wash: "bg-at-risk-wash", shape: "M6 1l5.5 10H.5Z" },
  onboarding: {
    word: "Onboarding",
    ink: "text-onboarding",
    wash: "bg-onboarding-wash",
    shape: "M5 1h2v4h4v2H7v4H5V7H1V5h4Z",
  },
  churned: {
    word: "Churned",
    ink: "text-churned",
    wash: "bg-churned-wash",
    shape: "M2 3.4 3.4 2 6 4.6 8.6 2 10 3.4 7.4 6 10 8.6 8.6 10 6 7.4 3.4 10 2 8.6 4.6 6Z",
  },
  none: { word: "No score", ink: "text-soft", wash: "bg-transparent", shape: "M2 5h8v2H2Z" },
};

/** The word of a health band. */
export function healthWord(healthBand: HealthBand): string {
  return looks[healthBand].word;
}

/** The shape alone, for places with the word beside it. */
export function HealthShape({ healthBand }: { healthBand: HealthBand }): ReactElement {
  return (
    <svg
      width="10"
      height="10"
      viewBox="0 0 12 12"
      aria-hidden="true"
      className={classes("shrink-0", looks[healthBand].ink)}
    >
      <path d={looks[healthBand].shape} fill="currentColor" />
    </svg>
  );
}

/** A text behind the shape of a band, in its colours: also for what is not health itself. */
export function HealthLabel({
  healthBand,
  className,
  children,
}: {
  healthBand: HealthBand;
  className?: string | undefined;
  children: ReactNode;
}): ReactElement {
  const { ink, wash } = looks[healthBand];
  const frame = "inline-flex items-center gap-1.5 rounded px-1.5 py-px text-sm whitespace-nowrap";
  return (
    <span className={classes(frame, ink, wash, className)}>
      <HealthShape healthBand={healthBand} />
      {children}
    </span>
  );
}

/** Shape and word, and the score if it is given. */
export function Health({
  healthBand,
  score,
}: {
  healthBand: HealthBand;
  score?: number | null;
}): ReactElement {
  return (
    <HealthLabel healthBand={healthBand}>
      {score != null && <b className="font-semibold">{numbers.score(score)}</b>}
      {looks[healthBand].word}
    </HealthLabel>
  );
}

const riskBands = {
  low: { word: "Low", ink: "text-healthy", filled: 1 },
  medium: { word: "Medium", ink: "text-watch", filled: 2 },
  high: { word: "High", ink: "text-at-risk", filled: 3 },
} as const;

/** A band of churn risk: one to three bars, and a word. @param word where the band's own would not say of
 * what it is */
export function RiskLevel({
  riskBand,
  word = riskBands[riskBand].word,
}: {
  riskBand: keyof typeof riskBands;
  word?: string;
}): ReactElement {
  const { ink, filled } = riskBands[riskBand];
  return (
    <span
      className={classes("inline-flex items-center gap-1.5 text-sm tracking-normal whitespace-nowrap", ink)}
    >
      <svg width="12" height="10" viewBox="0 0 12 10" aria-hidden="true">
        {[1, 2, 3].map((bar) => (
          <rect
            key={bar}
            x={(bar - 1) * 4 + 0.5}
            y={9.5 - bar * 3}
            width="3"
            height={bar * 3}
            fill={bar <= filled ? "currentColor" : "none"}
            stroke="currentColor"
            strokeWidth="0.8"
          />
        ))}
      </svg>
      {word}
    </span>
  );
}

/** A churn risk as a multiple of the base rate, for a tooltip. Undefined without a base rate. */
export function ratioText(ratioToBaseRate: number | null): string | undefined {
  return ratioToBaseRate === null ? undefined : `${numbers.decimal(ratioToBaseRate)} times the base rate`;
}

/** A churn risk as a cell: the figure and its band, which stand below each other in a column. */
export function Risk({
  risk,
  riskBand,
  ratioToBaseRate,
}: {
  risk: number;
  riskBand: keyof typeof riskBands;
  ratioToBaseRate: number | null;
}): ReactElement {
  return (
    <span className="inline-flex items-center justify-end gap-2" title={ratioText(ratioToBaseRate)}>
      {numbers.risk(risk)}
      <span className="w-17 text-left">
        <RiskLevel riskBand={riskBand} />
      </span>
    </span>
  );
}

/** A small label. */
export function Badge({
  tone = "plain",
  children,
}: {
  tone?: "plain" | "good" | "warn" | "bad" | "info";
  children: string;
}): ReactElement {
  const tones = {
    plain: "border-line text-soft",
    good: "border-healthy text-healthy",
    warn: "border-watch text-watch",
    bad: "border-at-risk text-at-risk",
    info: "border-onboarding text-onboarding",
  };
  return (
    <span
      className={classes(
        "inline-block rounded border px-1.5 text-xs leading-5 whitespace-nowrap",
        tones[tone],
      )}
    >
      {children}
    </span>
  );
}
