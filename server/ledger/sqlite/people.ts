/** People and their places in organizations. Every change and its entry in the audit log are one commit. */
import type { Database } from "bun:sqlite";
import { peopleLimits, type Role } from "../../../contract/people.ts";
import type { Actor, AuditNote } from "../audit.ts";
import { type Organization, Refusal } from "../ledger.ts";
import type { Link, Member, Membership, NewOrganization, NewPerson, PeopleStore, Person } from "../people.ts";
import type { SqliteAudit } from "./audit.ts";
import type { SqliteOrganizations } from "./organizations.ts";
import { linkOf, PeopleRows } from "./people-rows.ts";
import { peopleStatements } from "./people-statements.ts";
import { inTransaction } from "./transaction.ts";

/** Seeing somebody is written down this often. */
const seenEveryMs = 3_600_000;
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
      if (before === undefined) throw new Refusal("This account is not there any more.");
      if (verifiedHash !== undefined && verifiedHash !== before.passwordHash) {
        throw new Refusal("currentPassword was changed meanwhile: send the new one.");
      }
      const after = { ...before, ...change };
      const other = this.#rows.withEmail(after.email);
      if (other !== undefined && other.id !== id) throw new Refusal("email is taken: send another one.");
      this.#rows.update(after);
      if (change.passwordHash !== undefined) this.#rows.deleteLinks({ person: id });
      const note = profileNote(before, after);
      if (note === undefined) return after;
      for (const organization of this.#rows.organizationsOf(id)) this.#note(organization, note, by, nowMs);
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
      this.#rows.refuseEverywhere(owner);
      const organization = this.#organizations.insert({ ...wanted, nowMs });
      this.#rows.join(organization.id, owner, "owner", nowMs);
      const { id, name, timezone } = organization;
      const note = {
        action: "organization.created",
        summary: `Created the organization ${name}`,
        detail: { name, timezone },
      } as const;
      this.#note(id, note, by, nowMs);
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
      const { name } = this.#rows.find(person) ?? {};
      if (name === undefined) throw new Refusal("This account is not there any more.");
      this.#rows.refuseFull(organization);
      this.#rows.refuseEverywhere(person);
      this.#rows.join(organization, person, "owner", nowMs);
      const detail = { person, name, from: null, to: "owner" };
      const summary = `${name} was made owner`;
      this.#note(organization, { action: "member.joined", summary, detail }, by, nowMs);
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
      const note = {
        action: "member.role_changed",
        summary: `${before.name} is ${role} now, and was ${before.role}`,
        detail: { person, name: before.name, from: before.role, to: role },
      } as const;
      this.#note(organization, note, by, nowMs);
      return { ...before, role };
    });
  }

  async remove(organization: number, person: number, by: Actor, nowMs: number): Promise<Member | undefined> {
    return inTransaction(this.#db, () => {
      const before = this.#member(organization, person);
      if (before === undefined) return undefined;
      if (before.role === "owner") this.#refuseLastOwner(organization);
      this.#statements.leave.run(organization, person);
      // They could come back by an invitation that they made to themselves.
      this.#statements.uninviteBy.run(organization, person);
      const { name, role } = before;
      const left = by.person?.id === person;
      const note = {
        action: "member.removed",
        summary: left ? `${name} left` : `Removed ${name}`,
        detail: { person, name, from: role, to: null },
      } as const;
      this.#note(organization, note, by, nowMs);
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
      const added = this.#statements.invite.get(
        ...([organization, email, role, sha256, invitedBy, nowMs, expiresAtMs] as const),
      );
      if (added === null) throw new Error("SQLite returned no row for a new invitation.");
      const summary = `Invited ${email} as ${role}`;
      this.#note(organization, { action: "invitation.created", summary, detail: { email, role } }, by, nowMs);
      return added.id;
    });
  }

  async uninvite(organization: number, invitation: number, by: Actor, nowMs: number): Promise<boolean> {
    return inTransaction(this.#db, () => {
      const gone = this.#statements.uninvite.get(organization, invitation);
      if (gone === null) return false;
      const { email, role } = gone;
      const summary = `Took back the invitation of ${email}`;
      this.#note(organization, { action: "invitation.revoked", summary, detail: { email, role } }, by, nowMs);
      return true;
    });
  }

  async addPasswordLink(
    { person, sha256, expiresAtMs }: { person: number; sha256: string; expiresAtMs: number },
    by: Actor,
    nowMs: number,
  ): Promise<void> {
    inTransaction(this.#db, () => {
      const { name } = this.#rows.find(person) ?? {};
      if (name === undefined) throw new Refusal("This account is not there any more.");
      this.#rows.deleteLinks({ person });
      this.#statements.addPasswordLink.run(sha256, person, nowMs, expiresAtMs);
      const note = {
        action: "member.reset_link_created",
        summary: `Made a link with which ${name} sets a new password`,
        detail: { person, name },
      } as const;
      for (const organization of this.#rows.organizationsOf(person)) {
        this.#note(organization, note, by, nowMs);
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
    const organization = role === undefined ? undefined : this.#organizations.find(id);
    return role === undefined || organization === undefined ? undefined : { organization, role };
  }

  #member(organization: number, person: number): Member | undefined {
    return this.#statements.member.get(organization, person) ?? undefined;
  }

  #refuseLastOwner(organization: number): void {
    if ((this.#statements.owners.get(organization)?.rows ?? 0) > 1) return;
    throw new Refusal("An organization needs an owner: make somebody else an owner first.");
  }

  #refuseInvitation({ organization, email }: Invitation, nowMs: number): void {
    if (this.#organizations.find(organization) === undefined) {
      throw new Refusal(`There is no organization with the id ${organization}.`);
    }
    const person = this.#rows.withEmail(email);
    if (person !== undefined && this.#rows.role(organization, person.id) !== undefined) {
      throw new Refusal(`${email} is a member already: change the role instead.`);
    }
    this.#rows.refuseFull(organization);
    const open = this.#statements.invitations.all(organization, nowMs).length;
    if (open < peopleLimits.invitationsPerOrganization) return;
    throw new Refusal(`There are ${open} open invitations already: take one back before you make another.`);
  }

  #note(organization: number, note: AuditNote, actor: Actor, atMs: number): void {
    this.#audit.write({ organization, actor, atMs, ...note });
  }
}

/** What of a person is other than before; the password is only said to be. */
function profileNote(before: Person, after: Person): AuditNote | undefined {
  const changed = (["name", "email"] as const).filter((field) => before[field] !== after[field]);
  const isNewPassword = before.passwordHash !== after.passwordHash;
  if (changed.length === 0 && !isNewPassword) return undefined;
  const valuesOf = (person: Person) => Object.fromEntries(changed.map((field) => [field, person[field]]));
  const fields = [...changed, ...(isNewPassword ? ["password"] : [])];
  return {
    action: "member.profile_changed",
    summary: `${before.name} changed their own ${fields.join(" and ")}`,
    detail: { person: before.id, from: valuesOf(before), to: valuesOf(after), password: isNewPassword },
  };
}
