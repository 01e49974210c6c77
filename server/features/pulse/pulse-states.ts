/** What has become of the pulses of one account. `scoring/queries/seats-query.ts` has the same rule in SQL,
 * for all accounts. */
import { type PulseState, pulseLimits } from "../../../contract/pulse/pulse.ts";
import type { Pulse } from "./store.ts";

/** A value of the attribute `owner`. Empty: nobody. */
export interface OwnerSince {
  readonly atMs: number;
  readonly owner: string;
}

/**
 * The state of each pulse.
 * @param pulses of one account, the newest first @param owners the oldest first
 * @param today and `dayOf` are of the organization's timezone
 */
export function pulseStates(
  pulses: readonly Pick<Pulse, "saidAtMs" | "takenBackAtMs">[],
  owners: readonly OwnerSince[],
  { today, dayOf }: { readonly today: number; readonly dayOf: (atMs: number) => number },
): readonly PulseState[] {
  const newest = pulses.findIndex(({ takenBackAtMs }) => takenBackAtMs === null);
  return pulses.map(({ saidAtMs, takenBackAtMs }, at) => {
    if (takenBackAtMs !== null) return "taken_back";
    if (at !== newest) return "replaced";
    if (hasChanged(owners, saidAtMs)) return "owner_changed";
    return dayOf(saidAtMs) < today - pulseLimits.staleAfterDays ? "stale" : "current";
  });
}

/** Whether the owner of then was replaced or removed. A first owner replaces nobody. */
function hasChanged(owners: readonly OwnerSince[], saidAtMs: number): boolean {
  const then = owners.findLast(({ atMs }) => atMs <= saidAtMs)?.owner ?? "";
  return then !== "" && owners.some(({ atMs, owner }) => atMs > saidAtMs && owner !== then);
}
