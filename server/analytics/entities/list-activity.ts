/** Filters a list of users by activity on some days: the users behind figures of activity. */
import {
  activeDaysTable,
  firstActiveDays,
  isEngagement,
  type PassiveEvents,
} from "../../warehouse/schema/engagement.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import type { Sql } from "../sql.ts";
import { condition } from "./list-scores.ts";

/** Days in days since 1970-01-01, both included. */
interface Days {
  readonly fromDay: number;
  readonly toDay: number;
}

export interface ActivityFilter {
  /** Only included users who were active on these days, or as `lifecycle` and `inAccount` require. */
  readonly activity?:
    | (Days & {
        /** Beside the 7 days before; as analytics/lifecycle.ts defines them. */
        readonly lifecycle?: "new" | "returning" | "resurrected" | "dormant" | undefined;
        /** Only by events that carry the account with this id. */
        readonly inAccount?: string | undefined;
      })
    | undefined;
}

interface Question extends ActivityFilter {
  readonly passiveEvents: PassiveEvents;
}

/** The conditions of a filter on the number of a user, an expression. They bind `organization` and, with
 * passive events, these. */
export function activityConditions({ activity, passiveEvents }: Question, user: string): Sql[] {
  if (activity === undefined) return [];
  return [
    condition(isIncluded(user)),
    ...onDays(activity, passiveEvents, user).map(({ text, parameters }) =>
      condition(text, {
        ...parameters,
        ...(passiveEvents.length > 0 && { passiveEvents: [...passiveEvents] }),
      }),
    ),
  ];
}

type Activity = NonNullable<ActivityFilter["activity"]>;

const daysBefore = 7;

function onDays(
  { fromDay, toDay, lifecycle, inAccount }: Activity,
  passive: PassiveEvents,
  user: string,
): Sql[] {
  const now = among(user, usersActive(passive, "active"), { activeFrom: fromDay, activeTo: toDay });
  const before = among(user, usersActive(passive, "before"), {
    beforeFrom: fromDay - daysBefore,
    beforeTo: fromDay - 1,
  });
  const first = among(
    user,
    `SELECT user FROM ${firstActiveDays(passive)} WHERE firstDay BETWEEN {activeFrom:Int32} AND {activeTo:Int32}`,
    { activeFrom: fromDay, activeTo: toDay },
  );
  const carried =
    inAccount === undefined
      ? []
      : [
          among(user, usersInAccount(passive), {
            activeFrom: fromDay,
            activeTo: toDay,
            activeInAccount: inAccount,
          }),
        ];
  switch (lifecycle) {
    case "new":
      return [first, ...carried];
    case "returning":
      return [now, before, ...carried];
    case "resurrected":
      return [now, not(before), not(first), ...carried];
    case "dormant":
      return [before, not(now)];
    case undefined:
      return carried.length > 0 ? carried : [now];
  }
}

function among(user: string, users: string, parameters: Sql["parameters"]): Sql {
  return condition(`${user} IN (${users})`, parameters);
}

function not({ text, parameters }: Sql): Sql {
  return condition(`NOT (${text})`, parameters);
}

/** Users who were active on days that are bound as `…From` and `…To`. */
function usersActive(passive: PassiveEvents, name: "active" | "before"): string {
  return `
    SELECT arrayJoin(bitmapToArray(groupBitmapMergeState(users))) FROM ${activeDaysTable(passive)}
    WHERE organization = {organization:UInt32}
      AND day BETWEEN ${dayParameter(`${name}From`)} AND ${dayParameter(`${name}To`)}`;
}

function usersInAccount(passive: PassiveEvents): string {
  return `
    SELECT user FROM user_event_days
    WHERE organization = {organization:UInt32} AND ${isEngagement(passive)}
      AND account IN (
        SELECT account FROM accounts FINAL
        WHERE organization = {organization:UInt32} AND account_id = {activeInAccount:String})
      AND day BETWEEN ${dayParameter("activeFrom")} AND ${dayParameter("activeTo")}`;
}
