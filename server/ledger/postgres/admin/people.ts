/** People and their places in organizations. Every change and its entry in the audit log are one commit. */
import type { Role } from "../../../../contract/roles.ts";
import type { Actor, AuditNote } from "../../ports/audit.ts";
import type { Organization } from "../../ports/organizations.ts";
import {
  type Link,
  type Member,
  type Membership,
  maxClaimLinks,
  type NewOrganization,
  type NewPerson,
  type PeopleStore,
  type Person,
  seenEveryMs,
  withChosenEmail,
  withFallbackEmail,
} from "../../ports/people.ts";
import {
  emailTaken,
  foundedNote,
  invitedNote,
  madeOwnerNote,
  memberAlready,
  noAccount,
  passwordLinkNote,
  profileNote,
  refuseLastOwner,
  refuseOldPassword,
  refuseTooManyInvitations,
  removedNote,
  roleChangedNote,
  uninvitedNote,
} from "../../rules/people-notes.ts";
import type { Sql, Tx } from "../client/connect.ts";
import { isTaken } from "../client/errors.ts";
import { advisoryLocks } from "../client/locks.ts";
import { restored } from "../client/text.ts";
import { inTransaction } from "../client/transaction.ts";
import type { PostgresAudit } from "./audit.ts";
import { leaveKeys } from "./left-keys.ts";
import { deleteInvitationsBy, deletePasswordLinks, findInvitations, replaceInvitation } from "./link-rows.ts";
import { lockKnownOrganization, lockOrganization, type PostgresOrganizations } from "./organizations.ts";
import {
  countOwners,
  findMember,
  findMembers,
  findMemberships,
  findPerson,
  isEmailTaken,
  join,
  lockPerson,
  organizationsOf,
  personWithEmail,
  refuseFullOrganization,
  refusePersonEverywhere,
  updatePerson,
} from "./people-rows.ts";

type Invitation = Parameters<PeopleStore["invite"]>[0];

export class PostgresPeople implements PeopleStore {
  readonly #sql: Sql;
  readonly #organizations: PostgresOrganizations;
  readonly #audit: PostgresAudit;

  constructor(sql: Sql, organizations: PostgresOrganizations, audit: PostgresAudit) {
    this.#sql = sql;
    this.#organizations = organizations;
    this.#audit = audit;
  }

  async isClaimed(): Promise<boolean> {
    const [anybody] = await this.#sql`SELECT id FROM people LIMIT 1`;
    return anybody !== undefined;
  }

  find(id: number): Promise<Person | undefined> {
    return findPerson(this.#sql, id);
  }

  withEmail(email: string): Promise<Person | undefined> {
    return personWithEmail(this.#sql, email);
  }

  async change(
    id: number,
    change: Partial<NewPerson>,
    by: Actor,
    nowMs: number,
    verifiedHash?: string,
  ): Promise<Person> {
    const changed = inTransaction(this.#sql, async (tx) => {
      const before = await lockPerson(tx, id);
      if (before === undefined) throw noAccount();
      refuseOldPassword(before, verifiedHash);
      const after = withChosenEmail(
        { ...before, ...change, email: before.email },
        change.email ?? before.email,
      );
      if (after.email !== before.email && (await isEmailTaken(tx, after.email, id))) throw emailTaken();
      await updatePerson(tx, after);
      if (change.passwordHash !== undefined) await deletePasswordLinks(tx, id);
      const note = profileNote(before, after);
      if (note !== undefined) await this.#noteEverywhere(tx, id, note, by, nowMs);
      return after;
    });
    return changed.catch((error: unknown) => {
      throw isTaken(error) ? emailTaken() : error;
    });
  }

  async membershipsOf(person: number): Promise<readonly Membership[]> {
    const all = await findMemberships(this.#sql, person, null);
    return all.map(membershipOf).toSorted((a, b) => (a.organization.name < b.organization.name ? -1 : 1));
  }

  async membership(person: number, organization: number, nowMs: number): Promise<Membership | undefined> {
    const [found] = await findMemberships(this.#sql, person, organization);
    if (found === undefined) return undefined;
    const longAgoMs = nowMs - seenEveryMs;
    if ((found.lastSeenAtMs ?? 0) <= longAgoMs) {
      await this.#sql`
        UPDATE memberships SET last_seen_at_ms = ${nowMs}
        WHERE organization = ${organization} AND person = ${person} AND coalesce(last_seen_at_ms, 0) <= ${longAgoMs}`;
    }
    return membershipOf(found);
  }

  async found(wanted: NewOrganization, by: Actor, nowMs: number): Promise<Organization> {
    return inTransaction(this.#sql, async (tx) => {
      const owner = by.person?.id ?? 0;
      if ((await lockPerson(tx, owner)) === undefined) throw noAccount();
      await refusePersonEverywhere(tx, owner);
      const organization = await this.#organizations.insert(tx, { ...wanted, nowMs });
      await join(tx, organization.id, owner, "owner", nowMs);
      await this.#audit.note(tx, organization.id, foundedNote(organization), by, nowMs);
      return organization;
    });
  }

  members(organization: number): Promise<readonly Member[]> {
    return findMembers(this.#sql, organization);
  }

  async makeOwner(organization: number, person: number, by: Actor, nowMs: number): Promise<void> {
    await inTransaction(this.#sql, async (tx) => {
      await lockKnownOrganization(tx, organization);
      const member = await findMember(tx, organization, person);
      if (member !== undefined) {
        await this.#setRole(tx, organization, member, "owner", by, nowMs);
        return;
      }
      const owner = await lockPerson(tx, person);
      if (owner === undefined) throw noAccount();
      await refuseFullOrganization(tx, organization);
      await refusePersonEverywhere(tx, person);
      await join(tx, organization, person, "owner", nowMs);
      await this.#audit.note(tx, organization, madeOwnerNote(owner), by, nowMs);
    });
  }

  async setRole(
    organization: number,
    person: number,
    role: Role,
    by: Actor,
    nowMs: number,
  ): Promise<Member | undefined> {
    return inTransaction(this.#sql, async (tx) => {
      await lockOrganization(tx, organization);
      const before = await findMember(tx, organization, person);
      if (before === undefined) return undefined;
      await this.#setRole(tx, organization, before, role, by, nowMs);
      return { ...before, role };
    });
  }

  async remove(
    organization: number,
    person: number,
    by: Actor,
    nowMs: number,
    keysTo: number | null = null,
  ): Promise<Member | undefined> {
    return inTransaction(this.#sql, async (tx) => {
      await lockOrganization(tx, organization);
      const before = await findMember(tx, organization, person);
      if (before === undefined) return undefined;
      if (before.role === "owner") refuseLastOwner(await countOwners(tx, organization));
      await tx`DELETE FROM memberships WHERE organization = ${organization} AND person = ${person}`;
      // They could come back by an invitation that they made to themselves.
      await deleteInvitationsBy(tx, organization, person);
      const ids = await leaveKeys(tx, organization, person, nowMs, keysTo);
      await this.#audit.note(tx, organization, removedNote(before, { ids, to: keysTo }, by), by, nowMs);
      return before;
    });
  }

  invitations(organization: number, nowMs: number): Promise<readonly Link[]> {
    return findInvitations(this.#sql, organization, nowMs);
  }

  async invite(invitation: Invitation, by: Actor, nowMs: number): Promise<number> {
    return inTransaction(this.#sql, async (tx) => {
      await this.#refuseInvitation(tx, invitation, nowMs);
      const invitedBy = by.person?.id ?? null;
      if (invitedBy !== null && (await findPerson(tx, invitedBy)) === undefined) throw noAccount();
      const id = await replaceInvitation(tx, invitation, invitedBy, nowMs);
      const { organization, email, role } = invitation;
      await this.#audit.note(tx, organization, invitedNote(email, role), by, nowMs);
      return id;
    });
  }

  async uninvite(organization: number, invitation: number, by: Actor, nowMs: number): Promise<boolean> {
    return inTransaction(this.#sql, async (tx) => {
      const [gone] = await tx<{ email: string; role: Role }[]>`
        DELETE FROM people_links WHERE kind = 'invitation' AND organization = ${organization} AND id = ${invitation}
        RETURNING email, role`;
      if (gone === undefined) return false;
      await this.#audit.note(tx, organization, uninvitedNote(restored(gone.email), gone.role), by, nowMs);
      return true;
    });
  }

  async addPasswordLink(
    { person, sha256, expiresAtMs }: Parameters<PeopleStore["addPasswordLink"]>[0],
    by: Actor,
    nowMs: number,
  ): Promise<void> {
    await inTransaction(this.#sql, async (tx) => {
      const member = await lockPerson(tx, person);
      if (member === undefined) throw noAccount();
      await deletePasswordLinks(tx, person);
      await tx`
        INSERT INTO people_links (kind, sha256, person, created_at_ms, expires_at_ms)
        VALUES ('password', ${sha256}, ${person}, ${nowMs}, ${expiresAtMs})`;
      await this.#noteEverywhere(tx, person, passwordLinkNote(member), by, nowMs);
    });
  }

  async addClaimLink(sha256: string, nowMs: number): Promise<void> {
    await inTransaction(this.#sql, async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(${advisoryLocks.claim}::bigint)`;
      await tx`INSERT INTO people_links (kind, sha256, created_at_ms) VALUES ('claim', ${sha256}, ${nowMs})`;
      await tx`
        DELETE FROM people_links WHERE kind = 'claim' AND id NOT IN (
          SELECT id FROM people_links WHERE kind = 'claim' ORDER BY id DESC LIMIT ${maxClaimLinks})`;
    });
  }

  /** Changes the role of a member of an organization that is locked. */
  async #setRole(
    tx: Tx,
    organization: number,
    before: Member,
    role: Role,
    by: Actor,
    nowMs: number,
  ): Promise<void> {
    if (before.role === role) return;
    if (before.role === "owner") refuseLastOwner(await countOwners(tx, organization));
    await tx`UPDATE memberships SET role = ${role} WHERE organization = ${organization} AND person = ${before.id}`;
    if (before.role === "owner") await deleteInvitationsBy(tx, organization, before.id);
    await this.#audit.note(tx, organization, roleChangedNote(before, role), by, nowMs);
  }

  async #refuseInvitation(tx: Tx, { organization, email }: Invitation, nowMs: number): Promise<void> {
    await lockKnownOrganization(tx, organization);
    const person = await personWithEmail(tx, email);
    if (person !== undefined && withFallbackEmail(person) === undefined) {
      if ((await findMember(tx, organization, person.id)) !== undefined) throw memberAlready(email);
    }
    await refuseFullOrganization(tx, organization);
    refuseTooManyInvitations((await findInvitations(tx, organization, nowMs)).length);
  }

  async #noteEverywhere(tx: Tx, person: number, note: AuditNote, by: Actor, nowMs: number): Promise<void> {
    for (const organization of await organizationsOf(tx, person)) {
      await this.#audit.note(tx, organization, note, by, nowMs);
    }
  }
}

function membershipOf({ organization, role }: Membership): Membership {
  return { organization, role };
}
