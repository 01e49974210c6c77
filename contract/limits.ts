import { batchLimits } from "./batch-limits.ts";

/** The limits of the write API, each with its unit in its name. They are part of the contract: docs and
 * OpenAPI print them, admission keeps them. */
export const limits = {
  ...batchLimits,
  identifierCharacters: 256,
  emailCharacters: 320,
  eventNameCharacters: 256,
  messageIdCharacters: 256,
  nestingLevels: 32,
  keys: 1_000,
  /** Traits that a user holds after a merge: as large as one body may be, so that no user grows for ever. */
  storedTraitsBytes: 256 * 1024,
  firstYear: 1970,
  lastYear: 2299,
  defaultRequestsPerSecond: 1_000,
  defaultItemsPerSecond: 10_000,
} as const;
