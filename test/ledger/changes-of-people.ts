/** The methods of the ledger about people: see changes.ts. */
import { commandLine as by, personActor } from "../../server/ledger/audit.ts";
import type { Person } from "../../server/ledger/stores/member-rows.ts";
import { type Ground, type Kinds, logOf, read, service } from "./change-kinds.ts";
import { changesOf, rowStores } from "./rows-of-stores.ts";

const expiresAtMs = 9e12;
const stranger = { name: "Ada", passwordHash: "$argon2id$x" };
const invitation = { email: "b@example.com", role: "viewer", sha256: "b", expiresAtMs } as const;

/** A person who is a member of the organization by an invitation. */
async function member({ ledger, id, nowMs }: Ground, email: string): Promise<Person> {
  await ledger.members.invite({ ...invitation, organization: id, email, sha256: email }, by, nowMs);
  const person = await ledger.logins.accept(email, stranger, nowMs);
  if (person === undefined) throw new Error("nobody joined");
  return person;
}

const membersOf: Pick<Kinds["members"], "createOrganization" | "makeOwner" | "setRole" | "remove"> = {
  createOrganization: async (ground) => {
    const { ledger, nowMs } = ground;
    const founder = personActor(await member(ground, "a@example.com"));
    return {
      action: "organization.created",
      make: () => ledger.members.createOrganization({ name: "new", timezone: "UTC" }, founder, nowMs),
      logOf,
    };
  },
  makeOwner: async (ground) => {
    const { subject, ledger, nowMs } = ground;
    const other = await subject.organization("other");
    const { id } = await member({ ...ground, id: other.id }, "a@example.com");
    return {
      action: "member.joined",
      of: (organization) => ledger.members.makeOwner(organization, id, by, nowMs),
    };
  },
  setRole: async (ground) => {
    const { id } = await member(ground, "a@example.com");
    const { members: people } = ground.ledger;
    return {
      action: "member.role_changed",
      of: (organization) => people.setRole(organization, id, "member", by, ground.nowMs),
    };
  },
  remove: async (ground) => {
    const { id } = await member(ground, "a@example.com");
    const { members: people } = ground.ledger;
    return {
      action: "member.removed",
      of: (organization) => people.remove(organization, id, by, ground.nowMs),
    };
  },
};

/** Of members, invitations and profiles. */
export const members: Kinds["members"] = {
  ...membersOf,
  ...changesOf(rowStores.invitations),
  isClaimed: read,
  find: read,
  withEmail: read,
  membershipsOf: read,
  list: read,
  invitations: read,
  invitationsOfDay: read,
  // Notes that the person was seen.
  membership: service,
  // Of no organization.
  addClaimLink: service,
  change: async (ground) => {
    const { id } = await member(ground, "a@example.com");
    const { members: store } = ground.ledger;
    return {
      action: "member.profile_changed",
      make: () => store.change(id, { name: "Countess" }, by, ground.nowMs),
    };
  },
  addPasswordLink: async (ground) => {
    const { id: person } = await member(ground, "a@example.com");
    const link = { person, sha256: "password", expiresAtMs };
    return {
      action: "member.reset_link_created",
      repeats: true,
      make: () => ground.ledger.members.addPasswordLink(link, by, ground.nowMs),
    };
  },
};

/** Kinds of the methods for sign-in. */
export const logins: Kinds["logins"] = {
  link: read,
  session: read,
  // Sessions are of no organization.
  begin: service,
  used: service,
  end: service,
  endAll: service,
  endEverything: service,
  claim: async ({ ledger, nowMs }) => {
    await ledger.members.addClaimLink("claim", nowMs);
    return {
      action: "installation.claimed",
      make: () => ledger.logins.claim("claim", { ...stranger, email: "a@example.com" }, nowMs),
    };
  },
  accept: async ({ ledger, id: organization, nowMs }) => {
    await ledger.members.invite({ organization, ...invitation }, by, nowMs);
    return { action: "member.joined", make: () => ledger.logins.accept("b", stranger, nowMs) };
  },
  resetPassword: async (ground) => {
    const { id: person } = await member(ground, "a@example.com");
    const { members: store, logins: links } = ground.ledger;
    await store.addPasswordLink({ person, sha256: "password", expiresAtMs }, by, ground.nowMs);
    return {
      action: "member.password_reset",
      make: () => links.resetPassword("password", "$argon2id$y", ground.nowMs),
    };
  },
};
