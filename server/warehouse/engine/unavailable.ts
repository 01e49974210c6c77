/** Why the warehouse's server is unavailable. These texts are public, so the server's own messages, which may
 * contain names, are left out. */
import { Refusal } from "../../../contract/refusal.ts";
import { networkErrorCode } from "./query-watch.ts";
import { WarehouseError } from "./warehouse.ts";

export const otherLedger =
  "the database in CLICKHOUSE_URL belongs to another ledger than the one in DATABASE_URL, whose rows would be lost there: set DATABASE_URL to the ledger that belongs to it, or CLICKHOUSE_URL to a new database.";

export const unavailableReasons = [
  "ClickHouse does not answer",
  "ClickHouse refuses the user, the password or a right",
  "ClickHouse is too old",
  "the move to ClickHouse was not finished",
  "the tables in ClickHouse are not made yet, or by a newer version",
  "ClickHouse answers with an error",
  otherLedger,
] as const;
export type UnavailableReason = (typeof unavailableReasons)[number];

/** Error codes for a wrong address, password or right: retrying does not help. */
export const refusals: ReadonlyMap<number, string> = new Map([
  [164, "the user's profile is read-only"],
  [192, "there is no such user"],
  [193, "the password is wrong"],
  [194, "it wants a password"],
  [452, "the user's profile forbids a setting that is needed"],
  [497, "the user has too few rights"],
  [516, "user or password is wrong"],
  [701, "there is no such cluster: see CLICKHOUSE_CLUSTER and the server's remote_servers"],
]);

/** The server cannot be used until an administrator changes something. */
export class Unusable extends Refusal {
  readonly why: UnavailableReason;

  constructor(why: UnavailableReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.why = why;
  }
}

/** The reason of a warehouse's error. */
export function unavailableReasonOf(error: unknown): UnavailableReason {
  if (error instanceof Unusable) return error.why;
  if (!(error instanceof WarehouseError) || error.code === networkErrorCode) return unavailableReasons[0];
  if (refusals.has(error.code)) return "ClickHouse refuses the user, the password or a right";
  return error.code === 0
    ? "the tables in ClickHouse are not made yet, or by a newer version"
    : "ClickHouse answers with an error";
}
