/** The default order of lists with scores: by risk, and the change of health that is usual. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { AccountListAnswer, UserListAnswer } from "../../contract/api/lists.ts";
import { Server } from "../server.ts";
import { eventually } from "../specification/operation-support.ts";

type Users = Static<typeof UserListAnswer>;
type User = Users["users"][number];
type Account = Static<typeof AccountListAnswer>["accounts"][number];

let server: Server;
let key: string;

beforeAll(async () => {
  server = await Server.start();
  await server.ready();
  await server.demo("--users", "90", "--weeks", "12");
  // The usual change is taken from the newest scores and those of the weeks before.
  for (const weeksAgo of [4, 3, 2, 1, 0]) {
    const day = new Date(Date.now() - weeksAgo * 7 * 86_400_000).toISOString().slice(0, 10);
    await server.command("score", "--organization", "Demo", "--as-of", day);
  }
  key = (await server.command("key", "create", "--organization", "Demo")).trim();
}, 180_000);
afterAll(() => server.stop());

async function ask<Answer>(
  path: string,
  parameters: Readonly<Record<string, string | number>>,
): Promise<Answer> {
  const pairs = Object.entries(parameters).map(([name, value]) => [name, String(value)] as const);
  const query = new URLSearchParams(Object.fromEntries(pairs));
  const address = `${server.url}${path}?${query}`;
  for (;;) {
    const response = await fetch(address, { headers: { Authorization: `Bearer ${key}` } });
    const text = await response.text();
    // A key may ask 100 times a second.
    if (response.status === 429) {
      await Bun.sleep(200);
      continue;
    }
    expect([address, response.status, text.slice(0, 200)]).toEqual([address, 200, text.slice(0, 200)]);
    return JSON.parse(text) as Answer;
  }
}

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
          ...([`/api/${kind}/${encodeURIComponent(id)}/score/history`, { from: dayOf(4) }] as const),
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
      if (changes.length < 30) return changes.length > 0 && answer.usualChange === null;
      return Math.abs((answer.usualChange ?? Number.NaN) - twoThirds(changes)) < 1e-6;
    }, true);
  },
  180_000,
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
