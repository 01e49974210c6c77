/** What a control group is planned for, and how long it takes: pure. */
import { isAboutEvent, type RuleCondition } from "../../../../contract/alerts/rules.ts";
import { entriesNeeded } from "../../../scoring/statistics/hold-out.ts";

/** The part of those who would leave that a plan expects the treatment to save. */
const plannedSaving = 0.3;
/** The share of controls that leaves, as long as nothing is known of them. Three of four who open a cancel
 * flow leave. */
const assumedBase: Readonly<Partial<Record<RuleCondition["kind"], number>>> = {
  event: 0.75,
  cancellationScheduled: 0.75,
  paymentFailed: 0.4,
};
const otherBase = 0.2;

/** The share of controls that is expected to leave. */
export function assumedBaseOf(condition: RuleCondition | null): number {
  return (condition && assumedBase[condition.kind]) ?? otherBase;
}

/** With fewer mature alerts, or fewer of them that left, a preview says nothing of the share. */
const [leastMature, leastChurned] = [20, 5];

/** The same, by the alerts of a preview where these are enough. Of events it is not known whether a period
 * was paid. */
export function expectedBase(
  condition: RuleCondition,
  { mature, churned }: { readonly mature: number; readonly churned: number },
): number {
  const isKnown = !isAboutEvent(condition) && mature >= leastMature && churned >= leastChurned;
  return isKnown ? churned / mature : assumedBaseOf(condition);
}

/** The entries of both arms that show the planned saving. @param base the share of controls that leaves
 * @param share of controls */
export function plannedEntries(base: number, share: number): number {
  return entriesNeeded({ base, saved: plannedSaving, share });
}

/** How long a control group of a share takes. */
export interface Prospect {
  readonly share: number;
  /** Entries of both arms. */
  readonly entries: number;
  /** Until they are there and their outcomes known. Null without a pace. */
  readonly months: number | null;
}

/** The shares of which a preview says how long they take. */
const sharesShown = [0.2, 0.5];
const daysPerMonth = 30.44;

/** The prospects at the pace of a preview.
 * @param fired entities with an alert in so many days @param horizonDays until an outcome is known */
export function prospectsOf(
  base: number,
  fired: { readonly entities: number; readonly days: number },
  horizonDays: number,
): readonly Prospect[] {
  return sharesShown.map((share) => {
    const entries = plannedEntries(base, share);
    const months = ((entries / fired.entities) * fired.days + horizonDays) / daysPerMonth;
    return { share, entries, months: fired.entities === 0 ? null : months };
  });
}
