/** Organizations as the ledger keeps them, and what can be changed of one. */
import { limits } from "../../../contract/limits.ts";
import type { Actor } from "./audit.ts";

/** A company that uses Rekindle. Nothing of one organization is ever seen by another. */
export interface Organization {
  readonly id: number;
  readonly name: string;
  /** IANA name, `Europe/Paris`. Days, and dates without a time, are this zone's. */
  readonly timezone: string;
  readonly requestsPerSecond: number;
  /** Of batches; null follows the requests: see `itemsPerSecond`. */
  readonly itemsPerSecondSet: number | null;
  /** Raw events of older days are deleted, and figures kept; null keeps them for ever. */
  readonly keepEventsDays: number | null;
  /** Raw events of days before this one (since 1970-01-01, in the organization's timezone) were deleted; null
   * while none were. It never moves back. */
  readonly eventsFromDay: number | null;
  readonly createdAtMs: number;
}

type Rates = Pick<Organization, "itemsPerSecondSet" | "requestsPerSecond">;

/** The items a second that an organization may send in batches: ten times its requests, unless it is set. */
export function itemsPerSecond({ itemsPerSecondSet, requestsPerSecond }: Rates): number {
  return itemsPerSecondSet ?? Math.max(limits.defaultItemsPerSecond, 10 * requestsPerSecond);
}

/** What can be changed of an organization; what is not given stays. */
export type OrganizationChange = Partial<
  Pick<Organization, "name" | "timezone" | "requestsPerSecond" | "itemsPerSecondSet" | "keepEventsDays">
>;

/** What members and the command line change, and its entry in the audit log, are one commit. */
export interface Organizations {
  list(): Promise<readonly Organization[]>;
  /** Undefined when there is none with this id. */
  find(id: number): Promise<Organization | undefined>;
  /** @throws Refusal when the name is taken. */
  create(organization: { name: string; timezone: string; nowMs: number }, by: Actor): Promise<Organization>;
  /** Changes what is given. A new timezone marks the organization for a rebuild of its days.
   * @throws Refusal when the new name is taken or the organization does not exist. */
  set(id: number, change: OrganizationChange, by: Actor, nowMs: number): Promise<Organization>;
  /** Raw events before this day are going to be deleted: to be said before the first one is. */
  eventsDropped(id: number, beforeDay: number): Promise<void>;
}
