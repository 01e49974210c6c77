/** Names that lists have shown already: a page that is opened from one has its name at once. */
import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import { useOrganization } from "../app/session.ts";
import type { Reads } from "./paths.ts";

type Kind = "users" | "accounts";
type Listed<Of extends Kind> = InfiniteData<{ readonly answer: Reads[`/api/${Of}`]["answer"] }>;

/** The name of a user or an account as a list showed it. Undefined without such a list. */
export function useListedName(kind: Kind, id: string): string | undefined {
  const client = useQueryClient();
  const organization = useOrganization().id;
  if (kind === "users") {
    const lists = client.getQueriesData<Listed<"users">>({ queryKey: [organization, "/api/users"] });
    const row = lists
      .flatMap(([, data]) => data?.pages ?? [])
      .flatMap(({ answer }) => answer.users)
      .find(({ userId }) => userId === id);
    return row?.name ?? row?.email ?? undefined;
  }
  const lists = client.getQueriesData<Listed<"accounts">>({ queryKey: [organization, "/api/accounts"] });
  const row = lists
    .flatMap(([, data]) => data?.pages ?? [])
    .flatMap(({ answer }) => answer.accounts)
    .find(({ accountId }) => accountId === id);
  return row?.name || undefined;
}
