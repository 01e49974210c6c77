/** Rights of team members by their role. */
import type { Role } from "../../contract/roles.ts";
import type { Right, RightOfTokens } from "../ledger/stores/credentials.ts";

/** `own` is for what only owners do: members, read keys, the organization itself and its audit log. No read
 * key has it. */
export type MemberRight = Exclude<Right, RightOfTokens> | "own";

/** Rights of a role. */
export const roleRights: Readonly<Record<Role, readonly MemberRight[]>> = {
  viewer: ["read"],
  member: ["read", "assist", "manage"],
  owner: ["read", "assist", "manage", "erase", "own"],
};
