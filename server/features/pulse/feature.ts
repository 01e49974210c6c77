/** Pulses of accounts, as team members judge them. */

import type { Feature } from "../../ledger/feature.ts";
import { run } from "../../ledger/sql.ts";
import type { TableTypes } from "../../ledger/tables.ts";
import { exportedPulses, type PulseStore, pulseStore } from "./store.ts";

declare module "../../ledger/feature.ts" {
  interface FeatureStores {
    readonly pulses: PulseStore;
  }
}

export const pulse: Feature = {
  name: "pulse",
  tables: [{ name: "pulses", encoded: ["text"] }],
  migrations: [pulsesTable],
  stores: (engine) => ({ pulses: pulseStore(engine) }),
  *erase(organization, { account }) {
    if (account === 0) return;
    yield* run`DELETE FROM pulses WHERE organization = ${organization} AND account_number = ${account}`;
  },
  exports: [exportedPulses],
};

/** Rows name their account as notes do; the number of a user is 0. */
function pulsesTable({ id, integer, text, end }: TableTypes): string {
  return `
  CREATE TABLE pulses (
    id ${id},
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_number ${integer} NOT NULL CHECK (user_number = 0),
    account_number ${integer} NOT NULL,
    value ${integer} NOT NULL CHECK (value BETWEEN 1 AND 5),
    text ${text} NOT NULL,
    said_by ${integer} REFERENCES people (id) ON DELETE SET NULL,
    said_at_ms ${integer} NOT NULL,
    taken_back_at_ms ${integer}
  )${end};
  CREATE INDEX pulses_of_account ON pulses (organization, account_number, said_at_ms, id);
  CREATE INDEX pulses_of_person ON pulses (said_by);
`;
}
