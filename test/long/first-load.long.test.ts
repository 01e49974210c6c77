/**
 * What is shown while an organization's past arrives: at any moment "loading", or the scores of all of it. The loader is slow, the
 * schedule looks all the time, both processes are killed in the middle, and each way in brings the past.
 */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "../../simulation/random.ts";
import { quick } from "../served-as.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";

export const runsOn = { postgres: true };

const msPerDay = 86_400_000;
const random = new Random(35);
let server = await start();
const key = new Map<string, string>();

afterAll(() => server.stop());

function start(dataDir?: string): Promise<Server> {
  // The look is at any phase of the load, whose rows are frozen once a second.
  const time = { ...quick, scheduleMs: 170, loadMs: 1_000, quietLoadMs: 1_000 };
  return Server.start({ time, ...(dataDir !== undefined && { dataDir }) });
}

interface Sent {
  readonly userId: string;
  readonly event: string;
  readonly timestamp: string;
}

/** Events of 60 days: of daily users, of some who come on one day of three, and of some who stopped after a month. */
function past(): Sent[][] {
  const today = server.nowMs();
  const events = Array.from({ length: 120 }, (_, user) =>
    Array.from({ length: 60 }, (_, index): Sent[] => {
      const daysAgo = 60 - index;
      const comes = user % 3 === 0 || (user % 3 === 1 ? random.chance(0.33) : daysAgo > 30);
      if (!comes) return [];
      const timestamp = new Date(today - daysAgo * msPerDay).toISOString();
      return [{ userId: `u${user}`, event: user % 2 === 0 ? "opened" : "shared", timestamp }];
    }).flat(),
  ).flat();
  // Whole users one after another: of half of them, every figure is false.
  return Array.from({ length: 6 }, (_, part) =>
    events.filter((_, at) => Math.floor((at * 6) / events.length) === part),
  );
}

interface Shown {
  readonly freshness: { readonly loading: { readonly events: number; readonly hasScores: boolean } | null };
  readonly day: string | null;
  readonly counts: readonly {
    readonly healthBand: string;
    readonly riskBand: string | null;
    readonly count: number;
  }[];
}

async function shown(name: string): Promise<Shown> {
  const response = await fetch(`${server.url}/api/score-summary`, {
    headers: { Authorization: `Bearer ${key.get(name)}` },
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Shown;
}

const figures = ({ day, counts }: Shown) => ({ day, counts });

/** Reads again and again, also while the server is away, until `end` is called. */
function watch(name: string) {
  const seen: Shown[] = [];
  let ended = false;
  const reading = (async () => {
    while (!ended) {
      const answer = await shown(name).catch(() => undefined);
      if (answer !== undefined) seen.push(answer);
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
type Send = (part: readonly Sent[], token: string) => Promise<void>;

const ways: Readonly<Record<string, Send>> = {
  track: async (part, token) => {
    // Many at once: single ones after another are no load in bulk on a slow machine.
    const sent = await Promise.all(part.map((event) => server.post("/track", token, event)));
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([201]));
  },
  batch: async (part, token) => {
    const batch = part.map((event) => ({ ...event, type: "track" }));
    expect((await server.post("/batch", token, { batch })).status).toBe(201);
  },
  segment: async (part, token) => {
    const batch = part.map((event) => ({
      ...{ ...event, type: "track" },
      messageId: `${event.userId} ${event.timestamp}`,
    }));
    expect((await server.post("/v1/batch", undefined, { batch, writeKey: token })).status).toBe(200);
  },
};

/** An organization with its users, whose past is yet to come. @returns a token */
async function organization(name: string): Promise<string> {
  const token = await server.organization(name);
  await server.command("organization", "set", name, "--rate-limit", "10000", "--item-rate-limit", "100000");
  key.set(name, (await server.command("key", "create", "--organization", name)).trim());
  const batch = Array.from({ length: 120 }, (_, user) => ({
    ...{ type: "identify", userId: `u${user}` },
    email: `u${user}@example.com`,
  }));
  expect((await server.post("/batch", token, { batch })).status).toBe(201);
  return token;
}

/** Each answer said that the past loads, or had the figures that a rebuild has. */
async function expectRight(name: string, seen: readonly Shown[]): Promise<void> {
  await server.command("rebuild", "--organization", name);
  await server.command("score", "--organization", name);
  const right = figures(await shown(name));
  expect(right.counts.reduce((sum, { count }) => sum + count, 0)).toBe(120);
  const isLoading = ({ freshness: { loading } }: Shown) => loading !== null && !loading.hasScores;
  const isEmpty = ({ day, freshness }: Shown) => day === null && freshness.loading === null;
  const first = seen.findIndex((each) => !isEmpty(each));
  const others = seen.slice(first).filter((each) => !isLoading(each));
  expect(seen.some(isLoading)).toBe(true);
  expect([...new Set(others.map((each) => JSON.stringify(figures(each))))]).toEqual([JSON.stringify(right)]);
}

describe("while the past arrives, the pages show that it loads or what a rebuild shows", () => {
  for (const [way, send] of Object.entries(ways)) {
    test(`by ${way}, with a kill in the middle`, async () => {
      const token = await organization(way);
      const watched = watch(way);
      for (const [at, part] of past().entries()) {
        await send(part, token);
        await watched.more(random.between(2, 12));
        if (at === 3) {
          await server.crash();
          server = await start(server.dataDir);
          await server.ready();
        }
      }
      server.putClockAhead(server.nowMs() - Date.now() + 31_000);
      await until(
        "there are scores",
        async () => (await shown(way)).freshness.loading,
        (loading) => loading === null,
      );
      await watched.more(3);
      await expectRight(way, await watched.end());
    });
  }

  test("by import, which ends with the scores", async () => {
    await organization("import");
    const watched = watch("import");
    const folder = mkdtempSync(join(tmpdir(), "rekindle-load-"));
    const files = past().map((part, number) => {
      const file = join(folder, `${number}.jsonl`);
      writeFileSync(file, part.map((event) => JSON.stringify({ ...event, type: "track" })).join("\n"));
      return file;
    });
    await server.command("import", ...files, "--organization", "import");
    expect((await shown("import")).counts).not.toEqual([]);
    await watched.more(3);
    await expectRight("import", await watched.end());
  });
});
