/** What is said of changes of an organization itself, whichever database is behind it: its entry in the audit log, and
 * refusals. */

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

/** The entry of an organization that was changed, with fields as the API names them; undefined when it is as before. */
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

/** Something is to be changed of an organization that does not exist. */
export function noOrganization(id: number): Refusal {
  return new Refusal(`There is no organization with the id ${id}.`);
}
