/**
 * Connected sources' items are decided alike on both stores. PostgreSQL loads before it is asked, and SQLite
 * answers when it is asked. The items are random groups over few users, so that aliases, addresses and
 * erasures meet held events.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Zone } from "../../server/calendar/zone.ts";
import { features } from "../../server/features/features.ts";
import type { AdmittedSourced } from "../../server/intake/admission/admit-sourced.ts";
import { GroupCommit } from "../../server/intake/group-commit.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { openPostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { addressId, userKey, visitorKey } from "../../server/ledger/rules/held-events.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { PostgresServer } from "../postgres.ts";
import { dayMs } from "./held-event-support.ts";
import { look } from "./writes.ts";

const zone = new Zone("UTC");
const ids = Array.from({ length: 24 }, (_, n) => `id ${n}`);
const emails = ["ada@example.com", "Ada@example.com", "bob@example.com"];
const groups = 60;
/** So few that some are not kept. */
const maxWaitingLinks = 1;

let server: PostgresServer;
const folder = mkdtempSync(join(tmpdir(), "rekindle-decisions-"));

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Numbers below `end`, the same from the same seed: mulberry32. */
function randomFrom(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  };
}

function entryOf(random: (end: number) => number, organization: number, nowMs: number): AdmittedSourced {
  const one = <Choice>(choices: readonly Choice[]) => choices[random(choices.length)] as Choice;
  const common = { organization, zone, bytes: 100, receivedAtMs: nowMs, atMs: nowMs - random(5_000) };
  const messageId = `m${random(400)}`;
  const kind = random(16);
  if (kind === 0) return { ...common, messageId, kind: "alias", previousId: one(ids), userId: one(ids) };
  // An address stands for the user who will have it.
  if (kind === 1) {
    const userId = addressId(one(emails)) ?? "";
    return { ...common, messageId, kind: "alias", previousId: one(ids), userId };
  }
  const account =
    random(3) === 0 ? { accountId: `account ${random(3)}`, name: undefined, avatar: undefined } : undefined;
  const whose = {
    userId: random(4) === 0 ? undefined : one(ids),
    anonymousId: one(ids),
    previousId: kind === 2 && random(4) === 0 ? one(ids) : undefined,
  };
  if (kind === 2) {
    const said = {
      email: one([...emails, undefined]),
      traits: { n: random(9) },
      traitsOnce: { first: random(9) },
    };
    return {
      ...common,
      messageId,
      kind: "person",
      ...whose,
      content: { kind: "identify", ...said, isAccountOwner: undefined, account },
    };
  }
  const event = `event_${random(4)}`;
  const label = random(2) === 0 ? event.replace("_", " ") : null;
  return {
    ...common,
    messageId,
    kind: "person",
    ...whose,
    content: { kind: "track", event, label, properties: `{"n":${random(9)}}`, isActivity: true, account },
  };
}

/** Everything that is stored of these users. */
async function stateOf(ledger: Ledger, organization: number) {
  const users = [...ids, ...emails.map((email) => addressId(email) ?? "")].map((id) =>
    userKey(organization, id),
  );
  const people = [...users, ...ids.map((id) => visitorKey(organization, id))];
  return {
    stored: await look(ledger, { people }, (stored) => ({
      links: people.map((person) => stored.link(person)),
      linksTo: users.map(({ id }) => stored.linksTo(organization, id)),
      waiting: people.map((person) => stored.heldEvents(person)),
      erasedAtMs: people.map((person) => stored.erasedAtMs(person)),
    })),
    users: await Promise.all(ids.map((id) => ledger.findUser(organization, id))),
    linked: await Promise.all(ids.map((id) => ledger.identities.linkedTo(organization, id))),
    populations: await ledger.populations(organization),
    held: await ledger.heldEvents.counts(organization),
    people: await ledger.heldEvents.people(organization, 100),
    labels: await ledger.heldEvents.labels(organization, ["event_0", "event_1", "event_2", "event_3"]),
    events: (await ledger.dayCounts(organization)).map(({ utcDay, events }) => ({ utcDay, events })),
    warnings: (await ledger.warnings.list(organization, 100)).map(({ kind, count }) => ({ kind, count })),
  };
}

test("random groups of what sources say end alike on both ledgers", async () => {
  const warned = new Set<string>();
  for (const seed of [1, 2, 3]) {
    let nowMs = Date.UTC(2026, 0, 1);
    const clock = () => nowMs;
    const ledgers: readonly Ledger[] = [
      await openSqliteLedger({ features, file: join(folder, `${seed}.sqlite`), clock, maxWaitingLinks }),
      await openPostgresLedger({
        features,
        url: await server.database(),
        connections: 3,
        clock,
        maxWaitingLinks,
      }),
    ];
    const name = { name: "acme", timezone: "UTC", nowMs };
    const [first, second] = await Promise.all(
      ledgers.map((ledger) => ledger.organizations.create(name, settingUp)),
    );
    expect(second?.id).toBe(first?.id ?? 0);
    const organization = first?.id ?? 0;
    const commits = ledgers.map((ledger) => new GroupCommit(ledger, clock));
    const random = randomFrom(seed);
    for (let group = 0; group < groups; group += 1) {
      nowMs += 1_000;
      const entries = Array.from({ length: 1 + random(12) }, () => entryOf(random, organization, nowMs));
      const [sqlite, postgres] = await Promise.all(commits.map((one) => one.submitSourced(entries, 100)));
      expect(postgres).toEqual(sqlite ?? []);
      if (group % 20 === 19) {
        const userId = ids[random(ids.length)] ?? "";
        const erased = await Promise.all(
          ledgers.map((ledger) => ledger.erasures.begin(organization, userId)),
        );
        expect(erased[1]?.user).toBe(erased[0]?.user);
        nowMs += 16 * dayMs;
        for (const ledger of ledgers) await ledger.tidy(nowMs);
      }
    }
    const [sqlite, postgres] = await Promise.all(ledgers.map((ledger) => stateOf(ledger, organization)));
    expect(postgres).toEqual(sqlite);
    expect(postgres?.held.items).toBeGreaterThan(0);
    for (const { kind } of postgres?.warnings ?? []) warned.add(kind);
    for (const ledger of ledgers) await ledger.close();
  }
  expect([...warned].sort()).toEqual(["held_expired", "links_full"]);
});

/** Three nodes of one cluster with an organization, each with the clock of the machine. */
async function cluster(options: { maxWaitingLinks?: number } = {}) {
  const url = await server.database();
  const nodes = await Promise.all(
    [1, 2, 3].map(() => openPostgresLedger({ features, url, connections: 3, ...options })),
  );
  const [first] = nodes;
  if (first === undefined) throw new Error("there is no node");
  const { id } = await first.organizations.create({ name: "acme", timezone: "UTC", nowMs: 1 }, settingUp);
  const commits = nodes.map((node) => new GroupCommit(node, Date.now));
  const send = (node: number, entry: AdmittedSourced) =>
    commits[node % commits.length]?.submitSourced([entry], 100).then(([outcome]) => String(outcome));
  return {
    nodes,
    first,
    organization: id,
    send,
    close: () => Promise.all(nodes.map((node) => node.close())),
  };
}

const atMs = Date.UTC(2026, 0, 1);
const commonOf = (organization: number) => ({ organization, zone, bytes: 100, receivedAtMs: atMs, atMs });
const silent = { email: undefined, traitsOnce: undefined, isAccountOwner: undefined, account: undefined };

/** A visitor's event. */
function visitOf(organization: number, anonymousId: string, n: number): AdmittedSourced {
  return {
    ...commonOf(organization),
    kind: "person",
    messageId: `visit ${n}`,
    anonymousId,
    userId: undefined,
    previousId: undefined,
    content: {
      kind: "track",
      event: "visit",
      label: null,
      properties: "{}",
      isActivity: true,
      account: undefined,
    },
  };
}

function identifyOf(organization: number, userId: string, anonymousId: string, n: number): AdmittedSourced {
  return {
    ...commonOf(organization),
    kind: "person",
    messageId: `identify ${n}`,
    userId,
    anonymousId,
    previousId: undefined,
    content: { kind: "identify", traits: { n }, ...silent },
  };
}

test("nodes that decide about one person at once lose nothing of it, and keep nothing waiting", async () => {
  const { nodes, organization, send, close } = await cluster();
  const visit = (n: number) => send(n, visitOf(organization, "visitor", n));
  const before = await Promise.all(Array.from({ length: 6 }, (_, n) => visit(n)));
  expect(new Set(before)).toEqual(new Set(["held"]));
  const others = Array.from({ length: 30 }, (_, n) => visit(6 + n));
  const named = [0, 1, 2].map((n) => send(n, identifyOf(organization, "ada", "visitor", n)));
  const outcomes = await Promise.all([...others, ...named]);
  expect(outcomes.filter((outcome) => outcome !== "held" && outcome !== "stored")).toEqual([]);
  expect(await nodes[1]?.heldEvents.counts(organization)).toMatchObject({ people: 0, items: 0, bytes: 0 });
  expect((await nodes[2]?.dayCounts(organization))?.map(({ events }) => events)).toEqual([36]);
  await close();
});

test("no event stays held when one node gets the visitor's event while another gets the identify", async () => {
  const { first, organization, send, close } = await cluster();
  for (let round = 0; round < 25; round += 1) {
    const [id, n] = [`visitor ${round}`, round * 10];
    await Promise.all([
      ...[1, 2, 3, 4].map((one) => send(one, visitOf(organization, id, n + one))),
      send(0, identifyOf(organization, `user ${round}`, id, n)),
      ...[5, 6, 7, 8].map((one) => send(one, visitOf(organization, id, n + one))),
    ]);
  }
  expect(await first.heldEvents.counts(organization)).toMatchObject({ people: 0, items: 0 });
  expect((await first.dayCounts(organization)).map(({ events }) => events)).toEqual([25 * 8]);
  await close();
});

test("nodes that link at once keep as many links as there may be, and count those that they keep and do not", async () => {
  const { first, organization, send, close } = await cluster({ maxWaitingLinks: 5 });
  const ids = Array.from({ length: 30 }, (_, n) => `id ${n}`);
  const outcomes = ids.map((previousId, n) =>
    send(n, {
      ...commonOf(organization),
      kind: "alias",
      messageId: null,
      previousId,
      userId: `other ${n % 3}`,
    }),
  );
  expect(new Set(await Promise.all(outcomes))).toEqual(new Set(["stored"]));
  const people = ids.flatMap((id) => [userKey(organization, id), visitorKey(organization, id)]);
  const links = await look(first, { people }, (stored) => people.flatMap((one) => stored.link(one) ?? []));
  expect(links).toHaveLength(5);
  expect(await first.heldEvents.counts(organization)).toMatchObject({ links: 5 });
  const warned = await first.warnings.list(organization, 9);
  expect(warned.map(({ kind, count }) => [kind, count])).toEqual([["links_full", 55]]);
  await close();
});

test("events from before an erasure go to the user or stay out, whichever node receives them", async () => {
  const { first, organization, send, close } = await cluster();
  await send(0, identifyOf(organization, "ada", "device", 0));
  const visits = Array.from({ length: 40 }, (_, n) => send(n, visitOf(organization, "device", n)));
  const erased = await first.erasures.begin(organization, "ada");
  const late = Array.from({ length: 10 }, (_, n) => send(n, visitOf(organization, "device", 40 + n)));
  expect(erased).toMatchObject({ user: 1 });
  const outcomes = await Promise.all(visits);
  expect(outcomes.filter((outcome) => outcome !== "duplicate" && outcome !== "stored")).toEqual([]);
  expect(new Set(await Promise.all(late))).toEqual(new Set(["duplicate"]));
  expect(await first.heldEvents.counts(organization)).toMatchObject({ people: 0, items: 0, links: 0 });
  await close();
});
