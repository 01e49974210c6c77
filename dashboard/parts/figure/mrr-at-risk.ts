/** The question about MRR at risk, which several pages ask. */
import { type Asked, type Reads, useRead } from "../../api/query.ts";

export type PayerKind = "account" | "user";
type MrrAtRisk = Reads["/api/revenue/at-risk"]["answer"];

/** MRR at risk of this kind of payers. Without a kind it is that of accounts, or of users when no account
 * pays.
 * @param query at most so many payers, and only those of a segment */
export function useMrrAtRisk(
  chosen: PayerKind | undefined,
  query: Omit<Reads["/api/revenue/at-risk"]["query"], "kind">,
): { readonly kind: PayerKind; readonly asked: Asked<MrrAtRisk> } {
  const path = "/api/revenue/at-risk";
  const accounts = useRead(path, { query: { kind: "account", ...query }, enabled: chosen !== "user" });
  const isNoAccount = accounts.data?.hasSubscriptions === true && accounts.data.payers === 0;
  const isOfUsers = chosen === "user" || (chosen === undefined && isNoAccount);
  const users = useRead(path, { query: { kind: "user", ...query }, enabled: isOfUsers });
  return isOfUsers ? { kind: "user", asked: users } : { kind: "account", asked: accounts };
}
