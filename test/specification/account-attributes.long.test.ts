/** Attributes of accounts through HTTP: what is sent is what the API and exports have. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { answer, newKey } from "./operation-support.ts";
import { expectError, expectSuccess, user } from "./support.ts";

export const runsOn = { postgres: true };

const base = mkdtempSync(join(tmpdir(), "rekindle-attributes-"));
const dataDir = join(base, "data");
let server: Server;
beforeAll(async () => {
  server = await Server.start({ dataDir });
});
afterAll(async () => {
  await server?.stop();
  rmSync(base, { recursive: true, force: true });
});

type Traits = Record<string, unknown>;
interface Listed {
  readonly accountId: string;
  readonly traits: Traits;
}

/** The accounts as exports have them, by their ids. */
async function exported(organization: string): Promise<Record<string, unknown>> {
  const accounts = await server.exported("accounts", organization);
  return Object.fromEntries(accounts.map(({ id, properties }) => [id, properties]));
}

async function listed(key: string, query = ""): Promise<string[]> {
  const { accounts } = await answer<{ accounts: Listed[] }>(server, key, `/api/accounts?${query}`);
  return accounts.map(({ accountId }) => accountId);
}

const acme = { id: "acme", name: "Acme" };
const withProperties = (properties: unknown) => user("u1", { account: { ...acme, properties } });

describe("account.properties", () => {
  test("are merged one level deep, a null overwrites, and what is not sent stays", async () => {
    const token = await server.organization("Merged");
    const send = async (properties: unknown) =>
      expectSuccess(await server.post("/identify", token, withProperties(properties)));
    const owned = { owner: "cs@example.com", renewsAt: "2027-03-31", contractValue: 12_000 };
    await send({ tier: "gold", deep: { a: 1 }, ...owned });
    await send(null);
    await send({ deep: { b: 2 }, owner: null, renewsAt: "2027-04-30T09:00:00+02:00" });
    await expectSuccess(await server.post("/identify", token, user("u2", { account: acme })));
    const expected = {
      tier: "gold",
      deep: { b: 2 },
      contractValue: 12_000,
      owner: null,
      renewsAt: "2027-04-30T09:00:00+02:00",
    };
    expect(await exported("Merged")).toEqual({ acme: expected });
    const key = await newKey(server, "Merged");
    expect(await answer<Listed>(server, key, "/api/accounts/acme")).toMatchObject({ traits: expected });
  });

  test("however late, shuffled and repeated they come, they end in the same", async () => {
    const at = (day: number, properties: Traits, messageId: string) => ({
      type: "identify",
      ...withProperties(properties),
      timestamp: `2026-05-${day}`,
      messageId,
    });
    const items = [
      at(10, { tier: "iron", seats: 1 }, "a"),
      at(12, { tier: "gold" }, "b"),
      at(11, { tier: "silver", seats: 2, note: null }, "c"),
    ];
    const orders = [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2, 1, 0],
    ];
    for (const [index, order] of orders.entries()) {
      const name = `Late ${index}`;
      const token = await server.organization(name);
      const batch = order.map((place) => items[place]);
      await server.post("/batch", token, { batch });
      await server.post("/batch", token, { batch });
      expect(await exported(name)).toEqual({ acme: { tier: "gold", seats: 2, note: null } });
    }
  });

  test.each<[string, unknown]>([
    ["account.properties is not valid", "gold"],
    ["account.properties is not valid", ["gold"]],
    ["account.properties.owner is empty", { owner: "" }],
    ["account.properties.owner is not valid", { owner: 7 }],
    ["account.properties.renewsAt is not valid", { renewsAt: "31.03.2027" }],
    ["account.properties.renewsAt is not valid", { renewsAt: "2027-02-30" }],
    ["account.properties.renewsAt is not valid", { renewsAt: 1_800_000_000 }],
    ["account.properties.contractValue is not valid", { contractValue: "12000" }],
    ["account.properties.contractValue is not valid", { contractValue: -1 }],
  ])("%s: %j is refused, and nothing is stored", async (message, properties) => {
    const token = await server.organization(`Refused ${Bun.randomUUIDv7()}`);
    await expectError(
      await server.post("/identify", token, withProperties(properties)),
      "validation_error",
      message,
      "send",
    );
    await expectError(await server.post("/track", token, { userId: "u1", event: "e" }), "not_found");
  });
});

test("lists are filtered and sorted by attributes, and CSVs have a column for each", async () => {
  const token = await server.organization("Listed");
  const accounts: readonly (readonly [string, Traits])[] = [
    ["a", { tier: "gold", seats: 9, "of it": "x,y" }],
    ["b", { tier: "Gold plus", seats: 10 }],
    ["c", { seats: "many" }],
    ["d", {}],
  ];
  const batch = accounts.map(([id, properties]) => ({
    type: "identify",
    ...user(`of ${id}`, { account: { id, name: id.toUpperCase(), properties } }),
  }));
  await server.post("/batch", token, { batch });
  await server.exported("accounts", "Listed");
  const key = await newKey(server, "Listed");
  const traits = (...filters: object[]) => `traits=${encodeURIComponent(JSON.stringify(filters))}`;
  const byId = "sort=accountId&order=ascending&";
  expect(await listed(key, `${byId}trait=tier&value=gold`)).toEqual(["a"]);
  expect(await listed(key, `${byId}trait=tier&value=gold&match=isNot`)).toEqual(["b", "c", "d"]);
  expect(await listed(key, byId + traits({ trait: "tier", match: "contains", value: "GOLD" }))).toEqual([
    "a",
    "b",
  ]);
  const both = traits({ trait: "tier", match: "isNotEmpty" }, { trait: "seats", value: "10" });
  expect(await listed(key, byId + both)).toEqual(["b"]);
  expect(await listed(key, "sort=trait&sortTrait=seats&order=ascending")).toEqual(["a", "b", "c", "d"]);
  expect(await listed(key, "sort=trait&sortTrait=seats")).toEqual(["b", "a", "c", "d"]);
  const refused = await fetch(`${server.url}/api/accounts?sort=trait`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  await expectError(refused, "validation_error", "sortTrait is missing");
  const csv = await fetch(`${server.url}/api/accounts?format=csv&sort=accountId&order=ascending`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  const [header = "", first = ""] = (await csv.text()).split("\r\n");
  expect(header).toContain(",traits.of it,traits.seats,traits.tier,");
  expect(first).toContain(',"x,y",9,gold,');
  const { traits: names } = await answer<{ traits: { trait: string; users: number }[] }>(
    server,
    key,
    "/api/traits?kind=account",
  );
  expect(names.map(({ trait, users }) => [trait, users])).toEqual([
    ["seats", 3],
    ["tier", 2],
    ["of it", 1],
  ]);
  expect(await answer(server, key, "/api/traits")).toMatchObject({ traits: [] });
});

test("groups of Segment and PostHog give attributes to the account, and wrong ones are left out", async () => {
  const token = await server.organization("Groups");
  const send = (path: string, body: object) =>
    fetch(server.url + path, { method: "POST", body: JSON.stringify(body) });
  const traits = { name: "Acme", plan: "pro", industry: "Tech", owner: "", contractValue: "1200.50" };
  const people = { writeKey: token, userId: "u1" };
  expect((await send("/v1/identify", { ...people, traits: { email: "u1@example.com" } })).status).toBe(200);
  expect((await send("/v1/group", { ...people, groupId: "acme", traits })).status).toBe(200);
  const company = { $group_type: "company", $group_key: "looms", $group_set: { name: "Looms", seats: 3 } };
  const event = { event: "$groupidentify", distinct_id: "$company_looms", properties: company };
  expect((await send("/capture/", { api_key: token, ...event })).status).toBe(200);
  expect(await exported("Groups")).toEqual({
    acme: { plan: "pro", industry: "Tech", contractValue: 1200.5 },
    looms: { seats: 3 },
  });
  expect(await server.exported("users", "Groups")).toMatchObject([
    { userId: "u1", properties: { plan: "pro" }, account: { id: "acme", name: "Acme" } },
  ]);
  const [{ properties } = { properties: {} }] = await server.exported("users", "Groups");
  expect(Object.keys(properties as Traits)).toEqual(["plan"]);
  await isWarned("Groups", "trait_left_out", "account.properties.owner");
});

test("a browser token changes no attributes of an account that exists", async () => {
  const token = await server.organization("Browser");
  await expectSuccess(await server.post("/identify", token, withProperties({ tier: "gold" })));
  const create = ["token", "create", "--organization", "Browser", "--scope", "browser"];
  const browser = (await server.command(...create)).trim();
  const joining = user("u2", { account: { ...acme, properties: { tier: "iron" } } });
  await expectSuccess(await server.post("/identify", browser, joining));
  expect(await exported("Browser")).toEqual({ acme: { tier: "gold" } });
  await isWarned("Browser", "browser_field_ignored", "account.properties");
});

/** Waits for a warning: they are written within a second. */
async function isWarned(organization: string, kind: string, detail: string): Promise<void> {
  const key = await newKey(server, organization);
  await until(
    `there is the warning ${kind} ${detail}`,
    () =>
      answer<{ warnings: { kind: string; detail: string | null }[] }>(server, key, "/api/ingestion-warnings"),
    ({ warnings }) => warnings.some((one) => one.kind === kind && one.detail === detail),
  );
}

test("after a crash all attributes are there, and doctor finds no difference", async () => {
  const names = ["Merged", "Late 1", "Listed", "Groups"];
  const before = await Promise.all(names.map(exported));
  const token = await server.organization("Crashed");
  await expectSuccess(await server.post("/identify", token, withProperties({ tier: "gold" })));
  await server.crash();
  server = await Server.start({ dataDir });
  expect(await Promise.all(names.map(exported))).toEqual(before);
  expect(await exported("Crashed")).toEqual({ acme: { tier: "gold" } });
  const doctor = await server.command("doctor");
  for (const name of [...names, "Crashed", "Browser"]) {
    expect(doctor).toContain(`${name}: ledger, events and rollups agree`);
  }
});
