/** A preview of settings over HTTP: it says what happens when the change is saved and everybody is scored
 * again. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { ModelAnswer, ScoreListAnswer } from "../../contract/api/scores.ts";
import type { SettingsPreviewAnswer } from "../../contract/api/settings-preview.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { Server } from "../server.ts";
import { answer, newKey } from "../specification/operation-support.ts";
import { randomFrom } from "./random.ts";

type Preview = Static<typeof SettingsPreviewAnswer>;
type Scores = Static<typeof ScoreListAnswer>["scores"];

const name = "Previewed";
const today = todayIn(quietZone);
const kinds = ["user", "account"] as const;
let server: Server;
let key = "";
/** By user: events as days ago, in the order in which they were done. */
let done: ReadonlyMap<string, readonly { readonly daysAgo: number; readonly event: string }[]>;

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  const token = await server.organization(name, "--timezone", quietZone);
  key = await newKey(server, name, "manage");
  const { said, all } = history(120, 200);
  const tracked = all.filter((item) => "event" in item);
  done = new Map(
    [...Map.groupBy(tracked, ({ userId }) => userId)].map(([userId, of]) => [
      userId,
      of.map(({ timestamp, event }) => ({
        daysAgo: Math.round(
          (Date.parse(`${formatDay(today)}T12:00:00Z`) - Date.parse(timestamp)) / 86_400_000,
        ),
        event,
      })),
    ]),
  );
  expect((await server.post("/v1/batch", token, { batch: said })).status).toBe(200);
  for (let from = 0; from < all.length; from += 1_000) {
    const response = await server.post("/batch", token, { batch: all.slice(from, from + 1_000) });
    expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  }
  for (const daysAgo of [84, 56, 28]) {
    await server.command("score", "--organization", name, "--as-of", formatDay(today - daysAgo));
  }
  await server.command("score", "--organization", name);
});
afterAll(() => server?.stop());

/** Users of 12 accounts, active on some days until they leave. Those who leave early have a low NPS, as
 * Segment sends it. */
function history(users: number, days: number) {
  const random = randomFrom(users);
  const at = (daysAgo: number) => `${formatDay(today - daysAgo)}T12:00:00Z`;
  const people = Array.from({ length: users }, (_, index) => {
    const userId = `u${index}`;
    const email = `${userId}@example.com`;
    const from = days - Math.floor((random() * days) / 2);
    const until = Math.floor(random() ** 2 * days * 0.6);
    const often = 0.1 + 0.5 * random();
    const active = Array.from({ length: from - until }, (_, passed) => from - passed).filter(
      (daysAgo) => daysAgo > 0 && (daysAgo === from || random() < often),
    );
    const account = { id: `account-${index % 12}`, name: `Account ${index % 12}` };
    const nps = Math.round(10 - (9 * until) / (days * 0.6));
    return {
      said: {
        type: "identify",
        messageId: `${userId} said`,
        userId,
        timestamp: at(from),
        traits: { email, nps },
      },
      items: [
        { type: "identify", userId, email, account },
        ...active.map((daysAgo) => ({
          type: "track",
          userId,
          timestamp: at(daysAgo),
          event: random() < 0.6 ? "opened" : "saved",
        })),
      ],
    };
  });
  return { said: people.map(({ said }) => said), all: people.flatMap(({ items }) => items) };
}

/** Sends a change. @throws Error with the status and the text of any answer but 200 */
async function send<Answer>(method: string, path: string, change: object): Promise<Answer> {
  const response = await fetch(server.url + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify(change),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text);
}

const preview = (change: object) => send<Preview>("POST", "/api/settings/preview", change);

async function scoresOf(kind: (typeof kinds)[number]): Promise<Scores> {
  const path = `/api/scores/${kind}s?limit=1000`;
  return (await answer<Static<typeof ScoreListAnswer>>(server, key, path)).scores;
}

/** How many moved between bands, as the preview says it. */
function movesBetween(before: Scores, after: Scores, band: "healthBand" | "riskBand") {
  const then = new Map(before.map((score) => [score.id, score[band]]));
  const counts = new Map<string, number>();
  for (const { id, ...score } of after) {
    const [from, to] = [then.get(id) ?? null, score[band]];
    if (from !== to) counts.set(`${from} ${to}`, (counts.get(`${from} ${to}`) ?? 0) + 1);
  }
  return counts;
}

/** Saves a change, scores everybody, and expects what the preview had said. */
async function expectForetold(change: object): Promise<Preview> {
  const before = await Promise.all(kinds.map(scoresOf));
  const foretold = await preview(change);
  expect(await Promise.all(kinds.map(scoresOf))).toEqual(before);
  await send("PATCH", "/api/settings", change);
  await server.command("score", "--organization", name);
  for (const [index, ofKind] of foretold.kinds.entries()) {
    const after = await scoresOf(ofKind.kind);
    const told = (moves: readonly { from: string | null; to: string | null; count: number }[]) =>
      new Map(moves.map(({ from, to, count }) => [`${from} ${to}`, count]));
    expect(told(ofKind.health)).toEqual(movesBetween(before[index] ?? [], after, "healthBand"));
    expect(told(ofKind.risk)).toEqual(movesBetween(before[index] ?? [], after, "riskBand"));
    expect(ofKind.entities).toBe(after.length);
  }
  return foretold;
}

describe("another definition of churn", () => {
  const horizonDays = 28;
  const isSilent = (of: readonly { readonly daysAgo: number }[]) =>
    of.some(({ daysAgo }, at) => daysAgo - (of[at + 1]?.daysAgo ?? 0) >= horizonDays);
  /** The state of a user by an event of before today, or by silence. */
  const stateOf = (
    of: readonly { readonly daysAgo: number; readonly event: string }[],
    churnEvent?: string,
  ) => {
    const last = of.at(-1);
    if (last?.event === churnEvent) return "churned";
    if ((last?.daysAgo ?? 0) >= horizonDays) return churnEvent === undefined ? "churned" : "inactive";
    return (of[0]?.daysAgo ?? 0) < 14 ? "new" : "active";
  };
  const definitionOf = ({ kinds: [users] }: Preview) => users?.definition;

  test("says who left in the past year by both, and whose state it changes", async () => {
    const target = { by: "event", event: "saved", undoneBy: "opened" };
    const all = [...done.values()];
    const moves = new Map<string, number>();
    for (const of of all) {
      const [from, to] = [stateOf(of), stateOf(of, "saved")];
      if (from !== to) moves.set(`${from} ${to}`, (moves.get(`${from} ${to}`) ?? 0) + 1);
    }
    const found = definitionOf(await preview({ churnTargets: { user: target } }));
    expect(found?.departuresBefore).toBe(all.filter(isSilent).length);
    expect(found?.departuresAfter).toBe(all.filter((of) => of.some(({ event }) => event === "saved")).length);
    expect(new Map(found?.states.map(({ from, to, count }) => [`${from} ${to}`, count]))).toEqual(moves);
    expect(found?.stateChanged).toBe([...moves.values()].reduce((sum, count) => sum + count, 0));
    expect(found?.stateChanged).toBeGreaterThan(0);
    expect(found?.departuresBefore).toBeGreaterThan(0);
  });

  test("by a trait or by subscriptions, and of accounts, is counted as well", async () => {
    const byTrait = await preview({
      churnTargets: { account: { by: "trait", trait: "plan", values: ["gone"] } },
    });
    const [users, accounts] = byTrait.kinds;
    expect(users?.definition).toBeNull();
    // Nobody was ever said to be gone: those who were silent are inactive.
    expect(accounts?.definition?.departuresAfter).toBe(0);
    expect(
      accounts?.definition?.states.every(({ from, to }) => from === "churned" && to === "inactive"),
    ).toBe(true);
    const bySubscription = definitionOf(await preview({ churnTargets: { user: { by: "subscription" } } }));
    expect(bySubscription?.departuresAfter).toBe(0);
  });

  test("is none while it stays", async () => {
    const { kinds: ofKinds } = await preview({
      healthWeights: { engagement: 25, outlook: 50, momentum: 25, adoption: 0 },
    });
    expect(ofKinds.map(({ definition }) => definition)).toEqual([null, null]);
  });
});

test("weights, traits in health and risk bands: the bands, and how well health told the churned", async () => {
  const foretold = await expectForetold({
    healthWeights: { engagement: 5, outlook: 15, momentum: 20, adoption: 0 },
    healthTraits: [{ trait: "nps", zeroAt: 0, hundredAt: 10, weight: 60 }],
    riskBands: { user: { medium: 0.15, high: 0.3 } },
  });
  const [users, accounts] = foretold.kinds;
  expect(users?.healthChanged).toBeGreaterThan(5);
  expect(users?.riskChanged).toBeGreaterThan(0);
  expect(accounts?.riskChanged).toBe(0);
  expect(foretold.uncounted).toEqual([]);
  const { aucBefore, aucAfter, departures, cutoffs } = users?.pastHealth ?? failed();
  expect(departures).toBeGreaterThan(10);
  expect(cutoffs).toBe(3);
  for (const auc of [aucBefore, aucAfter]) expect(auc).toBeWithin(0.5, 1);
  expect(aucAfter).not.toBe(aucBefore);
  expect([users?.horizons, accounts?.horizons]).toEqual([null, null]);
});

/** The figures of a horizon as the model page has them. */
async function proofOf(kind: (typeof kinds)[number]) {
  const card = await answer<Static<typeof ModelAnswer>>(server, key, `/api/model?kind=${kind}`);
  const serving = card.models.find(({ model }) => model === card.model);
  return { horizonDays: card.horizonDays, cutoffs: serving?.cutoffs, auc: serving?.auc };
}

test("another horizon: the bands by a model for it, and both back-tests", async () => {
  const proofBefore = await proofOf("user");
  const { kinds: previews } = await expectForetold({ churnHorizonDays: 14 });
  const [users] = previews;
  expect(users?.pastHealth).toBeNull();
  expect(users?.riskChanged).toBeGreaterThan(0);
  const { before, after } = users?.horizons ?? failed();
  expect([before.horizonDays, after.horizonDays]).toEqual([28, 14]);
  expect([before, after]).toMatchObject([proofBefore, await proofOf("user")]);
  for (const { auc, skill, cutoffs, departures } of [before, after]) {
    expect(auc).toBeWithin(0.5, 1);
    expect(skill).toBeWithin(-1, 1);
    expect([cutoffs > 0, departures > 0]).toEqual([true, true]);
  }
});

test("names what it does not count, and refuses what saving would refuse", async () => {
  const { uncounted, changes, kinds: previews } = await preview({ keyEvents: ["saved"], weekStart: 7 });
  expect(uncounted).toEqual(["keyEvents"]);
  expect(changes.map(({ setting }) => setting).toSorted()).toEqual(["keyEvents", "weekStart"]);
  expect(previews.map(({ healthChanged, riskChanged }) => [healthChanged, riskChanged])).toEqual([
    [0, 0],
    [0, 0],
  ]);
  await expect(preview({ healthWeights: { engagement: 100 } })).rejects.toThrow("add up to");
  await expect(preview({ version: 0, weekStart: 7 })).rejects.toThrow("409");
});

test("a second preview of another horizon is refused, and that of another organization is not", async () => {
  await server.organization("Previewed beside");
  const others = await newKey(server, "Previewed beside", "manage");
  const ask = async (by: string) => {
    const response = await fetch(`${server.url}/api/settings/preview`, {
      method: "POST",
      headers: { Authorization: `Bearer ${by}`, "Content-Type": "application/json" },
      body: JSON.stringify({ churnHorizonDays: 56 }),
    });
    await response.text();
    return response.status;
  };
  const [first, second, other] = await Promise.all([ask(key), ask(key), ask(others)]);
  expect([first, second].toSorted()).toEqual([200, 429]);
  expect(other).toBe(200);
});

function failed(): never {
  throw new Error("there is no preview");
}
