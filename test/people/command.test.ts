/** `rekindle member`: with a running server and without one. */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rekindle, Server } from "../server.ts";
import { auditLog, Browser, codeIn, joined, password, type SessionBody } from "./support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start({ role: "intake", env: { PUBLIC_URL: "https://people.example.com" } });
}, 180_000);
afterAll(() => server.stop());

const member = (...parameters: string[]) => rekindle(server.dataDir, "member", ...parameters);

test("invites with a link to the server's own address, lists, and removes", async () => {
  await server.organization("Commanded");
  const ofIt = ["--organization", "Commanded"];
  const owner = await joined(server, "Commanded", "owner", "Commanding");
  const invited = await member("invite", "Bob@Example.com", "--role", "viewer", ...ofIt);
  expect(invited.stdout).toMatch(/^https:\/\/people\.example\.com\/invitation#[\w-]{43}\n$/);
  const list = async () => (await member("list", ...ofIt)).stdout.split("\n").slice(1, -1);
  expect(await list()).toEqual([
    expect.stringMatching(/^commanding@example\.com +Commanding +owner +\S+Z +\S+$/),
    expect.stringMatching(/^bob@example\.com +\(invited until \S+Z\) +viewer/),
  ]);
  const accept = { code: codeIn(invited.stdout, "invitation"), name: "Bob", password };
  const bob = new Browser(server);
  await bob.json<SessionBody>("POST", "/api/invitations/accept", accept, 201);
  expect((await member("remove", "bob@example.com", ...ofIt)).exitCode).toBe(0);
  expect((await bob.json<SessionBody>("GET", "/api/session")).organizations).toEqual([]);
  expect(await list()).toHaveLength(1);
  const [removed] = await auditLog(owner);
  expect(removed).toMatchObject({ action: "member.removed", person: null, detail: { by: "command line" } });
});

test("an organization that the command line makes is seen by the owner that it names, at once", async () => {
  const person = await joined(server, "default", "owner", "Named");
  const organization = (...parameters: string[]) => rekindle(server.dataDir, "organization", ...parameters);
  const unseen = await organization("create", "Unseen");
  expect(unseen.stderr).toContain("nobody sees Unseen in the dashboard yet: rekindle member invite EMAIL");
  const seen = await organization("create", "Seen", "--owner", "NAMED@example.com");
  expect([seen.exitCode, seen.stderr]).toEqual([0, expect.not.stringContaining("nobody sees")]);
  expect(seen.stderr).toContain(`made Named (named@example.com, person ${person.id}) owner of Seen`);
  const session = await person.json<SessionBody>("GET", "/api/session");
  const place = session.organizations.find(({ name }) => name === "Seen");
  expect(place?.role).toBe("owner");
  expect(session.organizations.map(({ name }) => name)).not.toContain("Unseen");
  const [joining] = await auditLog(Object.assign(person, { organization: place?.id ?? 0 }));
  expect(joining).toMatchObject({
    ...{ action: "member.joined", person: null, summary: "Named was made owner" },
    detail: { person: person.id, from: null, to: "owner", by: "command line" },
  });
  const stranger = await organization("create", "Strange", "--owner", "stranger@example.com");
  expect([stranger.exitCode, stranger.stderr]).toEqual([1, expect.stringContaining("nobody has an account")]);
  expect((await organization("list")).stdout).not.toContain("Strange");
});

test("a demonstration has the owner that it names, and says when nobody would see it", async () => {
  const whole = await Server.start();
  try {
    await whole.ready();
    const person = await joined(whole, "default", "viewer", "Demonstrated");
    const demo = (...parameters: string[]) =>
      rekindle(whole.dataDir, "demo", "--users", "10", "--weeks", "1", ...parameters);
    const named = await demo("--organization", "Shown", "--owner", person.email);
    expect([named.exitCode, named.stderr]).toEqual([0, expect.stringContaining("owner of Shown")]);
    const session = await person.json<SessionBody>("GET", "/api/session");
    expect(session.organizations.find(({ name }) => name === "Shown")?.role).toBe("owner");
    const unseen = await demo("--organization", "Hidden");
    expect(unseen.stderr).toContain("nobody sees Hidden in the dashboard yet");
    // One that has members is seen.
    expect((await demo("--organization", "Shown", "--force")).stderr).not.toContain("nobody sees");
  } finally {
    await whole.stop();
  }
});

test("says what is wrong", async () => {
  const ofDefault = ["--organization", "default"];
  const refusals: readonly (readonly [string[], string])[] = [
    [["invite", "nobody", ...ofDefault], "no e-mail address"],
    [["invite", "a@example.com", "--organization", "nowhere"], "no organization"],
    [["invite", "a@example.com", "--role", "king", ...ofDefault], "owner, member, viewer"],
    [["remove", "stranger@example.com", ...ofDefault], "no member"],
    [["reset-link", "stranger@example.com"], "nobody has an account"],
    [["reset-link", "stranger@example.com", ...ofDefault], "no member"],
  ];
  for (const [parameters, text] of refusals) {
    const { exitCode, stderr, stdout } = await member(...parameters);
    expect([parameters, exitCode, stdout, stderr]).toEqual([
      parameters,
      1,
      "",
      expect.stringContaining(text),
    ]);
  }
});

test("works without a server, and the ledger has no code or password, only hashes", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "rekindle-member-"));
  try {
    const first = await Server.start({ dataDir, role: "intake" });
    const owner = await joined(first, "default", "owner", "Offline");
    await first.kill("SIGTERM");
    const link = await rekindle(dataDir, "member", "reset-link", owner.email);
    expect(link.stdout).toContain("/password#");
    const code = codeIn(link.stdout, "password");
    const ledger = new Database(join(dataDir, "ledger.sqlite"), { readonly: true });
    const rows = ["people", "people_sessions", "people_links", "audit_log"].map((table) =>
      ledger.query(`SELECT * FROM ${table}`).all(),
    );
    ledger.close();
    const text = JSON.stringify(rows);
    for (const secret of [code, password, owner.cookie ?? ""]) expect(text).not.toContain(secret);
    expect(text).toContain("$argon2id$");
    const second = await Server.start({ dataDir, role: "intake" });
    await new Browser(second).json("POST", "/api/password", { code, password: "a new long password" }, 201);
    await second.kill("SIGTERM");
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
