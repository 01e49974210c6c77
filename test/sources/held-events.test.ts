/** Connected sources' items, from intake through the ledger into the warehouse. Some are held until a user is
 * named, some are ignored, and some belong to an unknown user. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { limits } from "../../contract/limits.ts";
import { lists } from "../../server/analytics/entities/lists.ts";
import { accountTimeline, timeline } from "../../server/analytics/entities/timeline.ts";
import { withLabels } from "../../server/figures/event-labels.ts";
import { isInvalid } from "../../server/intake/admission/json.ts";
import type { SourcedItem } from "../../server/intake/admission/sourced.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { attachFile } from "../../server/warehouse/copies/frozen-tables.ts";
import { eraseUsers, findUsers } from "../../server/warehouse/upkeep/erase.ts";
import { rebuild } from "../../server/warehouse/upkeep/rebuild.ts";
import { event, recount, rollupsOf, WarehouseUnderTest } from "../warehouse/support.ts";
import { identify, nowMs, SpokenTo, track, zone } from "./spoken-to.ts";

export const runsOn = { postgres: true };

const subject = new WarehouseUnderTest();
const hourMs = 3_600_000;

let spokenTo: SpokenTo;
let ledger: Ledger;
beforeAll(async () => {
  spokenTo = await SpokenTo.open(subject);
  ledger = spokenTo.ledger;
});
afterAll(() => spokenTo.close());

test("held events go to a user by an identify of the source, and by one to the write API", async () => {
  const { id, say, identify: identifyDirectly, track: trackDirectly } = await spokenTo.organization("named");
  const uuid = "0a1b2c3d-0000-4000-8000-00000000000f";
  const early = track({ anonymousId: "v", messageId: uuid, atMs: nowMs - 30 * hourMs, properties: { n: 1 } });
  expect(await say(early, early, track({ userId: "u", event: "later" }))).toEqual([
    "held",
    "duplicate",
    "held",
  ] as const);
  expect(await ledger.heldEvents.counts(id)).toMatchObject({ people: 2, items: 2 });
  expect(await trackDirectly({ userId: "u", event: "refused" })).toBe("not_found");
  expect(await spokenTo.differences(id)).toEqual([]);
  expect(await identifyDirectly({ userId: "u", email: "u@example.com" })).toBe("stored");
  expect(
    await say(identify("u", { anonymousId: "v" }), track({ anonymousId: "v", event: "at_once" })),
  ).toEqual(["stored", "stored"] as const);
  expect(await ledger.heldEvents.counts(id)).toMatchObject({ people: 0, items: 0, bytes: 0 });
  expect(await spokenTo.differences(id)).toEqual([]);
  const events = (await spokenTo.exported(id, "events")).map(
    ({ userId, event: name, timestamp, messageId, properties }) => [
      userId,
      name,
      timestamp,
      messageId,
      properties,
    ],
  );
  const now = new Date(nowMs).toISOString();
  expect(events.sort()).toEqual([
    ["u", "at_once", now, null, {}],
    ["u", "later", now, null, {}],
    ["u", "opened", "2026-05-16T06:00:00.000Z", uuid, { n: 1 }],
  ]);
});

test("a user whose e-mail is not known is listed, exported and completed; a wrong one is left out", async () => {
  const {
    id,
    say,
    identify: identifyDirectly,
    track: trackDirectly,
    warnings,
  } = await spokenTo.organization("no e-mail");
  await say(
    identify("u", { email: "not an address", traits: { plan: 3, name: ["x"], n: 1 } }),
    identify("w"),
  );
  expect(await trackDirectly({ userId: "u", event: "opened" })).toBe("stored");
  await spokenTo.loaded();
  const question = {
    organization: id,
    toDay: zone.dayOf(nowMs),
    run: undefined,
    earlier: undefined,
    search: "",
    passiveEvents: [],
    sort: "email" as const,
    descending: false,
    limit: 10,
    offset: 0,
  } as const;
  const listed = async () =>
    (await lists.user.page(subject.warehouse, question)).map(({ userId, email, traits }) => [
      userId,
      email,
      traits,
    ]);
  expect(await listed()).toEqual([
    ["u", null, '{"plan":"3","n":1}'],
    ["w", null, "{}"],
  ]);
  expect((await spokenTo.exported(id, "users")).map(({ email }) => email)).toEqual([null, null]);
  expect(await warnings()).toEqual([
    ["email_left_out", "segment", "not an address"],
    ["trait_left_out", "segment", "name"],
  ]);
  await identifyDirectly({ userId: "w", email: "w@example.com" });
  await spokenTo.loaded();
  expect((await listed()).map(([userId, email]) => [userId, email])).toEqual([
    ["w", "w@example.com"],
    ["u", null],
  ]);
  expect((await ledger.findUser(id, "u"))?.user.email).toBeNull();
  expect(await spokenTo.differences(id)).toEqual([]);
});

test("events that are no activity are on the timeline and in exports, and in no figure, after a rebuild too", async () => {
  const { id, say } = await spokenTo.organization("passive");
  const dayMs = 24 * hourMs;
  await say(
    identify("u"),
    track({ userId: "u", atMs: nowMs - dayMs }),
    track({ userId: "u", event: "mail_sent", isActivity: false }),
    track({ anonymousId: "v", event: "mail_sent", isActivity: false, atMs: nowMs - 9 * dayMs }),
    { type: "alias", previousId: "v", userId: "u", atMs: nowMs, messageId: null },
  );
  await spokenTo.loaded();
  const active = [event(id, { user: 1, event: "opened", day: zone.dayOf(nowMs - dayMs) })];
  const expected = recount(active, ({ day }) => day);
  for (const rebuilt of [false, true]) {
    if (rebuilt) await rebuild(subject.warehouse, id, zone.transitions);
    expect(await rollupsOf(subject, id)).toEqual(expected);
    expect(await spokenTo.differences(id)).toEqual([]);
  }
  const shown = await timeline(subject.warehouse, { organization: id, user: 1, limit: 10 });
  expect(shown.map(({ event: name, isActivity }) => [name, isActivity])).toEqual([
    ["mail_sent", false],
    ["opened", true],
    ["mail_sent", false],
  ]);
  expect(await spokenTo.exported(id, "events")).toHaveLength(3);
});

test("an event whose name has white space is stored without it, and answers have the name as it was sent first", async () => {
  const { id, say } = await spokenTo.organization("names");
  await say(
    track({ anonymousId: "v", event: " Order  Completed\n" }),
    identify("u", { anonymousId: "v" }),
    track({ userId: "u", event: "Order Completed" }),
    track({ userId: "u", event: "order_completed" }),
    track({ userId: "u", event: `${"a".repeat(300)}` }),
  );
  await spokenTo.loaded();
  const events = (await spokenTo.exported(id, "events")).map(({ event: name }) => ({ event: String(name) }));
  expect(await withLabels({ ledger, organization: { id } }, events)).toEqual([
    { event: "Order_Completed", label: "Order  Completed" },
    { event: "Order_Completed", label: "Order  Completed" },
    { event: "order_completed", label: null },
  ]);
});

test("an event in another account than the user's own is on that account's timeline", async () => {
  const { id, say } = await spokenTo.organization("accounts");
  await say(
    identify("u", { account: { id: "own" } }),
    track({ userId: "u", event: "visited", account: { id: "other", name: "Other" } }),
  );
  await spokenTo.loaded();
  const of = (account: number) =>
    accountTimeline(subject.warehouse, { organization: id, account, limit: 10 });
  expect(await of(1)).toEqual([]);
  expect((await of(2)).map(({ event: name, userId }) => [name, userId])).toEqual([["visited", "u"]]);
});

test("events held for a user cannot be taken by sending the user's id as a visitor's", async () => {
  const { id, say } = await spokenTo.organization("claims");
  await say(
    track({ userId: "42", event: "of_user" }),
    track({ anonymousId: "42", event: "of_visitor" }),
    identify("thief", { anonymousId: "42" }),
    track({ userId: "42", event: "of_user_later" }),
    track({ anonymousId: "42", event: "of_visitor_later" }),
  );
  expect(await ledger.heldEvents.people(id, 9)).toMatchObject([{ kind: "user", id: "42", items: 2 }]);
  await say(identify("42"));
  await spokenTo.loaded();
  const whose = (await spokenTo.exported(id, "events")).map(({ userId, event }) => `${userId} ${event}`);
  expect(whose.sort()).toEqual([
    "42 of_user",
    "42 of_user_later",
    "thief of_visitor",
    "thief of_visitor_later",
  ]);
  expect(await spokenTo.differences(id)).toEqual([]);
});

/** Erases a user, as `rekindle erase user` does. */
async function erase(id: number, userId: string): Promise<void> {
  await spokenTo.loaded();
  const erasure = await ledger.erasures.begin(id, userId);
  if (erasure === undefined) throw new Error("the user was not known");
  const found = (await findUsers(subject.warehouse, id, [erasure.user])).get(erasure.user);
  if (found === undefined) throw new Error("the erased user was not counted");
  await ledger.erasures.counted([{ id: erasure.id, ...found }]);
  await eraseUsers(subject.warehouse, [erasure]);
  await ledger.erasures.finish([erasure.id]);
}

test("an erased user's links and events go, and late events of theirs and of their devices stay out", async () => {
  const { id, say } = await spokenTo.organization("erased");
  const alias: SourcedItem = {
    type: "alias",
    previousId: "before",
    userId: "u",
    atMs: nowMs,
    messageId: null,
  };
  await say(track({ anonymousId: "v", event: "secret" }), identify("u", { anonymousId: "v" }), alias);
  await erase(id, "u");
  const atMs = nowMs - 1;
  const late = [
    track({ userId: "u", atMs }),
    track({ anonymousId: "v", atMs }),
    track({ userId: "before", atMs }),
    identify("u", { anonymousId: "v", atMs }),
    identify("before", { atMs }),
    { ...alias, atMs },
    // From another user, who used the same device before.
    identify("other", { anonymousId: "v", atMs }),
    track({ userId: "other", anonymousId: "v", atMs }),
  ];
  expect(await say(...late)).toEqual([...Array(6).fill("duplicate"), "stored", "stored"]);
  expect(await ledger.heldEvents.counts(id)).toMatchObject({ people: 0, items: 0 });
  // New events of the device are held for the next user who is named.
  const again = [track({ anonymousId: "v", event: "new" }), identify("u", { anonymousId: "v" })];
  expect(await say(...again, track({ anonymousId: "v", atMs, event: "late" }))).toEqual([
    "held",
    "stored",
    "duplicate",
  ] as const);
  await spokenTo.loaded();
  const whose = (await spokenTo.exported(id, "events")).map(({ userId, event }) => `${userId} ${event}`);
  expect(whose.sort()).toEqual(["other opened", "u new"]);
  expect(await spokenTo.differences(id)).toEqual([]);
});

test("a bad item costs nothing but itself, and is counted with its reason", async () => {
  const { say, warnings } = await spokenTo.organization("bad items");
  const outcomes = await say(
    track({ userId: "u", event: " \n " }),
    track({}),
    track({ userId: "u".repeat(257) }),
    track({ userId: "u", atMs: Date.UTC(2300, 0, 1) }),
    track({ userId: "u", properties: { half: "\ud800" } }),
    track({ userId: "u", properties: { long: "x".repeat(limits.bodyBytes) } }),
    track({ userId: "u", messageId: "m".repeat(257) }),
    track({ userId: "u", account: { id: "" } }),
    identify("u"),
    identify("w"),
    { type: "alias", previousId: "u", userId: "w", atMs: nowMs, messageId: null },
    track({ userId: "u", event: "E".repeat(256) }),
  );
  const refused = outcomes.map((outcome) => (isInvalid(outcome) ? outcome.invalid : outcome));
  expect(refused).toEqual([
    "event is not valid: send a name of 1 to 256 characters.",
    "userId is missing: send a userId, or the id of a visitor.",
    "userId is too long: send at most 256 characters.",
    "timestamp is not a time of the years 1970 to 2299: send when it happened.",
    "properties.half has half of a surrogate pair: send whole characters.",
    "item is larger than 262144 bytes: send less.",
    "messageId is too long: send at most 256 characters.",
    "account is not valid: send an id of 1 to 256 characters.",
    "stored",
    "stored",
    "previousId is a user who was identified: two users are not made one.",
    "stored",
  ]);
  expect((await warnings()).map(([kind]) => kind)).toEqual(Array(9).fill("refused_validation"));
});

test("rows that were written before there was activity are activity, in an inbox and in a backup", async () => {
  const { id } = await spokenTo.organization("older rows");
  const row = event(id, { user: 7 });
  const older = [
    row.organization,
    row.user,
    row.account,
    row.event,
    row.timeMs,
    row.day,
    row.receivedAtMs,
    row.id,
    false,
    "",
    row.properties,
  ];
  const body = Buffer.from(`${JSON.stringify(older)}\n`);
  await subject.warehouse.insertFrozen({
    table: "events",
    schema: 1,
    rows: 1,
    body,
    token: crypto.randomUUID(),
  });
  expect(await rollupsOf(subject, id)).toEqual(recount([row], ({ day }) => day));
  const path = join(subject.folder, "older.native.zst");
  await subject.warehouse.command(
    `INSERT INTO FUNCTION file({path:String}, 'Native', 'auto', 'zstd')
     SELECT * EXCEPT is_activity REPLACE {other:UInt32} AS organization
     FROM (SELECT * FROM events WHERE organization = {organization:UInt32})`,
    { path, organization: id, other: id + 1_000 },
  );
  await attachFile(subject.warehouse, "events", { path, rows: 1 });
  const [shown] = await timeline(subject.warehouse, { organization: id + 1_000, user: 7, limit: 1 });
  expect(shown).toMatchObject({ event: row.event, isActivity: true });
});
