/** Erasing an account through HTTP: the deleted data, its members' remaining data, and late data that stays
 * out. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ownServer } from "../own-server.ts";
import { rekindle, Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { api, erasingKey, figures, filesWith, identify, removeOldParts, sendAll, track } from "./support.ts";

let server: Server = await ownServer(() => server);

const account = {
  id: "MARKER-id",
  name: "MARKER-name",
  avatar: "https://example.com/MARKER.png",
  properties: { owner: "MARKER@example.com", tier: "MARKER-tier" },
};
const other = { id: "a2", name: "Babbage & Sons" };
const days = ["2026-05-04", "2026-05-05", "2026-05-13"];
const activity = (userId: string) => days.map((day) => track(userId, "opened", `${day}T10:00:00Z`));

/** Ada and Bob in an account, Carl in another. */
function people(): readonly object[] {
  return [
    identify("ada", { account }),
    identify("bob", { account }),
    identify("carl", { account: other }),
    ...["ada", "bob", "carl"].flatMap(activity),
    identify("ada", { account: { ...account, name: "MARKER-later-name" } }),
  ];
}

async function accountsOf(key: string): Promise<unknown[]> {
  const answer = (await (await api(server, key, "/api/accounts")).json()) as {
    accounts: { accountId: string; members: number; firstSeenDay: string | null }[];
  };
  return answer.accounts.map(({ accountId, members, firstSeenDay }) => [accountId, members, firstSeenDay]);
}

function agreement(organization: string): string {
  return `${organization}: ledger, events and rollups agree`;
}

describe("an erased account", () => {
  test("is gone from answers, figures and exports, and its members stay with all that they did", async () => {
    const name = "Accounts";
    const [token, key] = [await server.organization(name), await erasingKey(server, name)];
    const [otherToken, otherKey] = [await server.organization("Others"), await erasingKey(server, "Others")];
    for (const each of [token, otherToken]) await sendAll(server, each, people());
    for (const each of [name, "Others"]) {
      await server.exported("events", each);
      await server.command("score", "--organization", each);
    }
    const before = { people: await figures(server, key), events: await server.exported("events", name) };
    expect(await accountsOf(key)).toEqual([
      ["MARKER-id", 2, "2026-05-04"],
      ["a2", 1, "2026-05-04"],
    ]);

    const response = await api(server, key, "/api/accounts/MARKER-id", "DELETE");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      accountId: "MARKER-id",
      erasedAt: expect.stringMatching(/Z$/),
      members: 2,
      events: 6,
      versions: 2,
      rejectedEvents: 0,
      inboxRows: expect.any(Number),
      days: 3,
      seconds: expect.any(Number),
    });

    await expectError(await api(server, key, "/api/accounts/MARKER-id"), "not_found");
    await expectError(await api(server, key, "/api/accounts/MARKER-id/score"), "not_found");
    await expectError(await api(server, key, "/api/accounts/MARKER-id", "DELETE"), "not_found");
    expect(await accountsOf(key)).toEqual([["a2", 1, "2026-05-04"]]);
    expect(
      ((await (await api(server, key, "/api/users/ada")).json()) as { account: unknown }).account,
    ).toBeNull();
    expect(await figures(server, key)).toEqual(before.people);
    expect(await server.exported("events", name)).toEqual(before.events);
    expect((await server.exported("users", name)).map(({ userId, account: of }) => [userId, of])).toEqual([
      ["ada", null],
      ["bob", null],
      ["carl", { ...other, avatar: null }],
    ]);
    expect((await server.exported("accounts", name)).map(({ id }) => id)).toEqual(["a2"]);
    expect(await accountsOf(otherKey)).toHaveLength(2);
    const doctor = await server.command("doctor");
    expect(doctor).toContain(agreement(name));
    expect(doctor).toContain(agreement("Others"));
    await server.command("rebuild", "--organization", name);
    expect(await server.command("doctor")).toContain(agreement(name));
  });

  test("stays out when it is delivered again, until something new names it", async () => {
    const name = "Named again";
    const [token, key] = [await server.organization(name), await erasingKey(server, name)];
    const said = { timestamp: "2026-05-01T10:00:00Z", account };
    await sendAll(server, token, [identify("ada", said)]);
    const receipt = JSON.parse(await server.command("erase", "account", "MARKER-id", "--organization", name));
    expect(receipt).toMatchObject({ accountId: "MARKER-id", members: 1, events: 0, versions: 1 });
    const again = await rekindle(server.dataDir, "erase", "account", "MARKER-id", "--organization", name);
    expect([again.exitCode, again.stdout]).toEqual([1, ""]);
    const trail = await server.command("erasure", "list", "--organization", name);
    expect(trail).toContain("account");
    expect(trail).not.toContain("MARKER");

    await sendAll(server, token, [identify("ada", said), identify("bob", said)]);
    await server.exported("users", name);
    expect(await accountsOf(key)).toEqual([]);
    await sendAll(server, token, [identify("bob", { account: { ...account, name: "New" } })]);
    await server.exported("users", name);
    expect(await accountsOf(key)).toEqual([["MARKER-id", 1, null]]);
    const ledger = new Database(join(server.dataDir, "ledger.sqlite"), { readonly: true });
    const numbers = ledger
      .query<{ number: number }, [string]>(
        "SELECT number FROM accounts WHERE organization = (SELECT id FROM organizations WHERE name = ?)",
      )
      .all(name);
    ledger.close();
    expect(numbers).toEqual([{ number: 2 }]);
    expect(await server.command("doctor")).toContain(agreement(name));
  });

  test("goes with its only member where that is asked for, and never with one of two", async () => {
    const name = "With its member";
    const [token, key] = [await server.organization(name), await erasingKey(server, name)];
    await sendAll(server, token, people());
    const first = await api(server, key, "/api/users/ada?withAccount=true", "DELETE");
    expect(await first.json()).toMatchObject({ userId: "ada", account: null });
    expect(await accountsOf(key)).toHaveLength(2);
    const carl = await server.command("erase", "user", "carl", "--with-account", "--organization", name);
    expect(JSON.parse(carl)).toMatchObject({ account: { accountId: "a2", members: 0 } });
    const bob = await api(server, key, "/api/users/bob?withAccount=true", "DELETE");
    expect(await bob.json()).toMatchObject({ account: { accountId: "MARKER-id", members: 0, events: 0 } });
    expect(await accountsOf(key)).toEqual([]);
    expect(await server.exported("events", name)).toEqual([]);
    expect(await server.command("doctor")).toContain(agreement(name));
  });

  test("needs a key with the right to erase", async () => {
    const token = await server.organization("Rights");
    await sendAll(server, token, people());
    const reading = (await server.command("key", "create", "--organization", "Rights")).trim();
    const path = "/api/accounts/MARKER-id";
    await expectError(await api(server, reading, path, "DELETE"), "forbidden", "right to erase");
    await expectError(await api(server, token, path, "DELETE"), "invalid_write_key");
  });
});

test("no byte of an erased account stays in the data folder, once the engine's old parts are gone", async () => {
  for (const { name } of await organizations()) {
    await rekindle(server.dataDir, "erase", "account", "MARKER-id", "--organization", name);
  }
  const token = await server.organization("Held");
  // A visitor's messages are held until an identify names the user.
  const held = {
    type: "group",
    anonymousId: "v",
    groupId: "MARKER-held",
    traits: { name: "MARKER-held-name" },
  };
  const authorization = `Basic ${Buffer.from(`${token}:`).toString("base64")}`;
  const sent = await fetch(`${server.url}/v1/group`, {
    method: "POST",
    headers: { Authorization: authorization, "Content-Type": "application/json" },
    body: JSON.stringify(held),
  });
  expect(sent.ok).toBe(true);
  await server.exported("accounts", "Held");
  const before = await filesWith(server.dataDir, "MARKER-held");
  expect(before.filter((file) => file.startsWith("ledger")).length).toBeGreaterThan(0);
  await rekindle(server.dataDir, "erase", "account", "MARKER-held", "--organization", "Held");
  await server.kill("SIGTERM");
  await removeOldParts(server.dataDir);
  expect(await filesWith(server.dataDir, "MARKER")).toEqual([]);
  server = await Server.start({ dataDir: server.dataDir });
  await server.ready();
});

async function organizations(): Promise<{ name: string }[]> {
  const ledger = new Database(join(server.dataDir, "ledger.sqlite"), { readonly: true });
  const found = ledger.query<{ name: string }, []>("SELECT name FROM organizations").all();
  ledger.close();
  return found;
}
