/** Claiming and signing in: the accounts, the cookies, and signing out. */
import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownServer } from "../own-server.ts";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { Browser, codeIn, joined, password, type SessionBody } from "./support.ts";

let server: Server = await ownServer(() => server);
const ada = { name: "Ada Lovelace", email: "ada@example.com", password };

describe("the first start's link", () => {
  test("makes the owner, once", async () => {
    const code = codeIn(server.output(), "claim");
    const browser = new Browser(server);
    expect(await browser.json<object>("GET", "/api/installation")).toEqual({
      claimed: false,
      remoteImages: false,
      sendsEmail: false,
    });
    const wrong = await browser.ask("POST", "/api/claim", { ...ada, code: `${code.slice(1)}x` });
    await expectError(wrong, "not_found", "link is not valid");
    const session = await browser.json<SessionBody>("POST", "/api/claim", { ...ada, code }, 201);
    expect(session).toEqual({
      person: { id: expect.any(Number), name: "Ada Lovelace", email: "ada@example.com" },
      organizations: [{ id: expect.any(Number), name: "default", timezone: "UTC", role: "owner" }],
    });
    expect(await browser.json<SessionBody>("GET", "/api/session")).toEqual(session);
    expect(await browser.json<object>("GET", "/api/installation")).toEqual({
      claimed: true,
      remoteImages: false,
      sendsEmail: false,
    });
    const again = new Browser(server);
    await expectError(
      await again.ask("POST", "/api/claim", { ...ada, email: "eve@example.com", code }),
      "not_found",
    );
    expect(again.cookie).toBeUndefined();
  });

  test("is printed by every start until the first account exists", async () => {
    const dataDir = join(tmpdir(), `rekindle-claim-${crypto.randomUUID()}`);
    const starts: string[] = [];
    try {
      for (const claims of [false, true, false]) {
        const one = await Server.start({ dataDir, role: "intake" });
        if (claims) {
          // The link of the first start still works at the second.
          const code = codeIn(starts[0] ?? "", "claim");
          await new Browser(one).json("POST", "/api/claim", { ...ada, code }, 201);
        }
        await one.kill("SIGTERM");
        starts.push(one.output());
      }
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
    expect(starts.map((output) => output.includes("/claim#"))).toEqual([true, true, false]);
    expect(starts[1]).not.toContain("Project token");
  });
});

describe("a session", () => {
  const signIn = async (sent: object = {}) => {
    const browser = new Browser(server);
    await browser.json("POST", "/api/session", { email: ada.email, password, ...sent }, 201);
    return browser;
  };

  test("begins with e-mail and password, whatever the case of the e-mail", async () => {
    const browser = await signIn({ email: " ADA@Example.com " });
    const { person } = await browser.json<SessionBody>("GET", "/api/session");
    expect(person.email).toBe("ada@example.com");
  });

  test("is a cookie that scripts and other sites cannot use, and lives 30 days", async () => {
    const { lastSetCookie } = await signIn();
    expect(lastSetCookie).toMatch(/^rekindle_session=[A-Za-z0-9_-]{43}; /);
    expect(lastSetCookie.split("; ").slice(1).sort()).toEqual(
      ["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Lax"].sort(),
    );
  });

  test("has a new id at every sign-in, and the one before ends", async () => {
    const browser = await signIn();
    const before = browser.cookie;
    await browser.json("POST", "/api/session", { email: ada.email, password }, 201);
    expect(browser.cookie).not.toBe(before);
    browser.cookie = before;
    await expectError(await browser.ask("GET", "/api/session"), "invalid_write_key", "not signed in");
    browser.cookie = "chosen-by-somebody-else";
    await browser.json("POST", "/api/session", { email: ada.email, password }, 201);
    expect(browser.cookie).not.toBe("chosen-by-somebody-else");
  });

  test("ends here, or everywhere", async () => {
    const [first, second, third] = [await signIn(), await signIn(), await signIn()];
    const secret = first.cookie;
    await first.done("DELETE", "/api/session");
    expect(first.lastSetCookie).toContain("Max-Age=0");
    first.cookie = secret;
    await expectError(await first.ask("GET", "/api/session"), "invalid_write_key");
    await second.json("GET", "/api/session");
    await second.done("DELETE", "/api/sessions");
    await expectError(await third.ask("GET", "/api/session"), "invalid_write_key");
  });

  test("goes on after a restart", async () => {
    const browser = await signIn();
    const dataDir = server.dataDir;
    await server.kill("SIGTERM");
    const restarted = await Server.start({ dataDir });
    const after = new Browser(restarted);
    after.cookie = browser.cookie;
    server = restarted;
    const { person } = await after.json<SessionBody>("GET", "/api/session");
    expect(person.name).toBe("Ada Lovelace");
  });

  test("is required: a request without one, or with a wrong one, is refused", async () => {
    const nobody = new Browser(server);
    for (const cookie of [undefined, "", "x", "a".repeat(5_000), "%00", "a;b"]) {
      nobody.cookie = cookie;
      await expectError(await nobody.ask("GET", "/api/session"), "invalid_write_key");
      await expectError(await nobody.ask("GET", "/api/members?organization=1"), "invalid_write_key");
    }
  });
});

describe("a person", () => {
  test("changes name and e-mail, the latter with the password", async () => {
    const person = await joined(server, "default", "viewer", "Change Me");
    expect(await person.json<object>("PATCH", "/api/person", { name: " Changed " })).toMatchObject({
      name: "Changed",
    });
    const email = "changed@example.com";
    await expectError(
      await person.ask("PATCH", "/api/person", { email }),
      "validation_error",
      "currentPassword",
    );
    const wrong = { email, currentPassword: "not the password" };
    await expectError(await person.ask("PATCH", "/api/person", wrong), "validation_error", "currentPassword");
    await person.json("PATCH", "/api/person", { email, currentPassword: password });
    await person.json("POST", "/api/session", { email, password }, 201);
    const taken = { email: ada.email, currentPassword: password };
    await expectError(await person.ask("PATCH", "/api/person", taken), "validation_error", "taken");
  });

  test("changes the password: others are signed out, and this session has another id", async () => {
    const person = await joined(server, "default", "viewer", "New Password");
    const other = new Browser(server);
    await other.json("POST", "/api/session", { email: person.email, password }, 201);
    const before = person.cookie;
    const newPassword = "another long password";
    await person.json("PATCH", "/api/person", { newPassword, currentPassword: password });
    expect(person.cookie).not.toBe(before);
    await person.json("GET", "/api/session");
    await expectError(await other.ask("GET", "/api/session"), "invalid_write_key");
    await expectError(
      await other.ask("POST", "/api/session", { email: person.email, password }),
      "invalid_write_key",
      "wrong",
    );
    await other.json("POST", "/api/session", { email: person.email, password: newPassword }, 201);
  });

  test.each([
    ["short", "too short"],
    ["password1234", "most common"],
    ["aaaaaaaaaaaaa", "hardly any different"],
    ["refused.password@example.com", "your e-mail"],
    ["x".repeat(201), "too long"],
  ])("cannot have the password %s", async (newPassword, reason) => {
    const email = `refused.password@example.com`;
    const link = await server.command("member", "invite", email, "--organization", "default");
    const body = { code: codeIn(link, "invitation"), name: "Refused", password: newPassword };
    const response = await new Browser(server).ask("POST", "/api/invitations/accept", body);
    const message = await expectError(response, "validation_error", "password");
    if (!reason.startsWith("too ")) expect(message).toContain(reason);
  });
});
