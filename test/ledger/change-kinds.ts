/** How a method of the ledger is classed: see changes.ts. */
import type { AuditAction } from "../../contract/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

/** A change whose ground is prepared, to be made now. */
export type Change = {
  readonly action: AuditAction;
  /** Making it again changes something again. */
  readonly repeats?: true;
  /** The organization whose log has it. Default: that of the test. */
  readonly logOf?: (result: unknown) => number;
} & (
  | { readonly of: (organization: number) => Promise<unknown> }
  // Of organizations that are not named by their id.
  | { readonly make: () => Promise<unknown> }
);

/** The things that a change needs. */
export interface Ground {
  readonly subject: LedgerUnderTest;
  readonly ledger: Ledger;
  readonly id: number;
  readonly nowMs: number;
}

export type Prepare = (ground: Ground) => Promise<Change>;

/** It changes nothing. */
export const read = "read";
/** The service does it by itself, or it is what senders sent. */
export const service = "service";
export type Kind = typeof read | typeof service | Prepare;

/** The stores of a ledger. */
type StoreName = {
  [Name in keyof Ledger]: Ledger[Name] extends
    | number
    | boolean
    | readonly unknown[]
    | ((...given: never[]) => unknown)
    ? never
    : Name;
}[keyof Ledger];
export type Kinds = { readonly [Name in StoreName]: { readonly [Method in keyof Ledger[Name]]: Kind } };

/** Of an organization, of which the result is. */
export const logOf = (result: unknown) => (result as { readonly id: number }).id;
