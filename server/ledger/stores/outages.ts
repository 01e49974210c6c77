/** The limits of declared outages, and their entries in the audit log. Both databases use them. */
import { Refusal } from "../../../contract/refusal.ts";
import { formatDay } from "../../calendar/days.ts";
import type { Actor, AuditNote } from "../audit.ts";
import type { Engine } from "../engine.ts";
import { integer, RowOf, returning, returningOne, select } from "../sql.ts";
import { lockKnownOrganization, lockOrganization } from "./organization-rows.ts";

/** Most declared outages of an organization. */
const maxDeclaredOutages = 100;
const maxOutageDays = 366;

/** The days as they can be stored. @throws Refusal */
function checkedOutage({ fromDay, toDay }: OutageDays): OutageDays {
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
function outageAddedNote(outage: DeclaredOutage): AuditNote {
  return {
    action: "outage.added",
    summary: `Declared an outage: ${daysInWords(outage)}`,
    detail: detailOf(outage),
  };
}

/** The entry of an outage that was removed. */
function outageRemovedNote(outage: DeclaredOutage): AuditNote {
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
function tooManyOutages(): Refusal {
  return new Refusal(
    `There are ${maxDeclaredOutages} declared outages already: remove one before you add another.`,
  );
}

/** Days since 1970-01-01 in the organization's timezone, both included. */
export interface OutageDays {
  readonly fromDay: number;
  readonly toDay: number;
}

export interface DeclaredOutage extends OutageDays {
  readonly id: number;
  readonly createdAtMs: number;
}

const storedOutage = new RowOf<DeclaredOutage>({
  id: integer(),
  fromDay: integer(),
  toDay: integer(),
  createdAtMs: integer(),
});

/** The store of outages that were declared by hand: days on which data collection had stopped. No count of
 * days in scores contains them. Every change and its entry in the audit log are one
 * commit. */
export function outageStore(engine: Engine) {
  return {
    /** In the order of days. */
    list: (organization: number) => engine.alone(outagesOf(organization)),

    /** Declares an outage. @returns the outage with its id. One of the same days is returned unchanged.
     * @throws Refusal when the days are in the wrong order or too many, there are too many outages, or there
     * is no such organization. */
    add: async (organization: number, days: OutageDays, by: Actor, nowMs: number) => {
      const { fromDay, toDay } = checkedOutage(days);
      return engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        const outages = yield* outagesOf(organization);
        const known = outages.find((one) => one.fromDay === fromDay && one.toDay === toDay);
        if (known !== undefined) return known;
        if (outages.length >= maxDeclaredOutages) throw tooManyOutages();
        const added = yield* returningOne(storedOutage)`
          INSERT INTO declared_outages (organization, from_day, to_day, created_at_ms)
          VALUES (${organization}, ${fromDay}, ${toDay}, ${nowMs})`;
        yield* audit.note(organization, outageAddedNote(added), by, nowMs);
        return added;
      });
    },

    /** @returns whether the organization had an outage with this id */
    remove: (organization: number, id: number, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const [removed] = yield* returning(storedOutage)`
          DELETE FROM declared_outages WHERE organization = ${organization} AND id = ${id}`;
        if (removed === undefined) return false;
        yield* audit.note(organization, outageRemovedNote(removed), by, nowMs);
        return true;
      }),
  };
}

export type OutageStore = ReturnType<typeof outageStore>;

function outagesOf(organization: number) {
  return select(storedOutage)`
    FROM declared_outages WHERE organization = ${organization} ORDER BY from_day, to_day, id`;
}
