/**
 * Lists with scores: every filter and order, read through HTTP and compared with the whole list. Also the
 * change of health that is usual, and the default order. The server scores nothing by itself, so that the
 * answers stay as they are.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { AccountListAnswer, UserListAnswer } from "../../contract/api/lists.ts";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { until } from "../until.ts";
import { patientGet } from "./world.ts";

type Users = Static<typeof UserListAnswer>;
type User = Users["users"][number];
type Accounts = Static<typeof AccountListAnswer>;
type Account = Accounts["accounts"][number];
type Parameters = Readonly<Record<string, string | number>>;

let server: Server;
let key: string;
let users: readonly User[];
let accounts: readonly Account[];

beforeAll(async () => {
  server = await Server.startShared();
  await server.ready();
  await server.demo("--users", "70", "--weeks", "12");
  // The usual change is taken from the newest scores and those of the weeks before.
  for (const weeksAgo of [4, 3, 2, 1, 0]) {
    const day = new Date(Date.now() - weeksAgo * 7 * 86_400_000).toISOString().slice(0, 10);
    await server.command("score", "--organization", "Demo", "--as-of", day);
  }
  key = (await server.command("key", "create", "--organization", "Demo")).trim();
  await read();
});
afterAll(() => server.stop());

/** Reads both lists whole. */
async function read(): Promise<void> {
  users = (await ask<Users>("/api/users", { limit: 1_000 })).users;
  accounts = (await ask<Accounts>("/api/accounts", { limit: 1_000 })).accounts;
}

/** Repeats a check until it passes. Users are excluded meanwhile. */
async function eventually(check: () => Promise<void>): Promise<void> {
  await until(
    "the check passes",
    async () => {
      const error = await check().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error !== undefined) await read();
      return error;
    },
    (error) => error === undefined,
  );
}

function get(path: string, parameters: Parameters = {}): Promise<Response> {
  const pairs = Object.entries(parameters).map(([name, value]) => [name, String(value)] as const);
  const query = new URLSearchParams(Object.fromEntries(pairs));
  return patientGet(`${server.url}${path}?${query}`, key);
}

async function ask<Answer>(path: string, parameters: Parameters = {}): Promise<Answer> {
  const response = await get(path, parameters);
  const text = await response.text();
  expect([response.status, text.slice(0, 200)]).toEqual([200, text.slice(0, 200)]);
  return JSON.parse(text) as Answer;
}

/** Days before today. */
function daysAgo(day: string): number {
  return Math.round((Date.parse(new Date().toISOString().slice(0, 10)) - Date.parse(day)) / 86_400_000);
}

function traitText(user: User, trait: string): string {
  const value = user.traits[trait];
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

test("active members of an account are as many on the list, on its page, and among those at risk", async () => {
  const active = new Map(accounts.map(({ accountId, activeMembers }) => [accountId, activeMembers]));
  expect([...active.values()].filter((count) => count > 0).length).toBeGreaterThan(3);
  // Mails that were opened are passive in the demonstration, and today does not count.
  for (const [accountId, activeMembers] of [...active].slice(0, 12)) {
    const path = `/api/accounts/${encodeURIComponent(accountId)}`;
    const { active28 } = await ask<{ active28: number }>(`${path}/members`);
    const own = await ask<{ activeMembers: number }>(path);
    expect([accountId, active28, own.activeMembers]).toEqual([accountId, activeMembers, activeMembers]);
  }
  const atRisk = await ask<{ accounts: { id: string; activeMembers: number }[] }>("/api/accounts-at-risk");
  for (const { id, activeMembers } of atRisk.accounts)
    expect([id, activeMembers]).toEqual([id, active.get(id) ?? -1]);
});

test("a row has the scores that the list of scores has", async () => {
  interface Scores {
    readonly day: string;
    readonly scores: readonly { readonly id: string; readonly label: string }[];
  }
  for (const kind of ["users", "accounts"] as const)
    await eventually(async () => {
      const rows = kind === "users" ? users : accounts;
      const { scores, day } = await ask<Scores>(`/api/scores/${kind}`, { limit: 1_000 });
      expect(scores.length).toBeGreaterThan(5);
      for (const { id, label, ...score } of scores) {
        const row = rows.find((one) => ("userId" in one ? one.userId : one.accountId) === id);
        expect([id, row]).toEqual([id, expect.objectContaining(score)]);
        const ofUser = row !== undefined && "email" in row ? row.name || row.email || row.userId : undefined;
        expect(ofUser ?? row?.name).toBe(label);
      }
      const unscored = rows.filter(({ state }) => state === "no_data");
      expect(unscored.length + scores.length).toBe(rows.length);
      expect(
        unscored.every(({ healthBand, health, risk }) => [healthBand, health, risk].join() === "none,,"),
      ).toBe(true);
      expect((await ask<Users>(`/api/${kind}`, { limit: 1 })).day).toBe(day);
    });
});

describe("users", () => {
  const [plan, industry] = ["plan", "industry"];
  const filters: readonly (readonly [Parameters, (user: User) => boolean])[] = [
    ...(["churned", "account_churned", "high_risk", "at_risk", "watch", "healthy"] as const).map(
      (verdict) => [{ verdict }, (user: User) => user.verdict === verdict] as const,
    ),
    [{ verdict: "not_churned" }, ({ verdict }) => verdict !== "churned" && verdict !== "account_churned"],
    [{ state: "churned" }, ({ state }) => state === "churned"],
    [{ state: "no_data" }, ({ state }) => state === "no_data"],
    [{ healthBand: "healthy" }, ({ healthBand }) => healthBand === "healthy"],
    [{ healthBand: "none" }, ({ healthBand }) => healthBand === "none"],
    [{ riskBand: "low" }, ({ riskBand }) => riskBand === "low"],
    [{ riskBand: "high" }, ({ riskBand }) => riskBand === "high"],
    [{ isPresent: "true" }, ({ healthBand }) => healthBand !== "churned" && healthBand !== "none"],
    [{ isPresent: "false" }, ({ healthBand }) => healthBand === "churned" || healthBand === "none"],
    [{ seenWithinDays: 7 }, ({ lastSeenDay }) => lastSeenDay !== null && daysAgo(lastSeenDay) < 7],
    [{ notSeenForDays: 7 }, ({ lastSeenDay }) => lastSeenDay === null || daysAgo(lastSeenDay) >= 7],
    [{ trait: plan, match: "contains", value: "R" }, (user) => /r/i.test(traitText(user, plan))],
    [{ trait: plan, match: "isNot", value: "free" }, (user) => traitText(user, plan) !== "free"],
    [{ trait: industry, match: "isEmpty" }, (user) => traitText(user, industry) === ""],
    [{ trait: plan, match: "isNotEmpty" }, (user) => traitText(user, plan) !== ""],
    [
      {
        traits: JSON.stringify([{ trait: plan, match: "isNot", value: "free" }]),
        trait: industry,
        match: "isNotEmpty",
      },
      (user) => traitText(user, plan) !== "free" && traitText(user, industry) !== "",
    ],
    [
      {
        traits: JSON.stringify([
          { trait: plan, match: "isNotEmpty" },
          { trait: plan, match: "contains", value: "r" },
          { trait: plan, value: "pro" },
        ]),
      },
      (user) => traitText(user, plan) === "pro",
    ],
    [
      { state: "active", trait: plan, match: "isNotEmpty", seenWithinDays: 14, search: "a" },
      (user) =>
        user.state === "active" &&
        traitText(user, plan) !== "" &&
        user.lastSeenDay !== null &&
        daysAgo(user.lastSeenDay) < 14 &&
        [user.userId, user.email ?? "", user.name ?? ""].some((text) => text.toLowerCase().includes("a")),
    ],
  ];

  test("are filtered by scores, last day and traits, and counted", async () => {
    for (const [parameters, holds] of filters) {
      await eventually(async () => {
        const expected = users.filter(holds).map(({ userId }) => userId);
        const { total, users: found } = await ask<Users>("/api/users", { ...parameters, limit: 1_000 });
        expect([parameters, found.map(({ userId }) => userId).sort()]).toEqual([parameters, expected.sort()]);
        expect(total).toBe(expected.length);
      });
    }
    const sizes = filters.map(([, holds]) => users.filter(holds).length);
    expect(sizes.filter((size) => size > 0 && size < users.length).length).toBeGreaterThan(6);
  });

  test("of an account are its members", async () => {
    const { accountId } = accounts.find(({ members }) => members > 1) ?? { accountId: "" };
    const { users: found } = await ask<Users>("/api/users", { account: accountId });
    const expected = users.filter((user) => user.accountId === accountId);
    expect(found.map(({ userId }) => userId).sort()).toEqual(expected.map(({ userId }) => userId).sort());
    expect(expected.length).toBeGreaterThan(1);
  });

  const keys: Readonly<Record<string, (user: User) => string | number | null>> = {
    health: ({ health }) => health,
    risk: ({ risk }) => risk,
    engagement: ({ engagement }) => engagement,
    momentum: ({ momentum }) => momentum,
    change: ({ change }) => change,
    firstSeen: ({ firstSeenDay }) => firstSeenDay,
    firstIdentified: ({ firstIdentifiedAt }) => firstIdentifiedAt,
    name: ({ name, email }) => (name ?? email ?? "").toLowerCase(),
    account: ({ accountName, accountId }) => (accountName || accountId)?.toLowerCase() ?? null,
    trait: (user) => traitText(user, "plan").toLowerCase() || null,
  };

  test("are sorted by every column, with missing values last", async () => {
    for (const [sort, keyOf] of Object.entries(keys)) {
      for (const order of ["ascending", "descending"]) {
        const more: Parameters = sort === "trait" ? { sortTrait: "plan" } : {};
        const parameters = { sort, order, ...more, limit: 1_000 };
        const values = (await ask<Users>("/api/users", parameters)).users.map(keyOf);
        const present = values.filter((value) => value !== null);
        expect([sort, order, values.slice(present.length).every((value) => value === null)]).toEqual([
          sort,
          order,
          true,
        ]);
        const inOrder = present.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
        expect([sort, order, present]).toEqual([
          sort,
          order,
          order === "ascending" ? inOrder : inOrder.reverse(),
        ]);
      }
    }
  });

  test("as CSV are all that match, in order, unless a limit is sent", async () => {
    const parameters = { sort: "userId", order: "ascending", state: "active" };
    const csv = await (await get("/api/users", { ...parameters, format: "csv" })).text();
    const { users: found } = await ask<Users>("/api/users", { ...parameters, limit: 1_000 });
    const lines = csv.trimEnd().split("\r\n");
    expect(lines[0]).toStartWith("userId,email,name,");
    expect(lines.slice(1).map((line) => line.split(",")[0])).toEqual(found.map(({ userId }) => userId));
    expect(found.length).toBeGreaterThan(2);
    const two = await (await get("/api/users", { ...parameters, limit: 2, format: "csv" })).text();
    expect(two.trimEnd().split("\r\n")).toEqual(lines.slice(0, 3));
  });

  test.each([
    [{ value: "x" }, "trait"],
    [{ trait: "plan" }, "trait"],
    [{ match: "contains", value: "x" }, "trait"],
    [{ match: "like" }, "match"],
    [{ traits: "plan" }, "traits"],
    [{ traits: '{"trait":"plan"}' }, "traits"],
    [{ traits: '[{"trait":"plan"}]' }, "traits"],
    [{ traits: '[{"trait":"plan","match":"like","value":"x"}]' }, "traits.0.match"],
    [{ sort: "trait" }, "sortTrait"],
    [{ state: "gone" }, "state"],
    [{ seenWithinDays: 0 }, "seenWithinDays"],
    [{ since: "2026-02-30" }, "since"],
    [{ activeFrom: "2026-03-01" }, "activeTo"],
    [{ lifecycle: "new" }, "activeFrom"],
    [{ activeFrom: "2026-03-02", activeTo: "2026-03-01" }, "activeTo"],
    [{ activeFrom: "2020-03-01", activeTo: "2026-03-01" }, "activeTo"],
    [{ moved: "up" }, "moved"],
  ])("%j is refused, and %s is named", async (parameters, name) => {
    await expectError(await get("/api/users", parameters as Parameters), "validation_error", `${name} is`);
  });

  test("more than eight traits are refused", async () => {
    const traits = JSON.stringify(Array(9).fill({ trait: "plan", match: "isEmpty" }));
    const message = "traits has too many items: send a JSON array of up to 8.";
    await expectError(await get("/api/users", { traits }), "validation_error", message);
  });
});

describe("accounts", () => {
  test("are filtered by scores and last day, and counted", async () => {
    const filters: readonly (readonly [Parameters, (account: Account) => boolean])[] = [
      [{ state: "active" }, ({ state }) => state === "active"],
      [{ healthBand: "churned" }, ({ healthBand }) => healthBand === "churned"],
      [{ riskBand: "low" }, ({ riskBand }) => riskBand === "low"],
      [{ notSeenForDays: 14 }, ({ lastSeenDay }) => lastSeenDay === null || daysAgo(lastSeenDay) >= 14],
      [{ seenWithinDays: 14 }, ({ lastSeenDay }) => lastSeenDay !== null && daysAgo(lastSeenDay) < 14],
    ];
    for (const [parameters, holds] of filters)
      await eventually(async () => {
        const expected = accounts.filter(holds).map(({ accountId }) => accountId);
        const answer = await ask<Accounts>("/api/accounts", { ...parameters, limit: 1_000 });
        expect([parameters, answer.accounts.map(({ accountId }) => accountId).sort()]).toEqual([
          parameters,
          expected.sort(),
        ]);
        expect(answer.total).toBe(expected.length);
      });
  });

  test("are sorted by every column, and what lacks it comes last", async () => {
    const keys: Readonly<Record<string, (account: Account) => string | number | null>> = {
      health: ({ health }) => health,
      risk: ({ risk }) => risk,
      change: ({ change }) => change,
      members: ({ members }) => members,
      activeMembers: ({ activeMembers }) => activeMembers,
      firstSeen: ({ firstSeenDay }) => firstSeenDay,
      name: ({ name, accountId }) => (name || accountId).toLowerCase(),
    };
    for (const [sort, keyOf] of Object.entries(keys)) {
      const answer = await ask<Accounts>("/api/accounts", { sort, order: "ascending", limit: 1_000 });
      const present = answer.accounts.map(keyOf).filter((value) => value !== null);
      expect([sort, present]).toEqual([sort, present.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))]);
      expect(answer.accounts.slice(0, present.length).map(keyOf)).toEqual(present);
    }
    const csv = await (await get("/api/accounts", { format: "csv" })).text();
    expect(csv.trimEnd().split("\r\n")).toHaveLength(accounts.length + 1);
  });
});

/** Where two of three numbers lie at most: the quantile that the engine interpolates. */
function twoThirds(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * (2 / 3);
  const [low, high] = [sorted[Math.floor(at)] ?? Number.NaN, sorted[Math.ceil(at)] ?? Number.NaN];
  return low + (high - low) * (at - Math.floor(at));
}

test.each(["users", "accounts"] as const)(
  "health of %s usually changes in a week as a recount says",
  async (kind) => {
    interface Answer {
      readonly day: string;
      readonly usualChange: number | null;
      readonly users?: readonly User[];
      readonly accounts?: readonly Account[];
    }
    await eventually(async () => {
      const answer = await ask<Answer>(`/api/${kind}`, { limit: 1_000 });
      const ids = [
        ...(answer.users ?? []).map(({ userId }) => userId),
        ...(answer.accounts ?? []).map(({ accountId }) => accountId),
      ];
      const newest = Date.parse(answer.day);
      const dayOf = (week: number) => new Date(newest - 7 * week * 86_400_000).toISOString().slice(0, 10);
      const changes: number[] = [];
      for (const id of ids) {
        const { days } = await ask<{ days: { day: string; state: string; health: number | null }[] }>(
          `/api/${kind}/${encodeURIComponent(id)}/score/history`,
          { from: dayOf(4) },
        );
        const healths = [0, 1, 2, 3, 4].map((week) => {
          const found = days.find(({ day }) => day === dayOf(week));
          return found === undefined || found.state === "churned" ? null : found.health;
        });
        for (const [week, health] of healths.slice(1).entries()) {
          const later = healths[week];
          if (health !== null && later != null) changes.push(Math.abs(later - health));
        }
      }
      expect(changes.length).toBeGreaterThan(0);
      if (changes.length < 30) expect(answer.usualChange).toBeNull();
      else expect(answer.usualChange).toBeCloseTo(twoThirds(changes), 6);
    });
  },
);

test("by risk the highest comes first, then rows without a risk, the last seen first", async () => {
  const byRisk = (await ask<Users>("/api/users", { sort: "risk", limit: 1_000 })).users;
  const risks = byRisk.map(({ risk }) => risk ?? -1);
  expect(risks[0]).toBeGreaterThan(0);
  expect(risks).toEqual(risks.toSorted((a, b) => b - a));
  const rest = byRisk.filter(({ risk }) => risk === null);
  const seen = rest.map(({ lastSeenDay }) => lastSeenDay ?? "");
  expect(seen).toEqual(seen.toSorted().reverse());
  expect(new Set(rest.map(({ state }) => state))).toContain("churned");
  expect(new Set(seen).size).toBeGreaterThan(2);
});
