/** The live view shows the senders' messages to members as they arrive, and to no other client. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LiveItem } from "../../contract/live.ts";
import type { BatchAnswer, ErrorAnswer } from "../../contract/write-api.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { joined } from "./support.ts";
import { Watching } from "./watching.ts";

let server: Server;

beforeAll(async () => {
  server = await Server.start();
  await server.ready();
});
afterAll(() => server?.stop());

/** An organization of its own with members of these roles: each costs a second. */
async function place<Role extends "owner" | "member" | "viewer">(name: string, ...roles: readonly Role[]) {
  const token = await server.organization(name);
  const people = await Promise.all(
    roles.map(async (role) => [role, await joined(server, name, role, `${name} ${role}`)] as const),
  );
  const members = Object.fromEntries(people) as Record<Role, Awaited<ReturnType<typeof joined>>>;
  const organization = people[0]?.[1].organization ?? 0;
  return { token, organization, ...members, at: (path: string) => `${path}?organization=${organization}` };
}

const ada = { userId: "ada", email: "ada@example.com" };
const signedUp = { userId: "ada", event: "signed_up", messageId: "m-1" };

test("an item has its sender, its payload, its outcome, and the answer to the sender", async () => {
  const { token, viewer, at } = await place("Plain", "viewer");
  const watching = await Watching.open(server, viewer, at("/api/live"));
  await server.post("/identify", token, { ...ada, plann: "pro" });
  await server.post("/track", token, signedUp, { "Idempotency-Key": "key-1" });
  await server.post("/track", token, signedUp);
  const refusal = await server.post("/track", token, { userId: "nobody", event: "signed_up" });
  const broken = await server.post("/track", token, '{"userId": ');
  await until(
    "all five are shown",
    () => watching.items,
    ({ length }) => length === 5,
  );
  const [identified, stored, again, refused, unread] = watching.items;
  expect(identified).toMatchObject({
    endpoint: "identify",
    kind: "identify",
    userId: "ada",
    event: null,
    outcome: "accepted",
    error: null,
    status: 201,
    answer: '{"success":true}',
    batch: null,
    token: null,
    warnings: [{ kind: "unknown_key", detail: "plann" }],
  });
  expect(stored).toMatchObject({
    kind: "track",
    userId: "ada",
    event: "signed_up",
    outcome: "accepted",
    payload: JSON.stringify(signedUp),
    idempotencyKey: "key-1",
    warnings: [],
  });
  expect(again).toMatchObject({ outcome: "duplicate", status: 201, error: null });
  const { answer = "", ...rest } = refused ?? {};
  expect(JSON.parse(answer)).toEqual(await refusal.json());
  expect(rest).toMatchObject({ outcome: "rejected", status: 404, error: JSON.parse(answer) });
  expect(unread).toMatchObject({ outcome: "rejected", status: 400, payload: '{"userId": ', kind: "track" });
  expect(unread?.error).toEqual((await broken.json()) as LiveItem["error"]);
  watching.stop();
});

test("the items of a batch are shown one by one, without any token", async () => {
  const { token, owner, at } = await place("Batches", "owner");
  const watching = await Watching.open(server, owner, at("/api/live"));
  const batch = [{ type: "identify", ...ada }, { type: "track", ...signedUp }, { type: "walk" }, 7];
  const answer = (await (await server.post("/batch", token, { batch })).json()) as BatchAnswer;
  await until(
    "all four are shown",
    () => watching.items,
    ({ length }) => length === 4,
  );
  expect(watching.items.map(({ outcome, kind, batch: place }) => [outcome, kind, place?.index])).toEqual([
    ["accepted", "identify", 0],
    ["accepted", "track", 1],
    ["rejected", null, 2],
    ["rejected", null, 3],
  ]);
  const [, , walk, seven] = watching.items;
  expect<object>({ index: 2, ...walk?.error }).toEqual(answer.rejected[0] ?? {});
  expect<object>({ index: 3, ...seven?.error }).toEqual(answer.rejected[1] ?? {});
  expect(JSON.parse(walk?.answer ?? "")).toEqual(answer);
  expect([walk?.payload, seven?.payload]).toEqual(['{"type":"walk"}', "7"]);
  expect(JSON.stringify(watching.items)).not.toContain(token);
  watching.stop();
});

test("a token in a payload is never shown, of either scope", async () => {
  const { token, owner, viewer, at } = await place("Hidden", "owner", "viewer");
  const browser = (
    await server.command("token", "create", "--organization", "Hidden", "--scope", "browser")
  ).trim();
  const watching = await Promise.all(
    [owner, viewer].map((person) => Watching.open(server, person, at("/api/live"))),
  );
  for (const secret of [token, browser]) {
    const own = { userId: secret, email: "ada@example.com", properties: { [secret]: secret } };
    await server.post("/identify", secret, own);
    const tracked = { userId: secret, event: secret, properties: { link: `https://x.test/?t=${secret}` } };
    await server.post("/track", secret, tracked);
    await server.post("/batch", secret, { batch: [{ type: "track", ...tracked }] });
    await server.post("/identify", secret, { ...own, email: "eve@example.com" });
  }
  for (const each of watching) {
    await until(
      "all eight are shown",
      () => each.items,
      ({ length }) => length === 8,
    );
    const shown = JSON.stringify(each.items);
    expect([shown.includes(token), shown.includes(browser)]).toEqual([false, false]);
    expect(each.items.at(-1)).toMatchObject({
      outcome: "accepted",
      status: 201,
      error: null,
      userId: "rk-…",
      warnings: [{ kind: "browser_field_ignored", detail: "email" }],
    });
    each.stop();
  }
});

test("a long payload is cut off between two characters, and its whole length is shown", async () => {
  const { token, owner, at } = await place("Long", "owner");
  const watching = await Watching.open(server, owner, at("/api/live"));
  const body = JSON.stringify({ ...ada, properties: { text: "é".repeat(20_000) } });
  await server.post("/identify", token, body);
  await until(
    "it is shown",
    () => watching.items,
    ({ length }) => length === 1,
  );
  const [item] = watching.items;
  expect(item?.payloadCharacters).toBe(Buffer.byteLength(body));
  expect(body).toStartWith(item?.payload ?? "none");
  expect(item?.payload?.length).toBeLessThanOrEqual(8_192);
  watching.stop();
});

test("a page that is opened later shows the latest items, and a reconnected one only newer items", async () => {
  const { token, owner, at } = await place("Later", "owner");
  const first = await Watching.open(server, owner, at("/api/live"));
  await server.post("/identify", token, ada);
  await until(
    "it is shown",
    () => first.items,
    ({ length }) => length === 1,
  );
  first.stop();
  await server.post("/track", token, signedUp);
  const second = await Watching.open(server, owner, at("/api/live"));
  await until(
    "both are shown",
    () => second.items,
    ({ length }) => length === 2,
  );
  const again = await Watching.open(server, owner, `${at("/api/live")}&after=${second.items[0]?.id}`);
  await until(
    "the second is shown",
    () => again.items,
    ({ length }) => length === 1,
  );
  expect(again.items[0]).toEqual(second.items[1] as LiveItem);
  second.stop();
  again.stop();
});

test("a flood is counted to the last item, and does not hide what is refused", async () => {
  const { token, owner, at } = await place("Flood", "owner");
  await server.post("/identify", token, ada);
  const watching = await Watching.open(server, owner, at("/api/live"));
  const events = Array.from({ length: 1_500 }, (_, index) => ({
    type: "track",
    userId: "ada",
    event: `e${index}`,
  }));
  await server.post("/batch", token, {
    batch: [...events, { type: "track", userId: "nobody", event: "lost" }],
  });
  const told = () =>
    watching.items.filter(({ outcome }) => outcome === "accepted").length +
    watching.skipped.reduce((sum, { accepted }) => sum + accepted, 0);
  await until(
    "all 1,500 are shown or counted",
    () => told(),
    (seen) => seen === 1_500,
  );
  expect(watching.items.length).toBeLessThan(200);
  expect(watching.items.filter(({ event }) => event === "lost")).toHaveLength(1);
  watching.stop();
});

test("nothing of another organization is shown, nor what came with a wrong token", async () => {
  const mine = await place("Mine", "owner");
  const theirs = await place("Theirs", "owner");
  const watching = await Watching.open(server, mine.owner, mine.at("/api/live"));
  const other = await Watching.open(server, theirs.owner, theirs.at("/api/live"));
  await server.post("/identify", theirs.token, ada);
  await server.post("/identify", "rk-wrong", ada);
  await server.post("/identify", mine.token, { ...ada, userId: "mine" });
  await until("both organizations see their own", () => watching.items.length > 0 && other.items.length > 0);
  expect(watching.items.map(({ userId }) => userId)).toEqual(["mine"]);
  expect(other.items.map(({ userId }) => userId)).toEqual(["ada"]);
  const foreign = await mine.owner.ask("GET", theirs.at("/api/live"));
  expect([foreign.status, ((await foreign.json()) as ErrorAnswer).name]).toEqual([404, "not_found"]);
  const nobody = await fetch(server.url + mine.at("/api/live"));
  expect(nobody.status).toBe(401);
  watching.stop();
  other.stop();
});

test("the stream ends when its session does, and when the member is removed", async () => {
  const { owner, member, viewer, at } = await place("Leaving", "owner", "member", "viewer");
  const [one, two] = [
    await Watching.open(server, member, at("/api/live")),
    await Watching.open(server, viewer, at("/api/live")),
  ];
  await member.done("DELETE", "/api/session");
  await owner.done("DELETE", at(`/api/members/${viewer.id}`));
  await until("both streams have ended", () => one.isOver && two.isOver);
  expect([one.end?.isFinal, two.end?.isFinal]).toEqual([true, true]);
});

test("a manager sees the token of an item, and only while being a manager", async () => {
  const { token, owner, member, viewer, at } = await place("Naming", "owner", "member", "viewer");
  const people = [owner, member, viewer];
  const seen = await Promise.all(people.map((person) => Watching.open(server, person, at("/api/live"))));
  await server.post("/identify", token, ada);
  await until("all three see it", () => seen.every(({ items }) => items.length === 1));
  const named = { name: expect.any(String), lastFour: token.slice(-4) };
  expect(seen.map(({ items }) => items[0]?.token)).toEqual([named, named, null]);
  await owner.json("PATCH", at(`/api/members/${member.id}`), { role: "viewer" });
  await until("the former manager does not see the token", async () => {
    await server.post("/identify", token, ada);
    return seen[1]?.items.at(-1)?.token === null;
  });
  const later = await Watching.open(server, viewer, at("/api/live"));
  await until(
    "an item is shown",
    () => later.items,
    ({ length }) => length > 0,
  );
  expect(later.items.every((item) => item.token === null)).toBe(true);
  for (const watching of [...seen, later]) watching.stop();
});

test("a person can watch on three pages at most, and so locks no colleague out", async () => {
  const { owner, viewer, at } = await place("Alone", "owner", "viewer");
  const three = await Promise.all(
    Array.from({ length: 3 }, () => Watching.open(server, viewer, at("/api/live"))),
  );
  const fourth = await viewer.ask("GET", at("/api/live"));
  expect(fourth.status).toBe(429);
  const colleague = await Watching.open(server, owner, at("/api/live"));
  for (const watching of [...three, colleague]) watching.stop();
});

test("only a few people may watch at once, and leaving makes room", async () => {
  const { owner, member, viewer, at } = await place("Crowd", "owner", "member", "viewer");
  const watchers = [owner, owner, member, member, viewer];
  const five = await Promise.all(watchers.map((person) => Watching.open(server, person, at("/api/live"))));
  const sixth = await viewer.ask("GET", at("/api/live"));
  expect([sixth.status, ((await sixth.json()) as ErrorAnswer).name]).toEqual([429, "rate_limit_exceeded"]);
  five[0]?.stop();
  await until("there is a place again", async () => {
    const response = await owner.ask("GET", at("/api/live"));
    await response.body?.cancel();
    return response.status === 200;
  });
  for (const watching of five) watching.stop();
});

test("a request over the rate limit is shown as refused, without having been read", async () => {
  const { token, owner, organization, at } = await place("Fast", "owner");
  await owner.json("PATCH", `/api/organization?organization=${organization}`, { requestsPerSecond: 1 });
  const watching = await Watching.open(server, owner, at("/api/live"));
  let refused: Response | undefined;
  while (refused === undefined) {
    const answers = await Promise.all(Array.from({ length: 4 }, () => server.post("/identify", token, ada)));
    refused = answers.find(({ status }) => status === 429);
  }
  await until("the refused request is shown", () => watching.items.some(({ status }) => status === 429));
  expect(watching.items.find(({ status }) => status === 429)).toMatchObject({
    outcome: "rejected",
    kind: "identify",
    payload: null,
    error: await refused.json(),
  });
  watching.stop();
});

test("a service with watchers ends their streams before it stops, and not by cutting them off", async () => {
  const own = await Server.start({ role: "intake" });
  const before = server;
  server = own;
  try {
    const { owner, at } = await place("Stopping", "owner");
    const watching = await Watching.open(server, owner, at("/api/live"));
    await own.stop();
    await until("the stream has ended", () => watching.isOver);
    expect(watching.end?.isFinal).toBe(false);
  } finally {
    server = before;
  }
});
