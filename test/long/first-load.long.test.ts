/**
 * What is shown while an organization's past arrives: at any moment "loading", or the scores of all of it.
 * The loader is slow, the schedule looks all the time, both processes are killed in the middle, and each way
 * in brings the past.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "../../simulation/random.ts";
import { joined } from "../people/support.ts";
import { quick } from "../served-as.ts";
import { Server } from "../server.ts";
import { revenuecatEvent } from "../sources/presets/revenuecat/payloads.ts";
import { until } from "../until.ts";

export const runsOn = { nodes: 3 };

const msPerDay = 86_400_000;
const random = new Random(35);
let server = await start();
const key = new Map<string, string>();

afterAll(() => server.stop());

/** @param scheduleMs null: only commands score */
function start(dataDir?: string, scheduleMs: number | null = 170, aheadMs = 0): Promise<Server> {
  // The look is at any phase of the load, whose rows are frozen once a second.
  const time = { ...quick, scheduleMs, aheadMs, loadMs: 1_000, quietLoadMs: 1_000 };
  return Server.start({ time, ...(dataDir !== undefined && { dataDir }) });
}

/** Parts in which the past of an organization comes. */
const partCount = 4;
const userCount = 120;
const accountCount = 20;
/** On this day users come for the last time who stop. */
const stoppedDaysAgo = 31;

interface Sent {
  readonly userId: string;
  readonly event: string;
  readonly timestamp: string;
}

/** Events of 60 days: of daily users, of some who come on one day of three, and of some who stopped after a
 * month. */
function past(): Sent[][] {
  const today = server.nowMs();
  const events = Array.from({ length: userCount }, (_, user) =>
    Array.from({ length: 60 }, (_, index): Sent[] => {
      const daysAgo = 60 - index;
      const comes = user % 3 === 0 || (user % 3 === 1 ? random.chance(0.33) : daysAgo >= stoppedDaysAgo);
      if (!comes) return [];
      const timestamp = new Date(today - daysAgo * msPerDay).toISOString();
      return [{ userId: `u${user}`, event: user % 2 === 0 ? "opened" : "shared", timestamp }];
    }).flat(),
  ).flat();
  // Whole users one after another: of half of them, every figure is false. Each part has the 1,000 rows of a
  // load in bulk: a smaller one is scored as it stands.
  expect(events.length).toBeGreaterThan(partCount * 1_000);
  return Array.from({ length: partCount }, (_, part) =>
    events.filter((_, at) => Math.floor((at * partCount) / events.length) === part),
  );
}

const kinds = ["user", "account"] as const;

interface Shown {
  readonly kind: (typeof kinds)[number];
  readonly freshness: { readonly loading: { readonly events: number; readonly hasScores: boolean } | null };
  readonly day: string | null;
  readonly counts: readonly {
    readonly healthBand: string;
    readonly riskBand: string | null;
    readonly count: number;
  }[];
}

async function shown(name: string, kind: Shown["kind"] = "user"): Promise<Shown> {
  const response = await fetch(`${server.url}/api/score-summary?kind=${kind}`, {
    headers: { Authorization: `Bearer ${key.get(name)}` },
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return { ...((await response.json()) as Omit<Shown, "kind">), kind };
}

const figures = ({ kind, day, counts }: Shown) => ({ kind, day, counts });

/** The server's clock stands still: a load is over 30 s after its last row, and on a slow machine a part may
 * take longer. */
const heldMs = server.nowMs();
const aheadMs = () => heldMs - Date.now();
let isHeld = true;

/** Reads again and again, also while the server is away, until `end` is called. */
function watch(name: string) {
  const seen: Shown[] = [];
  let ended = false;
  const reading = (async () => {
    while (!ended) {
      if (isHeld) server.putClockAhead(aheadMs());
      const startedMs = performance.now();
      const answer = await shown(name, kinds[seen.length % kinds.length]).catch(() => undefined);
      if (answer !== undefined) seen.push(answer);
      // Five readers without rests keep the engine from its work: the loads then take three times as long.
      await Bun.sleep(2 * (performance.now() - startedMs));
    }
  })();
  const more = (count: number) => {
    const before = seen.length;
    return until("the page was asked again", () => seen.length >= before + count);
  };
  const end = async () => {
    ended = true;
    await reading;
    return seen;
  };
  return { more, end };
}

/** Sends a part of the past. */
type Send = (part: readonly Sent[]) => Promise<void>;

async function expectAll(status: number, answers: readonly Promise<Response>[]): Promise<void> {
  const statuses = (await Promise.all(answers)).map((answer) => answer.status);
  expect(new Set(statuses)).toEqual(new Set([status]));
}

const batchOf = (part: readonly Sent[]) => ({ batch: part.map((event) => ({ ...event, type: "track" })) });

/** The ways in, for an organization's name and token. */
const ways: Readonly<Record<string, (name: string, token: string) => Send | Promise<Send>>> = {
  // Many at once: single ones after another are no load in bulk on a slow machine.
  track: (_, token) => (part) =>
    expectAll(
      201,
      part.map((event) => server.post("/track", token, event)),
    ),
  batch: (_, token) => (part) => expectAll(201, [server.post("/batch", token, batchOf(part))]),
  segment: (_, writeKey) => (part) => {
    const batch = batchOf(part).batch.map((event) => ({
      ...event,
      messageId: `${event.userId} ${event.timestamp}`,
    }));
    return expectAll(200, [server.post("/v1/batch", undefined, { batch, writeKey })]);
  },
  // Of users who churn when their subscription ends: RevenueCat says when, beside the application's events.
  webhook: async (name, token) => {
    const owner = await joined(server, name, "owner", `Owner of ${name}`);
    const body = { name: "billing", preset: "revenuecat" };
    await owner.json("POST", `/api/webhooks?organization=${owner.organization}`, body, 201);
    await server.command("settings", "set", "--organization", name, "--user-churn", "subscription");
    return async (part) => {
      const payments = part
        .flatMap(paymentOf)
        .map((payment) => server.post(`/v1/webhooks/billing/${token}`, undefined, payment));
      await Promise.all([
        expectAll(200, payments),
        expectAll(201, [server.post("/batch", token, batchOf(part))]),
      ]);
    };
  },
};

/** What RevenueCat says of a user once a week: a period has begun, and lasts a month, or the subscription has
 * ended. */
function paymentOf({ userId, timestamp }: Sent): object[] {
  const atMs = Date.parse(timestamp);
  const daysAgo = Math.round((server.nowMs() - atMs) / msPerDay);
  if (daysAgo % 7 !== stoppedDaysAgo % 7) return [];
  const hasEnded = Number(userId.slice(1)) % 3 === 2 && daysAgo === stoppedDaysAgo;
  const event = revenuecatEvent(hasEnded ? "EXPIRATION" : daysAgo > 52 ? "INITIAL_PURCHASE" : "RENEWAL", {
    app_user_id: userId,
    original_app_user_id: userId,
    aliases: [userId],
    subscriber_attributes: {},
    event_timestamp_ms: atMs,
    purchased_at_ms: atMs,
    expiration_at_ms: hasEnded ? atMs : atMs + 30 * msPerDay,
    transaction_id: `${userId} ${daysAgo}`,
    original_transaction_id: userId,
  });
  return [event];
}

/** An organization with its users, whose past is yet to come. @returns a token */
async function organization(name: string): Promise<string> {
  const token = await server.organization(name);
  await server.command("organization", "set", name, "--rate-limit", "10000", "--item-rate-limit", "100000");
  key.set(name, (await server.command("key", "create", "--organization", name)).trim());
  const batch = Array.from({ length: userCount }, (_, user) => ({
    type: "identify",
    userId: `u${user}`,
    email: `u${user}@example.com`,
    account: { id: `a${user % accountCount}`, name: `Account ${user % accountCount}` },
  }));
  expect((await server.post("/batch", token, { batch })).status).toBe(201);
  return token;
}

/** Each answer said that the past loads, or had the figures that a rebuild has. */
async function expectRight(name: string, seen: readonly Shown[]): Promise<void> {
  await server.command("rebuild", "--organization", name);
  await server.command("score", "--organization", name);
  const right = await Promise.all(kinds.map(async (kind) => figures(await shown(name, kind))));
  const totals = right.map(({ counts }) => counts.reduce((sum, { count }) => sum + count, 0));
  expect(totals).toEqual([userCount, accountCount]);
  const isLoading = ({ freshness: { loading } }: Shown) => loading !== null && !loading.hasScores;
  const isEmpty = ({ day, freshness }: Shown) => day === null && freshness.loading === null;
  const first = seen.findIndex((each) => !isEmpty(each));
  const others = seen.slice(first).filter((each) => !isLoading(each));
  // An import may be over between two looks at the pages.
  if (name !== "import") expect(seen.some(isLoading)).toBe(true);
  const different = new Set(others.map((each) => JSON.stringify(figures(each))));
  expect([...different].toSorted()).toEqual(right.map((each) => JSON.stringify(each)).toSorted());
}

/** An organization into which the past comes by one of the ways, and whose pages are read meanwhile. */
interface Load {
  readonly way: string;
  readonly parts: readonly Sent[][];
  readonly send: Send;
  readonly watched: ReturnType<typeof watch>;
}

async function begin(way: string, open: (typeof ways)[string]): Promise<Load> {
  const token = await organization(way);
  return { way, parts: past(), send: await open(way, token), watched: watch(way) };
}

/** Sends parts, each after pages were read for a while. */
async function sendParts({ parts, send, watched }: Load, from: number, to: number): Promise<void> {
  for (const part of parts.slice(from, to)) {
    await send(part);
    await watched.more(random.between(2, 12));
  }
}

/** Puts the clock to when a load that ends now is over. */
function endLoads(): void {
  isHeld = false;
  server.putClockAhead(aheadMs() + 61_000);
}

/** Imports the past, which ends with the scores. */
async function importAll(parts: readonly Sent[][], watched: Load["watched"]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-load-"));
  const files = parts.map((part, number) => {
    const file = join(folder, `${number}.jsonl`);
    writeFileSync(file, part.map((event) => JSON.stringify({ ...event, type: "track" })).join("\n"));
    return file;
  });
  await server.command("import", ...files, "--organization", "import");
  expect((await shown("import")).counts).not.toEqual([]);
  await watched.more(3);
}

describe("while the past arrives, the pages show that it loads or what a rebuild shows", () => {
  const seen = new Map<string, readonly Shown[]>();

  // All ways at once, with one kill in the middle of all: on PostgreSQL the lease of a killed leader lasts 30
  // s.
  beforeAll(async () => {
    const loads: Load[] = [];
    for (const [way, open] of Object.entries(ways)) loads.push(await begin(way, open));
    await organization("import");
    const ofImport = watch("import");
    await Promise.all([
      ...loads.map((load) => sendParts(load, 0, partCount / 2)),
      importAll(past(), ofImport),
    ]);
    seen.set("import", await ofImport.end());
    await server.crash();
    server = await start(server.dataDir, 170, aheadMs());
    await server.ready();
    await Promise.all(loads.map((load) => sendParts(load, partCount / 2, partCount)));
    endLoads();
    for (const { way, watched } of loads) {
      const loading = async () => (await shown(way)).freshness.loading;
      await until(`${way} has scores`, loading, (one) => one === null);
      await watched.more(3);
      seen.set(way, await watched.end());
    }
    // What is right is computed without the schedule, which scores earlier days of all of them for minutes.
    await server.kill("SIGTERM");
    server = await start(server.dataDir, null);
    await server.ready();
  });

  for (const way of [...Object.keys(ways), "import"]) {
    const how = way === "import" ? "which ends with the scores" : "with a kill in the middle";
    test(`by ${way}, ${how}`, () => expectRight(way, seen.get(way) ?? []));
  }
});
