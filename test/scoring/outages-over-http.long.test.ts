/** Days without data, from events that were sent to scores that are read: no count of days contains them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { ScoreAnswer } from "../../contract/api/scores.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { Server } from "../server.ts";

type Score = Static<typeof ScoreAnswer>;

const today = todayIn(quietZone);
const ago = (days: number) => formatDay(today - days);

let server: Server;
beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
});
afterAll(() => server.stop());

/** Every user is active on these days before today, each of one account. */
async function send(token: string, users: Readonly<Record<string, readonly number[]>>): Promise<void> {
  const items = Object.entries(users).flatMap(([userId, daysAgo]) => [
    { type: "identify", userId, email: `${userId}@example.com`, account: { id: "a1", name: "A 1" } },
    ...daysAgo.map((days) => ({
      type: "track",
      userId,
      event: "opened",
      timestamp: `${ago(days)}T12:00:00Z`,
    })),
  ]);
  const response = await server.post("/batch", token, { batch: items });
  expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
}

const daily = (first: number, last: number) =>
  Array.from({ length: first - last + 1 }, (_, index) => first - index);

async function reader(name: string): Promise<(path: string) => Promise<Score>> {
  const key = (await server.command("key", "create", "--organization", name)).trim();
  return async (path) => {
    const response = await fetch(`${server.url}/api/${path}/score`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    expect([path, response.status]).toEqual([path, 200]);
    return (await response.json()) as Score;
  };
}

describe("ten days without data", () => {
  const name = "Ten days without data";
  let scoreOf: (path: string) => Promise<Score>;

  beforeAll(async () => {
    const token = await server.organization(name, "--timezone", quietZone);
    const staying = Object.fromEntries(
      Array.from({ length: 8 }, (_, index) => [`daily${index}`, [...daily(95, 31), ...daily(20, 1)]]),
    );
    await send(token, { ...staying, gone: daily(95, 45), away: daily(95, 34) });
    await server.command("score", "--organization", name);
    scoreOf = await reader(name);
  });

  test("make no user less active", async () => {
    const score = await scoreOf("users/daily0");
    expect(score).toMatchObject({ state: "active", momentum: 50, daysWithoutData: 10 });
    expect(score.engagement?.contributions.frequency).toBeCloseTo(40, 9);
    expect(await scoreOf("accounts/a1")).toMatchObject({ state: "active", daysWithoutData: 10 });
  });

  test("are no idle days: users churn when they were idle for the horizon without them", async () => {
    expect(await scoreOf("users/away")).toMatchObject({ state: "active", daysWithoutData: 10 });
    expect(await scoreOf("users/gone")).toMatchObject({ state: "churned", churnedDay: ago(7) });
  });
});

describe("declared outages", () => {
  const name = "Declared outages";
  const outage = (...parameters: string[]) => server.command("outage", ...parameters, "--organization", name);
  let scoreOf: (path: string) => Promise<Score>;

  beforeAll(async () => {
    const token = await server.organization(name, "--timezone", quietZone);
    // Two users alone: their silence is no outage by itself.
    await send(token, { away: daily(95, 34), here: [...daily(95, 30), ...daily(20, 1)] });
    await server.command("score", "--organization", name);
    scoreOf = await reader(name);
  });

  test("leave their days out of the next scores, until they are removed", async () => {
    expect(await scoreOf("users/away")).toMatchObject({ state: "churned", daysWithoutData: 0 });
    await outage("create", "--from", ago(30), "--to", ago(21));
    await server.command("score", "--organization", name);
    expect(await scoreOf("users/away")).toMatchObject({ state: "active", daysWithoutData: 10 });
    const listed = await outage("list");
    expect(listed).toContain(`${ago(30)}  ${ago(21)}`);
    const id = /^(\d+) /m.exec(listed)?.[1] ?? "";
    await outage("delete", id);
    await server.command("score", "--organization", name);
    expect(await scoreOf("users/away")).toMatchObject({ state: "churned", daysWithoutData: 0 });
    expect(await outage("list")).not.toContain(ago(30));
  });

  test.each([
    ["create", ["--from", ago(5), "--to", ago(6)], "An outage ends on its first day or later"],
    ["create", ["--from", ago(5), "--to", ago(-3)], "has not come yet"],
    ["create", ["--from", "yesterday", "--to", ago(1)], "send a date such as"],
    ["create", ["--from", "2026-02-30", "--to", "2026-03-01"], "send a date such as"],
    ["delete", ["99"], "outage"],
  ] as const)("outage %s %p is refused", async (action, parameters, message) => {
    await expect(outage(action, ...parameters)).rejects.toThrow(message);
  });
});
