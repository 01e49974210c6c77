/** Large bodies are read in steps, one in a turn of the event loop. Small requests wait for none. */

import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { isJsonObject } from "../../contract/json.ts";
import { limits } from "../../contract/limits.ts";
import { features } from "../../server/features/features.ts";
import { BodyBudget } from "../../server/http/port/body-budget.ts";
import { SourceBody } from "../../server/http/write/source-body.ts";
import { admitBatch, type ParsedBatch, readBatch } from "../../server/intake/admission/batch.ts";
import { isInvalid, isLargerThan, parseObject } from "../../server/intake/admission/json.ts";
import { Intake } from "../../server/intake/intake-service.ts";
import { minFreeDiskBytes } from "../../server/intake/room.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { turns } from "../until.ts";
import { anyJson, arrivalIn, seeded } from "./support.ts";

test("large bodies go on one after another, and a small one at once", async () => {
  const budget = new BodyBudget(1024 * 1024);
  const holding = (bytes: number) => {
    const request = new Request("http://localhost/batch");
    budget.reserve(request, bytes);
    return request;
  };
  const [one, other, small] = [holding(300_000), holding(300_000), holding(1_000)];
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const wentOn = async (request: Request) => {
    await budget.turn(request);
    return turn;
  };
  const [ofOne, ofOther, ofSmall] = await Promise.all([wentOn(one), wentOn(other), wentOn(small)]);
  isOver = true;
  expect(ofSmall).toBe(0);
  expect(ofOne).toBeGreaterThan(0);
  expect(ofOther).toBeGreaterThan(ofOne);
  // An answered request holds nothing, and waits for nobody.
  budget.release(one);
  await budget.turn(one);
});

test("a step of a large body begins when small requests are answered, and waits a moment at most", async () => {
  const budget = new BodyBudget(1024 * 1024);
  const [large, small] = [new Request("http://localhost/batch"), new Request("http://localhost/track")];
  budget.reserve(large, 300_000);
  const wentOn = () => {
    const went = { on: false };
    const turn = budget.turn(large).then(() => {
      went.on = true;
    });
    return { went, turn };
  };
  // A machine may stand still for longer than a step waits: then the step has begun, and the next try shows
  // it.
  let hasWaited = false;
  for (let attempt = 0; attempt < 100 && !hasWaited; attempt += 1) {
    budget.reserve(small, 100);
    const { went, turn } = wentOn();
    await turns(20);
    hasWaited = !went.on;
    budget.release(small);
    await turn;
  }
  expect(hasWaited).toBe(true);
  // Not for ever: a sender of small requests must not keep large ones from being stored.
  budget.reserve(small, 100);
  await wentOn().turn;
});

/** A batch of events, each with a text of so many characters. */
function batchJson(events: number, characters: number, last = "1"): string {
  const event = (n: number) =>
    `{"type":"track","userId":"u","event":"e","messageId":"m${n}","properties":{"text":"${"x".repeat(characters)}","n":${n === events - 1 ? last : n}}}`;
  return `{"batch":[${Array.from({ length: events }, (_, n) => event(n)).join(",")}]}`;
}

function parsedBatch(json: string): ParsedBatch {
  const parsed = parseObject(Buffer.from(json));
  const batch = isInvalid(parsed) ? parsed : readBatch(parsed);
  if (isInvalid(batch)) throw new Error(batch.invalid);
  return batch;
}

test("a large batch is admitted in slices, each item at its place, and a small one at once", () => {
  const arrival = arrivalIn("UTC");
  const slices = (json: string) => [...admitBatch(parsedBatch(json), arrival)];
  expect(slices(batchJson(2_000, 10)).map(({ length }) => length)).toEqual([2_000]);
  const large = slices(batchJson(2_000, 3_500));
  expect(large.length).toBeGreaterThan(10);
  expect(Math.max(...large.map(({ length }) => length))).toBeLessThan(200);
  const ids = large.flat().map((item) => (isInvalid(item) ? item.invalid : item.messageId));
  expect(ids).toEqual(Array.from({ length: 2_000 }, (_, n) => `m${n}`));
  // The text is read for its numbers in a step of its own.
  const [first, ...rest] = slices(batchJson(10, 10, "9007199254740993"));
  expect([first, rest.flat().filter(isInvalid)]).toEqual([
    [],
    [{ invalid: "properties.n has too many digits to be kept, 9007199254740993: send it as a string." }],
  ]);
});

test("a request whose items are being admitted is waited for", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rekindle-turns-"));
  const ledger = await openSqliteLedger({ features, file: join(folder, "ledger.sqlite") });
  try {
    const nowMs = Date.UTC(2026, 4, 17, 12);
    const { id } = await ledger.organizations.create({ name: "a", timezone: "UTC", nowMs }, settingUp);
    const intake = new Intake(ledger, folder, { maxBacklogBytes: 1024 ** 3, minFreeDiskBytes }, () => nowMs);
    const turn = Promise.withResolvers<void>();
    const batch = parsedBatch('{"batch":[{"type":"identify","userId":"u","email":"u@example.com"}]}');
    const ends: string[] = [];
    const stored = intake
      .batch(batch, { ...arrivalIn("UTC"), organization: id }, () => turn.promise)
      .then((outcomes) => ends.push(`answered ${String(outcomes)}`));
    const settled = intake.settled().then(() => ends.push("settled"));
    await turns(5);
    expect(ends).toEqual([]);
    turn.resolve();
    await Promise.all([stored, settled]);
    expect(ends.toSorted()).toEqual(["answered stored", "settled"]);
    expect(await ledger.findUser(id, "u")).toBeDefined();
  } finally {
    await ledger.close();
    await rm(folder, { recursive: true });
  }
});

test("a source's body is parsed and kept in steps, and a message that is too large is not walked", async () => {
  let steps = 0;
  const turn = async () => {
    steps += 1;
  };
  const parsed = async (json: string) => {
    const body = await SourceBody.parse(Buffer.from(json), turn);
    if (isInvalid(body) || !isJsonObject(body.value)) throw new Error("the body was refused");
    return { body, messages: Array.isArray(body.value.batch) ? body.value.batch : [] };
  };
  const { messages } = await parsed(batchJson(2_000, 3_500, "9007199254740993"));
  expect(steps).toBeGreaterThan(10);
  expect(messages.at(-1)).toMatchObject({ properties: { n: "9007199254740993" } });

  const large = `{"type":"track","properties":{"list":[${"1,".repeat(limits.bodyBytes)}9007199254740993]}}`;
  const small = '{"type":"track","properties":{"n":9007199254740993}}';
  const { body, messages: both } = await parsed(`{"batch":[${large},${small}]}`);
  const translated = { items: [] };
  expect(both[0].properties.list.at(-1)).toBeNumber();
  expect(body.whyUnstorable(both[0])).toEqual({ invalid: "message is larger than 262144 bytes: send less." });
  expect(body.changedIn(translated, 0)).toEqual([]);
  expect([both[1], body.whyUnstorable(both[1])]).toEqual([
    { type: "track", properties: { n: "9007199254740993" } },
    undefined,
  ]);
});

test("the size of a value is that of its JSON text, and of a large one only the beginning is read", () => {
  fc.assert(
    fc.property(anyJson(), fc.nat(200), (value, bytes) => {
      expect(isLargerThan(bytes, value)).toBe(Buffer.byteLength(JSON.stringify(value)) > bytes);
    }),
    seeded("turns-of-bodies.test.ts", 2_000),
  );
  const unread = new Proxy({}, { ownKeys: () => expect.unreachable("the value was read to its end") });
  expect(isLargerThan(100, ["x".repeat(100), unread])).toBe(true);
  expect(isLargerThan(100, { text: "x".repeat(100), unread })).toBe(true);
  const deep: unknown = JSON.parse(`${"[".repeat(9_000)}${"]".repeat(9_000)}`);
  expect(isLargerThan(100, deep)).toBe(false);
});
