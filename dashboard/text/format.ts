/**
 * Numbers and dates as text. Days are the organization's, written YYYY-MM-DD, and are never shifted. Instants
 * are shown in the organization's timezone.
 */

// English, as the sentences around them: 22 Nov 2026, 20%.
const locale = "en-GB";

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

/** The text for a missing value. */
export const nothing = "–";
/** The text for a user without an e-mail address. */
export const noEmail = "no e-mail yet";

type Maybe = number | null | undefined;

function numberText(options: Intl.NumberFormatOptions): (value: Maybe) => string {
  const format = new Intl.NumberFormat(locale, options);
  return (value) => (value == null ? nothing : format.format(value));
}

const whole = { maximumFractionDigits: 0 } as const;
const decimal = { maximumFractionDigits: 1 } as const;
const oneDecimal = { minimumFractionDigits: 1, maximumFractionDigits: 1 } as const;
const percent = { style: "percent" } as const;
const signed = { signDisplay: "exceptZero" } as const;
// Down, so that a score never seems to be in the band above its own. See rounding.ts.
const down = { roundingMode: "floor" } as const;

/** Numbers as text. A missing value is a dash. */
export const numbers = {
  /** 12,345 */
  count: numberText(whole),
  /** 12.3 */
  decimal: numberText(decimal),
  /** 12.0: one decimal always, for figures that stand below each other */
  tenths: numberText(oneDecimal),
  /** +3.0 */
  tenthsChange: numberText({ ...oneDecimal, ...signed }),
  /** 0.450 */
  thousandths: numberText({ minimumFractionDigits: 3, maximumFractionDigits: 3 }),
  /** 1234.5678: a value as it was sent, with up to four decimals */
  precise: numberText({ maximumFractionDigits: 4, useGrouping: "min2" }),
  /** 12K */
  compact: numberText({ ...decimal, notation: "compact" }),
  /** 0.123 as 12.3% */
  share: numberText({ ...percent, ...decimal }),
  /** 0.123 as 12% */
  wholeShare: numberText({ ...percent, ...whole }),
  /** A score of 39.6 as 39 */
  score: numberText({ ...whole, ...down }),
  /** A score of 39.68 as 39.6 */
  scoreTenths: numberText({ ...decimal, ...down }),
  /** A risk of 0.196 as 19% */
  risk: numberText({ ...percent, ...whole, ...down }),
  /** A risk of 0.1996 as 19.9% */
  riskTenths: numberText({ ...percent, ...decimal, ...down }),
  /** +3 */
  change: numberText({ ...decimal, ...signed }),
  /** -0.691 as -69% */
  wholeShareChange: numberText({ ...percent, ...whole, ...signed }),
  /** 0.031 as +3.1% */
  shareChange: numberText({ ...percent, ...decimal, ...signed }),
} as const;

/** A number of things, whose plural ends in s: 1 user, 2,345 users. */
export function counted(count: number, thing: string): string {
  return `${numbers.count(count)} ${thing}${count === 1 ? "" : "s"}`;
}

/** Points of a score by which it changed, whole: +3, ±0. */
export function pointsText(change: number | null): string {
  if (change === null) return nothing;
  const points = Math.round(change);
  return points === 0 ? "±0" : numbers.change(points);
}

function dayFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options });
}

const dayFormats = {
  short: dayFormat({ month: "short", day: "numeric" }),
  medium: dayFormat({ year: "numeric", month: "short", day: "numeric" }),
  long: dayFormat({ weekday: "long", year: "numeric", month: "long", day: "numeric" }),
  month: dayFormat({ year: "numeric", month: "short" }),
  monthName: dayFormat({ month: "short" }),
  weekday: dayFormat({ weekday: "short" }),
  weekdayName: dayFormat({ weekday: "long" }),
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

const zonedFormats = new Map<string, Intl.DateTimeFormat>();

/** A format in a timezone. It is made once: making one takes far longer than using it. */
function formatIn(timeZone: string, options: Intl.DateTimeFormatOptions, language = locale) {
  const key = JSON.stringify([timeZone, options, language]);
  const format = zonedFormats.get(key) ?? new Intl.DateTimeFormat(language, { timeZone, ...options });
  zonedFormats.set(key, format);
  return format;
}

/** An instant, as the API gives it, as date and time in a timezone. */
export function instantText(instant: string | null | undefined, timezone: string): string {
  if (instant == null) return nothing;
  return formatIn(timezone, { dateStyle: "medium", timeStyle: "short" }).format(new Date(instant));
}

/** The time of an instant in a timezone, with its seconds unless the form is short. */
export function timeText(instant: string, timezone: string, form: "short" | "medium" = "medium"): string {
  return formatIn(timezone, { timeStyle: form }).format(new Date(instant));
}

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
  const parts = formatIn(timezone, {}, "en-CA").formatToParts(new Date(nowMs));
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")}`;
}
