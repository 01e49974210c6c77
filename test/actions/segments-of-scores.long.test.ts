/** Figures of scores of a segment over HTTP: of two segments that have all users, or all accounts, they add
 * up to those of all. */

import { beforeAll, describe, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { identify, sendAll, track } from "../erasure/support.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { ownServer } from "../own-server.ts";
import { joined } from "../people/support.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";

const organization = "Scores of segments";
const server: Server = await ownServer(() => server, { time: quick });
let olga: Awaited<ReturnType<typeof joined>>;
const at = (path: string) => `${path}${path.includes("?") ? "&" : "?"}organization=${olga.organization}`;
const get = <Answer>(path: string) => olga.json<Answer>("GET", at(path));
const today = todayIn(quietZone);
const dayAgo = (days: number) => formatDay(today - days);

/** Users of nine accounts. Some were active until a few days ago, others until weeks ago. */
const people = Array.from({ length: 36 }, (_, n) => ({
  id: `user ${n}`,
  account: `account ${n % 9}`,
  activeUntil: [1, 1, 27, 27, 34, 36, 50, 24, 40][n % 9] ?? 1,
}));
const kinds = ["user", "account"] as const;
type Kind = (typeof kinds)[number];
const idOf: Readonly<Record<Kind, (one: (typeof people)[number]) => string>> = {
  user: ({ id }) => id,
  account: ({ account }) => account,
};
/** By kind: two segments that have all of them. */
const halves: Record<Kind, number[]> = { user: [], account: [] };

beforeAll(async () => {
  const token = await server.organization(organization, "--timezone", quietZone);
  olga = await joined(server, organization, "owner", "Olga Owner");
  const began = (id: string, days: number) =>
    track(id, "subscription_started", `${dayAgo(days)}T12:00:00Z`, {
      properties: {
        subscriptionId: `of ${id}`,
        plan: "pro",
        amount: 900 + days,
        currency: "USD",
        interval: "month",
      },
    });
  await sendAll(server, token, [
    ...people.flatMap(({ id, account, activeUntil }) => [
      identify(id, {
        email: `${id.replace(" ", ".")}@example.com`,
        account: { id: account, name: `The ${account}` },
      }),
      ...Array.from({ length: 30 }, (_, time) =>
        track(id, "opened", `${dayAgo(activeUntil + time * 2)}T12:00:00Z`),
      ),
    ]),
    ...people.slice(0, 9).map(({ id }, n) => began(id, 100 + n)),
  ]);
  await server.exported("events", organization);
  for (const days of [28, 14, 7, 0]) {
    const options = ["--organization", organization, "--as-of", dayAgo(days), "--even-if-stopped"];
    await server.command("score", ...options);
  }
  for (const kind of kinds) {
    const all = [...new Set(people.map(idOf[kind]))];
    for (const [half, ids] of [
      all.filter((_, n) => n % 3 === 0),
      all.filter((_, n) => n % 3 !== 0),
    ].entries()) {
      halves[kind].push(await saved(`Half ${half} of ${kind}s`, { kind: `${kind}s`, ids }));
    }
  }
});

async function saved(name: string, body: object): Promise<number> {
  const answer = await olga.json<RouteAnswer<"POST /api/segments">>(
    "POST",
    at("/api/segments"),
    { name, ...body },
    201,
  );
  return answer.id;
}

/** The answers about both halves, and about all. */
async function answers<Answer>(path: string, segments: readonly number[]) {
  const parts: Answer[] = [];
  for (const segment of segments) parts.push(await get<Answer>(`${path}&segment=${segment}`));
  return { whole: await get<Answer>(path), parts };
}

/** The sum of a number of rows, by their keys. */
function sumsBy<Row>(rows: readonly Row[], key: (row: Row) => unknown, number: (row: Row) => number) {
  const sums = new Map<string, number>();
  for (const row of rows) {
    const name = JSON.stringify(key(row));
    sums.set(name, (sums.get(name) ?? 0) + number(row));
  }
  return Object.fromEntries([...sums].sort());
}

describe.each([
  ["user", "user"],
  ["account", "account"],
  ["user", "account"],
] as const)("of two segments of all, for the kind %s and segments of the kind %s,", (kind, of) => {
  const asked = <Answer>(path: string) => answers<Answer>(`${path}kind=${kind}`, halves[of]);

  test("health by week adds up", async () => {
    const { whole, parts } = await asked<RouteAnswer<"GET /api/health-by-week">>("/api/health-by-week?");
    expect(whole.weeks.map(({ day }) => day)).toEqual([28, 14, 7, 0].map(dayAgo));
    for (const health of [
      "healthy",
      "watch",
      "atRisk",
      "onboarding",
      "churned",
      "none",
      "withRisk",
    ] as const) {
      const by = (some: readonly (typeof whole)[]) =>
        sumsBy(
          some.flatMap(({ weeks }) => weeks),
          ({ day }) => day,
          (week) => week[health],
        );
      expect([health, by(parts)]).toEqual([health, by([whole])]);
    }
    expect(parts.map(({ weeks }) => weeks.length)).toEqual([4, 4]);
  });

  test("bands, moves between them and movers add up", async () => {
    const summary = await asked<RouteAnswer<"GET /api/score-summary">>("/api/score-summary?");
    expect(summary.whole.movement.length).toBeGreaterThan(1);
    for (const table of ["counts", "movement"] as const) {
      const by = (some: readonly (typeof summary.whole)[]) =>
        sumsBy(
          some.flatMap((one): { readonly count: number }[] => one[table]),
          ({ count: _, ...row }) => row,
          ({ count }) => count,
        );
      expect(by(summary.parts)).toEqual(by([summary.whole]));
    }
    const movers = await asked<RouteAnswer<"GET /api/movers">>("/api/movers?limit=100&");
    const ids = (some: readonly (typeof movers.whole)[]) =>
      some.flatMap((one) => one.movers.map(({ id }) => id)).sort();
    expect(ids(movers.parts)).toEqual(ids([movers.whole]));
    for (const way of ["fell", "rose"] as const) {
      expect(movers.parts.reduce((sum, { totals }) => sum + totals[way], 0)).toBe(movers.whole.totals[way]);
    }
    expect(movers.whole.totals.fell).toBeGreaterThan(2);
  });

  test("lists of scores, and of those that churned, have each once", async () => {
    const scores = await answers<RouteAnswer<"GET /api/scores/users">>(
      `/api/scores/${kind}s?limit=1000`,
      halves[of],
    );
    const idsOf = (some: readonly (readonly { readonly id: string }[])[]) =>
      some
        .flat()
        .map(({ id }) => id)
        .sort();
    expect(scores.parts.reduce((sum, { total }) => sum + total, 0)).toBe(scores.whole.total);
    expect(idsOf(scores.parts.map((one) => one.scores))).toEqual(idsOf([scores.whole.scores]));
    const winBack = await asked<RouteAnswer<"GET /api/win-back">>("/api/win-back?days=30&");
    expect(winBack.whole.total).toBeGreaterThan(1);
    expect(idsOf(winBack.parts.map((one) => one.churned))).toEqual(idsOf([winBack.whole.churned]));
    for (const sum of ["total", "lastMrr"] as const) {
      expect(winBack.parts.reduce((all, one) => all + (one[sum] ?? 0), 0)).toBe(winBack.whole[sum] ?? 0);
    }
  });
});

test("accounts at risk of two segments that have all accounts add up", async () => {
  const { whole, parts } = await answers<RouteAnswer<"GET /api/accounts-at-risk">>(
    "/api/accounts-at-risk?limit=100",
    halves.account,
  );
  expect(whole.total).toBeGreaterThan(1);
  for (const figure of ["total", "scored", "members"] as const) {
    expect(parts.reduce((sum, part) => sum + part[figure], 0)).toBe(whole[figure]);
  }
});

test("a segment of users is refused where accounts are asked for", async () => {
  const [first = 0] = halves.user;
  for (const path of [
    "/api/health-by-week?kind=account",
    "/api/score-summary?kind=account",
    "/api/movers?kind=account",
    "/api/win-back?kind=account",
    "/api/scores/accounts?limit=1",
    "/api/accounts-at-risk?limit=1",
  ]) {
    const response = await olga.ask("GET", at(`${path}&segment=${first}`));
    expect([path, response.status, ((await response.json()) as { message: string }).message]).toEqual([
      path,
      400,
      "segment is not valid: Half 0 of users is a segment of users.",
    ]);
  }
});

describe("falls", () => {
  type Users = RouteAnswer<"GET /api/users">;
  const idsOf = ({ users }: Users) => users.map(({ userId }) => userId).sort();
  const listed = async (query: string) => idsOf(await get<Users>(`/api/users?limit=1000&${query}`));
  /** Events of days before today, from the first to the last of them. */
  const eventsOf = ({ activeUntil }: (typeof people)[number], first: number, last: number) =>
    Array.from({ length: 30 }, (_, time) => activeUntil + time * 2).filter(
      (days) => days >= first && days <= last,
    ).length;
  const fellBy = (percent: number) =>
    people
      .filter((one) => {
        const [now, before] = [eventsOf(one, 1, 28), eventsOf(one, 29, 56)];
        return before > 0 && now <= before * (1 - percent / 100);
      })
      .map(({ id }) => id)
      .sort();

  test.each([1, 50, 90, 100])("of use by %d per cent list those who did so much less", async (percent) => {
    const expected = fellBy(percent);
    expect(expected.length).toBeGreaterThan(0);
    expect(expected.length).toBeLessThan(people.length);
    expect(await listed(`usageFellPercent=${percent}`)).toEqual(expected);
    const { accounts } = await get<RouteAnswer<"GET /api/accounts">>(
      `/api/accounts?usageFellPercent=${percent}`,
    );
    const ids = people.filter(({ id }) => expected.includes(id)).map(({ account }) => account);
    expect(accounts.map(({ accountId }) => accountId).sort()).toEqual([...new Set(ids)].sort());
    const csv = await (
      await olga.ask("GET", at(`/api/users?usageFellPercent=${percent}&format=csv&columns=userId`))
    ).text();
    expect(csv.trim().split("\r\n").slice(1).sort()).toEqual(expected);
  });

  test("of health are those of the change since that day", async () => {
    for (const days of [7, 14, 28]) {
      const { users } = await get<Users>(`/api/users?limit=1000&since=${dayAgo(days)}`);
      const fell = users.filter(({ change }) => change !== null && change <= -10).map(({ userId }) => userId);
      expect(await listed(`healthFellPoints=10&healthFellDays=${days}`)).toEqual(fell.sort());
    }
    expect((await listed("healthFellPoints=10")).length).toBeGreaterThan(0);
    expect(await listed("moved=fell&comparedWithDays=7")).toEqual(
      await listed(`moved=fell&since=${dayAgo(7)}`),
    );
  });

  test("are conditions of segments, by the API and the command line", async () => {
    const byApi = await saved("Use fell", {
      kind: "users",
      filter: { usageFellPercent: 50, verdict: "not_churned" },
    });
    expect(await listed(`segment=${byApi}`)).toEqual(await listed("usageFellPercent=50&verdict=not_churned"));
    const filter = JSON.stringify({ healthFellPoints: 10, healthFellDays: 7 });
    const options = ["--organization", organization, "--filter", filter];
    await server.command("segment", "create", "Health fell", ...options);
    const { segments } = await get<RouteAnswer<"GET /api/segments">>("/api/segments");
    const byCommand = segments.find(({ name }) => name === "Health fell")?.id;
    expect(await listed(`segment=${byCommand}`)).toEqual(
      await listed("healthFellPoints=10&healthFellDays=7"),
    );
  });

  test.each([
    ["usageFellPercent=0", "usageFellPercent"],
    ["usageFellPercent=101", "usageFellPercent"],
    ["healthFellPoints=5&healthFellDays=29", "healthFellDays"],
    ["healthFellDays=7", "healthFellPoints"],
    ["moved=fell&comparedWithDays=14", "comparedWithDays"],
    [`moved=fell&comparedWithDays=7&since=${dayAgo(7)}`, "since"],
  ])("are refused as %s", async (query, named) => {
    const refused = await olga.ask("GET", at(`/api/users?${query}`));
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(named)]);
  });
});
