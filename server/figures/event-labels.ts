/** The names of events as connected sources sent them, beside those by which they are stored. */

type Asking = {
  readonly ledger: Pick<SharedLedger, "heldEvents">;
  readonly organization: { readonly id: number };
};

/** The rows, each with the name under which its event was sent; null where that is the name itself. */
export async function withLabels<Row extends { readonly event: string }>(
  { ledger, organization }: Asking,
  rows: readonly Row[],
): Promise<(Row & { label: string | null })[]> {
  if (rows.length === 0) return [];
  const events = [...new Set(rows.map(({ event }) => event))];
  const labels = await ledger.heldEvents.labels(organization.id, events);
  return rows.map((row) => ({
    ...row,
    label: Object.hasOwn(labels, row.event) ? (labels[row.event] ?? null) : null,
  }));
}

import type { SharedLedger } from "../ledger/ledger.ts";
