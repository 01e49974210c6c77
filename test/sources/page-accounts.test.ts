/** Accounts that pages give their users, and the attacks by a browser token that stay without effect. */
import { describe, expect, test } from "bun:test";
import { ownServer } from "../own-server.ts";
import { joined } from "../people/support.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";
import { identify, sent } from "./subscription-support.ts";

export const runsOn = { postgres: true };

const server: Server = await ownServer(() => server, { time: quick });

/** An organization with ada, and a browser token: sends to a path with it. */
async function page(name: string, ...batch: readonly object[]) {
  return pageWith(name, [], ...batch);
}

async function pageWith(name: string, options: readonly string[], ...batch: readonly object[]) {
  const token = await sent(server, name, identify("ada"), ...batch);
  const create = ["token", "create", "--organization", name, "--scope", "browser", ...options];
  const browser = (await server.command(...create)).trim();
  const send = async (path: string, body: object) => {
    const isOfPosthog = path === "/e/";
    const whole = isOfPosthog ? Object.assign({ api_key: browser }, body) : body;
    const response = await server.post(path, isOfPosthog ? undefined : browser, whole);
    expect([path, response.status]).toEqual([path, path.startsWith("/v1") || isOfPosthog ? 200 : 201]);
  };
  return { token, send };
}

/** Users with their accounts, and accounts with their names and attributes. */
async function stored(name: string) {
  const users = await server.exported("users", name);
  const accounts = await server.exported("accounts", name);
  return {
    users: users
      .map(({ userId, account }) => `${userId} ${(account as { id?: string } | null)?.id ?? "-"}`)
      .sort(),
    accounts: accounts
      .map(({ id, name: called, properties }) => `${id} ${called} ${JSON.stringify(properties)}`)
      .sort(),
  };
}

const visit = (event: string, properties: object) => ({ event, properties });
const identified = visit("$identify", {
  distinct_id: "gina",
  $anon_distinct_id: "gv1",
  $set: { email: "gina@example.com" },
});
const grouped = (who: object = {}) =>
  visit("$groupidentify", {
    distinct_id: "gina",
    $group_type: "company",
    $group_key: "gco",
    $groups: { company: "gco" },
    ...who,
    $group_set: { name: "Acme Inc", tier: "gold" },
  });
const done = visit("done", { distinct_id: "gina", $groups: { company: "gco" } });
const joinedByPage = { users: ["ada -", "gina gco"], accounts: ['gco Acme Inc {"tier":"gold"}'] };

describe("a page gives an account to the user whom its visit has made known", () => {
  test("by PostHog's identify and group, in one body and in several", async () => {
    const one = await page("Posthog at once");
    await one.send("/e/", { batch: [identified, grouped(), done] });
    expect(await stored("Posthog at once")).toEqual(joinedByPage);
    const several = await page("Posthog one by one");
    for (const each of [identified, grouped({ $device_id: "gv1" }), done])
      await several.send("/e/", { batch: [each] });
    expect(await stored("Posthog one by one")).toEqual(joinedByPage);
  });

  test("by PostHog's group before identify, with name and attributes", async () => {
    const { send } = await page("Posthog group first");
    const asVisitor = { distinct_id: "gv1", $is_identified: false };
    const event = visit("done", { ...asVisitor, $groups: { company: "gco" } });
    await send("/e/", { batch: [event, grouped(asVisitor), identified] });
    expect(await stored("Posthog group first")).toEqual(joinedByPage);
  });

  test("by Segment's identify and group", async () => {
    const { send } = await page("Segment's order");
    const who = { anonymousId: "gv1", userId: "gina" };
    await send("/v1/identify", { ...who, traits: { email: "gina@example.com" } });
    await send("/v1/group", { ...who, groupId: "gco", traits: { name: "Acme Inc", tier: "gold" } });
    expect(await stored("Segment's order")).toEqual(joinedByPage);
  });
});

test("the visit that made a user known says the first e-mail address, and no other visit and no second one does", async () => {
  const name = "First address";
  const { send, token } = await page(name);
  const says = (anonymousId: string, email?: string) =>
    send("/v1/identify", { anonymousId, userId: "gina", ...(email && { traits: { email } }) });
  const address = async () =>
    (await server.exported("users", name)).find(({ userId }) => userId === "gina")?.email;
  await says("gv1");
  await says("gv2", "mallory@evil.test");
  expect(await address()).toBeNull();
  await says("gv1", "gina@example.com");
  expect(await address()).toBe("gina@example.com");
  await says("gv1", "other@example.com");
  expect(await address()).toBe("gina@example.com");
  // Whom a server has made known gets none from a page.
  await server.post("/v1/identify", token, { userId: "ben", anonymousId: "bv1" });
  await send("/v1/identify", { anonymousId: "bv1", userId: "ben", traits: { email: "mallory@evil.test" } });
  const ben = (await server.exported("users", name)).find(({ userId }) => userId === "ben");
  expect(ben?.email).toBeNull();
});

test("an account that exists is given by a token for which an owner has switched that on, and not changed", async () => {
  const name = "A token that joins";
  const of = { type: "identify", userId: "owner", email: "o@example.com" };
  const account = { id: "gco", name: "Real Inc" };
  const { send } = await pageWith(name, ["--joins-accounts"], { ...of, account });
  await send("/e/", { batch: [identified, grouped(), done] });
  const after = { users: ["ada -", "gina gco", "owner gco"], accounts: ["gco Real Inc {}"] };
  expect(await stored(name)).toEqual(after);
  // Users whom a server has made known stay where they are.
  await send("/v1/group", { anonymousId: "gv2", userId: "ada", groupId: "gco" });
  expect(await stored(name)).toEqual(after);
  const [owner, member] = [
    await joined(server, name, "owner", `${name} owner`),
    await joined(server, name, "member", `${name} member`),
  ];
  const at = `/api/tokens?organization=${owner.organization}`;
  const wanted = { name: "pages", scope: "browser", joinsAccounts: true };
  expect((await member.ask("POST", at, wanted)).status).toBe(403);
  expect((await owner.ask("POST", at, { ...wanted, scope: "server" })).status).toBe(400);
  await owner.json("POST", at, wanted, 201);
  const { tokens } = await owner.json<{ tokens: { scope: string; joinsAccounts: boolean }[] }>("GET", at);
  expect(tokens.map(({ scope, joinsAccounts }) => `${scope} ${joinsAccounts}`).sort()).toEqual([
    "browser true",
    "browser true",
    "server false",
  ]);
});

describe("it gives none", () => {
  const who = { anonymousId: "gv1", userId: "gina" };
  const known = { ...who, traits: { email: "gina@example.com" } };
  const group = { ...who, groupId: "gco", traits: { name: "Acme Inc", tier: "gold" } };

  test("to a user whom a server has made known, also after an identify of its own", async () => {
    const { send } = await page("Known by a server", identify("gina"));
    await send("/v1/identify", known);
    await send("/v1/group", group);
    expect((await stored("Known by a server")).users).toEqual(["ada -", "gina -"]);
  });

  test("to a user whom another visit has made known, or one that names no visitor", async () => {
    const { send } = await page("Known by another visit");
    await send("/v1/identify", known);
    await send("/v1/group", { ...group, anonymousId: "attacker" });
    await send("/v1/group", { ...group, anonymousId: undefined });
    await send("/identify", {
      userId: "gina",
      email: "gina@example.com",
      account: { id: "gco", name: "Acme" },
    });
    expect((await stored("Known by another visit")).users).toEqual(["ada -", "gina -"]);
  });

  test("into an account that exists, and changes nothing of it", async () => {
    const of = { type: "identify", userId: "owner", email: "o@example.com" };
    const { send } = await page("An account that exists", {
      ...of,
      account: { id: "gco", name: "Real Inc" },
    });
    await send("/v1/identify", known);
    await send("/v1/group", group);
    expect(await stored("An account that exists")).toEqual({
      users: ["ada -", "gina -", "owner gco"],
      accounts: ["gco Real Inc {}"],
    });
  });

  test("with reserved attributes", async () => {
    const { send } = await page("Reserved attributes");
    await send("/v1/identify", known);
    const reserved = { owner: "evil@example.com", renewsAt: "2027-01-01", contractValue: 1, seats: 9 };
    await send("/v1/group", { ...group, traits: { ...group.traits, ...reserved } });
    expect(await stored("Reserved attributes")).toEqual(joinedByPage);
  });

  test("against a server's word, earlier or later", async () => {
    const { token, send } = await page("A server's word");
    await send("/v1/identify", known);
    await send("/v1/group", group);
    const said = { userId: "gina", email: "gina@example.com", account: { id: "real", name: "Real" } };
    expect((await server.post("/identify", token, said)).status).toBe(201);
    await send("/v1/group", group);
    expect((await stored("A server's word")).users).toEqual(["ada -", "gina real"]);
    // An earlier time does not help the page either.
    const batch = [
      {
        type: "identify",
        userId: "ada",
        email: "ada@example.com",
        timestamp: "2020-01-01T00:00:00Z",
        account: { id: "gco", name: "Server's Inc", properties: { tier: "iron" } },
      },
    ];
    expect((await server.post("/batch", token, { batch })).status).toBe(201);
    await send("/v1/group", group);
    expect((await stored("A server's word")).accounts).toContain(`gco Server's Inc {"tier":"iron"}`);
  });
});
