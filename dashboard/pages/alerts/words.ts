/** Alert rules and their previews in words. */
import type { ruleStates } from "../../../contract/alerts/rules.ts";
import type { Changes, Reads } from "../../api/paths.ts";
import { counted, daysBetween, dayText, numbers } from "../../text/format.ts";
import { sourceName } from "../../text/source-names.ts";
import { stateWords as destinationStates } from "../settings/delivery-words.ts";
import type { Kind, Rule } from "./draft.ts";

type Destination = Reads["/api/destinations"]["answer"]["destinations"][number];
type Preview = Changes["POST /api/alert-rules/preview"]["answer"];

export const kindWords: Readonly<Record<Kind, string>> = {
  riskBand: "Churn risk is in a band",
  riskUp: "Churn risk rose",
  healthBelow: "Health is below a value",
  healthDown: "Health fell",
  state: "Has a state",
  inSegment: "Is in a segment",
  keyEventUnseen: "An event was not done for some days",
  usageDown: "Usage fell in 4 weeks",
  usageUp: "Usage rose in 4 weeks",
  seatsAbove: "Seats are near the limit",
  seatsBelow: "Few seats are used",
  pulseAtMost: "Pulse is low",
  sourceSilent: "A source is silent",
  event: "An event happens",
  paymentFailed: "A payment failed",
  cardExpires: "The card expires before the renewal",
  cancellationScheduled: "A cancellation was scheduled",
  lastOwnerRemoved: "The last owner of an account was removed",
};

export const stateWords: Readonly<Record<(typeof ruleStates)[number], string>> = {
  new: "new",
  active: "active",
  inactive: "inactive",
  canceling: "canceling",
};

/** Kinds of conditions that a rule may have. */
export const kinds = Object.keys(kindWords) as readonly Kind[];

/** The names of segments, by id. */
type SegmentNames = ReadonlyMap<number, string>;

/** The scope of a rule, in a few words. */
export function scopeText({ kind, segment }: Rule["scope"], names: SegmentNames): string {
  if (segment === undefined) return `All ${kind}`;
  return `${kind === "users" ? "Users" : "Accounts"} of ${nameOf(segment, names)}`;
}

function nameOf(segment: number, names: SegmentNames): string {
  return names.get(segment) ?? `segment ${segment}`;
}

/** The condition of a rule in one line. */
export function conditionText({ condition }: Pick<Rule, "condition">, names: SegmentNames): string {
  const { kind, band, below, by = 0, days = 0, state, event, percent, source, segment } = condition;
  const { minSeats, atMost } = condition;
  const ofSeats = `of ${counted(minSeats ?? 0, "seat")} or more`;
  const within = `within ${counted(days, "day")}`;
  const texts: Partial<Record<Kind, string>> = {
    riskBand: band === "high" ? "Churn risk is high" : "Churn risk is medium or high",
    riskUp: `Churn risk rose by ${numbers.decimal(100 * by)} percentage points ${within}`,
    healthBelow: `Health is below ${numbers.decimal(below)}`,
    healthDown: `Health fell by ${numbers.decimal(by)} points ${within}`,
    state: `State is ${state}`,
    keyEventUnseen: `${event} not done for ${counted(days, "day")}`,
    usageDown: `Usage fell by ${numbers.decimal(percent)}% in 4 weeks`,
    usageUp: `Usage rose by ${numbers.decimal(percent)}% in 4 weeks`,
    seatsAbove: `Uses ${numbers.decimal(percent)}% ${ofSeats}`,
    seatsBelow: `Uses less than ${numbers.decimal(percent)}% ${ofSeats}`,
    pulseAtMost: atMost === 1 ? "Pulse is 1" : `Pulse is ${atMost} or lower`,
    event: `${event} happens`,
    ...(segment !== undefined && { inSegment: `Is in ${nameOf(segment, names)}` }),
    ...(source !== undefined && { sourceSilent: `The source ${sourceName(source)} is silent` }),
  };
  return texts[kind] ?? kindWords[kind];
}

const listed = new Intl.ListFormat("en-GB", { type: "conjunction" });

/** The destinations of a rule, and when they get its messages. Webhooks get theirs at once, whatever the
 * rule's time. */
export function sendingText(
  { destinations, when, cap }: Pick<Rule, "destinations" | "when" | "cap">,
  known: readonly Destination[],
): string {
  if (destinations.length === 0) return "Inbox only";
  if (cap === 0) return "Inbox only: at most 0 alerts a day in messages";
  const chosen = known.filter(({ id }) => destinations.includes(id));
  const byTime = Map.groupBy(chosen, ({ kind }) =>
    kind === "webhook" || when === "at once" ? "at once" : `at ${when}`,
  );
  const parts = [...byTime].map(([time, some]) => {
    const names = some.map(({ name, state }) =>
      state === "active" ? name : `${name} (${destinationStates[state]})`,
    );
    return `${listed.format(names)} ${time}`;
  });
  return `Sends to ${parts.join(", and to ")}`;
}

/** A preview as sentences. @param thing user or account @param isWithoutChurn of a rule about customers who
 * could buy more */
export function previewSentences(
  preview: Preview,
  thing: "user" | "account",
  isWithoutChurn = false,
): readonly string[] {
  const { fromDay, toDay, horizonDays, fired, entities, insideNow, precision, baseRate } = preview;
  const { churnedEntities, missed, medianLeadDays, flapped, scoredDays, daysWithoutRisk, note } = preview;
  if (fromDay === null || toDay === null) {
    return [
      daysWithoutRisk === 0
        ? (note ?? "No preview yet: it needs scores of past days.")
        : `No ${thing} had a churn risk on any of the ${counted(daysWithoutRisk, "scored day")}, so none can be judged.`,
    ];
  }
  const weeks = Math.max(1, daysBetween(fromDay, toDay)) / 7;
  const often = `${numbers.decimal(fired / weeks)} times a week`;
  return [
    ...(note === null ? [] : [note]),
    ...(daysWithoutRisk === 0
      ? []
      : [
          `No ${thing} had a churn risk on ${counted(daysWithoutRisk, "scored day")}: the other ${counted(scoredDays, "day")} from ${dayText(fromDay)} on can be judged.`,
        ]),
    `Would have fired ${often}: ${counted(fired, "alert")} for ${counted(entities, thing)}, from ${dayText(fromDay)} to ${dayText(toDay)}.`,
    ...(isWithoutChurn ? [] : [precisionSentence(precision, baseRate.rate, { horizonDays, thing })]),
    ...(isWithoutChurn || medianLeadDays === null
      ? []
      : [`Median lead time from alert to churn: ${numbers.decimal(medianLeadDays)} days.`]),
    ...(isWithoutChurn || churnedEntities === 0
      ? []
      : [`It would have missed ${numbers.count(missed)} of ${numbers.count(churnedEntities)} that churned.`]),
    ...(flapped === 0 ? [] : [`The condition of ${counted(flapped, "alert")} ended within a week.`]),
    `${counted(insideNow, thing)} ${insideNow === 1 ? "matches" : "match"} now.`,
    ...prospectSentences(preview.controlGroups),
  ];
}

/** After this long nobody waits for a result. */
const longestMonths = 24;

/** How long a control group would take, by its share. */
function prospectSentences(groups: Preview["controlGroups"]): readonly string[] {
  const known = groups.flatMap(({ share, months }) => (months === null ? [] : [{ share, months }]));
  if (known.length === 0) return [];
  if (known.every(({ months }) => months > longestMonths)) {
    return ["A control group would prove nothing within two years. Take a wider condition, or none."];
  }
  const each = known.map(({ share, months }) => {
    const time = months > longestMonths ? "more than two years" : counted(Math.ceil(months), "month");
    return `${time} at ${numbers.wholeShare(share)}`;
  });
  return [`A control group would take ${each.join(", or ")}, to show that the rule saves 30%.`];
}

function precisionSentence(
  { mature, rate, interval, steps }: Preview["precision"],
  baseRate: number | null,
  { horizonDays, thing }: { readonly horizonDays: number; readonly thing: string },
): string {
  if (mature === 0 || rate === null) {
    return `No alert is older than the churn horizon of ${counted(horizonDays, "day")}, so precision is unknown.`;
  }
  const range =
    interval === null ? "" : ` (${numbers.wholeShare(interval.low)} to ${numbers.wholeShare(interval.high)})`;
  const weekly = steps === "weekly" ? " of a year of Mondays" : "";
  return `${numbers.wholeShare(rate)} of ${numbers.count(mature)} past ${mature === 1 ? "alert" : "alerts"}${weekly} churned${range}. Of all ${thing}s: ${numbers.wholeShare(baseRate)}.`;
}
