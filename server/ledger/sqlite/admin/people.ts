/** People and their places in organizations. Every change and its entry in the audit log are one commit. */
import type { Database } from "bun:sqlite";
import type { Role } from "../../../../contract/roles.ts";
import type { Actor } from "../../ports/audit.ts";
import type { Organization } from "../../ports/organizations.ts";
import {
  type Link,
  type Member,
  type Membership,
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
  noOwnerForKeys,
  passwordLinkNote,
  profileNote,
  refuseLastOwner,
  refuseOldPassword,
  refuseTooManyInvitations,
  removedNote,
  roleChangedNote,
  uninvitedNote,
} from "../../rules/people-notes.ts";
import { inTransaction } from "../engine/sync-transaction.ts";
import type { SqliteAudit } from "./audit.ts";
import type { SqliteOrganizations } from "./organizations.ts";
import { linkOf, PeopleRows } from "./people-rows.ts";
import { peopleStatements } from "./people-statements.ts";

type Invitation = Parameters<PeopleStore["invite"]>[0];

export class SqlitePeople implements PeopleStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof peopleStatements>;
  readonly #rows: PeopleRows;
  readonly #organizations: SqliteOrganizations;
  readonly #audit: SqliteAudit;

  constructor(db: Database, organizations: SqliteOrganizations, audit: SqliteAudit) {
    this.#db = db;
    this.#statements = peopleStatements(db);
    this.#rows = new PeopleRows(db);
    this.#organizations = organizations;
    this.#audit = audit;
  }

  async isClaimed(): Promise<boolean> {
    return this.#rows.any();
  }

  async find(id: number): Promise<Person | undefined> {
    return this.#rows.find(id);
  }

  async withEmail(email: string): Promise<Person | undefined> {
    return this.#rows.withEmail(email);
  }

  async change(
    id: number,
    change: Partial<NewPerson>,
    by: Actor,
    nowMs: number,
    verifiedHash?: string,
  ): Promise<Person> {
    return inTransaction(this.#db, () => {
      const before = this.#rows.find(id);
      if (before === undefined) throw noAccount();
      refuseOldPassword(before, verifiedHash);
      const after = withChosenEmail(
        { ...before, ...change, email: before.email },
        change.email ?? before.email,
      );
      if (after.email !== before.email && this.#rows.isTaken(after.email, id)) throw emailTaken();
      this.#rows.update(after);
      if (change.passwordHash !== undefined) this.#rows.deleteLinks({ person: id });
      const note = profileNote(before, after);
      if (note === undefined) return after;
      for (const organization of this.#rows.organizationsOf(id))
        this.#audit.note(organization, note, by, nowMs);
      return after;
    });
  }

  async membershipsOf(person: number): Promise<readonly Membership[]> {
    return this.#rows
      .organizationsOf(person)
      .flatMap((id) => this.#membership(person, id) ?? [])
      .toSorted((a, b) => (a.organization.name < b.organization.name ? -1 : 1));
  }

  async membership(person: number, organization: number, nowMs: number): Promise<Membership | undefined> {
    const membership = this.#membership(person, organization);
    if (membership !== undefined) this.#statements.seen.run(nowMs, organization, person, nowMs - seenEveryMs);
    return membership;
  }

  async found(wanted: NewOrganization, by: Actor, nowMs: number): Promise<Organization> {
    return inTransaction(this.#db, () => {
      const owner = by.person?.id ?? 0;
      if (this.#rows.find(owner) === undefined) throw noAccount();
      this.#rows.refuseEverywhere(owner);
      const organization = this.#organizations.insert({ ...wanted, nowMs });
      this.#rows.join(organization.id, owner, "owner", nowMs);
      this.#audit.note(organization.id, foundedNote(organization), by, nowMs);
      return organization;
    });
  }

  async members(organization: number): Promise<readonly Member[]> {
    return this.#statements.members.all(organization);
  }

  async makeOwner(organization: number, person: number, by: Actor, nowMs: number): Promise<void> {
    if (this.#member(organization, person) !== undefined) {
      await this.setRole(organization, person, "owner", by, nowMs);
      return;
    }
    inTransaction(this.#db, () => {
      this.#organizations.refuseUnknown(organization);
      const owner = this.#rows.find(person);
      if (owner === undefined) throw noAccount();
      this.#rows.refuseFull(organization);
      this.#rows.refuseEverywhere(person);
      this.#rows.join(organization, person, "owner", nowMs);
      this.#audit.note(organization, madeOwnerNote(owner), by, nowMs);
    });
  }

  async setRole(
    organization: number,
    person: number,
    role: Role,
    by: Actor,
    nowMs: number,
  ): Promise<Member | undefined> {
    return inTransaction(this.#db, () => {
      const before = this.#member(organization, person);
      if (before === undefined || before.role === role) return before;
      if (before.role === "owner") this.#refuseLastOwner(organization);
      this.#statements.setRole.run(role, organization, person);
      if (before.role === "owner") this.#statements.uninviteBy.run(organization, person);
      this.#audit.note(organization, roleChangedNote(before, role), by, nowMs);
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
    return inTransaction(this.#db, () => {
      const before = this.#member(organization, person);
      if (before === undefined) return undefined;
      if (before.role === "owner") this.#refuseLastOwner(organization);
      this.#statements.leave.run(organization, person);
      // They could come back by an invitation that they made to themselves.
      this.#statements.uninviteBy.run(organization, person);
      const ids = this.#leaveKeys(organization, person, nowMs, keysTo);
      this.#audit.note(organization, removedNote(before, { ids, to: keysTo }, by), by, nowMs);
      return before;
    });
  }

  async invitations(organization: number, nowMs: number): Promise<readonly Link[]> {
    return this.#statements.invitations.all(organization, nowMs).map(linkOf);
  }

  async invite(invitation: Invitation, by: Actor, nowMs: number): Promise<number> {
    return inTransaction(this.#db, () => {
      const { organization, email, role, sha256, expiresAtMs } = invitation;
      this.#refuseInvitation(invitation, nowMs);
      this.#statements.uninviteEmail.run(organization, email);
      const invitedBy = by.person?.id ?? null;
      if (invitedBy !== null && this.#rows.find(invitedBy) === undefined) throw noAccount();
      const added = this.#statements.invite.get(
        ...([organization, email, role, sha256, invitedBy, nowMs, expiresAtMs] as const),
      );
      if (added === null) throw new Error("SQLite returned no row for a new invitation.");
      this.#audit.note(organization, invitedNote(email, role), by, nowMs);
      return added.id;
    });
  }

  async uninvite(organization: number, invitation: number, by: Actor, nowMs: number): Promise<boolean> {
    return inTransaction(this.#db, () => {
      const gone = this.#statements.uninvite.get(organization, invitation);
      if (gone === null) return false;
      this.#audit.note(organization, uninvitedNote(gone.email, gone.role), by, nowMs);
      return true;
    });
  }

  async addPasswordLink(
    { person, sha256, expiresAtMs }: { person: number; sha256: string; expiresAtMs: number },
    by: Actor,
    nowMs: number,
  ): Promise<void> {
    inTransaction(this.#db, () => {
      const member = this.#rows.find(person);
      if (member === undefined) throw noAccount();
      this.#rows.deleteLinks({ person });
      this.#statements.addPasswordLink.run(sha256, person, nowMs, expiresAtMs);
      for (const organization of this.#rows.organizationsOf(person)) {
        this.#audit.note(organization, passwordLinkNote(member), by, nowMs);
      }
    });
  }

  async addClaimLink(sha256: string, nowMs: number): Promise<void> {
    inTransaction(this.#db, () => {
      this.#statements.addClaimLink.run(sha256, nowMs);
      this.#statements.trimClaimLinks.run();
    });
  }

  #membership(person: number, id: number): Membership | undefined {
    const role = this.#rows.role(id, person);
    const organization = role === undefined ? undefined : this.#organizations.findNow(id);
    return role === undefined || organization === undefined ? undefined : { organization, role };
  }

  #member(organization: number, person: number): Member | undefined {
    return this.#statements.member.get(organization, person) ?? undefined;
  }

  /** Revokes the read keys that a person made, or makes them those of an owner. @returns their ids */
  #leaveKeys(organization: number, person: number, nowMs: number, keysTo: number | null): readonly number[] {
    const { revokeKeys, giveKeys } = this.#statements;
    if (keysTo === null) return revokeKeys.all(nowMs, organization, person).map(({ id }) => id);
    if (this.#rows.role(organization, keysTo) !== "owner") throw noOwnerForKeys();
    return giveKeys.all(keysTo, organization, person).map(({ id }) => id);
  }

  #refuseLastOwner(organization: number): void {
    refuseLastOwner(this.#statements.owners.get(organization)?.rows ?? 0);
  }

  #refuseInvitation({ organization, email }: Invitation, nowMs: number): void {
    this.#organizations.refuseUnknown(organization);
    const person = this.#rows.withEmail(email);
    const isMember = person !== undefined && this.#rows.role(organization, person.id) !== undefined;
    if (isMember && withFallbackEmail(person) === undefined) throw memberAlready(email);
    this.#rows.refuseFull(organization);
    refuseTooManyInvitations(this.#statements.invitations.all(organization, nowMs).length);
  }
}
