/** Rules that hold in every simulation, whatever its seed, size and timezone. */
import { describe, expect, test } from "bun:test";
import { Compile } from "typebox/compile";
import { BatchBody } from "../../contract/write-api.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { wireItem } from "../../simulation/items.ts";
import { stateOn } from "../../simulation/truth.ts";
import { type Log, simulate } from "./support.ts";

const wire = ({ items }: Log) => items.map((item, index) => JSON.stringify(wireItem(item, `m-${index}`)));

describe("the seed decides:", () => {
  test("the same one gives the same items, another one others", () => {
    const first = wire(simulate({ users: 60 }));
    expect(wire(simulate({ users: 60 }))).toEqual(first);
    const known = new Set(first);
    const other = wire(simulate({ users: 60, seed: 2 }));
    // The monitor calls at the same times in each.
    expect(other.filter((text) => known.has(text) && !text.includes("api_called"))).toEqual([]);
  });

  test("users and their events are those of earlier versions, to the byte", () => {
    const hash = new Bun.CryptoHasher("sha256");
    for (const text of wire(simulate({ users: 300, seed: 3 }))) hash.update(`${text}\n`);
    expect(hash.digest("hex")).toBe("53bc7ca3ecb621595c91bd50a4ed06c70ccfb11f46026f6a9c09ddc431b76956");
  });

  test("a run that ends later on the same day only adds items at the end", () => {
    const morning = wire(simulate({ users: 60, endMs: Date.UTC(2026, 5, 17, 9) }));
    const evening = wire(simulate({ users: 60, endMs: Date.UTC(2026, 5, 17, 21) }));
    expect(evening.length).toBeGreaterThan(morning.length);
    expect(evening.slice(0, morning.length)).toEqual(morning);
  });
});

test("3,000 users over 26 weeks are 1,400 to 1,440 accounts and 200,000 to 400,000 events", () => {
  const { items, truth } = simulate({ users: 3_000 });
  expect(truth.users).toHaveLength(3_000);
  expect(truth.accounts.length).toBeWithin(1_400, 1_441);
  expect(items.filter(({ type }) => type === "track").length).toBeWithin(200_000, 400_001);
});

const cases = [
  { seed: 1, users: 10, weeks: 4, zone: new Zone("UTC") },
  { seed: 2, users: 50, weeks: 1, zone: new Zone("Asia/Kathmandu") },
  { seed: 3, users: 300, weeks: 26, zone: new Zone("Europe/Berlin") },
  { seed: 4, users: 700, weeks: 40, zone: new Zone("America/New_York") },
  { seed: 2 ** 31 - 1, users: 300, weeks: 26, zone: new Zone("Pacific/Auckland") },
].map((options) => [`seed ${options.seed}, ${options.users} users, ${options.zone.name}`, options] as const);

describe.each(cases)("%s:", (_name, options) => {
  const log = simulate(options);
  itemTests(log);
  userTests(log);
  accountTests(log);
});

function itemTests(log: Log): void {
  test("each of the users is identified, with an address of their own", () => {
    const identified = log.items.filter(({ type }) => type === "identify").map(({ person }) => person);
    expect(new Set(identified.map(({ userId }) => userId)).size).toBe(log.options.users);
    expect(new Set(identified.map(({ email }) => email)).size).toBe(log.options.users);
    for (const { email } of identified) expect(email).toMatch(/^[a-z0-9.+-]+@[a-z0-9]+\.example$/);
    const names = log.truth.accounts.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test("the write API takes every item", () => {
    const batch = Compile(BatchBody);
    const refused = wire(log).filter((text) => !batch.Check({ batch: [JSON.parse(text)] }));
    expect(refused).toEqual([]);
  });

  test("time goes on from item to item, and stops before the end", () => {
    const times = log.items.map(({ timeMs }) => timeMs);
    expect(times.filter((timeMs, index) => timeMs < (times[index - 1] ?? 0))).toEqual([]);
    expect(times.at(-1)).toBeLessThan(log.options.endMs);
    expect(log.options.zone.dayOf(log.options.endMs)).toBe(log.lastDay);
    expect(log.lastDay - log.firstDay + 1).toBe(7 * log.options.weeks);
  });
}

function userTests(log: Log): void {
  const userOf = new Map(log.truth.users.map((user) => [user.userId, user]));

  test("no user acts before the sign-up, which is sent first, or before the log begins", () => {
    const seen = new Set<string>();
    for (const { type, person, timeMs } of log.items) {
      if (type === "identify") seen.add(person.userId);
      const { signedUpMs = 0 } = userOf.get(person.userId) ?? {};
      if (!seen.has(person.userId) || timeMs < signedUpMs) throw new Error(`${person.userId} at ${timeMs}`);
      if (type === "track") expect(log.options.zone.dayOf(timeMs)).toBeGreaterThanOrEqual(log.firstDay);
    }
  });

  test("no user acts after the departure, and users who are asleep open mail at most", () => {
    for (const [userId, events] of log.events) {
      const { history = [], departedDay = null } = userOf.get(userId) ?? {};
      expect(history.some(({ state }) => state === "gone")).toBe(departedDay !== null);
      for (const { timeMs, event } of events) {
        const state = stateOn(history, log.options.zone.dayOf(timeMs));
        const isPossible = state !== undefined && state !== "gone";
        if (!isPossible || (state === "asleep" && event !== "email_opened")) {
          throw new Error(`${userId} is ${state} and does ${event}`);
        }
      }
    }
  });
}

function accountTests(log: Log): void {
  test("an account that is gone has no members left, and one that canceled sent that event the day before", () => {
    for (const { accountId, departedDay, departure } of log.truth.accounts) {
      const members = log.truth.users.filter((user) => user.accountId === accountId);
      const ends = members
        .flatMap(({ userId }) => log.events.get(userId) ?? [])
        .filter(({ event }) => event === "subscription_canceled");
      const days = ends.map(({ timeMs }) => log.options.zone.dayOf(timeMs));
      expect([accountId, days]).toEqual([
        accountId,
        departure === "canceled" && departedDay !== null ? [departedDay - 1] : [],
      ]);
      if (departedDay === null) continue;
      const latest = Math.max(...members.map((member) => member.departedDay ?? Number.POSITIVE_INFINITY));
      expect(latest).toBe(departedDay);
    }
  });

  test("the last identify is true in the end: plan, owner, account", () => {
    const last = new Map<string, Record<string, unknown>>();
    for (const { type, person, properties, ...rest } of log.items) {
      if (type !== "identify") continue;
      const owner =
        "isAccountOwner" in rest && rest.isAccountOwner !== undefined ? { owner: rest.isAccountOwner } : {};
      last.set(person.userId, { ...last.get(person.userId), ...properties, ...owner });
    }
    for (const { accountId, plans, departedDay } of log.truth.accounts) {
      if (departedDay !== null) continue;
      const members = log.truth.users.filter(
        (user) => user.accountId === accountId && user.departedDay === null,
      );
      const known = members.map(({ userId }) => last.get(userId));
      expect(known.filter((traits) => traits?.owner)).toHaveLength(1);
      expect(new Set(known.map((traits) => traits?.plan))).toEqual(new Set([plans.at(-1)?.state]));
    }
  });
}
