/**
 * How scores changed between two days, in parts that add up: behaviour, time, and settings or model. All
 * scores are divided in the same way, so silence is behaviour in each of them.
 */
import { type Explanation, explain, type Serving, type Subject } from "./explain.ts";

/** A change in parts that add up to it. */
export interface Change {
  readonly total: number;
  /** More or less use than on the earlier day. Silence is less use. */
  readonly behaviour: number;
  /** The change of an entity with unchanged behaviour: only its tenure grows. */
  readonly time: number;
  /** Settings, excluded users, the month's scale, or the model. */
  readonly settings: number;
}

export interface ChangeInput {
  readonly before: { readonly subject: Subject; readonly serving: Serving };
  readonly now: { readonly subject: Subject; readonly serving: Serving };
  /** Days from the earlier to the later day. */
  readonly elapsedDays: number;
  /** The entity on the earlier day without users who are excluded now; absent when they were excluded
   * then. */
  readonly recounted?: Subject;
  /** The entity on the later day by the model and settings of the earlier day; left out when they did not
   * change. */
  readonly byOldRules?: Subject;
}

/** The change of one score between two days; null when one of the days has no such score. */
export function changeOf(
  { before, now, elapsedDays, recounted, byOldRules }: ChangeInput,
  score: (explanation: Explanation) => number | null,
): Change | null {
  const counted = recounted ?? before.subject;
  const asBefore = older(counted, elapsedDays);
  const [first, from, aged, acted, to, agedNow] = [
    explain(before.subject, before.serving),
    explain(counted, before.serving),
    explain(asBefore, before.serving),
    explain(byOldRules ?? now.subject, before.serving),
    explain(now.subject, now.serving),
    explain(asBefore, now.serving),
  ].map(score);
  if (first == null || to == null) return null;
  const start = from ?? first;
  const middle = aged ?? start;
  // Without a score by the earlier rules, this is the difference that other rules make for an entity with
  // unchanged behaviour.
  const end = acted ?? (agedNow == null ? middle : to - (agedNow - middle));
  return {
    total: to - first,
    time: middle - start,
    behaviour: end - middle,
    settings: start - first + (to - end),
  };
}

/** The entity this many days later, with unchanged behaviour. */
function older({ features, ...subject }: Subject, days: number): Subject {
  return { ...subject, features: { ...features, tenureDays: features.tenureDays + days } };
}

/** Silence of fewer days is not mentioned. */
const leastSilentDays = 3;

/**
 * The change of health as a sentence: "Down 13: active on 1 day of 28, was 6; silent for 24 days."
 * @param health the change of the health score
 */
export function changeText({ before, now }: ChangeInput, health: Change): string {
  const [then, today] = [before.subject.features, now.subject.features];
  const points = Math.round(Math.abs(health.total));
  const direction = points === 0 ? "No change" : `${health.total > 0 ? "Up" : "Down"} ${points}`;
  const isSilent = today.idleDays >= leastSilentDays && today.idleDays > then.idleDays;
  const rules = Math.round(health.settings);
  const facts = [
    ...(today.hasLeft && !then.hasLeft ? ["churned"] : []),
    `active on ${days(today.activeDays28)} of 28, ${comparedWith(then.activeDays28, today.activeDays28)}`,
    ...(then.members === null || today.members === null
      ? []
      : [
          `${members(today.members.active28)} active, ${comparedWith(then.members.active28, today.members.active28)}`,
        ]),
    ...(isSilent ? [`silent for ${days(today.idleDays)}`] : []),
    ...(rules === 0 ? [] : [`${rules > 0 ? "+" : "−"}${Math.abs(rules)} by settings or model`]),
  ];
  return `${direction}: ${facts.join("; ")}.`;
}

function comparedWith(then: number, today: number): string {
  return then === today ? "as before" : `was ${then}`;
}

function days(count: number): string {
  return count === 1 ? "1 day" : `${count} days`;
}

function members(count: number): string {
  return count === 1 ? "1 member" : `${count} members`;
}
