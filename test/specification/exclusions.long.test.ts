/** Exclusion rules, from the command line and the JSON API to the figures. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rekindleHere, Server } from "../server.ts";
import { becomes, withinLimit } from "../until.ts";
import { answer, ask, immediately, newKey } from "./operation-support.ts";
import { expectError, send } from "./support.ts";

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-exclusions-"));
let server: Server;
let token: string;
let key: string;

beforeAll(async () => {
  server = await Server.start({ dataDir });
  token = await server.organization("Acme");
  key = await newKey(server, "Acme", "manage");
  await server.ready();
  await active("ada", "ada@customer.com");
  await active("bob", "bob@acme.com");
  await active("qa", "qa+7@customer.com");
  await active("bot", "bot@customer.com", { properties: { kind: "bot", beta: true } });
  await active("eve", "eve@customer.com", { account: { id: "demo", name: "Demo" } });
  await server.exported("events", "Acme");
});
afterAll(async () => {
  await server.kill("SIGTERM");
  rmSync(dataDir, { recursive: true });
});

/** One instant for all, so that no midnight passes between them. */
const startedAt = new Date().toISOString();

/** A user with an event today. */
async function active(userId: string, email: string, more: object = {}): Promise<void> {
  await send(server, "/identify", token, { userId, email, ...more });
  await send(server, "/track", token, { userId, event: "opened", timestamp: startedAt });
}

interface Figures {
  readonly days: readonly { readonly daily: number }[];
  readonly freshness: { readonly excludedUsers: number };
}

/** How many were active today or yesterday (midnight may pass), and how many are excluded. */
async function figures(): Promise<unknown> {
  const { days, freshness } = await answer<Figures>(server, key, "/api/active-users?days=2");
  const retention = await answer<{ cells: { cohortUsers: number }[] }>(server, key, "/api/retention");
  const cohort = retention.cells[0]?.cohortUsers ?? 0;
  return { active: Math.max(...days.map(({ daily }) => daily)), cohort, excluded: freshness.excludedUsers };
}

const all = { active: 5, cohort: 5, excluded: 0 };
const without = (excluded: number) => ({ active: 5 - excluded, cohort: 5 - excluded, excluded });

/** Adds a rule by the JSON API and returns its id. */
async function add(kind: string, value: string, traitKey = ""): Promise<number> {
  const query = new URLSearchParams({ kind, value, key: traitKey });
  return (await answer<{ id: number }>(server, key, `/api/exclusions?${query}`, "POST")).id;
}

test.each([
  ["user", "ada", ""],
  ["email_domain", "@ACME.com", ""],
  ["email", "qa+*@customer.com", ""],
  ["trait", "bot", "kind"],
  ["trait", "true", "beta"],
  ["account", "demo", ""],
])(
  "a rule by %s takes one user out of every figure, and its removal brings them back",
  async (kind, value, of) => {
    await becomes(figures, all);
    const id = await add(kind, value, of);
    await becomes(figures, without(1));
    expect(await add(kind, value, of)).toBe(id);
    await answer(server, key, `/api/exclusions/${id}`, "DELETE");
    await becomes(figures, all);
  },
);

interface RuleCounted {
  readonly kind: string;
  readonly value: string;
  readonly users: number;
}

test("a rule is previewed, counted beside the others, and named with the user that it excludes", async () => {
  const preview = (query: string) => answer<object>(server, key, `/api/exclusions/preview?${query}`);
  expect(await preview("kind=email&value=*@customer.com")).toEqual({
    users: 4,
    alreadyExcluded: 0,
    examples: ["ada", "qa", "bot"].map((userId) => ({
      userId,
      name: null,
      email: userId === "qa" ? "qa+7@customer.com" : `${userId}@customer.com`,
    })),
  });
  expect(await preview("kind=account&value=demo")).toMatchObject({ users: 1, examples: [{ userId: "eve" }] });
  const nobody = { users: 0, alreadyExcluded: 0, examples: [] };
  expect(await preview("kind=account&value=none")).toEqual(nobody);
  // Nothing is added by looking.
  await immediately(figures, all);
  const ids = [
    await add("email", "q*"),
    await add("account", "demo"),
    await add("email_domain", "nobody.example"),
  ];
  await becomes(figures, without(2));
  const { rules } = await answer<{ rules: readonly RuleCounted[] }>(server, key, "/api/exclusions");
  expect(rules.map(({ kind, users }) => [kind, users])).toEqual([
    ["email", 1],
    ["account", 1],
    ["email_domain", 0],
  ]);
  expect(await preview("kind=email&value=*@customer.com")).toMatchObject({ users: 4, alreadyExcluded: 2 });
  const eve = await answer<object>(server, key, "/api/users/eve");
  expect(eve).toMatchObject({ isExcluded: true, excludedBy: [{ kind: "account", value: "demo" }] });
  expect(await answer<object>(server, key, "/api/users/ada")).toMatchObject({
    isExcluded: false,
    excludedBy: [],
  });
  for (const id of ids) await answer(server, key, `/api/exclusions/${id}`, "DELETE");
  await becomes(figures, all);
});

test("a list of users and its CSV leave out excluded users, unless they are requested", async () => {
  const id = await add("email", "b*");
  await becomes(figures, without(2));
  const listed = async (query: string) => {
    const path = `/api/users?sort=userId&order=ascending${query}`;
    const { total, users } = await answer<{
      total: number;
      users: { userId: string; isExcluded: boolean }[];
    }>(server, key, path);
    const csv = await (await ask(server, key, `${path}&format=csv`)).text();
    const inCsv = csv
      .trimEnd()
      .split("\r\n")
      .slice(1)
      .map((line) => line.split(",")[0]);
    const names = users.map(({ userId, isExcluded }) => `${userId}${isExcluded ? " (excluded)" : ""}`);
    expect([total, inCsv]).toEqual([users.length, users.map(({ userId }) => userId)]);
    return names;
  };
  expect(await listed("")).toEqual(["ada", "eve", "qa"]);
  expect(await listed("&excluded=only")).toEqual(["bob (excluded)", "bot (excluded)"]);
  expect(await listed("&excluded=included")).toEqual([
    "ada",
    "bob (excluded)",
    "bot (excluded)",
    "eve",
    "qa",
  ]);
  await answer(server, key, `/api/exclusions/${id}`, "DELETE");
  await becomes(figures, all);
});

test("rules of the command line hold together, also after a kill, and exports are whole", async () => {
  const rules = [
    ["--email-domain", "acme.com"],
    ["--trait", "kind=bot"],
    ["--email", "q*"],
  ];
  for (const rule of rules) await server.command("exclude", "add", "--organization", "Acme", ...rule);
  await becomes(figures, without(3));
  await active("new", "new@acme.com");
  // After this export every acknowledged event is loaded, and no figure contains an excluded user.
  await server.exported("events", "Acme");
  await immediately(figures, { active: 2, cohort: 2, excluded: 4 });
  await active("more", "more@acme.com");
  await server.crash();
  // While nothing runs, a rule goes and one comes.
  const listed = await rekindleHere(dataDir, "exclude", "list", "--organization", "Acme");
  const [, first] = listed.stdout.trim().split("\n");
  expect(first).toMatch(/^\d+ {2,}email_domain .*acme\.com {2,}/);
  const [domainRule = ""] = first?.split(" ") ?? [];
  await rekindleHere(dataDir, "exclude", "remove", domainRule, "--organization", "Acme");
  await rekindleHere(dataDir, "exclude", "add", "--organization", "Acme", "--user", "more");
  server = await Server.start({ dataDir });
  await server.ready();
  // Nothing has to be waited for: it is exact before it is served. (In a cluster a follower answers until the
  // killed leader's lease is over.)
  await immediately(figures, { active: 4, cohort: 4, excluded: 3 });
  expect(await server.exported("users", "Acme")).toHaveLength(7);
  expect(await server.exported("events", "Acme")).toHaveLength(7);
  expect(await server.command("doctor")).toContain("Acme: ledger, events and rollups agree");
});

test("rules are their organization's own", async () => {
  await server.command("organization", "create", "Other");
  const other = await newKey(server, "Other", "manage");
  const { rules } = await answer<{ rules: { id: number }[] }>(server, key, "/api/exclusions");
  expect(rules.length).toBeGreaterThan(0);
  expect(await answer<object>(server, other, "/api/exclusions")).toEqual({ excludedUsers: 0, rules: [] });
  const taken = `/api/exclusions/${rules[0]?.id}`;
  await expectError(await ask(server, other, taken, "DELETE"), "not_found", "no such exclusion rule");
  const reader = await newKey(server, "Acme");
  await expectError(await ask(server, reader, taken, "DELETE"), "forbidden", "manage");
  const adding = "/api/exclusions?kind=user&value=x";
  await expectError(await ask(server, reader, adding, "POST"), "forbidden", "manage");
  expect((await answer<{ rules: object[] }>(server, reader, "/api/exclusions")).rules).toEqual(rules);
});

test.each([
  ["kind=mood&value=x", "kind"],
  ["kind=user", "value"],
  ["kind=user&value=", "needs a value"],
  ["kind=trait&value=x", "its key"],
  ["kind=email_domain&value=a@b@c", "no domain"],
  ["kind=email_domain&value=@", "no domain"],
])("?%s is refused, and the answer says %s", async (query, text) => {
  await expectError(await ask(server, key, `/api/exclusions?${query}`, "POST"), "validation_error", text);
  await expectError(await ask(server, key, `/api/exclusions/preview?${query}`), "validation_error", text);
});

test("there is an end to rules", async () => {
  await server.command("organization", "create", "Strict");
  const strict = await newKey(server, "Strict", "manage");
  const statuses: number[] = [];
  for (let number = 0; number <= 200; number += 1) {
    const path = `/api/exclusions?kind=user&value=u${number}`;
    // A key may ask 100 times a second.
    const response = await withinLimit(() => ask(server, strict, path, "POST"));
    statuses.push(response.status);
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(200);
  expect(statuses.at(-1)).toBe(400);
});
