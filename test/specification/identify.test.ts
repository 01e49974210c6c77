/** POST /identify: every field and every rule of the specification. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { type Body, expectRefused, expectSuccess, exportedUser, user } from "./support.ts";

export const runsOn = { postgres: true };

let server: Server;
let token: string;
const organization = "Identify";

beforeAll(async () => {
  server = await Server.shared();
  token = await server.organization(organization);
});
afterAll(() => server.stop());

const identify = (body: Body, headers: Record<string, string> = {}) =>
  server.post("/identify", token, body, headers);

test("a user with every field is answered 201 and kept whole", async () => {
  const sent = {
    userId: "whole",
    email: "whole@example.com",
    properties: {
      name: "Ada Lovelace",
      avatar: "https://example.com/ada.png",
      plan: "pro",
      acquisitionChannel: "search",
      companySize: "11-50",
      segment: "science",
      seats: 12,
      trial: false,
      tags: ["a", "b"],
      address: { city: "London" },
    },
    isAccountOwner: true,
    account: { id: "whole-account", name: "Analytical Engines", avatar: "https://example.com/engines.png" },
  };
  await expectSuccess(await identify(sent));
  const stored = await exportedUser(server, organization, "whole");
  expect(stored).toMatchObject({
    email: sent.email,
    properties: sent.properties,
    isAccountOwner: true,
    account: sent.account,
  });
});

const accepted: readonly (readonly [string, Body])[] = [
  ["userId and email alone", user("plain")],
  ["free-form plan, channel, size and segment", user("u", { properties: { plan: "Gold+ 2026 (annual)" } })],
  [
    "custom traits of every JSON type",
    user("u", { properties: { a: 1, b: "x", c: null, d: [], e: {}, f: true } }),
  ],
  ["every reserved trait as null", user("u", { properties: reserved(null) })],
  ["empty properties", user("u", { properties: {} })],
  ["properties null", user("u", { properties: null })],
  ["isAccountOwner true", user("u", { isAccountOwner: true })],
  ["isAccountOwner false", user("u", { isAccountOwner: false })],
  ["isAccountOwner null", user("u", { isAccountOwner: null })],
  ["account with id and name", user("u", { account: { id: "a", name: "A" } })],
  ["account with a number as id", user("u", { account: { id: 7, name: "A" } })],
  ["account with avatar null", user("u", { account: { id: "a", name: "A", avatar: null } })],
  ["account with fields that we do not know", user("u", { account: { id: "a", name: "A", tier: 3 } })],
  ["account null", user("u", { account: null })],
  ["top-level keys that we do not know", user("u", { context: { ip: "::1" }, traits: [1] })],
  ["an http avatar", user("u", { properties: { avatar: "http://example.com/a.png?x=1#y" } })],
  ["an https avatar in capitals", user("u", { properties: { avatar: "HTTPS://EXAMPLE.COM/A.PNG" } })],
  ["a data:image avatar", user("u", { properties: { avatar: "data:image/png;base64,iVBORw0KGgo=" } })],
  ["an address that is an IPv4 literal", { userId: "u", email: "joe.bloggs@[127.0.0.1]" }],
  ["an address that is an IPv6 literal", { userId: "u", email: "joe.bloggs@[IPv6:::1]" }],
  ["an internationalized address", { userId: "u", email: "실례@실례.테스트" }],
  ["an address with a tag", { userId: "u", email: "Ada.Lovelace+news@example.co.uk" }],
  ["a quoted local part", { userId: "u", email: '"ada lovelace"@example.com' }],
  ["ids of any script", user("пользователь-用户-🙂")],
  ["ids with spaces and signs", user(" a/b?c#d%20 ")],
  [
    "keys named like members of Object",
    '{"userId":"u","email":"a@b.co","properties":{"__proto__":1,"constructor":2}}',
  ],
  ["white space around the JSON", `\r\n\t ${JSON.stringify(user("u"))} \n`],
];

describe("identify takes", () => {
  test.each(accepted)("%s", async (_title, body) => {
    await expectSuccess(await identify(body));
  });
});

function reserved(value: unknown): object {
  const keys = ["name", "avatar", "plan", "acquisitionChannel", "companySize", "segment"];
  return Object.fromEntries(keys.map((key) => [key, value]));
}

const reservedRefusals = Object.keys(reserved(null)).flatMap((key) =>
  [1, true, [], {}].map(
    (value) =>
      [
        `${key} as ${JSON.stringify(value)}`,
        user("u", { properties: { [key]: value } }),
        `properties.${key}`,
      ] as const,
  ),
);

const noUrls = [
  "",
  "avatar.png",
  "/avatar.png",
  "//example.com/a.png",
  "example.com/a.png",
  "http://",
  "https://exa mple.com/a.png",
  "https://[::1/a.png",
  "ftp://example.com/a.png",
  "javascript:alert(1)",
  "data:text/html,<script>",
  "mailto:ada@example.com",
];
const urlRefusals = noUrls.flatMap((url) => [
  [
    `the avatar ${JSON.stringify(url)}`,
    user("u", { properties: { avatar: url } }),
    "properties.avatar",
  ] as const,
  [
    `the account's avatar ${JSON.stringify(url)}`,
    user("u", { account: { id: "a", name: "A", avatar: url } }),
    "account.avatar",
  ] as const,
]);

const noAddresses = [
  "",
  "ada",
  "ada@",
  "@example.com",
  "ada@example.com, bob@example.com",
  "a b@example.com",
];
const moreNoAddresses = [
  "ada..l@example.com",
  ".ada@example.com",
  "ada@exa mple.com",
  "Ada <ada@example.com>",
];
const emailRefusals = [...noAddresses, ...moreNoAddresses, 5, true, [], {}].map(
  (email) => [`the e-mail address ${JSON.stringify(email)}`, { userId: "u", email }, "email"] as const,
);

const refused: readonly (readonly [string, Body, string])[] = [
  ["an empty object", {}, "userId"],
  ["no userId", { email: "ada@example.com" }, "userId"],
  ["userId null", user(null), "userId"],
  ["an empty userId", user(""), "userId"],
  ["userId true", user(true), "userId"],
  ["userId as a list", user(["u"]), "userId"],
  ["userId as an object", user({ id: "u" }), "userId"],
  ["no email", { userId: "u" }, "email"],
  ["email null", { userId: "u", email: null }, "email"],
  ["properties as a list", user("u", { properties: [] }), "properties"],
  ["properties as a string", user("u", { properties: "plan=pro" }), "properties"],
  ["properties as a number", user("u", { properties: 1 }), "properties"],
  ["isAccountOwner as a string", user("u", { isAccountOwner: "true" }), "isAccountOwner"],
  ["isAccountOwner as a number", user("u", { isAccountOwner: 1 }), "isAccountOwner"],
  ["account as a string", user("u", { account: "a" }), "account"],
  ["account as a list", user("u", { account: [] }), "account"],
  ["account without id", user("u", { account: { name: "A" } }), "account.id"],
  ["account with an empty id", user("u", { account: { id: "", name: "A" } }), "account.id"],
  ["account with id null", user("u", { account: { id: null, name: "A" } }), "account.id"],
  ["account with id true", user("u", { account: { id: true, name: "A" } }), "account.id"],
  ["account without name", user("u", { account: { id: "a" } }), "account.name"],
  ["account with name null", user("u", { account: { id: "a", name: null } }), "account.name"],
  ["account with a number as name", user("u", { account: { id: "a", name: 5 } }), "account.name"],
  [
    "a number that is out of range",
    '{"userId":"u","email":"a@b.co","properties":{"n":[1e400]}}',
    "properties.n.0",
  ],
  ["half a character", '{"userId":"u","email":"a@b.co","properties":{"s":"\\ud83d"}}', "properties.s"],
  ["half a character in a key", '{"userId":"u","email":"a@b.co","properties":{"\\ud83d":1}}', "properties"],
  ["an empty body", "", "body"],
  ["no JSON", "userId=u&email=a@b.co", "body"],
  ["JSON that ends too early", '{"userId":"u"', "body"],
  ["a list", "[]", "body"],
  ["null", "null", "body"],
  ["a string", '"u"', "body"],
  ...emailRefusals,
  ...reservedRefusals,
  ...urlRefusals,
];

describe("identify refuses, naming the field and saying what to send,", () => {
  test.each(refused)("%s", async (_title, body, field) => {
    await expectRefused(await identify(body), field);
  });
});

test("bytes that are not UTF-8 are refused", async () => {
  const bytes = Buffer.concat([Buffer.from('{"userId":"'), Buffer.from([0xff]), Buffer.from('"}')]);
  const response = await fetch(`${server.url}/identify`, {
    method: "POST",
    headers: { Authorization: `Basic ${token}` },
    body: bytes,
  });
  await expectRefused(response, "body");
});

test("a refused identify stores nothing", async () => {
  await expectRefused(await identify(user("refused", { properties: { avatar: "no" } })), "properties.avatar");
  const users = await server.exported("users", organization);
  expect(users.map((row) => row.userId)).not.toContain("refused");
});

test.each(["application/json", "text/plain", "application/x-www-form-urlencoded", "nonsense", ""])(
  "JSON is read whatever the content type says (%j)",
  async (type) => {
    await expectSuccess(await identify(user("content-type"), { "Content-Type": type }));
  },
);
