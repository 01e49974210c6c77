/** Organizations as the ledger keeps them, and their changes. */
import { limits } from "../../../contract/limits.ts";
import type { Actor } from "./audit.ts";

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

/** A change by a team member or the command line and its entry in the audit log are one commit. */
export interface Organizations {
  list(): Promise<readonly Organization[]>;
  /** Undefined if there is none with this id. */
  find(id: number): Promise<Organization | undefined>;
  /** @throws Refusal when the name is taken. */
  create(organization: { name: string; timezone: string; nowMs: number }, by: Actor): Promise<Organization>;
  /** Changes the given fields. A new timezone marks the organization for a rebuild of its days.
   * @throws Refusal when the new name is taken or the organization does not exist. */
  set(id: number, change: OrganizationChange, by: Actor, nowMs: number): Promise<Organization>;
  /** Records that raw events before this day will be deleted. Called before the first deletion. */
  eventsDropped(id: number, beforeDay: number): Promise<void>;
}
