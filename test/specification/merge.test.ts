/** identify for an existing user: shallow merge, null and missing fields, accounts, and many requests at
 * once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { expectError, expectSuccess, exportedUser, send, user } from "./support.ts";

export const runsOn = { postgres: true };

let server: Server;
let token: string;
const organization = "Merge";

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization(organization);
});
afterAll(() => server.stop());

const traits = (...all: readonly object[]) => all.map((properties) => ({ properties }));
const account = (id: string, more: object = {}) => ({ account: { id, name: id.toUpperCase(), ...more } });
const avatar = "https://example.com/a.png";

/** Identifies of a user that are sent one after the other, and the stored result. */
const cases: readonly (readonly [string, readonly object[], object])[] = [
  ["keys that are not sent are kept", traits({ a: 1, b: 2 }, { b: 3 }), { properties: { a: 1, b: 3 } }],
  ["new keys are added", traits({ a: 1 }, { b: 2 }, { c: 3 }), { properties: { a: 1, b: 2, c: 3 } }],
  [
    "a null overwrites",
    traits({ a: 1, plan: "pro" }, { a: null, plan: null }),
    { properties: { a: null, plan: null } },
  ],
  [
    "objects inside are replaced, not merged",
    traits({ o: { x: 1, y: 2 } }, { o: { y: 3 } }),
    { properties: { o: { y: 3 } } },
  ],
  ["lists are replaced, not joined", traits({ l: [1, 2] }, { l: [3] }), { properties: { l: [3] } }],
  [
    "a value may change its type",
    traits({ v: 1 }, { v: "one" }, { v: [true] }),
    { properties: { v: [true] } },
  ],
  ["empty properties change nothing", traits({ a: 1 }, {}), { properties: { a: 1 } }],
  [
    "false, 0 and the empty text are values",
    traits({ a: 1, b: 1, c: 1 }, { a: 0, b: false, c: "" }),
    { properties: { a: 0, b: false, c: "" } },
  ],
  [
    "numbers as keys are keys like any other",
    traits({ "10": 1, "9": 2 }, { "9": 3 }),
    { properties: { "9": 3, "10": 1 } },
  ],
  ["properties that are not sent are kept", [...traits({ a: 1 }), {}], { properties: { a: 1 } }],
  ["properties null are not sent", [...traits({ a: 1 }), { properties: null }], { properties: { a: 1 } }],
  [
    "the e-mail address is the last one sent",
    [{ email: "old@example.com" }, { email: "new@example.com" }],
    { email: "new@example.com" },
  ],
  ["isAccountOwner is unknown until it is sent", [{}], { isAccountOwner: null }],
  ["isAccountOwner is kept when it is not sent", [{ isAccountOwner: true }, {}], { isAccountOwner: true }],
  [
    "isAccountOwner null is not sent",
    [{ isAccountOwner: true }, { isAccountOwner: null }],
    { isAccountOwner: true },
  ],
  [
    "isAccountOwner changes when it is sent",
    [{ isAccountOwner: true }, { isAccountOwner: false }],
    { isAccountOwner: false },
  ],
  ["there is no account until one is sent", [{}], { account: null }],
  [
    "the account is kept when it is not sent",
    [account("k"), {}],
    { account: { id: "k", name: "K", avatar: null } },
  ],
  ["account null leaves the account", [account("l"), { account: null }], { account: null }],
  [
    "who leaves the account stays what else he was",
    [{ ...account("m"), isAccountOwner: true }, { account: null }],
    { account: null, isAccountOwner: true },
  ],
  [
    "the account changes when another is sent",
    [account("n"), account("o")],
    { account: { id: "o", name: "O", avatar: null } },
  ],
  [
    "an account's avatar is kept when it is not sent",
    [account("p", { avatar }), account("p")],
    { account: { id: "p", name: "P", avatar } },
  ],
  [
    "an account's avatar null takes it away",
    [account("q", { avatar }), account("q", { avatar: null })],
    { account: { id: "q", name: "Q", avatar: null } },
  ],
];

describe("after identifies one after the other", () => {
  let users: Map<unknown, Record<string, unknown>>;

  beforeAll(async () => {
    for (const [title, identifies] of cases) {
      for (const more of identifies) await send(server, "/identify", token, user(title, more));
    }
    users = new Map((await server.exported("users", organization)).map((row) => [row.userId, row]));
  });

  test.each(cases)("%s", (title, _identifies, stored) => {
    const row = users.get(title);
    for (const [field, value] of Object.entries(stored))
      expect([field, row?.[field]]).toEqual([field, value]);
  });
});

test("a trait named __proto__ is a trait like any other", async () => {
  const text = '{"userId":"proto","email":"a@b.co","properties":{"__proto__":{"admin":true},"a":1}}';
  await send(server, "/identify", token, text);
  await send(server, "/identify", token, user("proto", { properties: { b: 2 } }));
  const { properties } = await exportedUser(server, organization, "proto");
  expect(JSON.stringify(properties)).toBe('{"__proto__":{"admin":true},"a":1,"b":2}');
});

test("an account is one for all its users: a new name is everybody's", async () => {
  await send(server, "/identify", token, user("colleague 1", { account: { id: "shared", name: "Old" } }));
  await send(server, "/identify", token, user("colleague 2", { account: { id: "shared", name: "New" } }));
  expect((await exportedUser(server, organization, "colleague 1")).account).toMatchObject({ name: "New" });
  const accounts = (await server.exported("accounts", organization)).filter(({ id }) => id === "shared");
  expect(accounts).toHaveLength(1);
  expect(accounts[0]).toMatchObject({ id: "shared", name: "New" });
});

test("a refused identify neither creates an account nor renames one", async () => {
  const full = Object.fromEntries(Array.from({ length: 990 }, (_, index) => [`k${index}`, index]));
  await send(
    server,
    "/identify",
    token,
    user("full", { properties: full, account: { id: "kept", name: "Kept" } }),
  );
  const more = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`m${index}`, index]));
  for (const id of ["kept", "refused"]) {
    const body = user("full", { properties: more, account: { id, name: "Renamed" } });
    await expectError(await server.post("/identify", token, body), "validation_error", "1010 traits");
    const items = [{ type: "identify", ...body }];
    expect((await server.post("/batch", token, { batch: items })).status).toBe(400);
  }
  const accounts = (await server.exported("accounts", organization)).map(({ id, name }) => [id, name]);
  expect(accounts.filter(([id]) => id === "kept" || id === "refused")).toEqual([["kept", "Kept"]]);
});

test("a late item changes of an account only what nothing later was said of", async () => {
  const sendAt = async (daysAgo: number | undefined, more: object) => {
    const timestamp = daysAgo && new Date(Date.now() - daysAgo * 86_400_000).toISOString();
    const batch = [{ type: "identify", ...user("timed"), timestamp, account: { id: "timed", ...more } }];
    expect((await server.post("/batch", token, { batch })).status).toBe(201);
    const accounts = await server.exported("accounts", organization);
    return accounts.find(({ id }) => id === "timed");
  };
  expect(await sendAt(10, { name: "Ten" })).toMatchObject({ name: "Ten", avatar: null });
  expect(await sendAt(20, { name: "Twenty", avatar })).toMatchObject({ name: "Ten", avatar });
  expect(await sendAt(5, { name: "Five" })).toMatchObject({ name: "Five", avatar });
  expect(await sendAt(undefined, { name: "Now", avatar: null })).toMatchObject({ name: "Now", avatar: null });
  expect(await sendAt(1, { name: "One", avatar })).toMatchObject({ name: "Now", avatar: null });
});

test("200 identifies of one user at once lose no key", async () => {
  const keys = Array.from({ length: 200 }, (_, index) => `k${index}`);
  const responses = await Promise.all(
    keys.map((key, index) =>
      server.post("/identify", token, user("crowded", { properties: { [key]: index, last: index } })),
    ),
  );
  for (const response of responses) await expectSuccess(response);
  const { properties } = await exportedUser(server, organization, "crowded");
  const { last, ...others } = Object(properties);
  expect(others).toEqual(Object.fromEntries(keys.map((key, index) => [key, index])));
  expect(last).toBeWithin(0, 200);
});

test("50 new users of one new account at once are 50 users of one account", async () => {
  const name = "Crowd";
  const writer = await server.organization(name);
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      send(server, "/identify", writer, user(`u${index}`, { account: { id: "one", name: "One" } })),
    ),
  );
  const users = await server.exported("users", name);
  expect(new Set(users.map(({ userId }) => userId)).size).toBe(50);
  expect(users).toHaveLength(50);
  for (const row of users) expect(row.account).toMatchObject({ id: "one" });
  expect(await server.exported("accounts", name)).toHaveLength(1);
});
