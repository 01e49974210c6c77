/** Where the users and accounts of an answer are read. `segment-evaluation.ts` makes it of a segment. */
import type { Warehouse } from "../warehouse/engine/warehouse.ts";

/** Warehouses for an answer with figures of users and figures of accounts. */
export interface Within {
  readonly users: Warehouse;
  /** Undefined for a segment of users, which no account is in. */
  readonly accounts: Warehouse | undefined;
}
