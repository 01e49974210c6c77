/** Members of an organization, and open invitations. */
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { peopleLimits } from "../../contract/member-limits.ts";
import type { Role } from "../../contract/roles.ts";
import type { Actor } from "../ledger/audit.ts";
import type { SharedLedger } from "../ledger/ledger.ts";
import { loginEmail } from "../ledger/stores/logins.ts";
import { newCode } from "../ledger/stores/members.ts";

type People = Pick<SharedLedger, "members">;

/** The members, and the open invitations. */
export async function membersOf(
  { members: store }: People,
  organization: number,
  nowMs: number,
): Promise<RouteAnswer<"GET /api/members">> {
  const members = await store.list(organization);
  const invitations = await store.invitations(organization, nowMs);
  return {
    members: members.map(({ id, name, email, role, joinedAtMs, lastSeenAtMs }) => ({
      id,
      name,
      email,
      role,
      joinedAt: new Date(joinedAtMs).toISOString(),
      lastSeenAt: lastSeenAtMs === null ? null : new Date(lastSeenAtMs).toISOString(),
    })),
    invitations: invitations.map(({ id, email, role, createdAtMs, expiresAtMs, invitedBy }) => ({
      id,
      email: email ?? "",
      role: role ?? "viewer",
      createdAt: new Date(createdAtMs).toISOString(),
      expiresAt: new Date(expiresAtMs ?? createdAtMs).toISOString(),
      invitedBy,
    })),
  };
}

/** Creates an invitation. The link is returned once and never shown again.
 * @param address the service's, as people reach it
 * @throws Refusal as `MemberStore.invite` does */
export async function invite(
  { members: store }: People,
  wanted: { readonly organization: number; readonly email: string; readonly role: Role },
  address: string,
  by: Actor,
  nowMs: number,
): Promise<{ readonly id: number; readonly link: string }> {
  const { code, sha256 } = newCode();
  const expiresAtMs = nowMs + peopleLimits.invitationDays * 86_400_000;
  const { organization, role } = wanted;
  const invitation = { organization, role, email: loginEmail(wanted.email), sha256, expiresAtMs };
  const id = await store.invite(invitation, by, nowMs);
  return { id, link: `${address}/invitation#${code}` };
}

/** Makes a link with which a person sets a new password; it is returned here and nowhere else, ever.
 * @throws Refusal when the person is not there any more */
export async function passwordLink(
  { members: store }: People,
  person: number,
  address: string,
  by: Actor,
  nowMs: number,
): Promise<string> {
  const { code, sha256 } = newCode();
  const expiresAtMs = nowMs + peopleLimits.resetLinkHours * 3_600_000;
  await store.addPasswordLink({ person, sha256, expiresAtMs }, by, nowMs);
  return `${address}/password#${code}`;
}
