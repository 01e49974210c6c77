/**
 * The pulses of accounts, copied from the ledger before scores are computed: what a team member judged, and
 * when. A row is never changed, except that a pulse is taken back. So the pulse on any day of the past
 * follows from these rows.
 */
import { lastVersion, type Table } from "./tables.ts";

/** `version` is when the pulse was said, or else when it was taken back, in Unix milliseconds.
 * `taken_back_at_ms` is null for a pulse that stands. */
export const accountPulses: Table = {
  name: "account_pulses",
  engine: lastVersion,
  columns: [
    "organization UInt32 CODEC(ZSTD(1))",
    "account UInt32 CODEC(Delta, ZSTD(1))",
    "pulse UInt32 CODEC(Delta, ZSTD(1))",
    "version UInt64 CODEC(Delta, ZSTD(1))",
    "value UInt8 CODEC(ZSTD(1))",
    "said_at_ms Int64 CODEC(Delta, ZSTD(1))",
    "taken_back_at_ms Nullable(Int64) CODEC(ZSTD(1))",
  ],
  orderBy: "organization, account, pulse",
};
