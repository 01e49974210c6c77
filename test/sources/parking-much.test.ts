/** What is parked, and very much of it at once: chains of aliases, erasures and many who are named in one request. */
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { limits } from "../../contract/limits.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { Intake, intakeLimits, type SourcedItem, type SourcedTrack } from "../../server/intake/intake.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { checkOrganization } from "../../server/warehouse/check.ts";
import { type ExportTable, exportTable } from "../../server/warehouse/export.ts";
import { Loader } from "../../server/warehouse/loader.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("Europe/Paris");
const nowMs = Date.UTC(2026, 4, 17, 12);

let ledger: Ledger;
let intake: Intake;
let loader: Loader;

beforeAll(async () => {
  const dataDir = subject.folder;
  ledger = await openSqliteLedger({ file: join(dataDir, "ledger.sqlite"), clock: () => nowMs });
  intake = new Intake(ledger, dataDir, intakeLimits, () => nowMs);
  loader = new Loader({ inbox: ledger.inbox, warehouse: subject.warehouse });
  await loader.replay();
  loader.start();
});

afterAll(async () => {
  await loader.stop();
  await ledger.close();
});

/** An organization of its own, and the way in which a source speaks to it. */
async function newOrganization(name: string) {
  const { id } = await ledger.organizations.create({ name, timezone: "Europe/Paris", nowMs });
  const arrival = { organization: id, zone, receivedAtMs: nowMs, idempotencyKey: null };
  const encoder = new TextEncoder();
  return {
    id,
    say: (...items: readonly SourcedItem[]) => intake.sourced(items, arrival, "segment"),
    identify: (body: object) => intake.identify(encoder.encode(JSON.stringify(body)), arrival),
    track: (body: object) => intake.track(encoder.encode(JSON.stringify(body)), arrival),
    warnings: async () => {
      await intake.recordWarnings();
      const all = await ledger.warnings.list(id, 100);
      return all.map(({ kind, endpoint, detail }) => [kind, endpoint, detail]).sort();
    },
  };
}

async function loaded(): Promise<void> {
  await loader.drain((await ledger.inbox.backlog()).newestInboxId);
}

async function differences(organization: number) {
  await loaded();
  const dayCounts = await ledger.dayCounts(organization);
  const populations = await ledger.populations(organization);
  return checkOrganization(subject.warehouse, organization, { dayCounts, populations });
}

async function exported(organization: number, table: ExportTable): Promise<Record<string, unknown>[]> {
  const request = { organization, table, format: "jsonl", temporaryFolder: subject.folder } as const;
  const chunks = await Array.fromAsync(exportTable(subject.warehouse, request));
  const lines = Buffer.concat(chunks).toString().split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

const track = (some: Partial<SourcedTrack>): SourcedTrack => ({
  ...{ type: "track", event: "opened", properties: {}, isActivity: true, atMs: nowMs, messageId: null },
  ...some,
});
const identify = (userId: string, some: object = {}): SourcedItem => ({
  ...{ type: "identify", userId, traits: {}, atMs: nowMs, messageId: null },
  ...some,
});

const alias = (previousId: string, userId: string): SourcedItem => ({
  ...{ type: "alias", previousId, userId, atMs: nowMs, messageId: null },
});

test("a chain of aliases is linked on as far as one request may, and to its end when the rest is sent again", async () => {
  const { id, say } = await newOrganization("chain");
  await say(track({ anonymousId: "c0" }));
  let waiting = Array.from({ length: 300 }, (_, n) => alias(`c${n}`, `c${n + 1}`));
  const refused: number[] = [];
  for (let sent = 0; waiting.length > 0 && sent < 10; sent += 1) {
    const outcomes = await say(...waiting);
    waiting = waiting.filter((_, index) => typeof outcomes[index] === "object");
    refused.push(waiting.length);
  }
  expect(refused[0]).toBeGreaterThan(0);
  expect(refused.at(-1)).toBe(0);
  expect((await ledger.parking.people(id, 9)).map((one) => one.id)).toEqual(["c300"]);
  await say(identify("u", { anonymousId: "c300" }), track({ anonymousId: "c7", event: "at_once" }));
  await loaded();
  expect((await exported(id, "events")).map(({ userId }) => userId)).toEqual(["u", "u"]);
});

test("an erasure takes the warnings of the visitor's ids, and of somebody who was never identified every byte", async () => {
  const { id, say, warnings } = await newOrganization("erased warnings");
  await say(
    identify("u", { anonymousId: "device" }),
    { ...identify("u", { email: "secret one" }), userId: undefined, anonymousId: "device" } as SourcedItem,
    { ...identify("u", { email: "secret two" }), userId: undefined, anonymousId: "visitor" } as SourcedItem,
    track({ anonymousId: "visitor", properties: { secret: "secret three" } }),
  );
  expect(await warnings()).toHaveLength(2);
  await loaded();
  expect(await ledger.erasures.begin(id, "u")).toBeDefined();
  expect((await warnings()).map(([, , detail]) => detail)).toEqual(["secret two"]);
  expect(await ledger.erasures.begin(id, "visitor")).toBeUndefined();
  expect(await warnings()).toEqual([]);
  for (const file of ["ledger.sqlite", "ledger.sqlite-wal"]) {
    const text = await Bun.file(join(subject.folder, file)).text();
    expect([file, ["one", "two", "three"].filter((each) => text.includes(`secret ${each}`))]).toEqual([
      file,
      [],
    ]);
  }
});

test("what very much waited for becomes its users' in several commits, and all of it", async () => {
  const { id, say } = await newOrganization("much at once");
  const visitors = Array.from({ length: 8 }, (_, n) => `v${n}`);
  for (const anonymousId of visitors) {
    await say(...Array.from({ length: limits.parkedItems }, () => track({ anonymousId })));
  }
  const transact = spyOn(ledger, "transact");
  const outcomes = await say(...visitors.map((anonymousId, n) => identify(`u${n}`, { anonymousId })));
  expect(outcomes).toEqual(visitors.map(() => "stored"));
  expect(transact).toHaveBeenCalledTimes(2);
  transact.mockRestore();
  expect(await ledger.parking.counts(id)).toMatchObject({ people: 0, items: 0 });
  expect(await differences(id)).toEqual([]);
  expect((await exported(id, "events")).length).toBe(8 * limits.parkedItems);
});
