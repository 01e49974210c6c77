/** Why health changed, as a sentence: the activity before and after. Pure. */

/** The activity in the 28 days before a day. */
export interface ActivityThen {
  readonly activeDays28: number;
  readonly idleDays: number;
  /** For an account: members who were active. */
  readonly activeMembers28: number;
  /** Whether a declared churn target is met. */
  readonly hasLeft: boolean;
}

interface Move {
  readonly kind: "user" | "account";
  readonly direction: "fell" | "rose" | "returned";
  readonly before: ActivityThen;
  readonly now: ActivityThen;
}

/** A silence of fewer days is not mentioned: a week is the shortest churn horizon. */
const mentionedFromDays = 7;

/** "Active on 3 of 28 days, was 14; silent for 9 days." For an account the active members are mentioned, if
 * they changed. */
export function movementReason({ kind, direction, before, now }: Move): string {
  if (direction === "returned") {
    const away = before.hasLeft ? "had left" : `had been silent for ${days(before.idleDays)}`;
    return `${away}; ${kind === "account" ? activeMembers(now) : activeDays(now)}`;
  }
  const byMembers = kind === "account" && now.activeMembers28 !== before.activeMembers28;
  const [is, was] = byMembers
    ? [now.activeMembers28, before.activeMembers28]
    : [now.activeDays28, before.activeDays28];
  const silent = now.idleDays >= mentionedFromDays ? `; silent for ${days(now.idleDays)}` : "";
  return `${byMembers ? activeMembers(now) : activeDays(now)}, ${is === was ? "as before" : `was ${was}`}${silent}`;
}

function activeDays({ activeDays28 }: ActivityThen): string {
  return `active on ${activeDays28} of 28 days`;
}

function activeMembers({ activeMembers28: count }: ActivityThen): string {
  return `${count} ${count === 1 ? "member" : "members"} active in 28 days`;
}

function days(count: number): string {
  return `${count} ${count === 1 ? "day" : "days"}`;
}
