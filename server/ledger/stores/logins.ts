/**
 * Sessions, and links that are used once. A link is deleted in the commit that uses it. Two transactions that
 * use one link wait for the same lock: that of the claim, the organization or the person. The second finds no
 * link.
 */
import { peopleLimits } from "../../../contract/member-limits.ts";
import { personActor, serviceItself } from "../audit.ts";
import type { AuditLog } from "../audit-log.ts";
import { advisoryLock, greatest, skipLocked, storeLocks } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import {
  claimedNote,
  emailLostNote,
  joinedNote,
  noAccount,
  passwordResetNote,
} from "../rules/member-notes.ts";
import { exists, integer, RowOf, run, select, type Work } from "../sql.ts";
import { deletePasswordLinks, findLink, type LinkKind, lockLink } from "./invite-links.ts";
import {
  findMember,
  findPerson,
  insertPerson,
  isEmailTaken,
  join,
  lockPerson,
  type NewPerson,
  noteEverywhere,
  type Person,
  personWithEmail,
  refuseFullOrganization,
  refusePersonEverywhere,
  updatePerson,
  verifiedEmail,
  withFallbackEmail,
} from "./member-rows.ts";
import { sessionMs } from "./members.ts";
import { isThere, lockOrganization } from "./organization-rows.ts";

export interface Session {
  readonly id: number;
  readonly person: Person;
  /** The last recorded use. */
  readonly usedAtMs: number;
}

/** An e-mail in the normal form by which people are found: without spaces around, in small letters. */
export function loginEmail(email: string): string {
  return email.trim().normalize("NFC").toLowerCase();
}

type Joining = { readonly id: number } | Omit<NewPerson, "email">;

const sessionRow = new RowOf<{ readonly id: number; readonly person: number; readonly usedAtMs: number }>({
  id: integer(),
  person: integer(),
  usedAtMs: integer(),
});
const organizationId = new RowOf<{ readonly id: number }>({ id: integer() });

/** The store of sessions, and of links that are used once. */
export function loginStore(engine: Engine) {
  return { ...usedLinks(engine), ...sessions(engine) };
}

export type LoginStore = ReturnType<typeof loginStore>;

/** Deletes sessions and links that have expired. Rows that another node has locked are skipped. */
export function* tidyLogins(nowMs: number): Work<void> {
  yield* run`
    DELETE FROM login_sessions WHERE id IN (
      SELECT id FROM login_sessions WHERE created_at_ms <= ${nowMs - sessionMs} ${skipLocked})`;
  yield* run`
    DELETE FROM invite_links WHERE id IN (
      SELECT id FROM invite_links WHERE expires_at_ms <= ${nowMs} ${skipLocked})`;
}

function usedLinks(engine: Engine) {
  return {
    /** The valid link with this hash. */
    link: (kind: LinkKind, sha256: string, nowMs: number) => engine.alone(findLink(kind, sha256, nowMs)),
    /** Creates the first person, as the owner of every organization without one, and uses up the link.
     * @returns undefined when the link is not valid any more, or there already is a person. */
    claim: (sha256: string, person: NewPerson, nowMs: number) =>
      engine.transaction((audit) => claim(audit, sha256, person, nowMs)),
    /** Makes a known or a new person a member. Uses up the link. The link verifies the e-mail. A new person
     * gets it even if another person has chosen it without a proof: see `withFallbackEmail`.
     * @returns undefined when the link is not valid any more, or the person became known or unknown
     * meanwhile.
     * @throws Refusal when there are too many members, or the person is in too many organizations. Then the
     * link stays */
    accept: (sha256: string, who: { readonly id: number } | Omit<NewPerson, "email">, nowMs: number) =>
      engine.transaction((audit) => accept(audit, sha256, who, nowMs)),

    /** Sets a new password, ends all of the person's sessions, and uses up the link.
     * @returns undefined when the link is not valid any more. */
    resetPassword: (sha256: string, passwordHash: string, nowMs: number) =>
      engine.transaction(function* (audit) {
        const { person } = (yield* findLink("password", sha256, nowMs)) ?? {};
        const before = person ? yield* lockPerson(person) : undefined;
        // The second look-up is needed: the transaction that had locked the person may have used the link.
        if (before === undefined || !(yield* lockLink("password", sha256, nowMs))) return undefined;
        const after = { ...before, passwordHash };
        yield* updatePerson(after);
        yield* deletePasswordLinks(after.id);
        yield* endSessions(after.id);
        yield* noteEverywhere(audit, after.id, passwordResetNote(after), personActor(after), nowMs);
        return after;
      }),
  };
}

function sessions(engine: Engine) {
  return {
    begin: (person: number, sha256: string, nowMs: number) =>
      engine.transaction(function* () {
        if ((yield* lockPerson(person)) === undefined) throw noAccount();
        yield* run`
          INSERT INTO login_sessions (person, sha256, created_at_ms, used_at_ms)
          VALUES (${person}, ${sha256}, ${nowMs}, ${nowMs})`;
        yield* run`
          DELETE FROM login_sessions WHERE person = ${person} AND id NOT IN (
            SELECT id FROM login_sessions WHERE person = ${person}
            ORDER BY used_at_ms DESC, id DESC LIMIT ${peopleLimits.sessionsPerPerson})`;
      }),

    /** The valid session with this hash. */
    session: (sha256: string, nowMs: number) => engine.alone(findSession(sha256, nowMs)),

    /** Records a use of the session. If the person has too many sessions, the least recently used ones
     * end. */
    used: async (id: number, nowMs: number) => {
      await engine.alone(
        run`UPDATE login_sessions SET used_at_ms = ${greatest}(used_at_ms, ${nowMs}) WHERE id = ${id}`,
      );
    },

    end: async (id: number) => {
      await engine.alone(run`DELETE FROM login_sessions WHERE id = ${id}`);
    },

    endAll: (person: number) =>
      engine.transaction(function* () {
        yield* lockPerson(person);
        yield* endSessions(person);
      }),

    /** Ends the sessions of all people, and revokes all links. */
    endEverything: () =>
      engine.transaction(function* () {
        yield* run`DELETE FROM login_sessions`;
        yield* run`DELETE FROM invite_links`;
      }),
  };
}

function* claim(audit: AuditLog, sha256: string, person: NewPerson, nowMs: number): Work<Person | undefined> {
  yield* advisoryLock(storeLocks.claim);
  if (yield* exists`FROM people`) return undefined;
  if ((yield* findLink("claim", sha256, nowMs)) === undefined) return undefined;
  const owner = yield* insertPerson({ ...person, ...verifiedEmail, createdAtMs: nowMs });
  if (owner === undefined) return undefined;
  const ownerless = yield* select(organizationId)`
    FROM organizations
    WHERE ${isThere} AND id NOT IN (SELECT organization FROM memberships WHERE role = 'owner') ORDER BY id`;
  for (const { id } of ownerless) {
    yield* join(id, owner.id, "owner", nowMs);
    yield* audit.note(id, claimedNote(owner), personActor(owner), nowMs);
  }
  yield* run`DELETE FROM invite_links WHERE kind = 'claim'`;
  return owner;
}

function* accept(audit: AuditLog, sha256: string, who: Joining, nowMs: number): Work<Person | undefined> {
  const { organization } = (yield* findLink("invitation", sha256, nowMs)) ?? {};
  if (!organization || (yield* lockOrganization(organization)) === undefined) return undefined;
  // The second look-up is needed: the transaction that had locked the organization may have used the link.
  const { id, email, role } = (yield* lockLink("invitation", sha256, nowMs)) ?? {};
  if (id === undefined || !email || !role) return undefined;
  const person = yield* joining(audit, email, who, nowMs);
  if (person === undefined) return undefined;
  yield* run`DELETE FROM invite_links WHERE id = ${id}`;
  if ((yield* findMember(organization, person.id)) !== undefined) return person;
  // Both limits may have been reached since the invitation was made.
  yield* refuseFullOrganization(organization);
  yield* refusePersonEverywhere(person.id);
  yield* join(organization, person.id, role, nowMs);
  yield* audit.note(organization, joinedNote(person, role), personActor(person), nowMs);
  return person;
}

/** The person who joins by an invitation to this e-mail. Undefined if the e-mail was taken or changed since
 * the link was read. */
function* joining(audit: AuditLog, email: string, who: Joining, nowMs: number): Work<Person | undefined> {
  if (!("id" in who)) {
    yield* freeEmail(audit, email, nowMs);
    return yield* insertPerson({ ...who, ...verifiedEmail, email, createdAtMs: nowMs });
  }
  const known = yield* lockPerson(who.id);
  if (known?.email !== email) return undefined;
  const person = { ...known, ...verifiedEmail };
  yield* updatePerson(person);
  return person;
}

/** Takes the e-mail from a person who has chosen it without a proof, if there is one. */
function* freeEmail(audit: AuditLog, email: string, nowMs: number): Work<void> {
  const { id } = (yield* personWithEmail(email)) ?? {};
  const known = id === undefined ? undefined : yield* lockPerson(id);
  const returned = known?.email === email ? withFallbackEmail(known) : undefined;
  if (known === undefined || returned === undefined) return;
  if (yield* isEmailTaken(returned.email, known.id)) return;
  yield* updatePerson(returned);
  yield* noteEverywhere(audit, known.id, emailLostNote(known, returned), serviceItself, nowMs);
}

function* findSession(sha256: string, nowMs: number): Work<Session | undefined> {
  const [row] = yield* select(sessionRow)`
    FROM login_sessions WHERE sha256 = ${sha256} AND created_at_ms > ${nowMs - sessionMs}`;
  const person = row && (yield* findPerson(row.person));
  return person && { ...row, person };
}

function endSessions(person: number) {
  return run`DELETE FROM login_sessions WHERE person = ${person}`;
}
