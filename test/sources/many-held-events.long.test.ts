/** Held events in large numbers: chains of aliases, erasures and many users who are named in one request. */
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { limits } from "../../contract/limits.ts";
import type { SourcedItem } from "../../server/intake/admission/sourced.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { isOnPostgres } from "../engines.ts";
import { filesWith } from "../erasure/support.ts";
import { tablesWith } from "../stored.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { identify, nowMs, SpokenTo, track } from "./spoken-to.ts";

export const runsOn = { postgres: true };

const subject = new WarehouseUnderTest();

let spokenTo: SpokenTo;
let ledger: Ledger;
beforeAll(async () => {
  spokenTo = await SpokenTo.open(subject);
  ledger = spokenTo.ledger;
});
afterAll(() => spokenTo.close());

const alias = (previousId: string, userId: string): SourcedItem => ({
  type: "alias",
  previousId,
  userId,
  atMs: nowMs,
  messageId: null,
});

test("a chain of aliases is linked on as far as one request may, and to its end when the rest is sent again", async () => {
  const { id, say } = await spokenTo.organization("chain");
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
  expect(await ledger.heldEvents.people(id, 9)).toMatchObject([{ kind: "user", id: "c300" }]);
  await say(identify("c300"), track({ anonymousId: "c7", event: "at_once" }));
  await spokenTo.loaded();
  expect((await spokenTo.exported(id, "events")).map(({ userId }) => userId)).toEqual(["c300", "c300"]);
});

test("an erasure removes the warnings of the visitor's ids, and every byte of an unidentified user", async () => {
  const { id, say, warnings } = await spokenTo.organization("erased warnings");
  await say(
    identify("u", { anonymousId: "device" }),
    { ...identify("u", { email: "secret one" }), userId: undefined, anonymousId: "device" } as SourcedItem,
    { ...identify("u", { email: "secret two" }), userId: undefined, anonymousId: "visitor" } as SourcedItem,
    track({ anonymousId: "visitor", properties: { secret: "secret three" } }),
  );
  expect(await warnings()).toHaveLength(2);
  await spokenTo.loaded();
  expect(await ledger.erasures.begin(id, "u")).toBeDefined();
  expect((await warnings()).map(([, , detail]) => detail)).toEqual(["secret two"]);
  expect(await ledger.erasures.begin(id, "visitor")).toBeUndefined();
  expect(await warnings()).toEqual([]);
  const places = isOnPostgres ? tablesWith : filesWith;
  for (const number of ["one", "two", "three"])
    expect([number, await places(subject.folder, `secret ${number}`)]).toEqual([number, []]);
});

test("very many held items go to their users in several commits, and all of them", async () => {
  const { id, say } = await spokenTo.organization("much at once");
  const visitors = Array.from({ length: 8 }, (_, n) => `v${n}`);
  for (const anonymousId of visitors) {
    await say(...Array.from({ length: limits.heldEvents }, () => track({ anonymousId })));
  }
  const transact = spyOn(ledger, "transact");
  const outcomes = await say(...visitors.map((anonymousId, n) => identify(`u${n}`, { anonymousId })));
  expect(outcomes).toEqual(visitors.map(() => "stored"));
  expect(transact).toHaveBeenCalledTimes(visitors.length);
  transact.mockRestore();
  expect(await ledger.heldEvents.counts(id)).toMatchObject({ people: 0, items: 0 });
  expect(await spokenTo.differences(id)).toEqual([]);
  expect((await spokenTo.exported(id, "events")).length).toBe(8 * limits.heldEvents);
});
