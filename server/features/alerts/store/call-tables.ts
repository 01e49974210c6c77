/** The table of the call list, as the migration creates it on both engines. Never edit a released text. */
import type { TableTypes } from "../../../ledger/engine/tables.ts";

/** Rows of the call list that team members snoozed or judged, beside what they did about alerts. */
export function callsSetAsideTable({ integer, text, keyed }: TableTypes): string {
  return `
  CREATE TABLE calls_set_aside (
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_number ${integer} NOT NULL,
    account_number ${integer} NOT NULL,
    snoozed_until ${integer},
    verdict ${text},
    verdict_at_ms ${integer},
    PRIMARY KEY (organization, user_number, account_number),
    CHECK ((user_number = 0) <> (account_number = 0))
  )${keyed};
`;
}
