/** The members' work in an organization: each role, members and invitations, tokens and keys. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { expectError, expectSuccess, user } from "../specification/support.ts";
import { auditLog, Browser, codeIn, company, type SessionBody } from "./support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start({ role: "intake" });
});
afterAll(() => server.stop());

describe("each role", () => {
  const requests: readonly (readonly [string, string, object | undefined, string])[] = [
    ["GET", "/api/organization", undefined, "viewer"],
    ["GET", "/api/members", undefined, "viewer"],
    ["GET", "/api/tokens", undefined, "member"],
    ["POST", "/api/tokens", { name: "t" }, "member"],
    ["DELETE", "/api/tokens/999999", undefined, "member"],
    ["PATCH", "/api/organization", { name: "Roles" }, "owner"],
    ["PATCH", "/api/members/999999", { role: "viewer" }, "owner"],
    ["DELETE", "/api/members/999999", undefined, "owner"],
    ["POST", "/api/invitations", { email: "x@example.com", role: "viewer" }, "owner"],
    ["DELETE", "/api/invitations/999999", undefined, "owner"],
    ["GET", "/api/read-keys", undefined, "owner"],
    ["POST", "/api/read-keys", { name: "k", rights: ["read"] }, "owner"],
    ["DELETE", "/api/read-keys/999999", undefined, "owner"],
    ["GET", "/api/audit-log", undefined, "owner"],
  ];

  test("may do what its role allows, and nothing more", async () => {
    const { owner, member, viewer, at } = await company(server, "Roles");
    for (const [method, path, body, least] of requests) {
      for (const [role, browser] of Object.entries({ owner, member, viewer })) {
        const { status } = await browser.ask(method, at(path), body);
        const order = ["viewer", "member", "owner"];
        const isAllowed = order.indexOf(role) >= order.indexOf(least);
        const allowed = path.endsWith("/999999") ? 404 : ({ GET: 200, PATCH: 200 }[method] ?? 201);
        expect([role, method, path, status]).toEqual([role, method, path, isAllowed ? allowed : 403]);
      }
      await expectError(await new Browser(server).ask(method, at(path), body), "invalid_write_key");
    }
  });

  test("sees members; open invitations are for owners", async () => {
    const { owner, viewer, at } = await company(server, "Seeing");
    await owner.json("POST", at("/api/invitations"), { email: "New@Example.com ", role: "member" }, 201);
    const answer = await owner.json<{ members: object[]; invitations: object[] }>("GET", at("/api/members"));
    expect(answer.members).toHaveLength(3);
    expect(answer.members).toContainEqual({
      id: owner.id,
      name: "Seeing owner",
      email: owner.email,
      role: "owner",
      joinedAt: expect.stringMatching(/Z$/),
      lastSeenAt: expect.stringMatching(/Z$/),
    });
    expect(answer.invitations).toEqual([
      {
        id: expect.any(Number),
        email: "new@example.com",
        role: "member",
        invitedBy: "Seeing owner",
        createdAt: expect.stringMatching(/Z$/),
        expiresAt: expect.stringMatching(/Z$/),
      },
    ]);
    expect(await viewer.json<object>("GET", at("/api/members"))).toMatchObject({ invitations: [] });
  });
});

describe("members", () => {
  test("the last owner cannot leave, be removed, or become anything else", async () => {
    const { name, owner, member, at } = await company(server, "Last owner");
    const own = at(`/api/members/${owner.id}`);
    await expectError(await owner.ask("DELETE", own), "validation_error", "needs an owner");
    await expectError(
      await owner.ask("PATCH", own, { role: "viewer" }),
      "validation_error",
      "needs an owner",
    );
    await expect(server.command("member", "remove", owner.email, "--organization", name)).rejects.toThrow(
      "needs an owner",
    );
    await owner.json("PATCH", at(`/api/members/${member.id}`), { role: "owner" });
    await owner.done("DELETE", own);
    await expectError(await owner.ask("GET", at("/api/organization")), "not_found");
    expect(await owner.json<SessionBody>("GET", "/api/session")).toMatchObject({ organizations: [] });
    await member.json("GET", at("/api/audit-log"));
  });

  test("leave by themselves, and are out at once when they are removed", async () => {
    const { owner, member, viewer, at } = await company(server, "Leaving");
    await viewer.done("DELETE", at(`/api/members/${viewer.id}`));
    await expectError(await viewer.ask("GET", at("/api/organization")), "not_found");
    await owner.done("DELETE", at(`/api/members/${member.id}`));
    await expectError(await member.ask("GET", at("/api/tokens")), "not_found");
    await expectError(await owner.ask("DELETE", at(`/api/members/${member.id}`)), "not_found");
  });

  test("of several organizations are in each what they are there", async () => {
    const first = await company(server, "First place");
    const second = await company(server, "Second place");
    const { link } = await second.owner.json<{ link: string }>(
      "POST",
      second.at("/api/invitations"),
      { email: first.owner.email, role: "viewer" },
      201,
    );
    const code = codeIn(link, "invitation");
    const somebody = new Browser(server);
    expect(await somebody.json<object>("POST", "/api/invitations/lookup", { code })).toEqual({
      organization: { name: "Second place" },
      email: first.owner.email,
      role: "viewer",
    });
    const accept = (browser: Browser, more: object) =>
      browser.ask("POST", "/api/invitations/accept", { code, ...more });
    await expectError(await accept(somebody, {}), "validation_error", "password");
    await expectError(await accept(somebody, { password: "wrong password" }), "invalid_write_key", "wrong");
    // A user who is signed in as another person needs the invited person's password, too.
    await expectError(await accept(second.viewer, {}), "validation_error", "password");
    expect((await accept(first.owner, {})).status).toBe(201);
    const { organizations } = await first.owner.json<SessionBody>("GET", "/api/session");
    expect(organizations.map(({ name, role }) => [name, role])).toEqual([
      ["First place", "owner"],
      ["Second place", "viewer"],
    ]);
    await first.owner.json("GET", first.at("/api/audit-log"));
    await expectError(await first.owner.ask("GET", second.at("/api/audit-log")), "forbidden", "viewer");
  });

  test("cannot be invited again", async () => {
    const { owner, viewer, at } = await company(server, "Twice");
    const body = { email: viewer.email, role: "owner" };
    await expectError(
      await owner.ask("POST", at("/api/invitations"), body),
      "validation_error",
      "member already",
    );
  });
});

describe("an organization", () => {
  test("is founded by an owner of another, and by nobody else", async () => {
    const { owner, viewer } = await company(server, "Founding");
    const wanted = { name: "Founded", timezone: "europe/paris" };
    await expectError(await viewer.ask("POST", "/api/organizations", wanted), "forbidden", "owners");
    const { id } = await owner.json<{ id: number }>("POST", "/api/organizations", wanted, 201);
    const { organizations } = await owner.json<SessionBody>("GET", "/api/session");
    expect(organizations).toContainEqual({ id, name: "Founded", timezone: "Europe/Paris", role: "owner" });
    await expectError(await owner.ask("POST", "/api/organizations", wanted), "validation_error", "Founded");
    const nowhere = { name: "Nowhere", timezone: "Europe/Nowhere" };
    await expectError(await owner.ask("POST", "/api/organizations", nowhere), "validation_error", "timezone");
  });

  test("shows its fields, and changes those that are sent", async () => {
    const { owner, organization, at } = await company(server, "Fields");
    const before = await owner.json<Record<string, unknown>>("GET", at("/api/organization"));
    expect(before).toEqual({
      id: organization,
      name: "Fields",
      timezone: "UTC",
      today: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      requestsPerSecond: 1_000,
      itemsPerSecond: 10_000,
      keepEventsDays: null,
      maxRequestsPerSecond: 10_000,
      maxItemsPerSecond: 100_000,
      createdAt: expect.stringMatching(/Z$/),
    });
    const change = { timezone: "asia/tokyo", requestsPerSecond: 5_000, keepEventsDays: 90 };
    const after = await owner.json<object>("PATCH", at("/api/organization"), change);
    const expected = { ...before, ...change, timezone: "Asia/Tokyo", itemsPerSecond: 50_000 };
    expect(after).toEqual({ ...expected, today: expect.any(String) });
    const [entry] = await auditLog(owner);
    expect(entry).toMatchObject({
      person: { id: owner.id, name: "Fields owner" },
      action: "organization.changed",
      detail: {
        from: { timezone: "UTC", requestsPerSecond: 1_000, keepEventsDays: null },
        to: { timezone: "Asia/Tokyo", requestsPerSecond: 5_000, keepEventsDays: 90 },
      },
    });
    for (const wrong of [{}, { requestsPerSecond: 0 }, { timezone: "Mars" }, { id: 1 }, { name: " " }]) {
      await expectError(await owner.ask("PATCH", at("/api/organization"), wrong), "validation_error");
    }
  });
});

describe("tokens and read keys", () => {
  test("a token is shown once, writes, and is refused at once when it is revoked", async () => {
    const { member, at } = await company(server, "Tokens");
    const made = await member.json<{ id: number; token: string }>(
      "POST",
      at("/api/tokens"),
      { name: " web " },
      201,
    );
    expect(made.token).toMatch(/^rk-[A-Za-z0-9]{32}$/);
    await expectSuccess(await server.post("/identify", made.token, user("u")));
    const list = async () =>
      (await member.json<{ tokens: Record<string, unknown>[] }>("GET", at("/api/tokens"))).tokens.find(
        ({ id }) => id === made.id,
      );
    expect(await list()).toEqual({
      id: made.id,
      name: "web",
      scope: "server",
      lastFour: made.token.slice(-4),
      revokedAt: null,
      joinsAccounts: false,
      createdAt: expect.stringMatching(/Z$/),
      lastUsedAt: expect.stringMatching(/Z$/),
      madeBy: { id: member.id, name: "Tokens member" },
    });
    await member.done("DELETE", at(`/api/tokens/${made.id}`));
    await expectError(await server.post("/identify", made.token, user("u")), "invalid_write_key");
    expect(await list()).toMatchObject({ revokedAt: expect.stringMatching(/Z$/) });
    await member.done("DELETE", at(`/api/tokens/${made.id}`));
  });

  test("a token has the scope that it was made with, which the audit log tells", async () => {
    const { member, owner, at } = await company(server, "Scopes");
    const made = await member.json<{ id: number; token: string }>(
      "POST",
      at("/api/tokens"),
      { name: "page", scope: "browser" },
      201,
    );
    const { tokens } = await member.json<{ tokens: { id: number; scope: string }[] }>(
      "GET",
      at("/api/tokens"),
    );
    expect(tokens.find(({ id }) => id === made.id)?.scope).toBe("browser");
    const { entries } = await owner.json<{ entries: { action: string; detail: object }[] }>(
      "GET",
      at("/api/audit-log"),
    );
    expect(entries.find(({ action }) => action === "token.created")?.detail).toMatchObject({
      id: made.id,
      scope: "browser",
    });
    await expectError(
      await member.ask("POST", at("/api/tokens"), { name: "page", scope: "page" }),
      "validation_error",
      "scope",
    );
  });

  test("a read key has the rights that it was made with", async () => {
    const { owner, at } = await company(server, "Keys");
    const wanted = { name: "bi", rights: ["manage"] };
    const made = await owner.json<{ id: number; readKey: string }>("POST", at("/api/read-keys"), wanted, 201);
    expect(made.readKey).toMatch(/^rr-/);
    const { readKeys } = await owner.json<{ readKeys: object[] }>("GET", at("/api/read-keys"));
    expect(readKeys).toEqual([
      expect.objectContaining({ id: made.id, name: "bi", rights: ["read", "manage"] }),
    ]);
    const asks = () =>
      fetch(`${server.url}/api/users`, { headers: { Authorization: `Bearer ${made.readKey}` } });
    // Only intake runs here. An authorized request is answered that analysis is starting.
    await expectError(await asks(), "application_error", "starting");
    await owner.done("DELETE", at(`/api/read-keys/${made.id}`));
    await expectError(await asks(), "invalid_write_key");
  });
});
