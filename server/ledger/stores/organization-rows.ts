/** The entry of the audit log and the errors for changes of an organization itself. Both databases use
 * them. */
import { limits } from "../../../contract/limits.ts";
import { Refusal } from "../../../contract/refusal.ts";
import type { AuditNote } from "../audit.ts";

import { forNoKeyUpdate } from "../dialect.ts";
import { integer, nullable, part, RowOf, select, text, type Work } from "../sql.ts";

const fields = {
  name: { word: "name", key: "name" },
  timezone: { word: "timezone", key: "timezone" },
  requestsPerSecond: { word: "requests per second", key: "requestsPerSecond" },
  itemsPerSecondSet: { word: "items per second", key: "itemsPerSecond" },
  keepEventsDays: { word: "days that raw events are kept", key: "keepEventsDays" },
} as const;

/** The entry of a changed organization, with the API's names of fields. Undefined if nothing changed. */
export function organizationChangedNote(before: Organization, after: Organization): AuditNote | undefined {
  const names = Object.keys(fields) as (keyof typeof fields)[];
  const changed = names.filter((name) => before[name] !== after[name]);
  if (changed.length === 0) return undefined;
  const valuesOf = (organization: Organization) =>
    Object.fromEntries(changed.map((name) => [fields[name].key, organization[name]]));
  return {
    action: "organization.changed",
    summary: `Changed the organization's ${changed.map((name) => fields[name].word).join(", ")}`,
    detail: { from: valuesOf(before), to: valuesOf(after) },
  };
}

/** The error for a change of an organization that does not exist. */
export function noOrganization(id: number): Refusal {
  return new Refusal(`There is no organization with the id ${id}.`);
}

/** An organization that a person creates. */
export interface NewOrganization {
  readonly name: string;
  readonly timezone: string;
  /** Default: the initial limit of organizations. */
  readonly requestsPerSecond?: number;
}

/** A company that uses Rekindle. No organization ever sees data of another. */
export interface Organization {
  readonly id: number;
  readonly name: string;
  /** IANA name, `Europe/Paris`. Days, and dates without a time, are in this zone. */
  readonly timezone: string;
  readonly requestsPerSecond: number;
  /** The limit of batches. Null: it follows from the limit of requests, see `itemsPerSecond`. */
  readonly itemsPerSecondSet: number | null;
  /** Raw events of older days are deleted, and figures are kept. Null: raw events are never deleted. */
  readonly keepEventsDays: number | null;
  /** Raw events of days before this one (since 1970-01-01, in the organization's timezone) were deleted. Null
   * if none were. It never moves back. */
  readonly eventsFromDay: number | null;
  readonly createdAtMs: number;
}

type Rates = Pick<Organization, "itemsPerSecondSet" | "requestsPerSecond">;

/** The items a second that an organization may send in batches. Default: ten times its requests. */
export function itemsPerSecond({ itemsPerSecondSet, requestsPerSecond }: Rates): number {
  return itemsPerSecondSet ?? Math.max(limits.defaultItemsPerSecond, 10 * requestsPerSecond);
}

/** The fields of an organization that can be changed. Missing fields stay. */
export type OrganizationChange = Partial<
  Pick<Organization, "name" | "timezone" | "requestsPerSecond" | "itemsPerSecondSet" | "keepEventsDays">
>;

/** The columns of an organization. */
export const organizationColumns = {
  id: integer(),
  name: text(),
  timezone: text(),
  requestsPerSecond: integer(),
  itemsPerSecondSet: nullable(integer("items_per_second")),
  keepEventsDays: nullable(integer()),
  eventsFromDay: nullable(integer()),
  createdAtMs: integer(),
};

export const organizationRow = new RowOf<Organization>(organizationColumns);

/** Look-ups skip an organization that is being deleted. */
export const isThere = part`deletion_upto_inbox_id IS NULL`;

/** The organization with this id. */
export function* findOrganization(id: number): Work<Organization | undefined> {
  const [row] = yield* select(organizationRow)`FROM organizations WHERE id = ${id} AND ${isThere}`;
  return row;
}

/** The organization with this id, locked until the commit. Other transactions that change its members,
 * invitations, settings, views or sources wait. Rows that only refer to it, such as users and events, are
 * still written. */
export function* lockOrganization(id: number): Work<Organization | undefined> {
  const [row] = yield* select(organizationRow)`
    FROM organizations WHERE id = ${id} AND ${isThere} ${forNoKeyUpdate}`;
  return row;
}

/** As `lockOrganization`. @throws Refusal when there is no such organization */
export function* lockKnownOrganization(id: number): Work<Organization> {
  const organization = yield* lockOrganization(id);
  if (organization === undefined) throw noOrganization(id);
  return organization;
}
