/** Two nodes on one PostgreSQL: what two people may not both do. Each race is held up until both nodes are in
 * it. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { features } from "../../server/features/features.ts";
import { commandLine, personActor, settingUp } from "../../server/ledger/audit.ts";
import { openPool, type Sql, type Tx } from "../../server/ledger/postgres/connect.ts";
import { openPostgresLedger, type PostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { advisoryLocks } from "../../server/ledger/postgres/locks.ts";
import type { Person } from "../../server/ledger/stores/member-rows.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import { PostgresServer } from "../postgres.ts";
import { begunTogether, fulfilled, refusals } from "./at-once.ts";

const nowMs = Date.UTC(2026, 0, 1);
const expiresAtMs = nowMs + 86_400_000;

let server: PostgresServer;
let admin: Sql;
let one: PostgresLedger;
let two: PostgresLedger;
let made = 0;

beforeAll(async () => {
  server = await PostgresServer.start();
  const url = await server.database();
  admin = openPool(url, { connections: 2 });
  one = await openPostgresLedger({ features, url, connections: 4 });
  two = await openPostgresLedger({ features, url, connections: 4 });
});
afterAll(async () => {
  for (const ledger of [one, two]) await ledger.close();
  await admin.end();
  await server.stop();
});

function atOnce<Result>(
  hold: (tx: Tx) => PromiseLike<unknown>,
  works: readonly (() => Promise<Result>)[],
): Promise<PromiseSettledResult<Result>[]> {
  return begunTogether(admin, hold, works);
}

const holdOrganization = (id: number) => (tx: Tx) =>
  tx`SELECT FROM organizations WHERE id = ${id} FOR UPDATE`;
const holdPerson = (id: number) => (tx: Tx) => tx`SELECT FROM people WHERE id = ${id} FOR UPDATE`;
/** Takes an e-mail, in a transaction that comes to nothing. */
const holdEmail = (email: string) => (tx: Tx) =>
  tx`INSERT INTO people (email, name, password_hash, created_at_ms) VALUES (${email}, 'x', 'x', 0)`;

function organization(): Promise<Organization> {
  made += 1;
  return one.organizations.create({ name: `organization ${made}`, timezone: "UTC", nowMs }, settingUp);
}

async function invite(id: number, email: string): Promise<string> {
  made += 1;
  const sha256 = `code ${made}`;
  const invitation = { organization: id, email, role: "owner", sha256, expiresAtMs } as const;
  await one.members.invite(invitation, commandLine, nowMs);
  return sha256;
}

const fresh = (name: string) => ({ name, passwordHash: `hash of ${name}` });

/** A new person who owns the organization. */
async function owner(id: number): Promise<Person> {
  made += 1;
  const email = `owner${made}@example.com`;
  const person = await one.logins.accept(await invite(id, email), fresh(email), nowMs);
  if (person === undefined) throw new Error("the invitation was not taken");
  return person;
}

// Stands first: the others make people.
test("the first person is made on one node only", async () => {
  for (const sha256 of ["claim 1", "claim 2"]) await one.members.addClaimLink(sha256, nowMs);
  const { id } = await organization();
  const claimed = await atOnce(
    (tx) => tx`SELECT pg_advisory_xact_lock(${advisoryLocks.claim}::bigint)`,
    [
      () => one.logins.claim("claim 1", { email: "a@example.com", ...fresh("a") }, nowMs),
      () => two.logins.claim("claim 2", { email: "b@example.com", ...fresh("b") }, nowMs),
    ],
  );
  const people = fulfilled(claimed).filter((person) => person !== undefined);
  expect(people).toHaveLength(1);
  expect((await two.members.list(id)).map((member) => member.email)).toEqual([people[0]?.email ?? ""]);
});

test("an invitation that is accepted on two nodes at once makes one person and one member", async () => {
  const { id } = await organization();
  const sha256 = await invite(id, "twice@example.com");
  const accepted = await atOnce(holdOrganization(id), [
    () => one.logins.accept(sha256, fresh("first"), nowMs),
    () => two.logins.accept(sha256, fresh("second"), nowMs),
  ]);
  const [person, ...others] = fulfilled(accepted).filter((found) => found !== undefined);
  expect(fulfilled(accepted)).toHaveLength(2);
  expect(others).toEqual([]);
  expect((await two.members.list(id)).map(({ id: member }) => member)).toEqual([person?.id ?? 0]);
  expect(await two.members.withEmail("twice@example.com")).toEqual(person);
});

test("an invitation is accepted or taken back, not both", async () => {
  const { id } = await organization();
  const sha256 = await invite(id, "back@example.com");
  const [invitation] = await one.members.invitations(id, nowMs);
  const [accepted, isBack] = await atOnce<Person | boolean | undefined>(
    (tx) => tx`SELECT FROM invite_links WHERE sha256 = ${sha256} FOR UPDATE`,
    [
      () => one.logins.accept(sha256, fresh("back"), nowMs),
      () => two.members.revokeInvitation(id, invitation?.id ?? 0, commandLine, nowMs),
    ],
  );
  const person = accepted?.status === "fulfilled" ? accepted.value : "failed";
  expect(isBack).toEqual({ status: "fulfilled", value: person === undefined });
  expect(await two.members.list(id)).toHaveLength(person === undefined ? 0 : 1);
});

test("one address that signs up in two organizations at once is one person, and the other link stays", async () => {
  const [first, second] = [await organization(), await organization()];
  const email = "both@example.com";
  const links = [await invite(first.id, email), await invite(second.id, email)] as const;
  const accepted = await atOnce(holdEmail(email), [
    () => one.logins.accept(links[0], fresh("in the first"), nowMs),
    () => two.logins.accept(links[1], fresh("in the second"), nowMs),
  ]);
  const [person, ...others] = fulfilled(accepted).filter((found) => found !== undefined);
  expect(fulfilled(accepted)).toHaveLength(2);
  expect(others).toEqual([]);
  expect(await one.members.membershipsOf(person?.id ?? 0)).toHaveLength(1);
  // The second invitation needs the person's password, and then the person joins.
  for (const link of links) await two.logins.accept(link, { id: person?.id ?? 0 }, nowMs);
  expect(await one.members.membershipsOf(person?.id ?? 0)).toHaveLength(2);
});

test("one address that two people change theirs to at once is one's", async () => {
  const { id } = await organization();
  const people = [await owner(id), await owner(id)] as const;
  const email = "wanted@example.com";
  const changed = await atOnce(holdEmail(email), [
    () => one.members.change(people[0].id, { email }, personActor(people[0]), nowMs),
    () => two.members.change(people[1].id, { email }, personActor(people[1]), nowMs),
  ]);
  expect(refusals(changed)).toEqual(["email is taken: send another one."]);
  expect(await one.members.withEmail(email)).toEqual(fulfilled(changed)[0]);
});

test("two owners who leave at once do not both leave", async () => {
  const { id } = await organization();
  const owners = [await owner(id), await owner(id)] as const;
  const left = await atOnce(holdOrganization(id), [
    () => one.members.remove(id, owners[0].id, personActor(owners[0]), nowMs),
    () => two.members.setRole(id, owners[1].id, "viewer", personActor(owners[1]), nowMs),
  ]);
  expect(refusals(left)).toEqual(["An organization needs an owner: make somebody else an owner first."]);
  expect((await two.members.list(id)).filter(({ role }) => role === "owner")).toHaveLength(1);
});

test("a link for a new password that is used on two nodes at once sets one", async () => {
  const { id } = await organization();
  const person = await owner(id);
  await one.members.addPasswordLink({ person: person.id, sha256: "reset", expiresAtMs }, commandLine, nowMs);
  await one.logins.begin(person.id, "session of before", nowMs);
  const set = await atOnce(holdPerson(person.id), [
    () => one.logins.resetPassword("reset", "hash 1", nowMs),
    () => two.logins.resetPassword("reset", "hash 2", nowMs),
  ]);
  const [after, ...others] = fulfilled(set).filter((found) => found !== undefined);
  expect(fulfilled(set)).toHaveLength(2);
  expect(others).toEqual([]);
  expect(await two.members.find(person.id)).toEqual(after);
  expect(await two.logins.session("session of before", nowMs)).toBeUndefined();
});

test("a person in 99 organizations who accepts two invitations at once is in 100", async () => {
  const [first, second] = [await organization(), await organization()];
  const person = await owner((await organization()).id);
  await admin`
    WITH more AS (
      INSERT INTO organizations (name, timezone, requests_per_second, created_at_ms)
      SELECT 'of many ' || n, 'UTC', 1, 0 FROM generate_series(1, 98) AS numbers (n) RETURNING id)
    INSERT INTO memberships (organization, person, role, joined_at_ms) SELECT id, ${person.id}, 'viewer', 0 FROM more`;
  const links = [await invite(first.id, person.email), await invite(second.id, person.email)] as const;
  const accepted = await atOnce(holdPerson(person.id), [
    () => one.logins.accept(links[0], { id: person.id }, nowMs),
    () => two.logins.accept(links[1], { id: person.id }, nowMs),
  ]);
  expect(refusals(accepted)).toEqual(["One person may be a member of 100 organizations: leave one first."]);
  expect(await two.members.membershipsOf(person.id)).toHaveLength(100);
});

test("sessions that begin on two nodes at once leave the last fifty", async () => {
  const person = await owner((await organization()).id);
  const names = Array.from({ length: 60 }, (_, n) => `session ${n}`);
  const begin = (name: string, n: number) =>
    (n % 2 === 0 ? one : two).logins.begin(person.id, name, nowMs + n);
  // Each waits for the commits of those before it, and for a connection for ten seconds at most.
  for (let at = 0; at < names.length; at += 12)
    await Promise.all(names.slice(at, at + 12).map((name, n) => begin(name, at + n)));
  const living = await Promise.all(names.map((name) => one.logins.session(name, nowMs + 60)));
  expect(living.filter((session) => session !== undefined)).toHaveLength(50);
});

test("settings that are changed on two nodes at once are two versions, and both changes are kept", async () => {
  const { id } = await organization();
  const changed = await atOnce(holdOrganization(id), [
    () => one.settings.change(id, { churnHorizonDays: 14 }, commandLine, nowMs),
    () => two.settings.change(id, { weekStart: 7 }, commandLine, nowMs),
  ]);
  const versions = fulfilled(changed).map(({ version }) => version);
  expect(versions.toSorted()).toEqual([1, 2]);
  expect((await one.settings.get(id)).settings).toMatchObject({ churnHorizonDays: 14, weekStart: 7 });
});

test("Stripe's settings that are changed on two nodes at once are both kept", async () => {
  const { id } = await organization();
  const changed = await atOnce(holdOrganization(id), [
    () => one.sourceSettings.changeStripe(id, { signingSecrets: ["whsec_1234"] }, commandLine, nowMs),
    () => two.sourceSettings.changeStripe(id, { unknownCustomers: "create" }, commandLine, nowMs),
  ]);
  expect(fulfilled(changed)).toHaveLength(2);
  const after = { signingSecrets: ["whsec_1234"], unknownCustomers: "create" };
  expect(await one.sourceSettings.stripe(id)).toMatchObject(after);
});

test("one name of a view, and of a webhook, is given once", async () => {
  const { id } = await organization();
  const view = { page: "users", name: "Risky", query: "" } as const;
  const views = await atOnce(
    holdOrganization(id),
    [one, two].map((node) => () => node.views.add(id, view, commandLine, nowMs)),
  );
  expect(refusals(views)).toEqual(["name is taken: there is a view called Risky already."]);
  const webhook = { name: "crm", mapping: { event: { path: "name" }, userId: "user" } } as const;
  const webhooks = await atOnce(
    holdOrganization(id),
    [one, two].map((node) => () => node.sourceSettings.addWebhook(id, webhook, commandLine, nowMs)),
  );
  expect(refusals(webhooks)).toEqual(["name is taken: there is a webhook called crm already."]);
  expect((await one.audit.list(id, { limit: 10 })).map(({ action }) => action)).toEqual([
    "webhook.created",
    "view.created",
  ]);
});

test("counts of two nodes for the same sources add up, in any order", async () => {
  const { id } = await organization();
  const hours = (["segment", "stripe", "posthog"] as const).flatMap((source) =>
    [480_000, 480_001].map((utcHour) => ({
      organization: id,
      source,
      utcHour,
      accepted: 1,
      held: 0,
      duplicate: 0,
      rejected: 0,
      ignored: 2,
      firstMs: 5,
      lastMs: 9,
      firstHeardMs: null,
      lastHeardMs: null,
    })),
  );
  const rounds = Array.from({ length: 30 }, (_, n) => n);
  await Promise.all(
    rounds.map((n) => (n % 2 === 0 ? one.sources.add(hours) : two.sources.add(hours.toReversed()))),
  );
  const totals = await two.sources.totals(id);
  expect(totals.map(({ source, accepted, ignored }) => [source, accepted, ignored])).toEqual([
    ["posthog", 60, 120],
    ["segment", 60, 120],
    ["stripe", 60, 120],
  ]);
  expect((await one.sources.hours(id, 0)).map(({ accepted }) => accepted)).toEqual([30, 30, 30, 30, 30, 30]);
});

test("one name that two organizations are given at once is one's", async () => {
  const [first, second] = [await organization(), await organization()];
  const name = "wanted";
  const holdName = (tx: Tx) => tx`
    INSERT INTO organizations (name, timezone, requests_per_second, created_at_ms) VALUES (${name}, 'UTC', 1, 0)`;
  const named = await atOnce(holdName, [
    () => one.organizations.set(first.id, { name }, settingUp, 1),
    () => two.organizations.set(second.id, { name }, settingUp, 1),
  ]);
  expect(refusals(named)).toEqual(["There is already an organization named wanted: choose another name."]);
  expect((await one.organizations.list()).filter((found) => found.name === name)).toHaveLength(1);
});

test("a member who is removed on one node leaves no key that the other node made meanwhile", async () => {
  const { id } = await organization();
  await owner(id);
  const leaving = await owner(id);
  const wanted = { organization: id, name: "late", rights: ["read"], sha256: `late ${id}` } as const;
  const [removed] = await atOnce<unknown>(holdOrganization(id), [
    () => one.members.remove(id, leaving.id, commandLine, nowMs),
    () => two.readKeys.create({ ...wanted, lastFour: "late", nowMs }, personActor(leaving)),
  ]);
  expect(removed?.status).toBe("fulfilled");
  expect(await one.readKeys.find(wanted.sha256)).toBeUndefined();
});
