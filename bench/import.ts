/**
 * A real log through `rekindle import`: the CDNOW purchases of 1997 and 1998, as users and as events, with
 * the importer killed at three points, then run to its end, then run again. Prints the counts after each run,
 * and how long single track requests take while another import runs. Ends with 1 when a count is wrong.
 *
 *   cli/with-bun bench/import.ts [path of CDNOW_master.txt]
 */
import { join } from "node:path";
import { type Counts, countsOf, ImportBench } from "../test/import/support.ts";

const customers = 23_570;
const transactions = 69_659;
const killedAtRows = [1, 20_000, 40_000];

const file = process.argv[2] ?? join(import.meta.dir, "..", "..", "shared", "data", "CDNOW_master.txt");
const spaced = ["--format", "csv", "--delimiter", "space"];
const asUsers = [
  ...spaced,
  "--type",
  "users",
  "--user-id",
  "customer_id",
  "--email-template",
  "customer-{customer_id}@example.com",
  "--no-properties",
];
const asEvents = [
  ...spaced,
  "--event-name",
  "purchase",
  "--number",
  "number_of_cds",
  "dollar_value",
  "--property",
  "number_of_cds=discs",
  "dollar_value=dollars",
];

const bench = new ImportBench();
let wrong = 0;

function expectCounts(what: string, found: object, expected: object): void {
  const same = Bun.deepEquals(found, expected);
  if (!same) wrong += 1;
  console.log(
    `${what}: ${JSON.stringify(found)}${same ? "" : ` WRONG, expected ${JSON.stringify(expected)}`}`,
  );
}

async function run(organization: string, options: readonly string[]): Promise<[Counts, string]> {
  const startedMs = performance.now();
  const result = await bench.import(file, organization, ...options);
  if (result.exitCode !== 0) throw new Error(result.stderr);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  return [countsOf(result), `${seconds} s, ${/this run +(.*)/.exec(result.stdout)?.[1] ?? "nothing to do"}`];
}

async function stored(organization: string): Promise<{ users: number; events: number }> {
  const [users, events] = [
    await bench.server.exported("users", organization),
    await bench.server.exported("events", organization),
  ];
  return { users: users.length, events: events.length };
}

/** Milliseconds of single track requests, one after another, for as long as `work` takes. */
async function requestsDuring(token: string, work: () => Promise<unknown>): Promise<number[]> {
  const durations: number[] = [];
  let working = true;
  const done = work().finally(() => {
    working = false;
  });
  while (working) {
    const startedMs = performance.now();
    const response = await bench.server.post("/track", token, { userId: "00001", event: "view" });
    if (response.status !== 201) throw new Error(await response.text());
    durations.push(performance.now() - startedMs);
    await Bun.sleep(2);
  }
  await done;
  return durations.sort((a, b) => a - b);
}

try {
  await bench.startServer();
  const token = await bench.server.organization("cdnow");
  for (const [name, options, fresh] of [
    ["users", asUsers, customers],
    ["events", asEvents, transactions],
  ] as const) {
    const reached: number[] = [];
    for (const point of killedAtRows)
      reached.push(await bench.importKilledAt(point, file, "cdnow", ...options));
    if (!reached.every((rows, index) => rows >= (killedAtRows[index] ?? 0) && rows < transactions)) {
      throw new Error(`not killed in the middle: ${reached.join(", ")} rows were done`);
    }
    const [counts, took] = await run("cdnow", options);
    const known = transactions - fresh;
    expectCounts(`${name}, killed at ${reached.join(", ")} rows, then ${took}`, counts, {
      rows: transactions,
      new: fresh,
      duplicate: known,
      rejected: 0,
    });
    const wanted = { users: customers, events: name === "users" ? 0 : transactions };
    expectCounts("  stored", await stored("cdnow"), wanted);
    const [again, tookAgain] = await run("cdnow", options);
    expectCounts(`${name} again, ${tookAgain}`, again, {
      rows: transactions,
      new: 0,
      duplicate: transactions,
      rejected: 0,
    });
    expectCounts("  stored", await stored("cdnow"), wanted);
  }
  const alone = await requestsDuring(token, () => Bun.sleep(1_000));
  await bench.server.command("organization", "create", "beside");
  const beside = await requestsDuring(token, async () => {
    console.log(`users in one go, ${(await run("beside", asUsers))[1]}`);
    console.log(`events in one go, ${(await run("beside", asEvents))[1]}`);
  });
  for (const [name, durations] of Object.entries({ alone, "beside the import": beside })) {
    const at = (share: number) => durations[Math.floor(durations.length * share)]?.toFixed(1);
    console.log(`a track request ${name}: median ${at(0.5)} ms, p99 ${at(0.99)} ms (${durations.length})`);
  }
} finally {
  await bench.end();
}
process.exit(wrong === 0 ? 0 : 1);
