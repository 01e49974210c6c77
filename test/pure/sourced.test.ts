/**
 * What connected sources say against a simple model: random orders of identifies, events and aliases of users and
 * visitors, with duplicates, cut into groups in a random way. Every event ends up once: at the right user, or parked.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { limits } from "../../contract/limits.ts";
import { admitSourced } from "../../server/intake/admit-sourced.ts";
import type { Decidable, SourcedOutcome } from "../../server/intake/decide.ts";
import { isInvalid } from "../../server/intake/json.ts";
import type { SourcedItem } from "../../server/intake/sourced.ts";
import { LedgerModel } from "./ledger-model.ts";
import { run, sizes } from "./requests.ts";
import { arrivalIn, seeded } from "./support.ts";

const options = seeded("sourced.test.ts", 1_000);
const arrival = arrivalIn("Europe/Paris");
const nowMs = arrival.receivedAtMs;

/** What is sent: an item of a source, or a request to the write API. */
type Sent = { readonly organization: number } & (
  | { readonly by: "source"; readonly item: SourcedItem }
  | {
      readonly by: "api";
      readonly type: "identify" | "track";
      readonly userId: string;
      readonly name: string;
    }
);

const id = fc.constantFrom("a", "b", "c", "d");
const atMs = fc.constantFrom(1, 2, 3).map((hours) => nowMs - hours * 3_600_000);
const messageId = fc.oneof(fc.constant(null), fc.constantFrom("m", "n"));
const organization = fc.constantFrom(1, 2);
const person = fc.oneof(
  fc.record({ userId: id }),
  fc.record({ anonymousId: id }),
  fc.record({ userId: id, anonymousId: id }),
);
const item: fc.Arbitrary<SourcedItem> = fc.oneof(
  fc
    .tuple(person, atMs, messageId, fc.constantFrom({}, { plan: "pro" }, { plan: "free" }))
    .map(([who, at, message, traits]) => ({
      ...who,
      ...{ type: "identify" as const, atMs: at, messageId: message, traits },
    })),
  fc.tuple(person, atMs, messageId).map(([who, at, message]) => ({
    ...who,
    ...{ type: "track" as const, atMs: at, messageId: message, event: "e", properties: {}, isActivity: true },
  })),
  fc.record({ type: fc.constant("alias" as const), previousId: id, userId: id, atMs, messageId }),
);
const sent: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ by: fc.constant("source" as const), organization, item }) },
  {
    weight: 1,
    arbitrary: fc.record({
      by: fc.constant("api" as const),
      organization,
      type: fc.constantFrom("identify" as const, "track" as const),
      userId: id,
      name: fc.constant("e"),
    }),
  },
);
/** Every event has its own name, by which it is known again. */
const history = fc.array(sent, { minLength: 1, maxLength: 60 }).map((all) =>
  all.map((one, index): Sent => {
    const name = `event_${index}`;
    if (one.by === "api") return { ...one, name };
    return one.item.type === "track" ? { ...one, item: { ...one.item, event: name } } : one;
  }),
);

function admitted(one: Sent): Decidable {
  const { organization: of } = one;
  if (one.by === "source") {
    const made = admitSourced(one.item, { ...arrival, organization: of }, () => undefined);
    if (isInvalid(made)) throw new Error(made.invalid);
    return made;
  }
  const { userId, name: event } = one;
  const common = { organization: of, userId, messageId: null, receivedAtMs: nowMs };
  return one.type === "track"
    ? { ...common, kind: "track", event, timeMs: nowMs, day: 20_000, properties: "{}" }
    : {
        ...{ ...common, kind: "identify", email: "a@example.com", traits: {}, isAccountOwner: undefined },
        ...{ account: undefined, saidAtMs: nowMs, zone: arrival.zone },
      };
}

/** The rules, said as plainly as possible, for one organization and one request at a time. */
class Model {
  readonly users = new Set<string>();
  readonly links = new Map<string, { readonly to: string; readonly atMs: number }>();
  /** Whose each event is, or under which id it waits. */
  readonly events = new Map<string, string>();
  readonly #waiting = new Set<string>();
  readonly #remembered = new Set<string>();

  take(one: Sent): SourcedOutcome {
    if (one.by === "api") return one.type === "track" ? this.#track(one) : this.#identify(one.userId);
    const { messageId: message } = one.item;
    if (message !== null && this.#remembered.has(message)) return "duplicate";
    const outcome = this.#item(one.item);
    if (message !== null && !isInvalid(outcome)) this.#remembered.add(message);
    return outcome;
  }

  isWaiting(event: string): boolean {
    return this.#waiting.has(event);
  }

  #track({ userId, name }: Extract<Sent, { by: "api" }>): SourcedOutcome {
    if (!this.users.has(userId)) return "not_found";
    this.events.set(name, userId);
    return "stored";
  }

  #identify(userId: string): SourcedOutcome {
    this.users.add(userId);
    this.links.delete(userId);
    this.#settle();
    return "stored";
  }

  #item(said: SourcedItem): SourcedOutcome {
    if (said.type === "alias") {
      const isUser = this.users.has(said.previousId);
      if (isUser && said.previousId !== said.userId) return { invalid: "" };
      if (!isUser) this.#link(said.previousId, said.userId, said.atMs);
      return "stored";
    }
    const { userId, anonymousId } = said;
    if (said.type === "identify" && userId !== undefined) {
      this.#identify(userId);
      if (anonymousId !== undefined && !this.users.has(anonymousId))
        this.#link(anonymousId, userId, said.atMs);
      return "stored";
    }
    const whose = this.#whose(userId ?? anonymousId ?? "");
    const isKnown = this.users.has(whose);
    if (said.type === "track") {
      this.events.set(said.event, whose);
      if (!isKnown) this.#waiting.add(said.event);
    }
    return isKnown ? "stored" : "parked";
  }

  #whose(one: string): string {
    return this.users.has(one) ? one : (this.links.get(one)?.to ?? one);
  }

  #link(from: string, to: string, atMsOfLink: number): void {
    const whose = this.#whose(to);
    if (whose === from || (this.links.get(from)?.atMs ?? 0) > atMsOfLink) return;
    this.links.set(from, { to: whose, atMs: atMsOfLink });
    for (const [other, link] of this.links)
      if (link.to === from) this.links.set(other, { ...link, to: whose });
    this.#settle();
  }

  /** What waits under an id moves on to whose the id is now. */
  #settle(): void {
    for (const event of this.#waiting) {
      const whose = this.#whose(this.events.get(event) ?? "");
      this.events.set(event, whose);
      if (this.users.has(whose)) this.#waiting.delete(event);
    }
  }
}

/** Whose events are and where others wait, as it is stored. */
function seenIn(ledger: LedgerModel, of: number) {
  const users = [...ledger.users.values()].filter((user) => user.organization === of);
  const stored = (ledger.rows.get("events") ?? [])
    .filter(([organizationOfRow]) => organizationOfRow === of)
    .map(([, number, , event]) => [event, users.find((user) => user.number === number)?.userId]);
  const waiting = [...ledger.parked].flatMap(([key, items]) => {
    const [ofKey, idOfKey] = JSON.parse(key);
    const bodies = items.map(({ body }) => JSON.parse(body)).filter(({ kind }) => kind === "track");
    return ofKey === of ? bodies.map(({ event }) => [event, idOfKey, "waiting"]) : [];
  });
  return [...stored, ...waiting].sort();
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
        const expected = [...model.events].map(([event, whose]) =>
          model.isWaiting(event) ? [event, whose, "waiting"] : [event, whose],
        );
        expect(seenIn(ledger, index + 1)).toEqual(expected.sort());
      }
    }),
    options,
  );
});

test("whom an id is linked to is linked to nobody, who was identified neither, and nothing waits under either", () => {
  fc.assert(
    fc.property(history, sizes, (all, groupSizes) => {
      const ledger = new LedgerModel();
      run(ledger, all.map(admitted), groupSizes);
      for (const [key, { userId }] of ledger.links) {
        const [of] = JSON.parse(key);
        expect(ledger.links.has(JSON.stringify([of, userId]))).toBe(false);
        expect(ledger.users.has(key)).toBe(false);
      }
      const waiting = [...ledger.parked].filter(([, items]) => items.length > 0);
      for (const [key] of waiting)
        expect([ledger.users.has(key), ledger.links.has(key)]).toEqual([false, false]);
    }),
    options,
  );
});

/** Decides these items one after another. */
function say(ledger: LedgerModel, ...items: readonly Partial<SourcedItem>[]): SourcedOutcome[] {
  const whole = items.map((some): Sent => {
    const track = { type: "track", event: "e", properties: {}, isActivity: true, traits: {} };
    return {
      ...{ by: "source", organization: 1 },
      item: { ...track, atMs: nowMs, messageId: null, ...some } as SourcedItem,
    };
  });
  return run(ledger, whole.map(admitted), [1]);
}

const userOf = (ledger: LedgerModel) => ledger.user(1, "u");

test("what a visitor said of themselves is older than what the user says, and fills what is missing", () => {
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
    ...{ email: "a@b.co", traits: { plan: "pro", from: "search" }, firstIdentifiedAtMs: nowMs - 1 },
  });
  say(ledger, { type: "identify", anonymousId: "v", traits: { plan: "late" }, atMs: nowMs - 2 });
  expect(userOf(ledger)?.traits.plan).toBe("pro");
});

test("an event waits with its time, id, account and whether it is activity", () => {
  const ledger = new LedgerModel();
  const uuid = "0a1b2c3d-0000-4000-8000-00000000000f";
  const account = { id: "acme" };
  const waiting = { userId: "u", messageId: uuid, isActivity: false, account, properties: { n: 1 } };
  expect(say(ledger, { ...waiting, event: "Order \n Completed ", atMs: 86_400_000 * 365 })).toEqual([
    "parked",
  ]);
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

test("the oldest of a person are dropped when too many wait", () => {
  const ledger = new LedgerModel();
  const tooMany = Array.from({ length: limits.parkedItems + 5 }, (_, index) => ({
    ...{ anonymousId: "v", event: `e${index}` },
  }));
  say(ledger, ...tooMany);
  expect(ledger.dropped).toHaveLength(5);
  say(ledger, { type: "identify", userId: "u", anonymousId: "v" });
  const stored = ledger.rows.get("events") ?? [];
  expect([stored.length, stored[0]?.[3]]).toEqual([limits.parkedItems, "e5"]);
});

test("what was said before an erasure stays out, whether it waits or comes", () => {
  const ledger = new LedgerModel();
  say(ledger, { type: "identify", userId: "u", atMs: nowMs - 9 });
  ledger.erase(1, "u", nowMs - 5);
  const late = { userId: "u", atMs: nowMs - 6 };
  expect(
    say(ledger, late, { ...late, type: "identify" }, { ...late, type: "alias", previousId: "v" }),
  ).toEqual([...["duplicate", "duplicate", "duplicate"]] as SourcedOutcome[]);
  say(ledger, { anonymousId: "v", event: "before", atMs: nowMs - 6 }, { anonymousId: "v", event: "after" });
  say(ledger, { type: "identify", userId: "u", anonymousId: "v" });
  expect(ledger.rows.get("events")?.map(([, , , event]) => event)).toEqual(["after"]);
});
