/**
 * Connected sources' items, compared with a simple model. Identifies, events and aliases of users and
 * visitors come in random orders, with duplicates, cut into random groups. Every event ends up once: at the
 * right user, or held.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { limits } from "../../contract/limits.ts";
import { isInvalid } from "../../server/intake/admission/json.ts";
import type { SourcedItem } from "../../server/intake/admission/sourced.ts";
import { decide } from "../../server/intake/decide/decide.ts";
import { NeedsOf, type SourcedOutcome } from "../../server/intake/decide/requests.ts";
import { userKey } from "../../server/ledger/rules/held-events.ts";
import { LedgerModel, personKeyOf } from "./ledger-model.ts";
import { run, sizes } from "./requests.ts";
import { admitted, history, Model, nowMs, type Sent, visitor } from "./sourced-model.ts";
import { seeded } from "./support.ts";

const options = seeded("sourced.test.ts", 1_000);
/** The stored users of events, and the ids under which others are held. */
function seenIn(ledger: LedgerModel, of: number) {
  const users = [...ledger.users.values()].filter((user) => user.organization === of);
  const stored = (ledger.rows.get("events") ?? [])
    .filter(([organizationOfRow]) => organizationOfRow === of)
    .map(([, number, , event]) => [event, users.find((user) => user.number === number)?.userId]);
  const waiting = [...ledger.held].flatMap(([key, items]) => {
    const [ofKey, kind, id] = JSON.parse(key);
    const idOfKey = kind === "user" ? id : visitor(id);
    const bodies = items.map(({ body }) => JSON.parse(body)).filter(({ kind }) => kind === "track");
    return ofKey === of ? bodies.map(({ event }) => [event, idOfKey, "waiting"]) : [];
  });
  return [...stored, ...waiting].sort();
}

/** The model's users of the events. */
function expectedOf(model: Model) {
  return [...model.events]
    .map(([event, whose]) => (model.isWaiting(event) ? [event, whose, "waiting"] : [event, whose]))
    .sort();
}

const plainly = (outcome: SourcedOutcome) => (isInvalid(outcome) ? "invalid" : outcome);

test("every event ends up once: at the right user, or waiting under the right id", () => {
  fc.assert(
    fc.property(history, sizes, (all, groupSizes) => {
      const ledger = new LedgerModel();
      const models = [new Model(), new Model()] as const;
      const modelOf = (one: Sent) => models[one.organization === 1 ? 0 : 1];
      const outcomes = run(ledger, all.map(admitted), groupSizes);
      expect(outcomes.map(plainly)).toEqual(all.map((one) => plainly(modelOf(one).take(one))));
      for (const [index, model] of models.entries()) {
        expect(seenIn(ledger, index + 1)).toEqual(expectedOf(model));
      }
    }),
    options,
  );
});

test("items from before an erasure stay out, in whatever order they come, and all others reach their user", () => {
  const ofFirst = history.map((all) => all.map((one): Sent => ({ ...one, organization: 1 })));
  const erasures = fc.array(
    fc.tuple(
      fc.constantFrom("a", "b", "c", "d"),
      fc.constantFrom(0, 1.5, 2.5).map((hours) => nowMs - hours * 3_600_000),
    ),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(ofFirst, erasures), { maxLength: 3 }), sizes, (parts, groupSizes) => {
      const ledger = new LedgerModel();
      const model = new Model();
      for (const [part, [all, erased]] of parts.entries()) {
        const items = all.map((one) => renamed(one, part));
        const outcomes = run(ledger, items.map(admitted), groupSizes);
        expect(outcomes.map(plainly)).toEqual(items.map((one) => plainly(model.take(one))));
        for (const [userId, atMs] of erased) {
          if (ledger.user(1, userId) === undefined) continue;
          ledger.erase(1, userId, atMs);
          model.erase(userId, atMs);
        }
        expect(seenIn(ledger, 1).filter(([, whose]) => whose !== undefined)).toEqual(expectedOf(model));
      }
    }),
    options,
  );
});

/** With names of events that no other part of the history has. */
function renamed(one: Sent, part: number): Sent {
  if (one.by === "api") return { ...one, name: `${one.name}_${part}` };
  return one.item.type === "track"
    ? { ...one, item: { ...one.item, event: `${one.item.event}_${part}` } }
    : one;
}

test("a link leads to no other link, no identified user has one, and no events are held under either", () => {
  fc.assert(
    fc.property(history, sizes, (all, groupSizes) => {
      const ledger = new LedgerModel();
      run(ledger, all.map(admitted), groupSizes);
      const isUser = (organization: number, kind: string, id: string) =>
        kind === "user" && ledger.users.has(JSON.stringify([organization, id]));
      for (const [key, { userId }] of ledger.links) {
        const [of, kind, id] = JSON.parse(key);
        expect(ledger.links.has(personKeyOf(userKey(of, userId)))).toBe(false);
        expect(isUser(of, kind, id)).toBe(false);
      }
      const waiting = [...ledger.held].filter(([, items]) => items.length > 0);
      for (const [key] of waiting) {
        const [of, kind, id] = JSON.parse(key);
        expect([isUser(of, kind, id), ledger.links.has(key)]).toEqual([false, false]);
      }
    }),
    options,
  );
});

/** Items of a source, each a track unless it says otherwise. */
function sourced(items: readonly Partial<SourcedItem>[]) {
  const whole = items.map((some): Sent => {
    const track = { type: "track", event: "e", properties: {}, isActivity: true, traits: {} };
    return {
      by: "source",
      organization: 1,
      item: { ...track, atMs: nowMs, messageId: null, ...some } as SourcedItem,
    };
  });
  return whole.map(admitted);
}

/** Decides these items one after another. */
function say(ledger: LedgerModel, ...items: readonly Partial<SourcedItem>[]): SourcedOutcome[] {
  return run(ledger, sourced(items), [1]);
}

const userOf = (ledger: LedgerModel) => ledger.user(1, "u");

test("a visitor's traits are older than the user's, and only fill missing ones", () => {
  const ledger = new LedgerModel();
  say(
    ledger,
    {
      type: "identify",
      anonymousId: "v",
      traits: { plan: "free", from: "search" },
      atMs: nowMs - 2,
      email: "a@b.co",
    },
    { type: "identify", userId: "u", anonymousId: "v", traits: { plan: "pro" }, atMs: nowMs - 1 },
  );
  expect(userOf(ledger)).toMatchObject({
    email: "a@b.co",
    traits: { plan: "pro", from: "search" },
    firstIdentifiedAtMs: nowMs - 1,
  });
  say(ledger, { type: "identify", anonymousId: "v", traits: { plan: "late" }, atMs: nowMs - 2 });
  expect(userOf(ledger)?.traits.plan).toBe("pro");
});

test("items held by a node whose clock is ahead are no later than the user's new identify", () => {
  const ledger = new LedgerModel();
  // The visitor's message came 5 s "after" the identify that names the user.
  const ahead = admitted({
    by: "source",
    organization: 1,
    item: {
      type: "identify",
      anonymousId: "v",
      traits: { plan: "free", from: "search" },
      atMs: nowMs + 5_000,
      messageId: null,
    },
  });
  run(ledger, [{ ...ahead, atMs: nowMs + 5_000, receivedAtMs: nowMs + 5_000 } as typeof ahead], [1]);
  say(ledger, { type: "identify", userId: "u", anonymousId: "v", traits: { plan: "pro" } });
  expect(userOf(ledger)?.traits).toEqual({ plan: "pro", from: "search" });
  const held = { event: "bought", anonymousId: "w", account: { id: "acme", name: "Old" } };
  const late = admitted({
    by: "source",
    organization: 1,
    item: {
      type: "track",
      properties: {},
      isActivity: true,
      messageId: null,
      ...held,
      atMs: nowMs + 5_000,
    },
  });
  run(ledger, [{ ...late, receivedAtMs: nowMs + 5_000 } as typeof late], [1]);
  const account = { id: "acme", name: "New" };
  say(ledger, { type: "identify", userId: "x", anonymousId: "w", account });
  expect(ledger.accounts.get(JSON.stringify([1, "acme"]))?.name).toBe("New");
  expect(ledger.rows.get("events")?.map(([, , , , atMs]) => atMs)).toEqual([nowMs + 5_000]);
});

test("an event waits with its time, id, account and whether it is activity", () => {
  const ledger = new LedgerModel();
  const uuid = "0a1b2c3d-0000-4000-8000-00000000000f";
  const account = { id: "acme" };
  const waiting = { userId: "u", messageId: uuid, isActivity: false, account, properties: { n: 1 } };
  expect(say(ledger, { ...waiting, event: "Order \n Completed ", atMs: 86_400_000 * 365 })).toEqual(["held"]);
  expect(say(ledger, waiting)).toEqual(["duplicate"]);
  say(ledger, { type: "identify", userId: "u" });
  expect(ledger.rows.get("events")).toEqual([
    [1, 1, 1, "Order_Completed", 86_400_000 * 365, 365, nowMs, uuid, true, "", '{"n":1}', false],
  ]);
  expect(userOf(ledger)?.account).toBe(1);
  expect(ledger.accounts.get(JSON.stringify([1, "acme"]))?.name).toBe("acme");
  expect(ledger.labels.get(JSON.stringify([1, "Order_Completed"]))).toBe("Order \n Completed");
});

test("an event in another account is that account's, and the user stays in their own", () => {
  const ledger = new LedgerModel();
  say(
    ledger,
    { type: "identify", userId: "u", account: { id: "acme", name: "Acme" } },
    { userId: "u", account: { id: "other" } },
    { userId: "u", account: { id: "acme" } },
  );
  expect(ledger.rows.get("events")?.map(([, , account]) => account)).toEqual([2, 1]);
  expect(userOf(ledger)?.account).toBe(1);
  expect(ledger.accounts.get(JSON.stringify([1, "acme"]))?.name).toBe("Acme");
});

test("events that are held for an address go to the user with that address, in whatever order they came", () => {
  const address = { type: "alias", previousId: "customer", userId: "mailto:ada@example.com" } as const;
  const signedIn = { type: "identify", userId: "u", email: "Ada@example.com" } as const;
  const said = [
    address,
    signedIn,
    { anonymousId: "customer", event: "e1" },
    { anonymousId: "customer", event: "e2" },
  ];
  fc.assert(
    fc.property(fc.shuffledSubarray(said, { minLength: said.length }), (inOrder) => {
      const ledger = new LedgerModel();
      // A source sends the address again with each of its events. The address links no visitor to the user.
      say(ledger, ...inOrder, address);
      const events = seenIn(ledger, 1);
      expect(events).toEqual(["e1", "e2"].map((event) => [event, "u"]));
    }),
    options,
  );
});

test("a named user gets the held events, also when they are held for an address that another user has", () => {
  const ledger = new LedgerModel();
  const waiting = (anonymousId: string) => [
    { type: "alias" as const, previousId: anonymousId, userId: "mailto:bills@example.com" },
    { anonymousId, event: `of_${anonymousId}` },
  ];
  say(
    ledger,
    ...waiting("one"),
    ...waiting("other"),
    { type: "identify", userId: "a", anonymousId: "one" },
    { type: "identify", userId: "b", email: "bills@example.com" },
  );
  expect(seenIn(ledger, 1)).toEqual([
    ["of_one", "a"],
    ["of_other", "b"],
  ]);
});

test("a link to a user overrides a link to an address, whichever is the newer", () => {
  const toAddress = { type: "alias", previousId: "v", userId: "mailto:bills@example.com" } as const;
  const toUser = { type: "identify", userId: "a", anonymousId: "v", atMs: nowMs - 5 } as const;
  for (const links of [
    [toUser, toAddress],
    [toAddress, toUser],
  ]) {
    const ledger = new LedgerModel();
    const owner = { type: "identify", userId: "b", email: "bills@example.com" } as const;
    say(ledger, owner, ...links, { anonymousId: "v", event: "e" });
    expect([links[0]?.type, seenIn(ledger, 1)]).toEqual([links[0]?.type, [["e", "a"]]]);
  }
});

test("aliases that move too much in one request are rejected", () => {
  const ledger = new LedgerModel();
  say(ledger, { userId: "a" });
  const alias = (previousId: string, userId: string) => ({ type: "alias" as const, previousId, userId });
  // The first moves the held event, and the second also the two links to `b`.
  const aliases = sourced([alias("a", "b"), alias("b", "c"), alias("c", "d")]);
  const limits = { maxWork: 1_000, mayMove: 2 };
  const { outcomes } = decide(aliases, ledger.stored(new NeedsOf(aliases)), nowMs, limits);
  expect(outcomes.map(plainly)).toEqual(["stored", "stored", "invalid"]);
});

test("the oldest of a person are dropped when too many wait", () => {
  const ledger = new LedgerModel();
  const tooMany = Array.from({ length: limits.heldEvents + 5 }, (_, index) => ({
    anonymousId: "v",
    event: `e${index}`,
  }));
  say(ledger, ...tooMany);
  expect(ledger.dropped).toHaveLength(5);
  say(ledger, { type: "identify", userId: "u", anonymousId: "v" });
  const stored = ledger.rows.get("events") ?? [];
  expect([stored.length, stored[0]?.[3]]).toEqual([limits.heldEvents, "e5"]);
});

test("items from before an erasure stay out, whether they are held or arrive late", () => {
  const ledger = new LedgerModel();
  say(ledger, { type: "identify", userId: "u", atMs: nowMs - 9 });
  ledger.erase(1, "u", nowMs - 5);
  const late = { userId: "u", atMs: nowMs - 6 };
  expect(
    say(ledger, late, { ...late, type: "identify" }, { ...late, type: "alias", previousId: "v" }),
  ).toEqual(["duplicate", "duplicate", "duplicate"] as SourcedOutcome[]);
  say(ledger, { anonymousId: "v", event: "before", atMs: nowMs - 6 }, { anonymousId: "v", event: "after" });
  say(ledger, { type: "identify", userId: "u", anonymousId: "v" });
  expect(ledger.rows.get("events")?.map(([, , , event]) => event)).toEqual(["after"]);
});

test("an identify from before an erasure does not link the erased visitor to another user", () => {
  const ledger = new LedgerModel();
  say(ledger, { type: "identify", userId: "u", anonymousId: "v", atMs: nowMs - 9 });
  ledger.erase(1, "u", nowMs - 5);
  say(ledger, { type: "identify", userId: "w", anonymousId: "v", atMs: nowMs - 6 }, { anonymousId: "v" });
  expect(seenIn(ledger, 1)).toEqual([["e", visitor("v"), "waiting"]]);
});

test("a name's white space is looked at once, and a name that is mostly white space is refused", () => {
  const ledger = new LedgerModel();
  const long = `a${" ".repeat(4 * limits.eventNameCharacters)}b`;
  expect(() => say(ledger, { userId: "u", event: long })).toThrow("event is not valid");
  say(ledger, { type: "identify", userId: "u" }, { userId: "u", event: "\u0085 \n\u0085a\u0085 b \u0085" });
  expect(ledger.rows.get("events")?.map(([, , , event]) => event)).toEqual(["a_b"]);
});

test("traits that are set once may have the names of every object's properties", () => {
  const ledger = new LedgerModel();
  const traitsOnce = { constructor: "search", toString: "ad", plan: "free" };
  say(ledger, { type: "identify", userId: "u", traits: { plan: "pro" }, traitsOnce });
  expect(userOf(ledger)?.traits).toEqual({ constructor: "search", toString: "ad", plan: "pro" } as never);
});
