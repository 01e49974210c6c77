/** Which differences between the stores are real, and not of a moment between two changes. */
import type { Acknowledged } from "./acknowledged.ts";
import type { Difference } from "./check.ts";

/** Whether what differs was neither being written nor moved to or from the dead letters while it was compared. */
export function isSettled(
  found: Difference,
  before: Acknowledged & { readonly erasures: number },
  after: Acknowledged,
): boolean {
  if (found.kind === "users" || found.kind === "accounts" || found.kind === "user_versions") {
    // The ledger forgets a user first, and the warehouse when the check is over.
    if (before.erasures > 0) return false;
    return Bun.deepEquals(people(before), people(after));
  }
  if (found.kind !== "events") return true;
  const dayIn = ({ dayCounts, missing }: Acknowledged) =>
    [dayCounts, missing?.events ?? []].map((days) => days.find(({ utcDay }) => utcDay === found.utcDay));
  return Bun.deepEquals(dayIn(before), dayIn(after));
}

function people({ populations, missing }: Acknowledged) {
  return [populations, missing?.users, missing?.accounts, missing?.userVersions];
}
