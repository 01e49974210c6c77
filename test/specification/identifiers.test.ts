/** Ids of users and accounts: which numbers equal which strings, and which ids are refused. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { expectError, expectRefused, expectSuccess, send, user } from "./support.ts";

export const runsOn = { postgres: true };

let server: Server;
let token: string;
const organization = "Identifiers";

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization(organization);
});
afterAll(() => server.stop());

/** Numbers as they stand in the JSON text, each with the string that is the same id. */
const numbers = [
  "42",
  "0",
  "-7",
  "1.5",
  "0.1",
  "-0.25",
  "9007199254740991",
  "-9007199254740991",
  "123456789012",
];

test("a number is the same id as its decimal string", async () => {
  for (const number of numbers) {
    const identify = `{"userId":${number},"email":"n@example.com","account":{"id":${number},"name":"N"}}`;
    await expectSuccess(await server.post("/identify", token, identify));
    await expectSuccess(await server.post("/track", token, { userId: number, event: "as_string" }));
    await expectSuccess(await server.post("/track", token, `{"userId":${number},"event":"as_number"}`));
    await send(server, "/identify", token, user(number, { properties: { from: "string" } }));
  }
  const users = await server.exported("users", organization);
  const seen = users.filter(({ userId }) => numbers.includes(String(userId)));
  expect(seen).toHaveLength(numbers.length);
  for (const { userId, properties, account } of seen) {
    expect(properties).toEqual({ from: "string" });
    expect(account).toMatchObject({ id: userId });
  }
});

const nobodysNumbers = [
  "9007199254740993",
  "-9007199254740993",
  "12345678901234567890",
  "1e21",
  "1e+21",
  "1E2",
  "1e2",
  "1e-7",
  "1.50",
  "42.0",
  "-0",
  "-0.0",
  "0.10",
  "0.1000000000000000055511151231257827",
  "1e400",
];

describe("a number that is not its own decimal string is refused and sent as a string is taken:", () => {
  test.each(nobodysNumbers)("%s", async (number) => {
    const response = await server.post("/identify", token, `{"userId":${number},"email":"n@example.com"}`);
    await expectError(response, "validation_error", "userId ", "send it as a string");
    const inAccount = `{"userId":"u","email":"n@example.com","account":{"id":${number},"name":"N"}}`;
    const accountResponse = await server.post("/identify", token, inAccount);
    await expectError(accountResponse, "validation_error", "account.id ", "send it as a string");
    const tracked = await server.post("/track", token, `{"event":"e","userId":${number}}`);
    await expectError(tracked, "validation_error", "userId ", "send it as a string");
    await send(server, "/identify", token, user(number));
    await send(server, "/track", token, { userId: number, event: "e" });
  });
});

test("of two userIds in one body the last one counts, as JSON readers do it", async () => {
  await send(server, "/identify", token, '{"userId":1.50,"email":"n@example.com","userId":4711}');
  await send(server, "/track", token, { userId: "4711", event: "e" });
  const response = await server.post("/identify", token, '{"userId":4712,"email":"n@b.co","userId":4712.0}');
  await expectRefused(response, "userId");
});

test("a number elsewhere in the body is not taken for the id's text", async () => {
  const body =
    '{"properties":{"userId":1.50},"userId":4713,"email":"n@example.com","account":{"id":1,"name":"N"}}';
  await send(server, "/identify", token, body);
  await send(server, "/track", token, { userId: "4713", event: "e" });
});

/** Strings that careless storage takes for one another. */
const strangers = [
  "stranger",
  "Stranger",
  "stranger ",
  " stranger",
  "stranger\u0000",
  "stranger\u0000a",
  "stranger\u0000b",
  "str\u00e9",
  "stre\u0301",
  "007",
  "7",
  "7.0",
  "+7",
  // null, undefined and NaN themselves are placeholders, which are refused: placeholder-ids.test.ts.
  "null0",
  "undefined0",
  "true",
  "NaN0",
  "__proto__",
  "constructor",
  "1e3",
  "1000",
  "' OR 1=1 --",
  "\\N",
  "\\",
  '"',
  "{x:String}",
  "\u202eabc",
  "\ufeffbom",
  "a\tb\nc\r\n",
];

test("ids that only look alike are different users", async () => {
  const writer = await server.organization("Strangers");
  for (const id of strangers) {
    await expectError(await server.post("/track", writer, { userId: id, event: "before" }), "not_found");
    await send(server, "/identify", writer, user(id, { properties: { mine: id } }));
    await send(server, "/track", writer, { userId: id, event: "after", properties: { mine: id } });
  }
  const users = await server.exported("users", "Strangers");
  expect(new Set(users.map((row) => row.userId))).toEqual(new Set(strangers));
  expect(users).toHaveLength(strangers.length);
  for (const row of users) expect(row.properties).toEqual({ mine: row.userId });
  const events = await server.exported("events", "Strangers");
  expect(events).toHaveLength(strangers.length);
  for (const row of events) expect(row.properties).toEqual({ mine: row.userId });
});
