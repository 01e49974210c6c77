/** The rows of organizations, and the functions that other stores need. */
import type { Organization } from "../ports/organizations.ts";
import { noOrganization } from "../rules/organization-notes.ts";
import { forNoKeyUpdate } from "./engine/dialect.ts";
import { integer, nullable, part, RowOf, select, text, type Work } from "./engine/sql.ts";

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
