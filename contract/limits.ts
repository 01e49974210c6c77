import { batchLimits } from "./batch-limits.ts";

/** The limits of the write API, each with its unit in its name. They are part of the contract: docs and
 * OpenAPI print them, admission keeps them. */
export const limits = {
  ...batchLimits,
  /** Of a connected source's request: four times what Segment takes. */
  sourceItems: 10_000,
  /** Of a connected source's request that has its token nowhere but in the body, which has to be read to know
   * whose it is: twice what Segment takes, 16 times what a beacon can carry. */
  openBodyBytes: 1024 * 1024,
  identifierCharacters: 256,
  emailCharacters: 320,
  eventNameCharacters: 256,
  messageIdCharacters: 256,
  nestingLevels: 32,
  keys: 1_000,
  /** Of a body with several items, on all levels: more take longer to parse than others should wait. */
  values: 1_000_000,
  bodyKeys: 400_000,
  /** Traits that a user holds after a merge: as large as one body may be, so that no user grows for ever. */
  storedTraitsBytes: 256 * 1024,
  firstYear: 1970,
  lastYear: 2299,
  /** Of one person who is not identified yet; the oldest are dropped. */
  heldEvents: 1_000,
  heldEventBytes: 4 * 1024 * 1024,
  heldEventDays: 30,
  /** Of all who are not identified yet, of an organization. */
  heldEventBytesOfOrganization: 512 * 1024 * 1024,
  /** Max linked ids per user. Beyond it, ids unused for `heldEventDays` are dropped. */
  linksOfUser: 1_000,
  /** Ids of an organization that are linked to people who are not identified yet: about 60 MB. */
  linksOfOrganization: 250_000,
  /** Events of an organization that are shown under another name than they are stored by. */
  eventLabels: 10_000,
  defaultRequestsPerSecond: 1_000,
  defaultItemsPerSecond: 10_000,
} as const;
