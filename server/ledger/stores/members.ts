/**
 * Team members: people, their memberships of organizations, their sessions, and the links by which they sign
 * up or set a password. Secrets (session ids, codes in links) are 256 random bits, and only their SHA-256 is
 * kept.
 */

import { createHash, randomBytes } from "node:crypto";
import { ownDigestName } from "../../../contract/destinations/destinations.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { peopleLimits } from "../../../contract/member-limits.ts";
import type { Role } from "../../../contract/roles.ts";
import type { Actor } from "../audit.ts";
import type { AuditLog } from "../audit-log.ts";
import { advisoryLock, isTaken, storeLocks } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import type { Feature } from "../feature.ts";
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
} from "../sql.ts";
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
  type Member,
  type Membership,
  type NewPerson,
  noteEverywhere,
  type Person,
  personWithEmail,
  refuseFullOrganization,
  refusePersonEverywhere,
  updatePerson,
  withChosenEmail,
  withFallbackEmail,
} from "./member-rows.ts";
import {
  isThere,
  lockKnownOrganization,
  lockOrganization,
  type NewOrganization,
  type Organization,
  organizationColumns,
} from "./organization-rows.ts";
import { insertOrganization } from "./organizations.ts";

/** The life of a session from its begin. Use does not extend it. */
export const sessionMs = peopleLimits.sessionDays * 86_400_000;
/** A member's last visit is written down at most this often. */
const seenEveryMs = 3_600_000;
/** Every start of an unclaimed service prints a link. This many of the newest links are valid. */
const maxClaimLinks = 10;

/** A code for a link or a session: 256 random bits. The ledger keeps only the hash. */
export function newCode(): { readonly code: string; readonly sha256: string } {
  const code = randomBytes(32).toString("base64url");
  return { code, sha256: hashCode(code) };
}

/** The hash by which a code is stored and found: SHA-256, in hexadecimal digits. */
export function hashCode(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}

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

/** The store of team members, their memberships and their invitations. */
export function memberStore(engine: Engine, features: readonly Feature[]) {
  return {
    ...profiles(engine),
    ...memberships(engine),
    ...memberChanges(engine, features),
    ...links(engine),
  };
}

export type MemberStore = ReturnType<typeof memberStore>;

function profiles(engine: Engine) {
  return {
    /** Whether there is any person. */
    isClaimed: () => engine.alone(exists`FROM people`),
    find: (id: number) => engine.alone(findPerson(id)),
    withEmail: (email: string) => engine.alone(personWithEmail(email)),

    /** Changes the given fields. The person's other organizations get an entry in their audit logs. It does
     * not verify an e-mail. @param verifiedHash of the password that was sent with the change
     * @throws Refusal when another person has the e-mail, or the password was changed meanwhile */
    change: (id: number, change: Partial<NewPerson>, by: Actor, nowMs: number, verifiedHash?: string) =>
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

function memberships(engine: Engine) {
  return {
    /** In the order of the organizations' names. */
    membershipsOf: async (person: number) => {
      const places = await engine.alone(select(place)`${ofPlaces} WHERE person = ${person} AND ${isThere}`);
      return places
        .map(membershipOf)
        .toSorted((a, b) => (a.organization.name < b.organization.name ? -1 : 1));
    },

    /** The person's membership of this organization, and records the visit. Undefined if there is none. */
    membership: (person: number, organization: number, nowMs: number) =>
      engine.alone(seenMembership(person, organization, nowMs)),

    /** A new organization with the person as its owner. @throws Refusal when its name is taken. */
    createOrganization: (wanted: NewOrganization, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        const owner = by.person?.id ?? 0;
        if ((yield* lockPerson(owner)) === undefined) throw noAccount();
        yield* refusePersonEverywhere(owner);
        const organization = yield* insertOrganization({ ...wanted, nowMs });
        yield* join(organization.id, owner, "owner", nowMs);
        yield* audit.note(organization.id, organizationCreatedNote(organization), by, nowMs);
        return organization;
      }),

    list: (organization: number) => engine.alone(findMembers(organization)),
  };
}

function memberChanges(engine: Engine, features: readonly Feature[]) {
  return {
    /** Makes a person an owner at once, with or without an earlier membership.
     * @throws Refusal when there are too many members, or the person is in too many organizations */
    makeOwner: (organization: number, person: number, by: Actor, nowMs: number) =>
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

    /** @returns undefined when the person is no member. @throws Refusal when there would be no owner any
     * more. */
    setRole: (organization: number, person: number, role: Role, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const before = yield* findMember(organization, person);
        if (before === undefined) return undefined;
        yield* setRole(audit, organization, before, role, by, nowMs);
        return { ...before, role };
      }),

    /** Removes a member, and revokes the read keys that the member made, or moves them to an owner.
     * @param keysTo the owner's id
     * @returns undefined when the person is no member.
     * @throws Refusal when there would be no owner any more, or `keysTo` is none of the other owners. */
    remove: (organization: number, person: number, by: Actor, nowMs: number, keysTo: number | null = null) =>
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
        const freed: Record<string, number> = {};
        for (const [what, free] of features.flatMap(({ freeAfterMember = {} }) =>
          Object.entries(freeAfterMember),
        )) {
          freed[what] = yield* free(organization, before);
        }
        const left = { ids, to: keysTo, freed };
        yield* audit.note(organization, removedNote(before, left, by), by, nowMs);
        return before;
      }),
  };
}

function links(engine: Engine) {
  return {
    /** The organization's invitations that can still be accepted. */
    invitations: (organization: number, nowMs: number) => engine.alone(findInvitations(organization, nowMs)),

    /** Creates an invitation. It replaces an earlier one to the same e-mail. @returns its id.
     * @throws Refusal when the e-mail is a member's, or there are too many invitations or members.
     * @throws ApiError when the person has made too many within a day */
    invite: (
      invitation: { organization: number; email: string; role: Role; sha256: string; expiresAtMs: number },
      by: Actor,
      nowMs: number,
    ) =>
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

    /** The invitations to this e-mail within a day, of all organizations, also those that are revoked. */
    invitationsOfDay: async (email: string, nowMs: number) => {
      const made = await engine.alone(select(noteOfInvitation)`${madeWithinDay(nowMs)}`);
      return made.filter(({ detail }) => detail.email === email).length;
    },

    /** @returns false when the organization has no such invitation. */
    revokeInvitation: (organization: number, invitation: number, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        const [gone] = yield* returning(invited)`
          DELETE FROM invite_links
          WHERE kind = 'invitation' AND organization = ${organization} AND id = ${invitation}`;
        if (gone === undefined) return false;
        yield* audit.note(organization, invitationRevokedNote(gone.email, gone.role), by, nowMs);
        return true;
      }),

    /** Creates a link with which the person sets a new password. It replaces an earlier link. */
    addPasswordLink: (
      { person, sha256, expiresAtMs }: { person: number; sha256: string; expiresAtMs: number },
      by: Actor,
      nowMs: number,
    ) =>
      engine.transaction(function* (audit) {
        const member = yield* lockPerson(person);
        if (member === undefined) throw noAccount();
        yield* deletePasswordLinks(person);
        yield* run`
          INSERT INTO invite_links (kind, sha256, person, created_at_ms, expires_at_ms)
          VALUES ('password', ${sha256}, ${person}, ${nowMs}, ${expiresAtMs})`;
        yield* noteEverywhere(audit, person, passwordLinkNote(member), by, nowMs);
      }),

    /** Creates a link with which the first person signs up. The newest `maxClaimLinks` are valid. */
    addClaimLink: (sha256: string, nowMs: number) =>
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
