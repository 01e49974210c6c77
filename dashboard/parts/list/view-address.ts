/** The address at which a saved view of a list is opened. */
import type { Reads } from "../../api/paths.ts";

type View = Reads["/api/views"]["answer"]["views"][number];

export const listAddresses = {
  users: "/o/$organization/users",
  accounts: "/o/$organization/accounts",
} as const satisfies Record<View["page"], string>;

/** The parameters of the address. @param id undefined for filters that are no saved view */
export function viewSearch(query: string, id: number | undefined): Record<string, string> {
  return {
    ...Object.fromEntries(new URLSearchParams(query)),
    ...(id !== undefined && { view: String(id) }),
  };
}
