/** The limits of declared outages, and their entries in the audit log. Both databases use them. */
import { Refusal } from "../../../contract/refusal.ts";
import { formatDay } from "../../calendar/days.ts";
import type { AuditNote } from "../ports/audit.ts";
import type { DeclaredOutage, OutageDays } from "../ports/settings.ts";

/** Most declared outages of an organization. */
export const maxDeclaredOutages = 100;
const maxOutageDays = 366;

/** The days as they can be stored. @throws Refusal */
export function checkedOutage({ fromDay, toDay }: OutageDays): OutageDays {
  if (toDay < fromDay) {
    throw new Refusal(
      `An outage ends on its first day or later: ${formatDay(toDay)} is before ${formatDay(fromDay)}.`,
    );
  }
  if (toDay - fromDay >= maxOutageDays) {
    throw new Refusal(`An outage has at most ${maxOutageDays} days: declare a longer one in parts.`);
  }
  return { fromDay, toDay };
}

/** The entry of an outage that was declared. */
export function outageAddedNote(outage: DeclaredOutage): AuditNote {
  return {
    action: "outage.added",
    summary: `Declared an outage: ${daysInWords(outage)}`,
    detail: detailOf(outage),
  };
}

/** The entry of an outage that was removed. */
export function outageRemovedNote(outage: DeclaredOutage): AuditNote {
  return {
    action: "outage.removed",
    summary: `Removed a declared outage: ${daysInWords(outage)}`,
    detail: detailOf(outage),
  };
}

function daysInWords({ fromDay, toDay }: OutageDays): string {
  return fromDay === toDay ? formatDay(fromDay) : `${formatDay(fromDay)} to ${formatDay(toDay)}`;
}

function detailOf({ id, fromDay, toDay }: DeclaredOutage) {
  return { id, firstDay: formatDay(fromDay), lastDay: formatDay(toDay) };
}

/** The error for one outage too many. */
export function tooManyOutages(): Refusal {
  return new Refusal(
    `There are ${maxDeclaredOutages} declared outages already: remove one before you add another.`,
  );
}

/** The error for an unknown outage. */
export function noOutage(id: number): Refusal {
  return new Refusal(`There is no declared outage with the id ${id}: rekindle outage list shows them.`);
}
