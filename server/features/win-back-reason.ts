/** Which reason of churn is shown: of those about the present departure the newest. */
import type { CancellationReason } from "../analytics/revenue/churn-reasons.ts";

/** The reasons of a user or an account that churned lately. */
export interface SaidReasons {
  /** The trait or attribute. */
  readonly team: { readonly reason: string; readonly saidAtMs: number } | undefined;
  readonly billing: CancellationReason | undefined;
  /** Whether it pays, or paid until a time of the period that the list looks back. */
  readonly hasPaid: boolean;
  /** The start of that period. */
  readonly sinceMs: number;
}

/** The newest reason since the last return. A subscription's reason may be said a year before its end.
 * Without a subscription in the period, reasons of before are about an earlier departure. Of one time, the
 * team's counts. */
export function newestReason({ team, billing, hasPaid, sinceMs }: SaidReasons): {
  readonly reason: string | null;
  readonly reasonFrom: "team" | "billing" | null;
} {
  const returnedAtMs = billing?.returnedAtMs ?? 0;
  const fromMs = hasPaid && returnedAtMs > 0 ? returnedAtMs : Math.max(sinceMs, returnedAtMs);
  const ofTeam = team !== undefined && team.saidAtMs >= fromMs ? team : undefined;
  const ofBilling =
    billing !== undefined && billing.reason !== "" && billing.saidAtMs >= fromMs ? billing : undefined;
  if (ofTeam !== undefined && ofTeam.saidAtMs >= (ofBilling?.saidAtMs ?? 0)) {
    return { reason: ofTeam.reason, reasonFrom: "team" };
  }
  return { reason: ofBilling?.reason ?? null, reasonFrom: ofBilling === undefined ? null : "billing" };
}
