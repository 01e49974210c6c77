/** Erasing a user through HTTP: the deleted data, the data that stays, and late data that stays out. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ownServer } from "../own-server.ts";
import { rekindle, rekindleHere, Server } from "../server.ts";
import { expectError, expectSuccess, send, user } from "../specification/support.ts";
import { becomes } from "../until.ts";
import { api, erasingKey, figures, filesWith, identify, removeOldParts, sendAll, track } from "./support.ts";

let server: Server = await ownServer(() => server);

const account = { id: "a1", name: "Analytical Engines" };
const activity = (userId: string, more: object = {}) =>
  ["2026-05-04", "2026-05-05", "2026-05-13"].map((day) => track(userId, "opened", `${day}T10:00:00Z`, more));

function agreement(organization: string): string {
  return `${organization}: ledger, events and rollups agree`;
}

describe("an erased user", () => {
  test("is gone from every answer, figure and export, and no other user is", async () => {
    const name = "Erasing";
    const [token, key] = [await server.organization(name), await erasingKey(server, name)];
    const [otherToken, otherKey] = [
      await server.organization("Namesakes"),
      await erasingKey(server, "Namesakes"),
    ];
    const [neverToken, neverKey] = [await server.organization("Never"), await erasingKey(server, "Never")];
    const others = [identify("bob", { account }), ...activity("bob")];
    const ada = [
      identify("ada", { account, properties: { plan: "pro" } }),
      ...activity("ada"),
      track("ada", "only_adas", "2026-04-01"),
      identify("ada", { properties: { plan: "free" } }),
    ];
    await sendAll(server, token, [...ada, ...others]);
    await sendAll(server, otherToken, ada);
    await sendAll(server, neverToken, others);
    await server.exported("events", name);
    const namesake = {
      figures: await figures(server, otherKey),
      events: await server.exported("events", "Namesakes"),
    };

    const response = await api(server, key, "/api/users/ada", "DELETE");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      userId: "ada",
      erasedAt: expect.stringMatching(/Z$/),
      events: 4,
      versions: 2,
      rejectedEvents: 0,
      inboxRows: expect.any(Number),
      account: null,
      days: 4,
      seconds: expect.any(Number),
    });

    await expectError(await api(server, key, "/api/users/ada"), "not_found");
    await expectError(await api(server, key, "/api/users/ada/timeline"), "not_found");
    expect(await figures(server, key)).toEqual(await figures(server, neverKey));
    expect((await server.exported("users", name)).map(({ userId, account: of }) => [userId, of])).toEqual([
      ["bob", { ...account, avatar: null }],
    ]);
    expect((await server.exported("events", name)).map(({ userId }) => userId)).toEqual([
      "bob",
      "bob",
      "bob",
    ]);
    expect(await figures(server, otherKey)).toEqual(namesake.figures);
    expect(await server.exported("events", "Namesakes")).toEqual(namesake.events);
    const doctor = await server.command("doctor");
    expect(doctor).toContain(agreement(name));
    expect(doctor).toContain(agreement("Namesakes"));
  });

  test("cannot be erased twice, and neither can one who never was; the trail does not name them", async () => {
    const [token, key] = [await server.organization("Twice"), await erasingKey(server, "Twice")];
    await send(server, "/identify", token, user("somebody"));
    const receipt = JSON.parse(await server.command("erase", "user", "somebody", "--organization", "Twice"));
    expect(receipt).toMatchObject({ userId: "somebody", events: 0, versions: 1, days: 0 });
    await expectError(await api(server, key, "/api/users/somebody", "DELETE"), "not_found");
    await expectError(await api(server, key, "/api/users/nobody", "DELETE"), "not_found");
    const again = await rekindleHere(server.dataDir, "erase", "user", "somebody", "--organization", "Twice");
    expect([again.exitCode, again.stdout]).toEqual([1, ""]);
    const trail = await server.command("erasure", "list", "--organization", "Twice");
    expect(trail.trim().split("\n")).toHaveLength(2);
    expect(trail).not.toContain("somebody");
  });

  test("is named by no warning and no exclusion rule, and no longer counted as excluded", async () => {
    const name = "Bots";
    const [token, key] = [await server.organization(name), await erasingKey(server, name)];
    const excluded = async () => {
      const answer = await (await api(server, key, "/api/active-users?days=1")).json();
      return (answer as { freshness: { excludedUsers: number } }).freshness.excludedUsers;
    };
    for (const userId of ["bot-of-one", "bot-of-two"]) {
      await send(server, "/identify", token, { ...user(userId), email: `${userId}@bots.example` });
      await send(server, "/track", token, { userId, event: "opened", [`odd-${userId.slice(-3)}`]: 1 });
    }
    await server.command("exclude", "add", "--organization", name, "--user", "bot-of-one");
    await server.command("exclude", "add", "--organization", name, "--email-domain", "bots.example");
    await server.exported("users", name);
    await becomes(excluded, 2);

    await server.command("erase", "user", "bot-of-one", "--organization", name);
    expect(await excluded()).toBe(1);
    const rules = await server.command("exclude", "list", "--organization", name);
    const warnings = await server.command("warnings", "--organization", name);
    expect([rules, warnings].join()).not.toContain("bot-of-one");
    expect(rules).toContain("bots.example");
    expect(warnings).toContain("odd-two");
    expect(await server.command("doctor")).toContain(agreement(name));
  });

  test("needs a key with the right to erase", async () => {
    const token = await server.organization("Rights");
    await send(server, "/identify", token, user("kept"));
    const reading = (await server.command("key", "create", "--organization", "Rights")).trim();
    await expectError(await api(server, reading, "/api/users/kept", "DELETE"), "forbidden", "right to erase");
    await expectError(await api(server, token, "/api/users/kept", "DELETE"), "invalid_write_key");
    expect((await api(server, reading, "/api/users/kept")).status).toBe(200);
  });
});

describe("what is delivered again", () => {
  test("stays out until an explicit new identify, which begins anew", async () => {
    const name = "Again";
    const [token, key] = [await server.organization(name), await erasingKey(server, name)];
    const said = { timestamp: "2026-05-01T10:00:00Z", properties: { plan: "pro" } };
    const first = [identify("ada", said), track("ada", "opened", "2026-05-02", { messageId: "m1" })];
    await sendAll(server, token, [...first, identify("bob")]);
    expect((await api(server, key, "/api/users/ada", "DELETE")).status).toBe(200);

    await expectError(await server.post("/track", token, { userId: "ada", event: "opened" }), "not_found");
    const late = await server.post("/batch", token, {
      batch: [identify("ada", said), first[1], identify("bob")],
    });
    expect(await late.json()).toMatchObject({ accepted: 1, duplicates: 2, rejected: [] });
    const unseen = { batch: [identify("ada", said), track("ada", "opened", "2026-05-02")] };
    expect(await (await server.post("/batch", token, unseen)).json()).toMatchObject({
      accepted: 0,
      duplicates: 1,
      rejected: [{ index: 1, name: "not_found" }],
    });
    expect((await server.exported("users", name)).map(({ userId }) => userId)).toEqual(["bob"]);
    // The warning is counted without the id.
    const refused = async () => {
      const answer = await api(server, key, "/api/ingestion-warnings");
      const { warnings } = (await answer.json()) as { warnings: { kind: string; userId: string | null }[] };
      return warnings.filter(({ kind }) => kind === "refused_unknown_user").map(({ userId }) => userId);
    };
    await becomes(refused, [null, null]);

    await expectSuccess(await server.post("/identify", token, user("ada")));
    await expectSuccess(await server.post("/track", token, { userId: "ada", event: "returned" }));
    await server.exported("events", name);
    const { traits } = (await (await api(server, key, "/api/users/ada")).json()) as { traits: object };
    expect(traits).toEqual({});
    const { events } = (await (await api(server, key, "/api/users/ada/timeline")).json()) as {
      events: { event: string }[];
    };
    expect(events.map(({ event }) => event)).toEqual(["returned"]);
    await sendAllAsDuplicates(token, [identify("ada", said)]);
    expect(await server.command("doctor")).toContain(agreement(name));
  });

  async function sendAllAsDuplicates(token: string, batch: readonly object[]): Promise<void> {
    const answer = await (await server.post("/batch", token, { batch })).json();
    expect(answer).toMatchObject({ accepted: 0, duplicates: batch.length });
  }

  test("a number is not given again, also that of the newest user", async () => {
    const name = "Numbers";
    const token = await server.organization(name);
    await send(server, "/identify", token, user("u1"));
    await send(server, "/identify", token, user("u2"));
    await server.command("erase", "user", "u2", "--organization", name);
    await send(server, "/identify", token, user("u2"));
    await send(server, "/identify", token, user("u3"));
    const ledger = new Database(join(server.dataDir, "ledger.sqlite"), { readonly: true });
    const numbers = ledger
      .query<{ number: number }, [string]>(
        `SELECT number FROM users
         WHERE organization = (SELECT id FROM organizations WHERE name = ?) ORDER BY number`,
      )
      .all(name);
    ledger.close();
    expect(numbers.map(({ number }) => number)).toEqual([1, 3, 4]);
  });
});

test("no byte of an erased user stays in the data folder, once the engine's old parts are gone", async () => {
  const name = "Bytes";
  const token = await server.organization(name);
  const secret = { properties: { secret: "MARKER-of-traits" } };
  await sendAll(server, token, [
    identify("MARKER-of-id", secret),
    identify("MARKER-of-id", { properties: { secret: "MARKER-of-later-traits" } }),
    ...Array.from({ length: 300 }, (_, index) =>
      track("MARKER-of-id", `MARKER-of-event-${index % 3}`, `2026-05-${10 + (index % 9)}`, {
        properties: { secret: `MARKER-of-properties-${index}`, padding: "x".repeat(2_000) },
      }),
    ),
    identify("bob"),
  ]);
  await server.exported("events", name);
  const before = await filesWith(server.dataDir, "MARKER-of");
  expect(before.filter((file) => file.startsWith("warehouse")).length).toBeGreaterThan(0);
  expect(before.filter((file) => file.startsWith("ledger")).length).toBeGreaterThan(0);
  await server.command("erase", "user", "MARKER-of-id", "--organization", name);
  const ledgerBytes = await Promise.all(
    ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-journaled"].map((file) =>
      Bun.file(join(server.dataDir, file)).bytes(),
    ),
  );
  expect(ledgerBytes.some((bytes) => Buffer.from(bytes).includes("MARKER-of"))).toBe(false);
  await server.kill("SIGTERM");
  const offline = await rekindle(server.dataDir, "erase", "user", "bob", "--organization", name);
  expect(JSON.parse(offline.stdout)).toMatchObject({ userId: "bob", events: 0, versions: 1 });
  await removeOldParts(server.dataDir);
  expect(await filesWith(server.dataDir, "MARKER-of")).toEqual([]);
  server = await Server.start({ dataDir: server.dataDir });
  await server.ready();
  expect(await server.command("doctor")).toContain(agreement(name));
});
