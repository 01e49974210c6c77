/** Tables as CSV, through HTTP: complete, with the requested columns, readable numbers and a clear file
 * name. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";

const members = 5_100;

let server: Server;
let key: string;

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  const token = await server.organization("Large");
  key = (await server.command("key", "create", "--organization", "Large")).trim();
  const timestamp = new Date(Date.now() - 2 * 86_400_000).toISOString();
  const account = { id: "a/1", name: "Large" };
  const users = Array.from({ length: members }, (_, index) => ({
    type: "identify",
    userId: `u${index}`,
    email: `u${index}@example.com`,
    account,
    properties: { name: `User ${index}`, ...(index === 7 && { "=plan, paid": "pro", price: 0.123_456_789 }) },
  }));
  const events = users.map(({ userId }) => ({ type: "track", userId, event: "opened", timestamp }));
  const unknown = Array.from({ length: 1_200 }, (_, index) => ({
    type: "track",
    userId: "u1",
    event: "opened",
    [`key${index}`]: 1,
  }));
  const items = [...users, ...events, ...unknown];
  for (let at = 0; at < items.length; at += 1_000) {
    const response = await server.post("/batch", token, { batch: items.slice(at, at + 1_000) });
    expect([at, response.status]).toEqual([at, 201]);
  }
  await server.exported("events", "Large");
  await server.command("score", "--organization", "Large");
});
afterAll(() => server.stop());

const get = (path: string, query: Readonly<Record<string, string>> = {}) =>
  fetch(`${server.url}${path}?${new URLSearchParams(query)}`, {
    headers: { Authorization: `Bearer ${key}` },
  });

async function csv(path: string, query: Readonly<Record<string, string>> = {}) {
  const response = await get(path, { ...query, format: "csv" });
  const text = await response.text();
  expect([path, response.status, text.slice(0, 200)]).toEqual([path, 200, text.slice(0, 200)]);
  const [header = [], ...lines] = parse(text) as string[][];
  return { header, lines, name: response.headers.get("content-disposition") };
}

const today = () => new Date().toISOString().slice(0, 10);
/** The Monday of the week in which the users were active first. */
const firstWeek = () => {
  const date = new Date(Date.now() - 2 * 86_400_000);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, 10);
};

describe("a table as CSV", () => {
  test.each([
    ["/api/users", {}, members],
    ["/api/accounts/a%2F1/members", {}, members],
    ["/api/accounts/a%2F1", {}, members],
    ["/api/scores/users", {}, members],
    ["/api/ingestion-warnings", { kind: "unknown_key" }, 1_001],
  ] as const)("%s has all rows, each once", async (path, query, rows) => {
    const { lines } = await csv(path, query);
    expect(lines).toHaveLength(rows);
    expect(new Set(lines.map((line) => line.join(","))).size).toBe(rows);
    expect((await csv(path, { ...query, limit: "3" })).lines).toHaveLength(3);
  });

  test("has all people behind a cell of retention", async () => {
    const query = { cohort: firstWeek(), at: "0", period: "week" };
    const { users } = (await (await get("/api/retention/people", query)).json()) as { users: number };
    const { lines, header } = await csv("/api/retention/people", query);
    expect([users, lines.length]).toEqual([members, members]);
    const ids = lines.map((line) => line[header.indexOf("userId")]);
    expect(new Set(ids).size).toBe(members);
  });

  test("of users has a column for each trait, whose values are as they were sent", async () => {
    const { header, lines } = await csv("/api/users", { search: "u7@", sort: "userId", order: "ascending" });
    expect(header).not.toContain("traits");
    expect(header.filter((name) => name.startsWith("traits."))).toEqual([
      "traits.=plan, paid",
      "traits.name",
      "traits.price",
    ]);
    const row = Object.fromEntries(header.map((name, at) => [name, lines[0]?.[at]]));
    expect(row).toMatchObject({ "traits.=plan, paid": "pro", "traits.price": "0.123456789" });
  });

  test("has the columns that are asked for, in their order", async () => {
    const columns = ["traits.price", "userId", encodeURIComponent("traits.=plan, paid"), "traits.none"];
    const { header, lines } = await csv("/api/users", { search: "u7@", columns: columns.join(",") });
    expect(header).toEqual(["traits.price", "userId", "traits.=plan, paid", "traits.none"]);
    expect(lines).toEqual([["0.123456789", "u7", "pro", ""]]);
    const unknown = await get("/api/users", { format: "csv", columns: "userId,healthBand,size" });
    await expectError(
      unknown,
      "validation_error",
      "columns is not valid: send some of userId,",
      "traits.NAME",
    );
    await expectError(await get("/api/users", { columns: "userId" }), "validation_error", "no parameter");
  });

  test("has figures with few digits, never above those of the JSON", async () => {
    type Answer = { users: { userId: string; health: number | null; engagement: number | null }[] };
    const query = { limit: "20", sort: "userId", order: "ascending" };
    const { users } = (await (await get("/api/users", query)).json()) as Answer;
    const { lines } = await csv("/api/users", { ...query, columns: "userId,health,engagement" });
    expect(users.some(({ engagement }) => engagement !== null && String(engagement).length > 7)).toBe(true);
    for (const [index, { userId, ...figures }] of users.entries()) {
      const [id, ...texts] = lines[index] ?? [];
      expect(id).toBe(userId);
      for (const [at, figure] of [figures.health, figures.engagement].entries()) {
        const text = texts[at] ?? "";
        if (figure === null) expect(text).toBe("");
        else {
          expect(text.length).toBeLessThan(7);
          expect(Number(text)).toBeLessThanOrEqual(figure);
          expect(figure - Number(text)).toBeLessThan(0.1);
        }
      }
    }
  });

  test.each([
    ["/api/users", { healthBand: "at_risk" }, "users-at-risk"],
    ["/api/users", { riskBand: "high", state: "active" }, "users-active-high-risk"],
    ["/api/accounts/a%2F1/members", {}, "accounts-a-1-members"],
    ["/api/ingestion-warnings", { kind: "unknown_key" }, "ingestion-warnings-unknown-key"],
  ] as const)("of %s %j is called %s and the day", async (path, query, name) => {
    const before = today();
    const disposition = (await csv(path, query)).name;
    expect([before, today()].map((day) => `attachment; filename="${name}-${day}.csv"`)).toContain(
      disposition ?? "",
    );
  });
});
