/** Operation on PostgreSQL beyond the contract: with several nodes, and with an inbox that only grows. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { features } from "../../server/features/features.ts";
import { commandLine, settingUp } from "../../server/ledger/audit.ts";
import type { FrozenBatch } from "../../server/ledger/inbox.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { openPostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { LoaderLease } from "../../server/ledger/postgres/loader-lease.ts";
import { type IngestionWarning, UnwritableWarnings } from "../../server/ledger/stores/warnings.ts";
import { PostgresServer } from "../postgres.ts";
import { until } from "../until.ts";
import { loadAll } from "./filled-ledger.ts";
import { append, inboxRows, needs, user, writePeople, writes } from "./writes.ts";

const nothingFound = { dayCounts: [], versions: 0, versionSum: 0, days: 0 };
const options = { connections: 4, rejectedEventLimits: { rows: 3, bytes: 1_000 } };
let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

/** Two nodes and an organization on a database of their own. */
async function twoNodes() {
  const url = await server.database();
  const one: Ledger = await openPostgresLedger({ features, url, ...options });
  const other: Ledger = await openPostgresLedger({ features, url, ...options });
  const { id } = await one.organizations.create({ name: "acme", timezone: "UTC", nowMs: 1 }, settingUp);
  const close = () => Promise.all([one.close(), other.close()]);
  return { url, one, other, id, close };
}

/** A row as rows of a user begin. */
function rowsOf(organization: number, number: number, word: string) {
  return { ...inboxRows([]), rows: 1, body: `[${organization},${number},"${word}"]\n` };
}

async function freezeOne(ledger: Ledger): Promise<FrozenBatch> {
  const [batch] = await ledger.inbox.freeze(100);
  if (batch === undefined) throw new Error("nothing was frozen");
  return batch;
}

/** Everything that the tables of the inbox hold. */
async function inboxOf(url: string): Promise<string[]> {
  const sql = openPool(url, { connections: 1 });
  const tables = await sql<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_name ~ '^inbox_[0-9]+$' ORDER BY name`;
  const bodies: string[] = [];
  for (const { name } of tables) {
    const rows = await sql<{ body: string }[]>`SELECT body FROM ${sql(name)} ORDER BY seq`;
    bodies.push(...rows.map(({ body }) => body));
  }
  await sql.end();
  return bodies;
}

test("an erasure drops what the inbox kept of its time, and no row that came later", async () => {
  const { url, one, id, close } = await twoNodes();
  await writePeople(one, { users: [user(id, "ada"), user(id, "bob", { number: 2 })] });
  await append(one, rowsOf(id, 1, "loaded"));
  await loadAll(one);
  await append(one, rowsOf(id, 1, "waits"));
  const erasure = await one.erasures.begin(id, "ada");
  expect(erasure).toMatchObject({ uptoInboxId: 2 });
  await append(one, rowsOf(id, 2, "later"));
  await one.erasures.counted([{ id: erasure?.id ?? 0, ...nothingFound }]);
  expect(await one.erasures.find(erasure?.id ?? 0)).toMatchObject({ inboxRows: 2 });
  await expect(one.erasures.finish([erasure?.id ?? 0])).rejects.toThrow("not loaded");
  const waiting = await freezeOne(one);
  expect((await one.inbox.read(waiting)).toString()).toBe(rowsOf(id, 1, "waits").body);
  await one.inbox.finish(waiting.number, []);
  const later = await freezeOne(one);
  await one.erasures.finish([erasure?.id ?? 0]);
  expect(await inboxOf(url)).toEqual([rowsOf(id, 2, "later").body]);
  expect((await one.inbox.read(later)).toString()).toBe(rowsOf(id, 2, "later").body);
  await one.inbox.finish(later.number, []);
  await append(one, rowsOf(id, 2, "last"));
  expect((await one.inbox.read(await freezeOne(one))).toString()).toBe(rowsOf(id, 2, "last").body);
  expect(await one.inbox.backlog()).toMatchObject({ rows: 1, newestInboxId: 4, loadedUptoInboxId: 3 });
  await close();
});

test("no row of a user comes behind the erasure, while other nodes write and the loader loads", async () => {
  const { url, one, other, id, close } = await twoNodes();
  await writePeople(one, { users: [user(id, "ada")] });
  let isKnown = true;
  let tracked = 0;
  const track = async (): Promise<void> => {
    while (isKnown) {
      await other.transact(needs({ known: [{ organization: id, userId: "ada" }] }), (stored) => {
        isKnown = stored.known(id, "ada") !== undefined;
        return writes(1, isKnown ? { inbox: [rowsOf(id, 1, `${tracked++}`)] } : {});
      });
    }
  };
  const loading = async (): Promise<void> => {
    while (isKnown) await loadAll(one);
  };
  const working = Promise.all([track(), track(), track(), loading()]);
  await until("30 events are sent", () => tracked >= 30, Boolean, { everyMs: 1 });
  const erasure = await one.erasures.begin(id, "ada");
  await working;
  expect((await one.inbox.backlog()).newestInboxId).toBe(erasure?.uptoInboxId ?? 0);
  // For a second after a commit that took long, as that of the erasure may, nothing is frozen.
  while ((await one.inbox.backlog()).rows > 0) await loadAll(one);
  await one.erasures.counted([{ id: erasure?.id ?? 0, ...nothingFound }]);
  await one.erasures.finish([erasure?.id ?? 0]);
  expect(await inboxOf(url)).toEqual([]);
  await close();
});

/** Bodies as many senders write them, of two rows each. There are too many to be counted row by row. */
const manyBodies = 6_000;

test("rows that wait while nothing is loaded are counted once, and every answer is exact", async () => {
  const { url, one, other, id, close } = await twoNodes();
  const sql = openPool(url, { connections: 1 });
  const appendMany = () => sql`
    INSERT INTO inbox_000001 (warehouse_table, year, schema, rows, bytes, body)
    SELECT 'events', 2026, 1, 2, 14, repeat(E'[1,1,"x"]\\n', 2) FROM generate_series(1, ${manyBodies}::int)`;
  const counted = async () =>
    (await sql<{ rows: number }[]>`SELECT upto_rows AS rows FROM inbox_counted`)[0]?.rows;
  const expectBacklog = async (bodies: number, newest: number) => {
    const waiting = { rows: bodies * 2, bytes: bodies * 14, newestInboxId: newest };
    for (const node of [one, other]) expect(await node.inbox.backlog()).toMatchObject(waiting);
  };
  await append(one, { ...rowsOf(id, 1, "x"), rows: 2, body: "x".repeat(13) });
  await one.tidy(1);
  expect(await counted()).toBe(0);
  await appendMany();
  await expectBacklog(manyBodies + 1, manyBodies + 1);
  await one.tidy(1);
  expect(await counted()).toBe(2 * manyBodies + 2);
  await append(other, { ...rowsOf(id, 1, "x"), rows: 2, body: "x".repeat(13) });
  await expectBacklog(manyBodies + 2, manyBodies + 2);
  // The loader comes behind what was counted, and then goes past it.
  for (const loaded of [2_000, 4_000]) {
    const [batch] = await one.inbox.freeze(4_000);
    expect(batch).toMatchObject({ rows: 4_000, afterInboxId: loaded - 2_000, uptoInboxId: loaded });
    await expectBacklog(manyBodies + 2 - loaded + 2_000, manyBodies + 2);
    await one.inbox.finish(batch?.number ?? 0, []);
    await expectBacklog(manyBodies + 2 - loaded, manyBodies + 2);
  }
  await loadAll(one);
  await expectBacklog(0, manyBodies + 2);
  await append(other, { ...rowsOf(id, 1, "x"), rows: 2, body: "x".repeat(13) });
  await expectBacklog(1, manyBodies + 3);
  await Promise.all([close(), sql.end()]);
});

test("rejected events have room for so many: then the batch stays until there is room again", async () => {
  const { one, close } = await twoNodes();
  const rejectedRows = (...rows: string[]) =>
    rows.map((row) => ({ table: "events", row, reason: "no" }) as const);
  await append(one, inboxRows(["a", "b"]));
  await one.inbox.finish((await freezeOne(one)).number, rejectedRows('["a"]', '["b"]'));
  await append(one, inboxRows(["c", "d"]));
  const second = await freezeOne(one);
  const full = "no room for 2 more rejected events beside 2";
  await expect(one.inbox.finish(second.number, rejectedRows('["c"]', '["d"]'))).rejects.toThrow(full);
  await expect(one.inbox.finish(second.number, rejectedRows("x".repeat(1_000)))).rejects.toThrow(
    "no room for 1 more",
  );
  expect(await one.inbox.freeze(100)).toEqual([second]);
  expect(await one.rejectedEvents.drop({}, settingUp, 1)).toBe(2);
  await one.inbox.finish(second.number, rejectedRows('["c"]', '["d"]'));
  expect(await one.rejectedEvents.count({})).toBe(2);
  expect(await one.inbox.freeze(100)).toEqual([]);
  await close();
});

test("rejected events that two nodes send again at the same moment enter the inbox once", async () => {
  const { one, other, close } = await twoNodes();
  await append(one, inboxRows(["a", "b", "c"]));
  const rejectedRows = ["a", "b", "c"].map((row) => ({ table: "events", row, reason: "no" }) as const);
  await one.inbox.finish((await freezeOne(one)).number, rejectedRows);
  const done = await Promise.all(
    [one, other, one, other].map((node) => node.rejectedEvents.retry({}, settingUp, 1)),
  );
  expect(done.reduce((sum, count) => sum + count, 0)).toBe(3);
  const waiting = await one.inbox.freeze(100);
  const bodies = await Promise.all(waiting.map(async (batch) => (await one.inbox.read(batch)).toString()));
  expect(bodies.join("").trim().split("\n").toSorted()).toEqual(["a", "b", "c"]);
  await close();
});

test("warnings that two nodes count together add up, a thousand details a day", async () => {
  const { one, other, id, close } = await twoNodes();
  const seen = { utcDay: 100, firstSeenMs: 5, lastSeenMs: 5, count: 1, message: null, userId: null };
  const counted = Array.from({ length: 700 }, (_, n) => n).map(
    (n): IngestionWarning => ({
      organization: id,
      ...seen,
      kind: "unknown_key",
      endpoint: "track",
      detail: `${n}`,
    }),
  );
  const others = counted.map((warning) => ({ ...warning, detail: `other ${warning.detail}` }));
  await Promise.all([one, other].flatMap((node) => [node.warnings.add(counted), node.warnings.add(others)]));
  const list = await one.warnings.list(id, 10_000);
  expect(list).toHaveLength(1_001);
  expect(list.reduce((sum, { count }) => sum + count, 0)).toBe(2_800);
  await close();
});

test("a warning that PostgreSQL refuses keeps no other from being written", async () => {
  const { one, id, close } = await twoNodes();
  const seen = { utcDay: 100, firstSeenMs: 5, lastSeenMs: 5, count: 1, message: null, userId: null };
  const warning = (detail: string): IngestionWarning => ({
    organization: id,
    ...seen,
    kind: "unknown_key",
    endpoint: "track",
    detail,
  });
  const adding = one.warnings.add(["a", "b", "half \ud800", "c", "d"].map(warning));
  await expect(adding).rejects.toBeInstanceOf(UnwritableWarnings);
  const list = await one.warnings.list(id, 10);
  expect(list.map(({ detail, count }) => [detail, count])).toEqual(
    ["a", "b", "c", "d"].map((detail) => [detail, 1]),
  );
  await close();
});

test("one rule that two nodes add is one rule, and one file that two begin is one import", async () => {
  const { one, other, id, close } = await twoNodes();
  const rule = { kind: "trait", key: "plan", value: "x".repeat(1_000) } as const;
  const file = { organization: id, sha256: "aa", mapping: "m".repeat(9_000), fileName: "a", nowMs: 1 };
  const nodes = [one, other, one, other];
  const rules = await Promise.all(nodes.map((node) => node.exclusions.add(id, rule, settingUp, 1)));
  expect(new Set(rules.map((added) => added.id)).size).toBe(1);
  expect(await one.exclusions.revisions()).toEqual([{ organization: id, revision: 1 }]);
  const imports = await Promise.all(nodes.map((node) => node.imports.begin(file)));
  expect(new Set(imports.map((begun) => begun.id)).size).toBe(1);
  await close();
});

test("a rebuild that is asked of the leader begins when no node writes days of the old timezone any more", async () => {
  const ledger = await openPostgresLedger({ features, url: await server.database(), ...options });
  const { id } = await ledger.organizations.create({ name: "acme", timezone: "UTC", nowMs: 1 }, settingUp);
  const settled = Promise.withResolvers<void>();
  const leading = ledger.leading(new LoaderLease(), () => settled.promise);
  let hasBegun = false;
  const beginning = leading.rebuildBegun(id).then(() => {
    hasBegun = true;
  });
  await until(
    "a rebuild is asked for",
    () => ledger.rebuildsPending(),
    ({ length }) => length > 0,
  );
  await leading.populations(id);
  expect(hasBegun).toBe(false);
  settled.resolve();
  await beginning;
  await ledger.close();
});

test("a backup is left to the engines' own tools", async () => {
  const { one, close } = await twoNodes();
  await expect(one.snapshot("/nowhere")).rejects.toThrow("point-in-time recovery");
  await close();
});

test("a node whose clock is ahead neither takes a running claim over nor sends before the time", async () => {
  const { one, other, id, close } = await twoNodes();
  const wanted = {
    kind: "webhook" as const,
    name: "Hooks",
    notices: [],
    address: "https://example.com/",
    secrets: ["whsec_a"],
  };
  const to = await one.destinations.add(id, wanted, commandLine, 1);
  const hourMs = 3_600_000;
  const ahead = () => Date.now() + hourMs;
  await other.deliveries.add(id, to.id, { messageId: "1", type: "model.changed", body: "{}" }, ahead());
  const room = { most: 9, perDestination: 9, failing: 9 };
  const [claimed] = await one.deliveries.claim(room, Date.now());
  expect(claimed?.delivery.messageId).toBe("1");
  expect(await other.deliveries.claim(room, ahead())).toEqual([]);
  const retry = { status: 500, said: "", verdict: { is: "retry", waitMs: hourMs / 2 } } as const;
  await one.deliveries.tried([{ id: claimed?.delivery.id ?? 0, ...retry }], Date.now());
  expect(await other.deliveries.claim(room, ahead())).toEqual([]);
  await close();
});

test("nodes that claim at the same time claim so many of a destination together", async () => {
  const { one, other, id, close } = await twoNodes();
  const wanted = {
    kind: "webhook" as const,
    name: "Hooks",
    notices: [],
    address: "https://example.com/",
    secrets: ["whsec_a"],
  };
  const to = await one.destinations.add(id, wanted, commandLine, 1);
  for (let n = 0; n < 40; n += 1) {
    await one.deliveries.add(id, to.id, { messageId: `${n}`, type: "model.changed", body: "{}" }, Date.now());
  }
  const room = { most: 99, perDestination: 4, failing: 99 };
  const claims = [one, other, one, other, one, other].map((node) => node.deliveries.claim(room, Date.now()));
  expect((await Promise.all(claims)).flat()).toHaveLength(4);
  await close();
});
