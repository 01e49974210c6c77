/**
 * Numbers and dates as text. Days are the organization's, written YYYY-MM-DD, and are never shifted. Instants are shown in
 * the organization's timezone.
 */

// English, as the sentences around them: 22 Nov 2026, 20%.
const locale = "en-GB";

const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const decimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const tenths = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const signedTenths = new Intl.NumberFormat(locale, {
  signDisplay: "exceptZero",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const thousandths = new Intl.NumberFormat(locale, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
const precise = new Intl.NumberFormat(locale, { maximumFractionDigits: 4, useGrouping: "min2" });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
const wholePercent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
const signed = new Intl.NumberFormat(locale, { signDisplay: "exceptZero", maximumFractionDigits: 1 });
const signedPercent = new Intl.NumberFormat(locale, {
  style: "percent",
  signDisplay: "exceptZero",
  maximumFractionDigits: 1,
});
// Down, so that a score never seems to be in the band above its own. See rounding.ts.
const score = new Intl.NumberFormat(locale, { maximumFractionDigits: 0, roundingMode: "floor" });
const scoreTenths = new Intl.NumberFormat(locale, { maximumFractionDigits: 1, roundingMode: "floor" });
const risk = new Intl.NumberFormat(locale, {
  style: "percent",
  maximumFractionDigits: 0,
  roundingMode: "floor",
});
const riskTenths = new Intl.NumberFormat(locale, {
  style: "percent",
  maximumFractionDigits: 1,
  roundingMode: "floor",
});
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

const weekday = new Intl.DateTimeFormat(locale, { weekday: "long", timeZone: "UTC" });

/** The text for a missing value. */
export const nothing = "–";
/** The text for a user without an e-mail address. */
export const noEmail = "no e-mail yet";

type Maybe = number | null | undefined;
const of = (format: Intl.NumberFormat) => (value: Maybe) => (value == null ? nothing : format.format(value));

/** Numbers as text. A missing value is a dash. */
export const numbers = {
  /** 12,345 */
  count: of(whole),
  /** 12.3 */
  decimal: of(decimal),
  /** 12.0: one decimal always, for figures that stand below each other */
  tenths: of(tenths),
  /** +3.0 */
  tenthsChange: of(signedTenths),
  /** 0.450 */
  thousandths: of(thousandths),
  /** 1234.5678: a value as it was sent, with up to four decimals */
  precise: of(precise),
  /** 12K */
  compact: of(compact),
  /** 0.123 as 12.3% */
  share: of(percent),
  /** 0.123 as 12% */
  wholeShare: of(wholePercent),
  /** A score of 39.6 as 39 */
  score: of(score),
  /** A score of 39.68 as 39.6 */
  scoreTenths: of(scoreTenths),
  /** A risk of 0.196 as 19% */
  risk: of(risk),
  /** A risk of 0.1996 as 19.9% */
  riskTenths: of(riskTenths),
  /** +3 */
  change: of(signed),
  /** 0.031 as +3.1% */
  shareChange: of(signedPercent),
} as const;

/** Points of a score by which it changed, whole: +3, ±0. */
export function pointsText(change: number | null): string {
  if (change === null) return nothing;
  const points = Math.round(change);
  return points === 0 ? "±0" : numbers.change(points);
}

const dayFormats = {
  short: new Intl.DateTimeFormat(locale, { timeZone: "UTC", month: "short", day: "numeric" }),
  medium: new Intl.DateTimeFormat(locale, {
    timeZone: "UTC",
    year: "numeric",
    month: "short",
    day: "numeric",
  }),
  long: new Intl.DateTimeFormat(locale, {
    timeZone: "UTC",
    weekday: "long",
    year: "numeric",
    month: "long",
    day: "numeric",
  }),
  month: new Intl.DateTimeFormat(locale, { timeZone: "UTC", year: "numeric", month: "short" }),
  monthName: new Intl.DateTimeFormat(locale, { timeZone: "UTC", month: "short" }),
  weekday: new Intl.DateTimeFormat(locale, { timeZone: "UTC", weekday: "short" }),
} as const;

/** A day, YYYY-MM-DD, as text. */
export function dayText(day: string | null | undefined, form: keyof typeof dayFormats = "medium"): string {
  return day == null ? nothing : dayFormats[form].format(new Date(`${day}T00:00:00Z`));
}

/** Days from one day to another. Negative when the second is the earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000);
}

/** The day so many days after a day, or before for a negative number. */
export function dayPlus(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

/** How long ago a day is, as text: today, yesterday, 3 weeks ago. @param today the organization's */
export function daysAgoText(day: string | null | undefined, today: string): string {
  if (day == null) return nothing;
  const days = daysBetween(today, day);
  if (Math.abs(days) < 14) return relative.format(days, "day");
  if (Math.abs(days) < 70) return relative.format(Math.round(days / 7), "week");
  return relative.format(Math.round(days / 30.44), "month");
}

const instantFormats = new Map<string, Intl.DateTimeFormat>();

/** An instant, as the API gives it, as date and time in a timezone. */
export function instantText(instant: string | null | undefined, timezone: string): string {
  if (instant == null) return nothing;
  const format =
    instantFormats.get(timezone) ??
    new Intl.DateTimeFormat(locale, { timeZone: timezone, dateStyle: "medium", timeStyle: "short" });
  instantFormats.set(timezone, format);
  return format.format(new Date(instant));
}

/** The time of an instant in a timezone, with its seconds unless the form is short. */
export function timeText(instant: string, timezone: string, form: "short" | "medium" = "medium"): string {
  const key = `${timezone} ${form}`;
  const format =
    timeFormats.get(key) ?? new Intl.DateTimeFormat(locale, { timeZone: timezone, timeStyle: form });
  timeFormats.set(key, format);
  return format.format(new Date(instant));
}

const timeFormats = new Map<string, Intl.DateTimeFormat>();

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** How long ago an instant is, as text: now, 5 minutes ago. */
export function agoText(instant: string | null | undefined, nowMs: number): string {
  if (instant == null) return nothing;
  const seconds = (Date.parse(instant) - nowMs) / 1_000;
  for (const [unit, length] of steps) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit);
  }
  return relative.format(0, "second");
}

/** Today in a timezone, YYYY-MM-DD. */
export function todayIn(timezone: string, nowMs: number): string {
  const parts = partsFormat(timezone).formatToParts(new Date(nowMs));
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")}`;
}

const partsFormats = new Map<string, Intl.DateTimeFormat>();

function partsFormat(timezone: string): Intl.DateTimeFormat {
  const format = partsFormats.get(timezone) ?? new Intl.DateTimeFormat("en-CA", { timeZone: timezone });
  partsFormats.set(timezone, format);
  return format;
}

/** The weekday of a day: Saturday. */
export function weekdayText(day: string): string {
  return weekday.format(Date.parse(day));
}
