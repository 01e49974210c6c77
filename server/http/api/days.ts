/** Which days a figure is about, by the parameters of the JSON API and the organization's settings. */

import { ApiError } from "../../../contract/refusal.ts";
import type { UsersQuestion } from "../../analytics/sql.ts";
import { formatDay, parseDay } from "../../calendar/days.ts";
import type { Zone } from "../../calendar/zone.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { ApiParts, OrganizationContext } from "./context.ts";

interface DayContext {
  readonly zone: Zone;
  readonly nowMs: () => number;
  readonly query: { readonly to?: string };
}

/** Today in the organization's timezone, in days since 1970-01-01. */
export function today({ zone, nowMs }: Pick<DayContext, "zone" | "nowMs">): number {
  return zone.dayOf(nowMs());
}

/**
 * The day `to`, today when it was not sent. Days after today count in no figure until they come.
 * @throws ApiError when it is no date from 1970 to today
 */
export function lastDay(context: DayContext, byDefault = today(context)): number {
  const { to } = context.query;
  if (to === undefined) return byDefault;
  const day = parseDay(to);
  const latest = today(context);
  if (day === undefined || day < 0 || day > latest) {
    throw new ApiError(
      "validation_error",
      `to is not valid: send a date from 1970-01-01 to today, ${formatDay(latest)}.`,
    );
  }
  return day;
}

/** The common part of questions about the users of the organization. @param toDay nothing after it counts */
export async function usersQuestion(
  { organization, passiveEvents }: Pick<OrganizationContext, "organization" | "passiveEvents">,
  toDay: number,
): Promise<UsersQuestion> {
  return { organization: organization.id, toDay, passiveEvents: await passiveEvents() };
}

/** With which day weeks begin: as the request says, or as the organization has set it. */
export async function weekStart({
  ledger,
  organization,
  query,
}: Pick<ApiParts, "ledger"> & {
  readonly organization: Organization;
  readonly query: { readonly weekStart?: 1 | 7 };
}): Promise<1 | 7> {
  return query.weekStart ?? (await ledger.settings.get(organization.id)).settings.weekStart;
}

/** The day of a parameter. @throws ApiError when it is no date */
export function dayOfParameter(name: string, text: string): number {
  const day = parseDay(text);
  if (day !== undefined) return day;
  throw new ApiError("validation_error", `${name} is not valid: send a date such as 2026-01-31.`);
}
