/** People, and their memberships of organizations. Every change and its entry in the audit log are one
 * commit. */

import { ownDigestName } from "../../../contract/actions/destinations.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { peopleLimits } from "../../../contract/member-limits.ts";
import type { Role } from "../../../contract/roles.ts";
import type { Actor } from "../ports/audit.ts";
import {
  type Member,
  type MemberStore,
  type Membership,
  maxClaimLinks,
  type NewPerson,
  type Person,
  seenEveryMs,
  withChosenEmail,
  withFallbackEmail,
} from "../ports/members.ts";
import type { Organization } from "../ports/organizations.ts";
import {
  emailTaken,
  invitationRevokedNote,
  invitedNote,
  madeOwnerNote,
  memberAlready,
  noAccount,
  noOwnerForKeys,
  organizationCreatedNote,
  passwordLinkNote,
  profileNote,
  refuseLastOwner,
  refuseOldPassword,
  refuseTooManyInvitations,
  removedNote,
  roleChangedNote,
  tooManyInvitations,
} from "../rules/member-notes.ts";
import { unassignAlertsOf } from "./actions/alerts.ts";
import { unassignTasksOf } from "./actions/tasks.ts";
import type { AuditLog } from "./engine/audit-log.ts";
import { advisoryLock, isTaken, storeLocks } from "./engine/dialect.ts";
import type { Engine } from "./engine/engine.ts";
import {
  count,
  exists,
  type Fragment,
  integer,
  json,
  nullable,
  part,
  RowOf,
  returning,
  run,
  select,
  text,
  type Work,
  word,
} from "./engine/sql.ts";
import {
  deleteInvitationsBy,
  deletePasswordLinks,
  findInvitations,
  replaceInvitation,
} from "./invite-links.ts";
import {
  findMember,
  findMembers,
  findPerson,
  isEmailTaken,
  join,
  lockPerson,
  noteEverywhere,
  personWithEmail,
  refuseFullOrganization,
  refusePersonEverywhere,
  updatePerson,
} from "./member-rows.ts";
import {
  isThere,
  lockKnownOrganization,
  lockOrganization,
  organizationColumns,
} from "./organization-rows.ts";
import { insertOrganization } from "./organizations.ts";

type Place = Organization & Pick<Member, "role" | "lastSeenAtMs">;

const place = new RowOf<Place>({
  ...organizationColumns,
  role: word(),
  lastSeenAtMs: nullable(integer()),
});
const ofPlaces = part`FROM memberships JOIN organizations ON id = organization`;
const invited = new RowOf<{ readonly email: string; readonly role: Role }>({ email: text(), role: word() });
const noteOfInvitation = new RowOf<{ readonly detail: JsonObject }>({ detail: json() });
const keyId = new RowOf<{ readonly id: number }>({ id: integer() });

/** The store of members. */
export function memberStore(engine: Engine): MemberStore {
  return { ...profiles(engine), ...memberships(engine), ...memberChanges(engine), ...links(engine) };
}

function profiles(engine: Engine): Pick<MemberStore, "isClaimed" | "find" | "withEmail" | "change"> {
  return {
    isClaimed: () => engine.alone(exists`FROM people`),
    find: (id) => engine.alone(findPerson(id)),
    withEmail: (email) => engine.alone(personWithEmail(email)),

    change: (id, change, by, nowMs, verifiedHash) =>
      engine.transaction(function* (audit) {
        const before = yield* lockPerson(id);
        if (before === undefined) throw noAccount();
        refuseOldPassword(before, verifiedHash);
        const after = yield* changedPerson(before, change);
        if (change.passwordHash !== undefined) yield* deletePasswordLinks(id);
        const note = profileNote(before, after);
        if (note !== undefined) yield* noteEverywhere(audit, id, note, by, nowMs);
        return after;
      }),
  };
}

function memberships(
  engine: Engine,
): Pick<MemberStore, "membershipsOf" | "membership" | "createOrganization" | "list"> {
  return {
    membershipsOf: async (person) => {
      const places = await engine.alone(select(place)`${ofPlaces} WHERE person = ${person} AND ${isThere}`);
      return places
        .map(membershipOf)
        .toSorted((a, b) => (a.organization.name < b.organization.name ? -1 : 1));
    },

    membership: (person, organization, nowMs) => engine.alone(seenMembership(person, organization, nowMs)),

    createOrganization: (wanted, by, nowMs) =>
      engine.transaction(function* (audit) {
        const owner = by.person?.id ?? 0;
        if ((yield* lockPerson(owner)) === undefined) throw noAccount();
        yield* refusePersonEverywhere(owner);
        const organization = yield* insertOrganization({ ...wanted, nowMs });
        yield* join(organization.id, owner, "owner", nowMs);
        yield* audit.note(organization.id, organizationCreatedNote(organization), by, nowMs);
        return organization;
      }),

    list: (organization) => engine.alone(findMembers(organization)),
  };
}

function memberChanges(engine: Engine): Pick<MemberStore, "makeOwner" | "setRole" | "remove"> {
  return {
    makeOwner: (organization, person, by, nowMs) =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        const member = yield* findMember(organization, person);
        if (member !== undefined) {
          yield* setRole(audit, organization, member, "owner", by, nowMs);
          return;
        }
        const owner = yield* lockPerson(person);
        if (owner === undefined) throw noAccount();
        yield* refuseFullOrganization(organization);
        yield* refusePersonEverywhere(person);
        yield* join(organization, person, "owner", nowMs);
        yield* audit.note(organization, madeOwnerNote(owner), by, nowMs);
      }),

    setRole: (organization, person, role, by, nowMs) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const before = yield* findMember(organization, person);
        if (before === undefined) return undefined;
        yield* setRole(audit, organization, before, role, by, nowMs);
        return { ...before, role };
      }),

    remove: (organization, person, by, nowMs, keysTo = null) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const before = yield* findMember(organization, person);
        if (before === undefined) return undefined;
        if (before.role === "owner") refuseLastOwner(yield* countOwners(organization));
        yield* run`DELETE FROM memberships WHERE organization = ${organization} AND person = ${person}`;
        yield* run`
          DELETE FROM destinations WHERE organization = ${organization} AND kind = 'email' AND name = ${ownDigestName(person)}`;
        // The removed person could return with an invitation that they made for themselves.
        yield* deleteInvitationsBy(organization, person);
        const ids = yield* leaveKeys(organization, person, nowMs, keysTo);
        const tasks = yield* unassignTasksOf(organization, before);
        const alerts = yield* unassignAlertsOf(organization, person);
        const left = { ids, to: keysTo, tasks, alerts };
        yield* audit.note(organization, removedNote(before, left, by), by, nowMs);
        return before;
      }),
  };
}

type Links =
  | "invitations"
  | "invite"
  | "invitationsOfDay"
  | "revokeInvitation"
  | "addPasswordLink"
  | "addClaimLink";

function links(engine: Engine): Pick<MemberStore, Links> {
  return {
    invitations: (organization, nowMs) => engine.alone(findInvitations(organization, nowMs)),

    invite: (invitation, by, nowMs) =>
      engine.transaction(function* (audit) {
        const { organization, email, role } = invitation;
        yield* refuseInvitation(organization, email, nowMs);
        const invitedBy = by.person?.id ?? null;
        if (invitedBy !== null && (yield* findPerson(invitedBy)) === undefined) throw noAccount();
        if (invitedBy !== null) yield* refuseManyInvitations(invitedBy, nowMs);
        const id = yield* replaceInvitation(invitation, invitedBy, nowMs);
        yield* audit.note(organization, invitedNote(email, role), by, nowMs);
        return id;
      }),

    invitationsOfDay: async (email, nowMs) => {
      const made = await engine.alone(select(noteOfInvitation)`${madeWithinDay(nowMs)}`);
      return made.filter(({ detail }) => detail.email === email).length;
    },

    revokeInvitation: (organization, invitation, by, nowMs) =>
      engine.transaction(function* (audit) {
        const [gone] = yield* returning(invited)`
          DELETE FROM invite_links
          WHERE kind = 'invitation' AND organization = ${organization} AND id = ${invitation}`;
        if (gone === undefined) return false;
        yield* audit.note(organization, invitationRevokedNote(gone.email, gone.role), by, nowMs);
        return true;
      }),

    addPasswordLink: ({ person, sha256, expiresAtMs }, by, nowMs) =>
      engine.transaction(function* (audit) {
        const member = yield* lockPerson(person);
        if (member === undefined) throw noAccount();
        yield* deletePasswordLinks(person);
        yield* run`
          INSERT INTO invite_links (kind, sha256, person, created_at_ms, expires_at_ms)
          VALUES ('password', ${sha256}, ${person}, ${nowMs}, ${expiresAtMs})`;
        yield* noteEverywhere(audit, person, passwordLinkNote(member), by, nowMs);
      }),

    addClaimLink: (sha256, nowMs) =>
      engine.transaction(function* () {
        yield* advisoryLock(storeLocks.claim);
        yield* run`INSERT INTO invite_links (kind, sha256, created_at_ms) VALUES ('claim', ${sha256}, ${nowMs})`;
        yield* run`
          DELETE FROM invite_links WHERE kind = 'claim' AND id NOT IN (
            SELECT id FROM invite_links WHERE kind = 'claim' ORDER BY id DESC LIMIT ${maxClaimLinks})`;
      }),
  };
}

/** The entries of invitations within a day. What is revoked or replaced stays among them. */
function madeWithinDay(nowMs: number): Fragment {
  return part`FROM audit_log WHERE at_ms > ${nowMs - 86_400_000} AND action = 'invitation.created'`;
}

function* refuseManyInvitations(person: number, nowMs: number): Work<void> {
  const made = yield* count`${madeWithinDay(nowMs)} AND person = ${person}`;
  if (made >= peopleLimits.invitationsPerDay) throw tooManyInvitations();
}

function* changedPerson(before: Person, change: Partial<NewPerson>): Work<Person> {
  const after = withChosenEmail({ ...before, ...change, email: before.email }, change.email ?? before.email);
  if (after.email !== before.email && (yield* isEmailTaken(after.email, before.id))) throw emailTaken();
  try {
    yield* updatePerson(after);
  } catch (error) {
    throw isTaken(error) ? emailTaken() : error;
  }
  return after;
}

function* seenMembership(person: number, organization: number, nowMs: number): Work<Membership | undefined> {
  const ofMember = part`organization = ${organization} AND person = ${person}`;
  const [found] = yield* select(place)`${ofPlaces} WHERE ${ofMember} AND ${isThere}`;
  if (found === undefined) return undefined;
  const longAgoMs = nowMs - seenEveryMs;
  if ((found.lastSeenAtMs ?? 0) <= longAgoMs) {
    yield* run`
      UPDATE memberships SET last_seen_at_ms = ${nowMs}
      WHERE ${ofMember} AND coalesce(last_seen_at_ms, 0) <= ${longAgoMs}`;
  }
  return membershipOf(found);
}

function membershipOf({ role, lastSeenAtMs: _, ...organization }: Place): Membership {
  return { organization, role };
}

/** Changes the role of a member. The organization has to be locked. */
function* setRole(
  audit: AuditLog,
  organization: number,
  before: Member,
  role: Role,
  by: Actor,
  nowMs: number,
): Work<void> {
  if (before.role === role) return;
  if (before.role === "owner") refuseLastOwner(yield* countOwners(organization));
  yield* run`UPDATE memberships SET role = ${role} WHERE organization = ${organization} AND person = ${before.id}`;
  if (before.role === "owner") yield* deleteInvitationsBy(organization, before.id);
  yield* audit.note(organization, roleChangedNote(before, role), by, nowMs);
}

function countOwners(organization: number) {
  return count`FROM memberships WHERE organization = ${organization} AND role = 'owner'`;
}

/** Revokes the read keys that a person made, or moves them to an owner. The organization has to be locked.
 * @returns their ids */
function* leaveKeys(
  organization: number,
  person: number,
  nowMs: number,
  keysTo: number | null,
): Work<readonly number[]> {
  if (keysTo !== null && (yield* findMember(organization, keysTo))?.role !== "owner") throw noOwnerForKeys();
  const change = keysTo === null ? part`revoked_at_ms = ${nowMs}` : part`made_by = ${keysTo}`;
  const rows = yield* returning(keyId)`
    UPDATE read_keys SET ${change}
    WHERE organization = ${organization} AND made_by = ${person} AND revoked_at_ms IS NULL`;
  return rows.map(({ id }) => id);
}

function* refuseInvitation(organization: number, email: string, nowMs: number): Work<void> {
  yield* lockKnownOrganization(organization);
  const person = yield* personWithEmail(email);
  if (person !== undefined && withFallbackEmail(person) === undefined) {
    if ((yield* findMember(organization, person.id)) !== undefined) throw memberAlready(email);
  }
  yield* refuseFullOrganization(organization);
  refuseTooManyInvitations((yield* findInvitations(organization, nowMs)).length);
}
