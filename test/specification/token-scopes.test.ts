/** Browser tokens. Everyone can read them in a page, so they change little of existing users, and answers
 * reveal nothing. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { becomes } from "../until.ts";
import { answer, newKey } from "./operation-support.ts";
import { expectError, expectSuccess } from "./support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.shared();
});
afterAll(() => server?.stop());

/** An organization with a token of each scope, and a user whom the server has identified. */
async function place(name: string) {
  const token = await server.organization(name);
  const browser = (
    await server.command("token", "create", "--organization", name, "--scope", "browser")
  ).trim();
  await expectSuccess(
    await server.post("/identify", token, {
      userId: "ada",
      email: "ada@example.com",
      isAccountOwner: true,
      properties: { plan: "pro" },
      account: { id: "acme", name: "Acme" },
    }),
  );
  return { token, browser, ada: () => userOf(name, "ada") };
}

async function userOf(organization: string, userId: string) {
  const users = await server.exported("users", organization);
  const user = users.find((one) => one.userId === userId);
  const account = user?.account as { readonly id: string } | null | undefined;
  return user && { email: user.email, isAccountOwner: user.isAccountOwner, accountId: account?.id ?? null };
}

const unchanged = { email: "ada@example.com", isAccountOwner: true, accountId: "acme" };

async function warningsOf(organization: string) {
  const key = await newKey(server, organization);
  const path = "/api/ingestion-warnings";
  const { warnings } = await answer<{ warnings: { kind: string; endpoint: string; detail: string }[] }>(
    server,
    key,
    path,
  );
  return warnings
    .filter(({ kind }) => kind === "browser_field_ignored")
    .map(({ endpoint, detail }) => `${endpoint} ${detail}`)
    .sort();
}

const mallory = {
  userId: "ada",
  email: "mallory@evil.test",
  isAccountOwner: false,
  account: { id: "evil", name: "Evil" },
};

describe("a browser token", () => {
  test("says nothing that a team says: who looks after a user, why one left, and that one was called", async () => {
    const { token, browser } = await place("Browser teams");
    const team = { owner: "ann@example.com", churnReason: "price" };
    const said = { owner: "eve@evil.test", churnReason: "bad support" };
    const ofTeam = {
      userId: "ada",
      email: "ada@example.com",
      properties: team,
      account: { id: "acme", name: "Acme", properties: team },
    };
    await expectSuccess(await server.post("/identify", token, ofTeam));
    await expectSuccess(
      await server.post("/identify", browser, {
        userId: "ada",
        email: "ada@example.com",
        properties: { ...said, seen: 1 },
      }),
    );
    const made = {
      userId: "new",
      email: "new@example.com",
      properties: said,
      account: { id: "new", name: "New", properties: { ...said, seen: 1 } },
    };
    await expectSuccess(await server.post("/identify", browser, made));
    const ofPosthog = { distinct_id: "ada", properties: { $set: said, $set_once: said } };
    const body = { api_key: browser, event: "$set", ...ofPosthog };
    expect((await server.post("/e/", undefined, body)).status).toBe(200);
    const traits = await server.exported("users", "Browser teams");
    expect(traits.map(({ userId, properties }) => [userId, properties])).toEqual([
      ["ada", { plan: "pro", ...team, seen: 1 }],
      ["new", {}],
    ]);
    const accounts = await server.exported("accounts", "Browser teams");
    expect(accounts.map(({ id, properties }) => [id, properties])).toEqual([
      ["acme", team],
      ["new", { seen: 1 }],
    ]);

    const contact = { userId: "ada", event: "contacted", properties: { by: "Ann", kind: "call" } };
    await expectError(await server.post("/track", browser, contact), "validation_error", "contact", "server");
    await expectSuccess(await server.post("/track", token, contact));
    expect((await server.post("/v1/track", browser, contact)).status).toBe(200);
    expect(await server.exported("events", "Browser teams")).toHaveLength(1);
    await becomes(
      () => warningsOf("Browser teams"),
      ["identify account.properties", "identify properties", "posthog properties"],
    );
  });

  test("changes neither e-mail nor owner nor account of a user who exists, on /identify and /batch", async () => {
    const { browser, ada } = await place("Browser guards");
    const taken = await server.post("/identify", browser, { ...mallory, properties: { seen: 1 } });
    expect([taken.status, await taken.json()]).toEqual([201, { success: true }]);
    const batch = await server.post("/batch", browser, {
      batch: [
        { type: "identify", ...mallory, email: "eve@evil.test", timestamp: "2020-01-01T00:00:00Z" },
        { type: "identify", ...mallory, account: null },
      ],
    });
    expect([batch.status, await batch.json()]).toEqual([
      201,
      { success: true, accepted: 2, duplicates: 0, rejected: [] },
    ]);
    expect(await ada()).toEqual(unchanged);
    const [user] = await server.exported("users", "Browser guards");
    expect(user?.properties).toEqual({ plan: "pro", seen: 1 });
    const [account, ...others] = await server.exported("accounts", "Browser guards");
    expect([account?.id, account?.name, others]).toEqual(["acme", "Acme", []]);
    await becomes(
      () => warningsOf("Browser guards"),
      ["batch account", "batch email", "batch isAccountOwner"]
        .concat(["identify account", "identify email", "identify isAccountOwner"])
        .sort(),
    );
  });

  test("says again what is stored without a warning, and identifies new users whole", async () => {
    const { browser, token, ada } = await place("Browser news");
    const same = { userId: "ada", email: "ada@example.com", isAccountOwner: true };
    await expectSuccess(
      await server.post("/identify", browser, { ...same, account: { id: "acme", name: "Acme" } }),
    );
    const bob = { userId: "bob", email: "bob@example.com", account: { id: "beta", name: "Beta" } };
    await expectSuccess(await server.post("/identify", browser, bob));
    await expectSuccess(await server.post("/track", browser, { userId: "bob", event: "opened" }));
    await expectError(
      await server.post("/track", browser, { userId: "nobody", event: "opened" }),
      "not_found",
    );
    expect(await ada()).toEqual(unchanged);
    expect(await userOf("Browser news", "bob")).toEqual({
      email: "bob@example.com",
      isAccountOwner: null,
      accountId: "beta",
    });
    expect(await warningsOf("Browser news")).toEqual([]);
    await expectSuccess(await server.post("/identify", token, mallory));
    expect((await ada())?.email).toBe("mallory@evil.test");
  });

  test("renames no account that exists", async () => {
    const { browser } = await place("Browser accounts");
    const renamed = { id: "acme", name: "Owned", avatar: "https://evil.test/a.png" };
    const made = { userId: "new", email: "new@example.com", account: renamed };
    await expectSuccess(await server.post("/identify", browser, made));
    const [account] = await server.exported("accounts", "Browser accounts");
    expect([account?.name, account?.avatar]).toEqual(["Acme", null]);
    expect((await userOf("Browser accounts", "new"))?.accountId).toBe("acme");
    expect(await warningsOf("Browser accounts")).toEqual(["identify account"]);
  });

  const segment = { userId: "ada", context: { library: { name: "analytics.js" } } };
  test.each([
    ["/v1/identify", { ...segment, traits: { email: "mallory@evil.test" } }, ["segment email"]],
    ["/v1/i", { ...segment, context: { groupId: "evil" }, traits: {} }, ["segment account"]],
    ["/v1/group", { ...segment, groupId: "evil", traits: { name: "Evil" } }, ["segment account"]],
    ["/v1/g", { ...segment, groupId: "acme", traits: { name: "Evil" } }, ["segment account"]],
    [
      "/v1/batch",
      { batch: [{ type: "identify", ...segment, traits: { email: "mallory@evil.test" } }] },
      ["segment email"],
    ],
    ["/v1/alias", { previousId: "ada", userId: "eve" }, []],
    ["/v1/alias", { previousId: "eve", userId: "ada" }, []],
    [
      "/capture",
      { event: "$identify", distinct_id: "ada", $set: { email: "m@evil.test" } },
      ["posthog email"],
    ],
    [
      "/i/v0/e",
      {
        event: "$groupidentify",
        distinct_id: "ada",
        properties: { $group_type: "company", $group_key: "acme", $group_set: { name: "Evil" } },
      },
      ["posthog account"],
    ],
    ["/e", { event: "$identify", distinct_id: "ada", properties: { $anon_distinct_id: "eve" } }, []],
    ["/batch", { batch: [{ event: "$create_alias", distinct_id: "ada", properties: { alias: "eve" } }] }, []],
  ] as const)("is held to that on %s with %j", async (path, body, warned) => {
    const name = `Sources ${Bun.hash(path + JSON.stringify(body))}`;
    const { token, browser, ada } = await place(name);
    const eve = { userId: "eve", email: "eve@example.com" };
    await expectSuccess(await server.post("/identify", token, eve));
    const sent = { ...body, writeKey: browser, api_key: browser };
    const answered = await server.post(path, undefined, sent);
    expect(answered.status).toBe(200);
    expect(await ada()).toEqual(unchanged);
    expect(await userOf(name, "eve")).toEqual({
      email: "eve@example.com",
      isAccountOwner: null,
      accountId: null,
    });
    const [account] = await server.exported("accounts", name);
    expect(account?.name).toBe("Acme");
    await becomes(() => warningsOf(name), [...warned]);
  });

  test("gives a visitor's account and e-mail to a new user, never to an existing one", async () => {
    const { browser, ada } = await place("Browser visitors");
    const post = (path: string, body: object) => server.post(path, undefined, { ...body, writeKey: browser });
    for (const anonymousId of ["visitor-1", "visitor-2"]) {
      await post("/v1/group", { anonymousId, groupId: "evil", traits: { name: "Evil" } });
      await post("/v1/track", { anonymousId, event: "opened", context: { groupId: "evil" } });
    }
    await post("/v1/identify", { anonymousId: "visitor-1", userId: "ada" });
    await post("/v1/identify", { anonymousId: "visitor-2", userId: "new" });
    expect(await ada()).toEqual(unchanged);
    expect((await userOf("Browser visitors", "new"))?.accountId).toBe("evil");
  });

  test("is unknown to webhooks", async () => {
    const { browser, token } = await place("Browser webhooks");
    const event = { id: "evt_1", type: "customer.created", created: 1_750_000_000 };
    const body = { ...event, data: { object: { id: "cus_1", object: "customer" } } };
    const unknown = await server.post(`/v1/webhooks/stripe/rk-${"0".repeat(32)}`, undefined, body);
    const said = [unknown.status, await unknown.text()];
    for (const path of [`stripe/${browser}`, `stripe?token=${browser}`, `forms/${browser}`]) {
      const refused = await server.post(`/v1/webhooks/${path}`, undefined, body);
      expect([refused.status, await refused.text()]).toEqual(said);
    }
    expect((await server.post("/v1/webhooks/stripe", browser, body)).status).toBe(401);
    expect((await server.post(`/v1/webhooks/stripe/${token}`, undefined, body)).status).toBe(200);
  });
});

test("token list shows the scope, and token create refuses one that is not known", async () => {
  await place("Scopes listed");
  const listed = await server.command("token", "list", "--organization", "Scopes listed");
  const lines = listed.trim().split("\n");
  expect(lines[0]).toMatch(/ SCOPE$/);
  expect(lines.slice(1).map((line) => line.split(/ +/).at(-1))).toEqual(["server", "browser"]);
  const wrong = server.command("token", "create", "--organization", "Scopes listed", "--scope", "page");
  await expect(wrong).rejects.toThrow("server, browser");
});
