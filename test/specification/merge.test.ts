/** What identify does to a user who exists: shallow merge, null and not sent, accounts, many at once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { expectSuccess, exportedUser, send, user } from "./support.ts";

let server: Server;
let token: string;
const organization = "Merge";

beforeAll(async () => {
  server = await Server.start();
  token = await server.organization(organization);
}, 60_000);
afterAll(() => server.stop());

/** Identifies one user with each of these in turn and returns what is stored in the end. */
async function after(userId: string, ...identifies: readonly object[]): Promise<Record<string, unknown>> {
  for (const more of identifies) await send(server, "/identify", token, user(userId, more));
  return exportedUser(server, organization, userId);
}

const merges: readonly (readonly [string, readonly object[], object])[] = [
  ["keys that are not sent are kept", [{ a: 1, b: 2 }, { b: 3 }], { a: 1, b: 3 }],
  ["new keys are added", [{ a: 1 }, { b: 2 }, { c: 3 }], { a: 1, b: 2, c: 3 }],
  [
    "a null overwrites",
    [
      { a: 1, plan: "pro" },
      { a: null, plan: null },
    ],
    { a: null, plan: null },
  ],
  ["objects inside are replaced, not merged", [{ o: { x: 1, y: 2 } }, { o: { y: 3 } }], { o: { y: 3 } }],
  ["lists are replaced, not joined", [{ l: [1, 2] }, { l: [3] }], { l: [3] }],
  ["a value may change its type", [{ v: 1 }, { v: "one" }, { v: [true] }], { v: [true] }],
  ["empty properties change nothing", [{ a: 1 }, {}], { a: 1 }],
  [
    "false, zero and the empty string are values",
    [
      { a: 1, b: 1, c: 1 },
      { a: 0, b: false, c: "" },
    ],
    { a: 0, b: false, c: "" },
  ],
  ["keys like 10 and 9 are keys like any other", [{ "10": 1, "9": 2 }, { "9": 3 }], { "9": 3, "10": 1 }],
];

test.each(merges)("%s", async (title, sent, stored) => {
  const row = await after(title, ...sent.map((properties) => ({ properties })));
  expect(row.properties).toEqual(stored);
});

test("properties that are not sent, or null, keep the stored ones", async () => {
  const row = await after("kept", { properties: { a: 1 } }, {}, { properties: null });
  expect(row.properties).toEqual({ a: 1 });
});

test("a trait named __proto__ is a trait like any other", async () => {
  const text = '{"userId":"proto","email":"a@b.co","properties":{"__proto__":{"admin":true},"a":1}}';
  await send(server, "/identify", token, text);
  await send(server, "/identify", token, user("proto", { properties: { b: 2 } }));
  const { properties } = await exportedUser(server, organization, "proto");
  expect(JSON.parse(JSON.stringify(properties))).toEqual(
    JSON.parse('{"__proto__":{"admin":true},"a":1,"b":2}'),
  );
  expect(Object.keys(Object(properties)).sort()).toEqual(["__proto__", "a", "b"]);
});

test("the e-mail address is the last one sent", async () => {
  const row = await after("mail", { email: "old@example.com" }, { email: "new@example.com" });
  expect(row.email).toBe("new@example.com");
});

test.each([
  ["is kept when it is not sent", [{ isAccountOwner: true }, {}], true],
  ["is kept when it is null", [{ isAccountOwner: true }, { isAccountOwner: null }], true],
  ["changes when it is sent", [{ isAccountOwner: true }, { isAccountOwner: false }], false],
  ["is unknown until it is sent", [{}], null],
])("isAccountOwner %s", async (title, sent, stored) => {
  expect((await after(`owner ${title}`, ...sent)).isAccountOwner).toBe(stored);
});

const account = (more: object) => ({ account: { id: "acme", name: "Acme", ...more } });
const avatar = "https://example.com/acme.png";

test.each([
  ["is kept when it is not sent", [{ account: { id: "k", name: "K" } }, {}], { id: "k", name: "K" }],
  ["is left with null", [{ account: { id: "l", name: "L" } }, { account: null }], null],
  ["is none until it is sent", [{}], null],
  [
    "changes when another is sent",
    [account({}), { account: { id: "b", name: "B" } }],
    { id: "b", name: "B" },
  ],
])("the account %s", async (title, sent, stored) => {
  const row = await after(`account ${title}`, ...sent);
  if (stored === null) expect(row.account).toBeNull();
  else expect(row.account).toMatchObject(stored);
});

test("an account's avatar is kept when it is not sent, and null takes it away", async () => {
  const of = (id: string, more: object) => ({ account: { id, name: "N", ...more } });
  const kept = await after("avatar kept", of("x", { avatar }), of("x", {}));
  expect(kept.account).toMatchObject({ id: "x", avatar });
  const gone = await after("avatar gone", of("y", { avatar }), of("y", { avatar: null }));
  expect(gone.account).toMatchObject({ id: "y", avatar: null });
});

test("an account is one for all its users: a new name is everybody's", async () => {
  await after("colleague 1", { account: { id: "shared", name: "Old" } });
  await after("colleague 2", { account: { id: "shared", name: "New" } });
  expect((await exportedUser(server, organization, "colleague 1")).account).toMatchObject({ name: "New" });
  const accounts = (await server.exported("accounts", organization)).filter(({ id }) => id === "shared");
  expect(accounts).toHaveLength(1);
  expect(accounts[0]).toMatchObject({ id: "shared", name: "New" });
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
