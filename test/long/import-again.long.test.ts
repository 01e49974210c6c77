/** An import may be killed, run again, and meet a server that dies: every row comes in exactly once. */
import { expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { importBench } from "../import/bench.ts";
import { countsOf, purchases } from "../import/support.ts";
import { until } from "../until.ts";

const bench = importBench();

/** The values of `n` that are stored, in their order. */
async function stored(organization: string): Promise<number[]> {
  const events = await bench.server.exported("events", organization);
  return events.map(({ properties }) => Number((properties as { n: string }).n)).sort((a, b) => a - b);
}

const upTo = (rows: number) => Array.from({ length: rows }, (_, index) => index);

test("a file that is imported twice is stored once, and the second run says so", async () => {
  await bench.organization("twice", 10);
  const file = bench.file("twice.csv", purchases(1_200));
  const first = await bench.import(file, "twice");
  expect(countsOf(first)).toEqual({ rows: 1_200, new: 1_200, duplicate: 0, rejected: 0 });
  const second = await bench.import(file, "twice");
  expect(countsOf(second)).toEqual({ rows: 1_200, new: 0, duplicate: 1_200, rejected: 0 });
  expect(second.stdout).toContain("imported already");
  expect(await stored("twice")).toEqual(upTo(1_200));
});

test("equal rows of a file are different events", async () => {
  await bench.organization("equal");
  const row = "u1,purchase,2026-05-17\n";
  const file = bench.file("equal.csv", `userId,event,timestamp\n${row}${row}${row}`);
  expect(countsOf(await bench.import(file, "equal")).new).toBe(3);
  expect(await bench.server.exported("events", "equal")).toHaveLength(3);
});

test("an import that is killed at three points goes on each time, and every row is there once", async () => {
  await bench.organization("killed", 10);
  const rows = 60_000;
  const file = bench.file("killed.csv", purchases(rows));
  const reached: number[] = [];
  for (const point of [1, 8_000, 16_000]) {
    reached.push(await bench.importKilledAt(point, file, "killed"));
  }
  for (const done of reached) expect(done).toBeWithin(1, rows);
  expect(reached).toEqual(reached.toSorted((a, b) => a - b));
  const last = await bench.import(file, "killed");
  expect(countsOf(last)).toEqual({ rows, new: rows, duplicate: 0, rejected: 0 });
  expect(last.stdout).toContain(`(${reached.at(-1)} of them in earlier runs)`);
  expect(await stored("killed")).toEqual(upTo(rows));
});

test("a server that is killed in the middle is waited for, and every row is there once", async () => {
  await bench.organization("crashed", 10);
  const rows = 60_000;
  const file = bench.file("crashed.csv", purchases(rows));
  const child = await bench.importStoppedAt(5_000, file, "crashed");
  await bench.crashServer();
  expect(bench.rowsDone(file)).toBeWithin(5_000, rows);
  child.kill("SIGCONT");
  let stderr = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) stderr += decoder.decode(chunk, { stream: true });
  })();
  await until(
    "the import waits for the server",
    () => stderr,
    (text) => text.includes("waiting: the server is unreachable"),
  );
  await bench.startServer();
  const [stdout, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited, reading]);
  expect([exitCode, stderr]).toEqual([0, stderr]);
  expect(countsOf({ exitCode, stdout, stderr })).toEqual({ rows, new: rows, duplicate: 0, rejected: 0 });
  expect(await stored("crashed")).toEqual(upTo(rows));
});

test("two runs at once store every row once: one goes on, the other gives up or finds it done", async () => {
  await bench.organization("both", 10);
  const rows = 20_000;
  const file = bench.file("both.csv", purchases(rows));
  const runs = await Promise.all([bench.import(file, "both"), bench.import(file, "both")]);
  for (const { exitCode, stderr } of runs) {
    if (exitCode !== 0) expect(stderr).toContain("nother run of this import is active");
  }
  expect((await bench.import(file, "both")).exitCode).toBe(0);
  expect(await stored("both")).toEqual(upTo(rows));
});

test("a file that was changed is another import", async () => {
  await bench.organization("changed", 10);
  const file = bench.file("changed.csv", purchases(100));
  await bench.import(file, "changed");
  appendFileSync(file, "u1,purchase,2026-05-18,100\n");
  expect(countsOf(await bench.import(file, "changed"))).toMatchObject({ rows: 101, new: 101 });
  expect(await stored("changed")).toHaveLength(201);
});

test("a file that is changed while it is imported stops the import and names the file", async () => {
  await bench.organization("changing", 10);
  const rows = 60_000;
  const file = bench.file("changing.csv", purchases(rows));
  const child = await bench.importStoppedAt(1, file, "changing");
  appendFileSync(file, "u1,purchase,2026-05-18,1\n");
  child.kill("SIGCONT");
  const stderr = await new Response(child.stderr).text();
  expect(await child.exited).toBe(1);
  expect(stderr).toContain("changing.csv was changed while it was imported");
  expect(stderr).toContain(`without its first ${bench.rowsDone(file)} rows, which are imported.`);
  expect(await stored("changing")).toEqual(upTo(bench.rowsDone(file)));
});

test("events of one file come in under other options only when that is asked for", async () => {
  await bench.organization("options", 10);
  const file = bench.file("options.csv", purchases(10));
  await bench.import(file, "options");
  const refused = await bench.import(file, "options", "--no-properties");
  expect([refused.exitCode, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toContain("10 events of this file were imported");
  expect(refused.stderr).toContain("--as-another-import");
  const asked = await bench.import(file, "options", "--no-properties", "--as-another-import");
  expect(countsOf(asked).new).toBe(10);
  expect(await bench.server.exported("events", "options")).toHaveLength(20);
});

test("an import of which nothing was stored begins again", async () => {
  await bench.organization("unknown", 0);
  const file = bench.file("unknown.csv", purchases(20));
  const first = await bench.import(file, "unknown");
  expect(countsOf(first)).toEqual({ rows: 20, new: 0, duplicate: 0, rejected: 20 });
  expect(first.stdout).toContain("line 2: User not found.");
  const people = Array.from({ length: 10 }, (_, index) => `u${index + 1},a@example.com\n`);
  await bench.import(bench.file("people.csv", `userId,email\n${people.join("")}`), "unknown");
  expect(countsOf(await bench.import(file, "unknown"))).toMatchObject({ new: 20, rejected: 0 });
});

test("a message id in a column is known again in another file", async () => {
  await bench.organization("messages");
  const row = (id: string) => `u1,purchase,2026-05-17,${id}\n`;
  const header = "userId,event,timestamp,messageId\n";
  await bench.import(bench.file("m1.csv", header + row("a") + row("b")), "messages");
  const second = await bench.import(bench.file("m2.csv", header + row("b") + row("c")), "messages");
  expect(countsOf(second)).toEqual({ rows: 2, new: 1, duplicate: 1, rejected: 0 });
});
