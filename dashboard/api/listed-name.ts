/** Names that lists have shown already: a page that is opened from one has its name at once. */
import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import { useOrganization } from "../app/session.ts";
import type { Reads } from "./paths.ts";

type Answer = Partial<Reads["/api/users"]["answer"] & Reads["/api/accounts"]["answer"]>;

/** The name of a user or an account as a list showed it. Undefined without such a list. */
export function useListedName(kind: "users" | "accounts", id: string): string | undefined {
  const client = useQueryClient();
  const queryKey = [useOrganization().id, `/api/${kind}`];
  const answers = client
    .getQueriesData<InfiniteData<{ readonly answer: Answer }>>({ queryKey })
    .flatMap(([, data]) => data?.pages ?? [])
    .map(({ answer }) => answer);
  const user = answers.flatMap(({ users }) => users ?? []).find(({ userId }) => userId === id);
  const account = answers.flatMap(({ accounts }) => accounts ?? []).find(({ accountId }) => accountId === id);
  return user?.name ?? user?.email ?? (account?.name || undefined);
}
