/**
 * A crowd of questions through all parts. These are the public port of an intake process, its socket to
 * analysis, the table of routes and the engine. Analysis is this process. Its routes have questions that take
 * as long as the tests need.
 */
import { afterAll, afterEach, beforeAll, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import type { Server as BunServer } from "bun";
import Type from "typebox";
import { analysisRoute } from "../../contract/api/route.ts";
import { remoteLedger } from "../../server/between/remote/shared-ledger.ts";
import { AnalysisApi } from "../../server/http/api/analysis-api.ts";
import type { ApiParts, Handlers } from "../../server/http/api/context.ts";
import { openQuestionLimits } from "../../server/http/api/open-questions.ts";

import { serveSocket } from "../../server/process/control.ts";
import { createLogger } from "../../server/process/log.ts";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { becomes, until } from "../until.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();
const endless = "SELECT sum(cityHash64(number)) AS count FROM numbers(1, 100000000000000)";
type Row = { count: number };
const answer = Type.Object({ rows: Type.Array(Type.Object({ count: Type.Number() })) });
const read = { summary: "", answer } as const;

const routes = {
  "GET /api/retention": analysisRoute.read(read),
  "GET /api/users": analysisRoute.read({ ...read, table: "rows" }),
  "GET /api/adoption": analysisRoute.read(read),
};

const handlers: Handlers<object> = {
  "GET /api/retention": async ({ warehouse }) => ({
    rows: await warehouse.rows<Row>(endless, {}, { maxSeconds: 0 }),
  }),
  "GET /api/users": async ({ warehouse }) => ({ rows: await warehouse.rows<Row>("SELECT 1 AS count") }),
  "GET /api/adoption": async ({ passiveEvents }) => {
    const names = passiveEvents();
    waitingForNames += 1;
    await names;
    return { rows: [] };
  },
};
/** Questions that have asked for passive events, and requests that their askers have left. */
let [waitingForNames, left] = [0, 0];

async function* unending() {
  while (true) {
    // A question that keeps its reader, and no core.
    await Bun.sleep(1);
    yield Array.from({ length: 1_000 }, (_, count) => ({ count }));
  }
}

let server: Server;
let socket: BunServer<undefined>;
beforeAll(async () => {
  server = await Server.start({ role: "intake" });
  const absent = () => Promise.reject(new Error("is not asked for here"));
  const parts: ApiParts = {
    warehouse: subject.warehouse,
    ledger: remoteLedger(join(server.dataDir, "control.sock"), { read: absent, snapshot: absent }),
    analysis: {
      erase: absent,
      eraseAccount: absent,
      person: () => {
        throw new Error("is not asked for here");
      },
    },
    scoring: { score: absent, preview: absent },
    nowMs: Date.now,
    readEntered: async () => [],
    freshness: absent,
    sources: { statuses: absent, silent: absent, stoppedFor: absent },
    scheduler: { isOn: false, earlierScores: () => null },
    failures: () => [],
    log: createLogger("analysis", "error"),
  };
  const api = new AnalysisApi(routes, handlers, {
    wholeLists: { "GET /api/users": async () => unending() },
    documents: {},
  });
  socket = serveSocket(join(server.dataDir, "analysis.sock"), (request) => {
    request.signal.addEventListener("abort", () => {
      left += 1;
    });
    return api.answer(parts, request);
  });
});
afterAll(async () => {
  await socket.stop(true);
  await server.stop();
});

/** Stops the open questions. The end of each test aborts it. */
let leaving = new AbortController();
afterEach(async () => {
  leaving.abort();
  leaving = new AbortController();
  await becomes(running, 0);
});

async function running(): Promise<number> {
  const sql = "SELECT count() AS count FROM system.processes WHERE query LIKE '%cityHash64(number)%'";
  const [row] = await subject.warehouse.rows<{ count: number }>(sql);
  return (row?.count ?? 0) - 1;
}

async function organization(name: string): Promise<() => Promise<string>> {
  await server.organization(name);
  return async () => (await server.command("key", "create", "--organization", name)).trim();
}

function ask(key: string, path: string): Promise<Response> {
  return fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` }, signal: leaving.signal });
}

/** Asks so often, and gives the answers that have come. */
function crowd(times: number, key: string, path: string): Response[] {
  const answers: Response[] = [];
  for (let asked = 0; asked < times; asked += 1) {
    ask(key, path).then(
      (response) => answers.push(response),
      () => undefined,
    );
  }
  return answers;
}

test("one organization's endless questions are bounded, and another's are answered beside them", async () => {
  const [mine, theirs] = [await organization("Crowding"), await organization("Quiet")];
  const [one, colleague, other] = [await mine(), await mine(), await theirs()];
  const { caller } = openQuestionLimits;
  const refused = crowd(caller + 8, one, "/api/retention");
  await until(
    "eight are refused",
    () => refused,
    ({ length }) => length >= 8,
  );
  for (const response of refused) {
    expect(response.headers.get("retry-after")).toBe("1");
    await expectError(response, "rate_limit_exceeded", "at once");
  }
  // One key holds at most half of the four readers.
  await until("two run", running, (queries) => queries >= 2);
  for (let question = 0; question < 3; question += 1) {
    expect(await (await ask(other, "/api/users")).json()).toEqual({ rows: [{ count: 1 }] });
  }
  // A colleague gets the third. The organization never holds the fourth.
  const waiting = crowd(2, colleague, "/api/retention");
  await until("three run", running, (queries) => queries >= 3);
  expect((await ask(other, "/api/users")).status).toBe(200);
  expect([refused.length, waiting.length, await running()]).toEqual([8, 0, 3]);
});

test("a client that disconnects frees its readers and places", async () => {
  const key = await (await organization("Leaving"))();
  for (let round = 0; round < 3; round += 1) {
    crowd(openQuestionLimits.caller, key, "/api/retention");
    await until("two run", running, (queries) => queries >= 2);
    leaving.abort();
    leaving = new AbortController();
    // Of the organization that had all its readers.
    expect(await (await ask(key, "/api/users")).json()).toEqual({ rows: [{ count: 1 }] });
    await becomes(running, 0);
  }
});

test("a client that disconnects does not fail another's question about the same names of events", async () => {
  const newKey = await organization("Sharing");
  const [leaver, other] = [await newKey(), await newKey()];
  const { warehouse } = subject;
  const rows = warehouse.rows.bind(warehouse);
  const held = Promise.withResolvers<void>();
  const engine = spyOn(warehouse, "rows").mockImplementation(async (sql, parameters, limits) => {
    const signal = limits?.asker?.signal;
    signal?.addEventListener("abort", () => held.reject(signal.reason));
    await held.promise;
    return rows(sql, parameters, limits);
  });
  // Both ask within the second for which names are kept, however slow the machine is.
  const nowMs = performance.now();
  const clock = spyOn(performance, "now").mockImplementation(() => nowMs);
  try {
    crowd(1, leaver, "/api/adoption");
    await until("one question waits", () => waitingForNames >= 1);
    const answer = fetch(`${server.url}/api/adoption`, { headers: { Authorization: `Bearer ${other}` } });
    await until("both questions wait", () => waitingForNames >= 2);
    left = 0;
    leaving.abort();
    await until("the asker has left", () => left >= 1);
    held.resolve();
    expect((await answer).status).toBe(200);
    expect(engine).toHaveBeenCalledTimes(1);
  } finally {
    engine.mockRestore();
    clock.mockRestore();
  }
});

test("a table that is sent row by row is open until its end, or until its client is gone", async () => {
  const key = await (await organization("Downloading"))();
  const { caller } = openQuestionLimits;
  const downloads = await Promise.all(
    Array.from({ length: caller }, () => ask(key, "/api/users?format=csv")),
  );
  expect(new Set(downloads.map(({ status }) => status))).toEqual(new Set([200]));
  await expectError(await ask(key, "/api/users"), "rate_limit_exceeded", "at once");
  leaving.abort();
  leaving = new AbortController();
  await becomes(async () => (await ask(key, "/api/users")).status, 200);
});
