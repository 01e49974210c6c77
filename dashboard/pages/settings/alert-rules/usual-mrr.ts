/** The MRR above which accounts are exempt from a hold-out, unless the team member changes it. */
import { highestPayer, placeOfUsualMrr } from "../../../../contract/actions/rules.ts";
import { useRead } from "../../../api/query.ts";

/** The MRR that at most the highest tenth of paying accounts exceed, or of paying users where no account pays. In minor units of the reporting
 * currency. Undefined until it is known, and where nobody pays. @param enabled whether it is asked for at all */
export function useUsualMrr(enabled: boolean): number | undefined {
  const accounts = useRead("/api/accounts", { query: highestPayer, enabled }).data?.total;
  const ofUsers = enabled && accounts === 0;
  const users = useRead("/api/users", { query: highestPayer, enabled: ofUsers }).data?.total;
  const ofAccounts = enabled && accounts !== undefined && accounts > 0;
  const at = (total = 0) => ({ ...highestPayer, offset: placeOfUsualMrr(total) });
  const account = useRead("/api/accounts", { query: at(accounts), enabled: ofAccounts }).data?.accounts[0];
  const user = useRead("/api/users", { query: at(users), enabled: ofUsers && (users ?? 0) > 0 }).data
    ?.users[0];
  if (!enabled) return undefined;
  return (ofAccounts ? account : user)?.mrr ?? undefined;
}
