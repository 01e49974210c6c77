/** The module's interface: people who sign in, their roles and sessions. */

export { deviceOf, personOfDevice } from "./devices.ts";
export { invite, membersOf, passwordLink } from "./invitations.ts";
export {
  auditLogOf,
  knownZone,
  newReadKey,
  newToken,
  type OrganizationParts,
  organizationAnswer,
  readKeysOf,
  revoke,
  tokensOf,
  updateOrganization,
} from "./organization.ts";
export { type MemberRight, roleRights } from "./rights.ts";
export { type Entered, type From, type SignedIn, SignIn, sessionSeconds } from "./sign-in.ts";
export { SignInWatch } from "./sign-in-watch.ts";
