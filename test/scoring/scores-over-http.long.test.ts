/** Scores through HTTP: events are sent, `rekindle score` runs beside the server, and the API returns the
 * scores. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Static } from "typebox";
import type {
  HistoryAnswer,
  ModelAnswer,
  MoversAnswer,
  ScoreAnswer,
  ScoreListAnswer,
  SummaryAnswer,
} from "../../contract/api/scores.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { Server } from "../server.ts";
import { randomFrom } from "./random.ts";

let server: Server;
const today = todayIn(quietZone);

interface Tenant {
  readonly name: string;
  readonly token: string;
  readonly key: string;
}

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
});
afterAll(() => server.stop());

async function tenant(name: string): Promise<Tenant> {
  const token = await server.organization(name, "--timezone", quietZone);
  const key = (await server.command("key", "create", "--organization", name)).trim();
  return { name, token, key };
}

async function get<Answer>({ key }: Tenant, path: string): Promise<Answer> {
  const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json() as Promise<Answer>;
}

const scoreOf = (who: Tenant, path: string) => get<Static<typeof ScoreAnswer>>(who, path);
const sum = (parts: Readonly<Record<string, number>>) =>
  Object.values(parts).reduce((total, part) => total + part, 0);

interface Sent {
  readonly userId: string;
  /** Whole days before today, from 0. */
  readonly daysAgo: number;
  readonly event?: string;
}

async function send({ token }: Tenant, users: readonly string[], events: readonly Sent[]): Promise<void> {
  const identify = users.map((userId, index) => ({
    type: "identify",
    userId,
    email: `${userId}@example.com`,
    account: { id: `account-${index % 5}`, name: `Account ${index % 5}` },
  }));
  const track = events.map(({ userId, daysAgo, event = "opened" }) => ({
    type: "track",
    userId,
    event,
    timestamp: `${formatDay(today - daysAgo)}T12:00:00Z`,
  }));
  const all = [...identify, ...track];
  for (let from = 0; from < all.length; from += 1_000) {
    const response = await server.post("/batch", token, { batch: all.slice(from, from + 1_000) });
    expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  }
}

/** Users who are active on some days until they leave. */
function people(count: number, days: number): { users: string[]; events: Sent[] } {
  const random = randomFrom(count);
  const users = Array.from({ length: count }, (_, index) => `u${index}`);
  const events = users.flatMap((userId) => {
    const [from, until] = [days - Math.floor((random() * days) / 2), Math.floor((random() ** 2 * days) / 2)];
    const often = 0.1 + 0.5 * random();
    return Array.from({ length: from - until }, (_, index) => from - index)
      .filter((daysAgo) => daysAgo > 0 && (daysAgo === from || random() < often))
      .map((daysAgo) => ({ userId, daysAgo, event: random() < 0.6 ? "opened" : "saved" }));
  });
  return { users, events };
}

describe("scores of an organization", () => {
  let acme: Tenant;

  beforeAll(async () => {
    acme = await tenant("Front door");
    const { users, events } = people(90, 200);
    await send(
      acme,
      [...users, "regular", "silent", "fresh"],
      [
        ...events,
        ...Array.from({ length: 150 }, (_, index) => ({ userId: "regular", daysAgo: index + 1 })),
        ...Array.from({ length: 60 }, (_, index) => ({ userId: "silent", daysAgo: 12 + 2 * index })),
        { userId: "fresh", daysAgo: 0 },
      ],
    );
    const monthAgo = formatDay(today - 28);
    await server.command("score", "--organization", "Front door", "--as-of", monthAgo);
    await server.command("score", "--organization", "Front door");
  });

  test("of a user add up, and say why in words", async () => {
    const { day, state, health, engagement, risk, momentum, model, note } = await scoreOf(
      acme,
      "/api/users/silent/score",
    );
    expect([day, state, note]).toEqual([formatDay(today), "active", null]);
    expect(sum(health.contributions) + health.cap).toBeCloseTo(health.score ?? Number.NaN, 9);
    expect(sum(engagement?.contributions ?? {})).toBeCloseTo(engagement?.score ?? Number.NaN, 9);
    const points = (risk?.reasons ?? []).reduce((total, reason) => total + reason.points, 0);
    expect(points).toBeCloseTo(100 * ((risk?.probability ?? 0) - (risk?.referenceRisk ?? 0)), 6);
    expect(risk?.reasons.find(({ group }) => group === "use")?.text).toMatch(
      /^(use fell by \d+%; )?silent for 12 days, usually active every 2 days: \+\d+ points$/,
    );
    expect(momentum).toBeLessThan(50);
    expect(model?.model).toBe("bgbb");
  });

  test("separate healthy users from the others", async () => {
    const [regular, silent] = await Promise.all(
      ["regular", "silent"].map((id) => scoreOf(acme, `/api/users/${id}/score`)),
    );
    expect(regular?.health.score).toBeGreaterThan(silent?.health.score ?? 100);
    expect(regular?.risk?.probability).toBeLessThan(silent?.risk?.probability ?? 0);
    expect(regular?.engagement?.rank).toBeGreaterThan(0.8);
  });

  test("say when the first will come, and that there are no users", async () => {
    const fresh = await scoreOf(acme, "/api/users/fresh/score");
    expect([fresh.state, fresh.health.score, fresh.risk]).toEqual(["no_data", null, null]);
    expect(fresh.note).toContain("the first score is that of the day after");
    const missing = await fetch(`${server.url}/api/users/nobody/score`, {
      headers: { Authorization: `Bearer ${acme.key}` },
    });
    expect(missing.status).toBe(404);
  });

  test("change by what was done, by time and by settings, which add up", async () => {
    const { change } = await scoreOf(acme, `/api/users/silent/score?since=${formatDay(today - 28)}`);
    expect(change?.sinceDay).toBe(formatDay(today - 28));
    for (const part of [change?.health, change?.engagement, change?.risk]) {
      const { total, behaviour, time, settings } = part ?? failed();
      expect(behaviour + time + settings).toBeCloseTo(total, 9);
      expect(total).not.toBe(0);
    }
    // Silence is behaviour in each of them.
    expect(change?.health?.behaviour).toBeLessThan(0);
    expect(change?.engagement?.behaviour).toBeLessThan(0);
    expect(change?.risk?.behaviour).toBeGreaterThan(0);
    expect(change?.engagement?.time).toBeCloseTo(0, 9);
    expect(change?.text).toMatch(/^Down \d+: active on 9 days of 28, was 14; silent for 12 days[;.]/);
    const account = await scoreOf(acme, `/api/accounts/account-1/score?since=${formatDay(today - 28)}`);
    const { total, behaviour, time, settings } = account.change?.health ?? failed();
    expect(behaviour + time + settings).toBeCloseTo(total, 9);
  });

  test("of accounts come from their members and their own stream", async () => {
    const account = await scoreOf(acme, "/api/accounts/account-1/score");
    expect(Object.keys(account.engagement?.contributions ?? {})).toEqual(["members", "activeShare"]);
    expect(account.health.score).toBeGreaterThan(0);
    expect(account.state).toBe("active");
  });

  test("are listed in order, filtered, page by page, and as CSV", async () => {
    const list = await get<Static<typeof ScoreListAnswer>>(acme, "/api/scores/users?sort=health&limit=1000");
    expect(list.total).toBe(92);
    const healths = list.scores.map(({ health }) => health ?? 101);
    expect(healths).toEqual(healths.toSorted((a, b) => a - b));
    const high = await get<Static<typeof ScoreListAnswer>>(
      acme,
      "/api/scores/users?riskBand=high&sort=risk&order=descending&limit=2&offset=1",
    );
    expect(high.total).toBe(list.scores.filter(({ riskBand }) => riskBand === "high").length);
    expect(high.scores.every(({ risk }) => (risk ?? 0) >= 0.5)).toBe(true);
    expect(list.scores.find(({ id }) => id === "regular")).toMatchObject({
      label: "regular@example.com",
      healthBand: "healthy",
    });
    const csv = await fetch(`${server.url}/api/scores/accounts?format=csv`, {
      headers: { Authorization: `Bearer ${acme.key}` },
    });
    const lines = (await csv.text()).trim().split("\r\n");
    expect(lines[0]).toBe(
      "id,label,controlUntil,state,healthBand,health,risk,engagement,momentum,riskBand,ratioToBaseRate,change,activityPosition",
    );
    expect(lines).toHaveLength(6);
  });

  test("are summed up, with what moved", async () => {
    const summary = await get<Static<typeof SummaryAnswer>>(acme, "/api/score-summary");
    expect(summary.counts.reduce((total, { count }) => total + count, 0)).toBe(92);
    expect(summary.sinceDay).toBe(formatDay(today - 28));
    expect(summary.movement.reduce((total, { count }) => total + count, 0)).toBe(92);
    const { movers } = await get<Static<typeof MoversAnswer>>(
      acme,
      `/api/movers?limit=3&since=${formatDay(today - 28)}`,
    );
    expect(movers).toHaveLength(6);
    expect(movers.map(({ change }) => Math.sign(change ?? 0))).toEqual([1, 1, 1, -1, -1, -1]);
  });

  test("are kept by day, with a card of the model", async () => {
    const { days } = await get<Static<typeof HistoryAnswer>>(acme, "/api/users/regular/score/history");
    expect(days.map(({ day }) => day)).toContain(formatDay(today - 28));
    const bounded = await get<Static<typeof HistoryAnswer>>(
      acme,
      `/api/users/regular/score/history?from=${formatDay(today)}`,
    );
    expect(bounded.days.map(({ day }) => day)).toEqual([formatDay(today)]);
    const card = await get<Static<typeof ModelAnswer>>(acme, "/api/model");
    expect(card).toMatchObject({
      kind: "user",
      model: "bgbb",
      isProven: false,
      horizonDays: 28,
      isCurrent: true,
    });
    expect(card.next?.model).toBe("bgbb-platt");
    expect(card.realised.length).toBeGreaterThan(1);
    for (const { churned, count, low, high } of card.realised) {
      expect(churned / count).toBeWithin(low - 1e-12, high + 1e-12);
    }
  });

  test("get the risk bands of the settings, in sums, in lists and on their own, without another model", async () => {
    const before = await get<Static<typeof SummaryAnswer>>(acme, "/api/score-summary");
    const { trainedDay } = await get<Static<typeof ModelAnswer>>(acme, "/api/model");
    const { medium, high, cap } = before.riskLimits ?? failed();
    const set = (bounds: string) =>
      server.command("settings", "set", "--organization", acme.name, "--user-risk-bands", bounds);
    await set(".05,.25");
    await server.command("score", "--organization", acme.name);
    const after = await get<Static<typeof SummaryAnswer>>(acme, "/api/score-summary");
    expect(after.riskLimits).toEqual({ medium: 0.05, high: 0.25, cap, byBaseRate: { medium, high } });
    const { scores } = await get<Static<typeof ScoreListAnswer>>(acme, "/api/scores/users?limit=1000");
    const bands = new Set<string>();
    for (const { risk, riskBand } of scores) {
      const band = risk === null ? null : risk >= 0.25 ? "high" : risk >= 0.05 ? "medium" : "low";
      expect(riskBand).toBe(band);
      if (riskBand !== null) bands.add(riskBand);
    }
    expect(bands).toContain("high");
    const one = await scoreOf(acme, "/api/users/silent/score");
    expect(one.model?.riskLimits).toEqual(after.riskLimits ?? failed());
    expect((await get<Static<typeof ModelAnswer>>(acme, "/api/model")).trainedDay).toBe(trainedDay);
    const accounts = await get<Static<typeof SummaryAnswer>>(acme, "/api/score-summary?kind=account");
    expect(accounts.riskLimits).toMatchObject({ ...accounts.riskLimits?.byBaseRate });
  });

  test("stay within their organization", async () => {
    const other = await tenant("Other door");
    await send(other, ["regular"], [{ userId: "regular", daysAgo: 3 }]);
    await server.command("score", "--organization", "Other door");
    const list = await get<Static<typeof ScoreListAnswer>>(other, "/api/scores/users");
    expect(list.scores.map(({ id, state }) => [id, state])).toEqual([["regular", "new"]]);
    const { model, risk } = await scoreOf(other, "/api/users/regular/score");
    expect([model?.model, model?.isProven, model?.lacksData, risk]).toEqual([null, false, true, null]);
  });
});

function failed(): never {
  throw new Error("there is no change");
}
