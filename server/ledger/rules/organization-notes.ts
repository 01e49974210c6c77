/** The entry of the audit log and the errors for changes of an organization itself. Both databases use
 * them. */

import { Refusal } from "../../../contract/refusal.ts";
import type { AuditNote } from "../ports/audit.ts";
import type { Organization } from "../ports/organizations.ts";

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
