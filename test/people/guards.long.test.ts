/** The guards against others: pages of other sites, guesses of passwords, and senders with a forged
 * address. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { Browser, joined, password } from "./support.ts";

/** Behind a proxy with a certificate: tests say in X-Forwarded-For from where they come. */
let server: Server;
beforeAll(async () => {
  const env = { PUBLIC_URL: "https://rekindle.example.com", TRUSTED_PROXY: "127.0.0.1, ::1,10.0.0.0/8" };
  server = await Server.start({ role: "intake", env });
  await server.organization("Guarded");
});
afterAll(() => server.stop());

describe("another site's page", () => {
  test("cannot change anything with the cookie that the browser sends along", async () => {
    const owner = await joined(server, "Guarded", "owner", "Crossed");
    const path = `/api/tokens?organization=${owner.organization}`;
    const create = (headers: Record<string, string>) => owner.ask("POST", path, { name: "forged" }, headers);
    await expectError(await create({ "X-Rekindle": "" }), "forbidden", "page of this service");
    for (const Origin of ["https://evil.example", "null", "https://rekindle.example.com.evil.example"]) {
      await expectError(await create({ Origin }), "forbidden", "page of this service");
    }
    await expectError(
      await owner.ask("DELETE", "/api/session", undefined, { "X-Rekindle": "" }),
      "forbidden",
    );
    // Requests that are passed on to analysis are guarded alike.
    const figures = `/api/settings?organization=${owner.organization}`;
    await expectError(
      await owner.ask("PATCH", figures, { weekStart: 7 }, { "X-Rekindle": "" }),
      "forbidden",
      "page of this service",
    );
    expect((await create({ Origin: "https://rekindle.example.com" })).status).toBe(201);
  });

  test("cannot sign a visitor in: neither by a form nor from another origin", async () => {
    const person = await joined(server, "Guarded", "viewer", "Form");
    const body = { email: person.email, password };
    const browser = new Browser(server);
    const sent = (headers: Record<string, string>) => browser.ask("POST", "/api/session", body, headers);
    await expectError(await sent({ "Content-Type": "text/plain" }), "validation_error", "Content-Type");
    await expectError(await sent({ Origin: "https://evil.example" }), "forbidden");
    expect((await sent({ "X-Rekindle": "" })).status).toBe(201);
    expect(browser.lastSetCookie).toStartWith("__Host-rekindle_session=");
    expect(browser.lastSetCookie).toEndWith("; Secure");
    expect(browser.lastSetCookie).toContain("; Path=/;");
    expect(browser.lastSetCookie).not.toContain("Domain");
  });

  test("cannot have somebody work in a stranger's account: by https a cookie that it may set counts for nothing", async () => {
    const person = await joined(server, "Guarded", "viewer", "Tossed");
    const Host = server.publicHost ?? "";
    const session = (Cookie: string) => fetch(`${server.url}/api/session`, { headers: { Cookie, Host } });
    expect((await session(`__Host-rekindle_session=${person.cookie}`)).status).toBe(200);
    expect((await session(`rekindle_session=${person.cookie}`)).status).toBe(401);
    const both = `rekindle_session=stranger; __Host-rekindle_session=${person.cookie}`;
    expect((await session(both)).status).toBe(200);
    await person.done("DELETE", "/api/session");
    expect(person.lastSetCookie).toStartWith("__Host-rekindle_session=;");
  });
});

/** Guesses that come all at once: only a few of them are looked at. */
async function flood(to: Server, email: string, addressOf: (attempt: number) => string): Promise<Response[]> {
  const body = { email, password: "not the password" };
  const attempts = Array.from({ length: 12 }, (_, attempt) =>
    new Browser(to).ask("POST", "/api/session", body, { "X-Forwarded-For": addressOf(attempt) }),
  );
  return Promise.all(attempts);
}

describe("guessing", () => {
  test("is slowed down; the right password from another address is let in", async () => {
    const { email } = await joined(server, "Guarded", "viewer", "Guessed");
    const answers = await flood(server, email, () => "203.0.113.7");
    expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(5);
    const held = answers.find(({ status }) => status === 429);
    expect(held?.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    if (held !== undefined) await expectError(held, "rate_limit_exceeded", "Too many wrong passwords");
    const headers = { "X-Forwarded-For": "203.0.113.8" };
    const right = await new Browser(server).ask("POST", "/api/session", { email, password }, headers);
    expect(right.status).toBe(201);
  });

  test("of the present password is slowed down too", async () => {
    const person = await joined(server, "Guarded", "viewer", "Unattended");
    const change = { newPassword: "another long password", currentPassword: "not the password" };
    const statuses = await Promise.all(
      Array.from({ length: 12 }, async () => (await person.ask("PATCH", "/api/person", change)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([400, 429]));
  });

  test("does not reveal which addresses have an account: the answers are the same", async () => {
    const { email } = await joined(server, "Guarded", "viewer", "Existing");
    const guess = (to: string) =>
      new Browser(server).ask("POST", "/api/session", { email: to, password: "not the password" });
    const known = await guess(email);
    const unknown = await guess("nobody.at.all@example.com");
    expect([known.status, await known.text()]).toEqual([401, await unknown.text()]);
  });

  test("counts by the last address that the trusted proxies vouch for, not by what the client says", async () => {
    const { email } = await joined(server, "Guarded", "viewer", "Forwarded");
    const one = await flood(server, email, (attempt) => `192.0.2.${attempt}, 203.0.113.30, 10.1.2.3`);
    expect(one.map(({ status }) => status)).toContain(429);
    const ofPorts = await flood(server, email, (attempt) => `203.0.113.31:${50_000 + attempt}`);
    expect(ofPorts.map(({ status }) => status)).toContain(429);
    // A port does not make everybody the proxy: the next client is not slowed down by this one.
    const headers = { "X-Forwarded-For": "203.0.113.32:51008" };
    const other = await new Browser(server).ask("POST", "/api/session", { email, password }, headers);
    expect(other.status).toBe(201);
    const network = await flood(server, email, (attempt) => `2001:db8:1:2::${attempt + 1}`);
    expect(network.map(({ status }) => status)).toContain(429);
  });
});

describe("behind a proxy, with no address of its own", () => {
  test("X-Forwarded-Proto counts from a trusted proxy only", async () => {
    const forwarded = { "X-Forwarded-Proto": "https" };
    for (const [TRUSTED_PROXY, isBelieved] of [["127.0.0.1", true] as const, ["10.0.0.1", false] as const]) {
      const one = await Server.start({ role: "intake", env: { TRUSTED_PROXY } });
      try {
        const { email, lastSetCookie } = await joined(one, "default", "owner", "Behind");
        expect(lastSetCookie).not.toContain("Secure");
        const browser = new Browser(one);
        await browser.ask("POST", "/api/session", { email, password }, forwarded);
        expect(browser.lastSetCookie.startsWith("__Host-")).toBe(isBelieved);
        expect(browser.lastSetCookie.endsWith("; Secure")).toBe(isBelieved);
        expect((await browser.ask("GET", "/api/session", undefined, forwarded)).status).toBe(200);
        const plainly = await browser.ask("GET", "/api/session");
        expect(plainly.status).toBe(isBelieved ? 401 : 200);
      } finally {
        await one.stop();
      }
    }
  });
});

describe("without a trusted proxy", () => {
  test("X-Forwarded-For does not count, and the cookie is not only for https", async () => {
    const bare = await Server.start({ role: "intake" });
    try {
      const { email, lastSetCookie } = await joined(bare, "default", "owner", "Bare");
      expect(lastSetCookie).not.toContain("Secure");
      const answers = await flood(bare, email, (attempt) => `192.0.2.${attempt}`);
      expect(answers.map(({ status }) => status)).toContain(429);
    } finally {
      await bare.stop();
    }
  });

  test("a wrong TRUSTED_PROXY stops the start, and says what to set", async () => {
    await expect(Server.start({ env: { TRUSTED_PROXY: "my-proxy" } })).rejects.toThrow("TRUSTED_PROXY");
    await expect(Server.start({ env: { TRUSTED_PROXY: "10.0.0.0/33" } })).rejects.toThrow("TRUSTED_PROXY");
  });
});

describe("what is sent", () => {
  test("is bounded, and checked by its schema", async () => {
    const browser = new Browser(server);
    const long = { email: "a@example.com", password: "x".repeat(20_000) };
    await expectError(await browser.ask("POST", "/api/session", long), "validation_error", "larger");
    for (const body of [{}, { email: "a@example.com" }, { email: "x", password: "y" }, [], "no"]) {
      await expectError(await browser.ask("POST", "/api/session", body), "validation_error");
    }
    await expectError(
      await browser.ask("GET", "/api/installation?a=1"),
      "validation_error",
      "a is no parameter",
    );
  });

  test("comes too often from one address: 429", async () => {
    const headers = { "X-Forwarded-For": "203.0.113.200" };
    const statuses: number[] = [];
    // On a slow machine as many may flow in as are asked for at first.
    while (!statuses.includes(429)) {
      const asks = Array.from({ length: 60 }, () =>
        new Browser(server).ask("GET", "/api/installation", undefined, headers),
      );
      statuses.push(...(await Promise.all(asks)).map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(20);
  });
});
