/** `rekindle member`: with a running server and without one. */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rekindleHere, Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { auditLog, Browser, codeIn, company, joined, password, type SessionBody } from "./support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start({ role: "intake", env: { PUBLIC_URL: "https://people.example.com" } });
});
afterAll(() => server.stop());

const member = (...parameters: string[]) => rekindleHere(server.dataDir, "member", ...parameters);

test("invites with a link to the server's own address, lists, and removes", async () => {
  await server.organization("Commanded");
  const ofIt = ["--organization", "Commanded"];
  const owner = await joined(server, "Commanded", "owner", "Commanding");
  const invited = await member("invite", "Bob@Example.com", "--role", "viewer", ...ofIt);
  expect(invited.stdout).toMatch(/^https:\/\/people\.example\.com\/invitation#[\w-]{43}\n$/);
  const list = async () => (await member("list", ...ofIt)).stdout.split("\n").slice(1, -1);
  expect(await list()).toEqual([
    expect.stringMatching(/^\d+ +Commanding +commanding@example\.com +owner +\S+Z( +\S+)?$/),
    expect.stringMatching(/^ID +EMAIL +ROLE +CREATED AT +EXPIRES AT$/),
    expect.stringMatching(/^\d+ +bob@example\.com +viewer +\S+Z +\S+Z$/),
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
  const organization = (...parameters: string[]) =>
    rekindleHere(server.dataDir, "organization", ...parameters);
  const unseen = await organization("create", "Unseen");
  expect(unseen.stderr).toContain("Unseen has no members yet: rekindle member invite EMAIL");
  const seen = await organization("create", "Seen", "--owner", "NAMED@example.com");
  expect([seen.exitCode, seen.stderr]).toEqual([0, expect.not.stringContaining("has no members yet")]);
  expect(seen.stderr).toContain(`made Named (named@example.com, person ${person.id}) owner of Seen`);
  const session = await person.json<SessionBody>("GET", "/api/session");
  const place = session.organizations.find(({ name }) => name === "Seen");
  expect(place?.role).toBe("owner");
  expect(session.organizations.map(({ name }) => name)).not.toContain("Unseen");
  const [joining] = await auditLog(Object.assign(person, { organization: place?.id ?? 0 }));
  expect(joining).toMatchObject({
    action: "member.joined",
    person: null,
    summary: "Named was made owner",
    detail: { person: person.id, from: null, to: "owner", by: "command line" },
  });
});

test("gives an organization to an unverified e-mail, or to none that is known, only by a link", async () => {
  const organization = (...parameters: string[]) =>
    rekindleHere(server.dataDir, "organization", ...parameters);
  const squatter = await joined(server, "default", "viewer", "Squatter");
  const chosen = { email: "ceo@acme.example", name: "CEO of Acme", currentPassword: password };
  await squatter.json("PATCH", "/api/person", chosen);
  const created = await organization("create", "Acme", "--owner", "ceo@acme.example");
  expect([created.exitCode, created.stdout]).toEqual([0, ""]);
  expect(created.stderr).toContain("https://people.example.com/invitation#");
  expect(created.stderr).not.toContain("CEO of Acme");
  const ofSquatter = await squatter.json<SessionBody>("GET", "/api/session");
  expect(ofSquatter.organizations.map(({ name }) => name)).toEqual(["default"]);
  // The real person is new here, whatever the other one calls themself.
  const real = new Browser(server);
  const accept = {
    code: codeIn(created.stderr, "invitation"),
    name: "Real CEO",
    password: "a password of their own",
  };
  const session = await real.json<SessionBody>("POST", "/api/invitations/accept", accept, 201);
  expect(session.person.email).toBe("ceo@acme.example");
  expect(session.organizations.map(({ name, role }) => [name, role])).toEqual([["Acme", "owner"]]);
  // The other one keeps account and session, with the e-mail of before.
  const after = await squatter.json<SessionBody>("GET", "/api/session");
  expect(after.person).toMatchObject({ id: squatter.id, email: "squatter@example.com" });
  const again = { email: "squatter@example.com", password };
  await new Browser(server).json("POST", "/api/session", again, 201);
  // The e-mail is verified by now: the next organization is the real person's at once.
  const next = await organization("create", "Acme too", "--owner", "ceo@acme.example");
  expect(next.stderr).toContain(
    `made Real CEO (ceo@acme.example, person ${session.person.id}) owner of Acme too`,
  );
  const stranger = await organization("create", "Strange", "--owner", "stranger@example.com");
  expect([stranger.exitCode, stranger.stderr]).toEqual([0, expect.stringContaining("/invitation#")]);
});

test("an invitation to the own unverified e-mail verifies it, and the look-up tells nothing of accounts", async () => {
  await server.organization("Verifying");
  const person = await joined(server, "default", "viewer", "Mover");
  await person.json("PATCH", "/api/person", { email: "moved@example.com", currentPassword: password });
  const invited = await member("invite", "moved@example.com", "--organization", "Verifying");
  const code = codeIn(invited.stdout, "invitation");
  const unknown = await member("invite", "unknown@example.com", "--organization", "Verifying");
  const lookUp = async (from: string) =>
    Object.keys(
      await new Browser(server).json<object>("POST", "/api/invitations/lookup", {
        code: codeIn(from, "invitation"),
      }),
    );
  expect(await lookUp(invited.stdout)).toEqual(await lookUp(unknown.stdout));
  // Without the right password the answers are the same, too.
  const answers = [code, codeIn(unknown.stdout, "invitation")].map(async (one) => {
    const tries = [{ password: "not the password" }, {}, { name: "Guess", password: "short" }];
    const texts: string[] = [];
    for (const sent of tries) {
      const answer = await new Browser(server).ask("POST", "/api/invitations/accept", { code: one, ...sent });
      texts.push(`${answer.status} ${await answer.text()}`);
    }
    return texts;
  });
  const [known, nobody] = await Promise.all(answers);
  expect(known).toEqual(nobody ?? []);
  const joining = new Browser(server);
  const session = await joining.json<SessionBody>("POST", "/api/invitations/accept", { code, password }, 201);
  expect(session.person.id).toBe(person.id);
  const made = await rekindleHere(
    server.dataDir,
    "organization",
    "create",
    "Of the mover",
    "--owner",
    "moved@example.com",
  );
  expect(made.stderr).toContain("made Mover (moved@example.com");
});

test("read keys are revoked with the member who made them, unless an owner takes them over", async () => {
  const { owner, at } = await company(server, "Keys left");
  const ofIt = ["--organization", "Keys left"];
  const leaving = await joined(server, "Keys left", "owner", "Leaving Owner");
  const keyOf = async (maker: Browser, name: string) =>
    (await maker.json<{ readKey: string }>("POST", at("/api/read-keys"), { name, rights: ["read"] }, 201))
      .readKey;
  const statusOf = async (key: string) =>
    (await fetch(`${server.url}/api/users`, { headers: { Authorization: `Bearer ${key}` } })).status;
  const [kept, taken] = [await keyOf(owner, "kept"), await keyOf(leaving, "taken")];
  const list = async () => (await rekindleHere(server.dataDir, "key", "list", ...ofIt)).stdout;
  expect(await list()).toMatch(new RegExp(`taken .* Leaving Owner \\(person ${leaving.id}\\)\\n`));
  interface Keys {
    readonly readKeys: readonly { name: string; madeBy: object | null; revokedAt: string | null }[];
  }
  const { readKeys } = await owner.json<Keys>("GET", at("/api/read-keys"));
  expect(readKeys.map(({ name, madeBy }) => [name, madeBy])).toEqual([
    ["kept", { id: owner.id, name: "Keys left owner" }],
    ["taken", { id: leaving.id, name: "Leaving Owner" }],
  ]);
  // Only intake runs here. A valid key is answered that analysis is starting.
  expect([await statusOf(kept), await statusOf(taken)]).toEqual([500, 500]);
  const other = await joined(server, "Keys left", "owner", "Other Owner");
  const own = at(`/api/members/${leaving.id}`);
  await expectError(await leaving.ask("DELETE", `${own}&readKeys=keep`), "validation_error", "owner");
  await owner.done("DELETE", `${own}&readKeys=keep`);
  expect([await statusOf(kept), await statusOf(taken)]).toEqual([500, 500]);
  const [entry] = await auditLog(owner);
  expect(entry).toMatchObject({ action: "member.removed", detail: { readKeysTo: owner.id } });
  // Both are the remaining owner's now, and go with that owner.
  await other.done("DELETE", at(`/api/members/${owner.id}`));
  expect([await statusOf(kept), await statusOf(taken)]).toEqual([401, 401]);
  const last = await keyOf(other, "last");
  const heir = await joined(server, "Keys left", "owner", "Heir");
  const removed = await member("remove", other.email, ...ofIt, "--keep-keys-for", heir.email);
  expect([removed.exitCode, await statusOf(last)]).toEqual([0, 500]);
  const next = await joined(server, "Keys left", "owner", "Next");
  expect((await member("remove", heir.email, ...ofIt)).exitCode).toBe(0);
  expect(await statusOf(last)).toBe(401);
  expect(next.id).toBeGreaterThan(0);
});

test("a demonstration has the owner that it names, and says when nobody would see it", async () => {
  const whole = await Server.start();
  try {
    await whole.ready();
    const person = await joined(whole, "default", "viewer", "Demonstrated");
    const demo = (...parameters: string[]) =>
      rekindleHere(whole.dataDir, "demo", "--users", "10", "--weeks", "1", ...parameters);
    const named = await demo("--organization", "Shown", "--owner", person.email);
    expect([named.exitCode, named.stderr]).toEqual([0, expect.stringContaining("owner of Shown")]);
    const session = await person.json<SessionBody>("GET", "/api/session");
    expect(session.organizations.find(({ name }) => name === "Shown")?.role).toBe("owner");
    const unseen = await demo("--organization", "Hidden");
    expect(unseen.stderr).toContain("Hidden has no members yet");
    // One that has members is seen.
    expect((await demo("--organization", "Shown", "--force")).stderr).not.toContain("has no members yet");
  } finally {
    await whole.stop();
  }
});

test("says what is wrong", async () => {
  const ofDefault = ["--organization", "default"];
  const refusals: readonly (readonly [string[], string])[] = [
    [["invite", "nobody", ...ofDefault], "is not an e-mail address"],
    [["invite", "a@example.com", "--organization", "nowhere"], "no organization"],
    [["invite", "a@example.com", "--role", "king", ...ofDefault], "owner, member, viewer"],
    [["remove", "stranger@example.com", ...ofDefault], "no member"],
    [["reset-link", "stranger@example.com"], "no person has the e-mail"],
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
    const link = await rekindleHere(dataDir, "member", "reset-link", owner.email);
    expect(link.stdout).toContain("/password#");
    const code = codeIn(link.stdout, "password");
    const ledger = new Database(join(dataDir, "ledger.sqlite"), { readonly: true });
    const rows = ["people", "login_sessions", "invite_links", "audit_log"].map((table) =>
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
