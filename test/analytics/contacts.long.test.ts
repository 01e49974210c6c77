/** Contacts with users: by an event or by a team member's mark. They are no engagement, and are erased with
 * the user. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Browser, joined } from "../people/support.ts";
import { Server } from "../server.ts";
import { becomes } from "../until.ts";

const organization = "Contacted";
let server: Server;
let owner: Awaited<ReturnType<typeof joined>>;
let token = "";
const weekAgo = new Date(Date.now() - 7 * 86_400_000).toISOString();
const yesterday = new Date(Date.now() - 86_400_000).toISOString();

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  token = await server.organization(organization, "--timezone", "UTC");
  owner = await joined(server, organization, "owner", "Olga Owner");
  const batch = ["ada", "bob"].flatMap((userId) => [
    { type: "identify", userId, email: `${userId}@example.com`, account: { id: "acme", name: "Acme" } },
    { type: "track", userId, event: "opened", timestamp: weekAgo },
  ]);
  const response = await server.post("/batch", token, { batch });
  expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
});
afterAll(() => server.stop());

interface Timeline {
  readonly events: readonly {
    readonly timestamp: string;
    readonly userId?: string;
    readonly properties: { readonly by?: string };
  }[];
}

const at = (path: string) => `${path}${path.includes("?") ? "&" : "?"}organization=${owner.organization}`;
const mark = (who: Browser, userId: string, body: object) =>
  who.ask("POST", at(`/api/users/${userId}/contacts`), body);
const contacts = (path: string) => owner.json<Timeline>("GET", at(`/api/${path}/timeline?event=contacted`));
const user = (userId: string) => owner.json<{ lastSeenDay: string }>("GET", at(`/api/users/${userId}`));

test("a mark and an event are contacts with a time, of the user and of the account, and no engagement", async () => {
  expect((await mark(owner, "ada", { timestamp: yesterday })).status).toBe(204);
  expect((await mark(owner, "ada", {})).status).toBe(204);
  const sent = { userId: "bob", event: "contacted", timestamp: yesterday };
  expect((await server.post("/track", token, sent)).status).toBe(201);
  await server.exported("events", organization);
  const ofAda = (await contacts("users/ada")).events;
  expect(ofAda).toHaveLength(2);
  expect(ofAda[1]?.timestamp).toBe(yesterday);
  expect(ofAda[0]?.properties.by).toContain("Olga Owner");
  const ofAcme = (await contacts("accounts/acme")).events;
  expect(ofAcme.map(({ userId }) => userId).toSorted()).toEqual(["ada", "ada", "bob"]);
  // The names of events are kept for a second.
  await becomes(async () => (await user("ada")).lastSeenDay, weekAgo.slice(0, 10));
});

test("is refused for unknown users, unreadable times and viewers", async () => {
  const viewer = await joined(server, organization, "viewer", "Vera Viewer");
  const answers = [
    await mark(owner, "nobody", {}),
    await mark(owner, "ada", { timestamp: "soon" }),
    await mark(owner, "ada", { when: "now" }),
    await mark(viewer, "ada", {}),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 400, 400, 403]);
});

test("is erased with the user", async () => {
  expect((await owner.ask("DELETE", at("/api/users/ada"))).status).toBe(200);
  const { events } = await contacts("accounts/acme");
  expect(events.map(({ userId }) => userId)).toEqual(["bob"]);
});

test("is in the audit log by the number of the user alone, and a refused one is not", async () => {
  expect(
    (await mark(owner, "bob", { kind: "call", text: "Said that bob@example.com is wrong" })).status,
  ).toBe(204);
  const { entries } = await owner.json<{
    entries: readonly { action: string; summary: string; person: object; detail: object }[];
  }>("GET", at("/api/audit-log"));
  const [first, ...others] = entries.filter(({ action }) => action === "contact.created");
  expect(first).toMatchObject({
    summary: "Added a contact with a user",
    detail: { user: 2 },
    person: { name: "Olga Owner" },
  });
  expect(others.map(({ detail }) => detail)).toEqual([{ user: 1 }, { user: 1 }]);
  expect(JSON.stringify(entries)).not.toContain("bob");
});
