/** Sessions and links live as long as they should, and no longer. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { Browser, codeIn, joined, password, type SessionBody } from "./support.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let server: Server;
beforeAll(async () => {
  server = await Server.start({ time: { aheadMs: 0 }, role: "intake" });
});
afterAll(() => server.stop());

/** Puts the clock forward, from the true time. */
function forward(ms: number): void {
  server.putClockAhead(ms);
}

test("a session ends 30 days after it began, however often it is used", async () => {
  forward(0);
  await server.organization("Expiry");
  const used = await joined(server, "Expiry", "owner", "Used");
  expect(used.lastSetCookie).toContain("Max-Age=2592000");
  used.lastSetCookie = "";
  for (const days of [1, 15, 29.9]) {
    forward(days * dayMs);
    await used.json("GET", "/api/session");
  }
  expect(used.lastSetCookie).toBe("");
  forward(30 * dayMs + hourMs);
  await expectError(await used.ask("GET", "/api/session"), "invalid_write_key", "not signed in");
});

test("an invitation works for 7 days, once, and until it is taken back or made again", async () => {
  forward(0);
  await server.organization("Invitations expire");
  const owner = await joined(server, "Invitations expire", "owner", "Inviting");
  const path = `/api/invitations?organization=${owner.organization}`;
  const invite = (email: string) =>
    owner.json<{ id: number; link: string }>("POST", path, { email, role: "viewer" }, 201);
  const lookup = (link: string) =>
    new Browser(server).ask("POST", "/api/invitations/lookup", { code: codeIn(link, "invitation") });
  const { link: late } = await invite("late@example.com");
  const { link: replaced } = await invite("twice@example.com");
  const { id, link: revoked } = await invite("twice@example.com");
  await expectError(await lookup(replaced), "not_found");
  expect((await lookup(revoked)).status).toBe(200);
  await owner.done("DELETE", `/api/invitations/${id}?organization=${owner.organization}`);
  await expectError(await lookup(revoked), "not_found");
  const accept = { code: codeIn(late, "invitation"), name: "Late", password };
  forward(7 * dayMs + 1_000);
  await expectError(await lookup(late), "not_found", "not valid");
  await expectError(await new Browser(server).ask("POST", "/api/invitations/accept", accept), "not_found");
  forward(7 * dayMs - hourMs);
  await new Browser(server).json("POST", "/api/invitations/accept", accept, 201);
  await expectError(await new Browser(server).ask("POST", "/api/invitations/accept", accept), "not_found");
});

test("a reset link works for 24 hours, once, and signs out everywhere else", async () => {
  forward(0);
  await server.organization("Locked out");
  const person = await joined(server, "Locked out", "owner", "Locked");
  const resetLink = async () =>
    codeIn(await server.command("member", "reset-link", person.email), "password");
  const [older, code] = [await resetLink(), await resetLink()];
  const body = { code, password: "remembered this time" };
  const somewhere = new Browser(server);
  await expectError(await somewhere.ask("POST", "/api/password", { ...body, code: older }), "not_found");
  forward(25 * hourMs);
  await expectError(await somewhere.ask("POST", "/api/password", body), "not_found");
  forward(23 * hourMs);
  await expectError(
    await somewhere.ask("POST", "/api/password", { ...body, password: person.email }),
    "validation_error",
    "password",
  );
  const session = await somewhere.json<SessionBody>("POST", "/api/password", body, 201);
  expect(session.person.id).toBe(person.id);
  await somewhere.json("GET", "/api/session");
  await expectError(await person.ask("GET", "/api/session"), "invalid_write_key");
  await expectError(await person.ask("POST", "/api/password", body), "not_found");
});
