/**
 * The time of one organization's `/track` while another organization's source request of 10,000 aliases is
 * stored, and without it: rounds of both alternate, and requests are due at fixed times.
 *
 *   cli/with-bun bench/large-request.ts [rounds] [requests a second] [postgres]
 */
import { PostgresServer } from "../test/postgres.ts";
import { Server } from "../test/server.ts";
import { median } from "./load/alternate.ts";
import { eventWithId } from "./load/events.ts";
import { type LoadResult, runLoad } from "./load/load.ts";

const rounds = Number(process.argv[2] ?? 5);
const requestsPerSecond = Number(process.argv[3] ?? 500);
const isOnPostgres = process.argv[4] === "postgres";
const aliases = 10_000;
const quietSeconds = 4;

let sent = 0;

/** A batch of aliases between ids that no request named before. */
function largeBody(): string {
  const batch = Array.from({ length: aliases }, () => {
    sent += 1;
    const [previousId, userId] = [`visitor-${sent}`, `person-${sent}`];
    return { type: "alias", previousId, userId, messageId: crypto.randomUUID() };
  });
  return JSON.stringify({ batch });
}

async function sendLarge(url: string, token: string): Promise<void> {
  const headers = { "Content-Type": "application/json", Authorization: `Basic ${token}` };
  const response = await fetch(`${url}/v1/batch`, { method: "POST", headers, body: largeBody() });
  if (!response.ok) throw new Error(`the large request was answered ${response.status}`);
}

/** Sends large requests one after another until the load ends. @returns how long each took, in
 * milliseconds */
async function largeUntil(load: Promise<LoadResult>, send: () => Promise<void>): Promise<number[]> {
  let isOver = false;
  const over = load.finally(() => {
    isOver = true;
  });
  const took: number[] = [];
  while (!isOver) {
    const begunMs = performance.now();
    await send();
    took.push(performance.now() - begunMs);
  }
  await over;
  return took;
}

async function unlimited(server: Server, name: string): Promise<string> {
  const token = await server.organization(name);
  await server.command("organization", "set", name, "--rate-limit", "1000000");
  return token;
}

const postgres = isOnPostgres ? await PostgresServer.start() : undefined;
const engines =
  postgres === undefined
    ? {}
    : { DATABASE_URL: await postgres.database(), CLICKHOUSE_URL: "http://127.0.0.1:1/none" };
const server = await Server.start({ role: "intake", env: engines });
try {
  const own = await unlimited(server, "own");
  const other = await unlimited(server, "other");
  const port = Number(new URL(server.url).port);
  const headers = { Authorization: `Basic ${own}` };
  // An event of an unknown user is answered 404 after the same look-ups, so all users are identified first.
  const identify = (n: number) => `{"userId":"user-${n}","email":"user-${n}@example.com"}`;
  for (let n = 0; n < 1_000; n += 1) await server.post("/identify", own, identify(n));
  const request = (n: number) => eventWithId(n).replace(/user-\d+/, `user-${n % 1_000}`);
  const measure = () =>
    runLoad({ port, path: "/track", headers, request, requestsPerSecond, seconds: quietSeconds });
  const quiet: LoadResult[] = [];
  const during: LoadResult[] = [];
  const large: number[] = [];
  await measure();
  for (let round = 0; round < rounds; round += 1) {
    quiet.push(await measure());
    const load = measure();
    large.push(...(await largeUntil(load, () => sendLarge(server.url, other))));
    during.push(await load);
  }
  const figure = (of: readonly LoadResult[], key: "p50Ms" | "p99Ms" | "maxMs") =>
    median(of.map((one) => one[key]));
  for (const [name, of] of [
    ["without", quiet],
    ["during", during],
  ] as const) {
    const [p50, p99, max] = (["p50Ms", "p99Ms", "maxMs"] as const).map((key) => figure(of, key).toFixed(1));
    const statuses = JSON.stringify(of.map(({ statuses }) => statuses).at(-1));
    console.log(
      `/track ${name.padEnd(7)}: p50 ${p50} ms, p99 ${p99} ms, longest ${max} ms; answers ${statuses}`,
    );
  }
  console.log(
    `ratio of p99: ${median(during.map((one, n) => one.p99Ms / (quiet[n]?.p99Ms ?? Number.NaN))).toFixed(1)}`,
  );
  console.log(
    `the request of ${aliases} aliases: median ${median(large).toFixed(0)} ms, ${large.length} requests`,
  );
} finally {
  await server.stop();
  await postgres?.stop();
}
process.exit(0);
