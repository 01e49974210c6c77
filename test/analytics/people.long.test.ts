/** Lists of users and accounts, and timelines, read through HTTP and compared with the sent events. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { quietZone, zoneFarFromMidnight } from "../far-from-midnight.ts";
import { Server } from "../server.ts";
import { expectError, send, user } from "../specification/support.ts";
import { randomOfThisRun } from "../warehouse/support.ts";
import { byBytes, dateOf } from "./recount.ts";
import { type Happening, type Person, patientGet, World } from "./world.ts";

let server: Server;
let world: World;
let neighbour: World;

beforeAll(async () => {
  server = await Server.shared();
  const random = randomOfThisRun("people");
  const zone = zoneFarFromMidnight("America/Santiago", "Africa/Cairo");
  world = new World(server, random, "People", zone);
  neighbour = new World(server, random, "Neighbours", "Asia/Kathmandu");
  await world.fill(40, 1_500);
  await neighbour.fill(10, 300);
  await server.ready();
});
afterAll(() => server.stop());

interface ListedUser {
  readonly userId: string;
  readonly firstSeenDay: string | null;
  readonly lastSeenDay: string | null;
}

function spanOf(events: readonly Happening[], today: number) {
  const days = events.filter(({ day }) => day <= today).map(({ day }) => day);
  const date = (day: number) => (days.length === 0 ? null : dateOf(day));
  return { firstSeenDay: date(Math.min(...days)), lastSeenDay: date(Math.max(...days)) };
}

/** As long as no run of scores is finished. */
const noScores = {
  state: "no_data",
  healthBand: "none",
  health: null,
  risk: null,
  riskBand: null,
  ratioToBaseRate: null,
  activityPosition: null,
  engagement: null,
  momentum: null,
  change: null,
  verdict: "no_score",
};
const noOwner = { owner: null, ownerId: null, controlUntil: null };
const noSeats = { seats: null, seatsUsed: null, pulse: null };
const noRun = { day: null, sinceDay: null, dataStoppedSince: null };

/** A row of a list without its scores: the service works them out by itself, at any moment of these tests. */
function withoutScores<Row extends object>(row: Row): Row {
  const others = Object.entries(row).filter(([name]) => !(name in noScores));
  return Object.fromEntries(others) as Row;
}

function expectedUser({ userId, email, traits, account }: Person) {
  return {
    userId,
    email,
    name: typeof traits.name === "string" ? traits.name : null,
    accountId: account,
    accountName: account === null ? null : `Name of ${account}`,
    isAccountOwner: null,
    isExcluded: false,
    firstIdentifiedAt: expect.stringMatching(/Z$/),
    ...spanOf(
      world.events.filter((event) => event.userId === userId),
      world.today(),
    ),
    traits,
  };
}

const everybody = () => [...world.people.values()];

describe("users", () => {
  test("are listed with account, traits, first and last day until today", async () => {
    const { total, users } = await world.ask<{ total: number; users: ListedUser[] }>("/api/users");
    expect(total).toBe(40);
    const expected = everybody().map((person) => ({ ...expectedUser(person), ...noOwner }));
    expect(users.map(withoutScores).sort((a, b) => byBytes(a.userId, b.userId))).toEqual(
      expected.sort((a, b) => byBytes(a.userId, b.userId)),
    );
    expect(users.filter(({ lastSeenDay }) => lastSeenDay === null).length).toBeGreaterThan(0);
    const one = await world.ask<ListedUser>("/api/users/u0");
    const { firstSeenDay, lastSeenDay } = users.find(({ userId }) => userId === "u0") ?? one;
    expect(one).toMatchObject({ firstSeenDay, lastSeenDay });
  });

  test("are sorted, and pages put together are the whole list", async () => {
    const keys = {
      userId: ({ userId }: ListedUser) => userId,
      email: ({ userId }: ListedUser) => world.people.get(userId)?.email ?? "",
      lastSeen: ({ lastSeenDay }: ListedUser) => lastSeenDay ?? "",
    };
    for (const [sort, key] of Object.entries(keys)) {
      for (const order of ["ascending", "descending"]) {
        const pages: ListedUser[] = [];
        for (let offset = 0; offset < 50; offset += 13) {
          const page = { sort, order, limit: 13, offset };
          const { total, users } = await world.ask<{ total: number; users: ListedUser[] }>(
            "/api/users",
            page,
          );
          expect([total, users.length]).toEqual([40, Math.max(0, Math.min(13, 40 - offset))]);
          pages.push(...users);
        }
        expect(new Set(pages.map(({ userId }) => userId)).size).toBe(40);
        const texts = pages.map(key).filter((text) => text !== "");
        const inOrder = texts.toSorted(byBytes);
        expect(texts).toEqual(order === "ascending" ? inOrder : inOrder.reverse());
        // Those without any event come last, whatever the order.
        expect(
          pages
            .map(key)
            .slice(texts.length)
            .every((text) => text === ""),
        ).toBe(true);
      }
    }
  });

  test.each(["ADA", "bob.", "u1", "łUKASZ", "=sum(", 'say "', "o'neil", "%", "_", "\\", "' OR 1=1 --", "é"])(
    "are found by %s in userId, e-mail or name",
    async (search) => {
      const holds = (text: unknown) =>
        typeof text === "string" && text.toLowerCase().includes(search.toLowerCase());
      const expected = everybody().filter(
        ({ userId, email, traits }) => holds(userId) || holds(email) || holds(traits.name),
      );
      const { total, users } = await world.ask<{ total: number; users: ListedUser[] }>("/api/users", {
        search,
      });
      expect(users.map(({ userId }) => userId).sort()).toEqual(expected.map(({ userId }) => userId).sort());
      expect(total).toBe(expected.length);
    },
  );

  test.each([
    ["tier", "pro", "pro"],
    ["tier", "=HYPERLINK(1)", "=HYPERLINK(1)"],
    ["tier", "a,b\r\nc", "a,b\r\nc"],
    ["tier", "7", 7],
    ["tier", "true", true],
    ["tier", '["x"]', ["x"]],
    ["tier", "", ""],
    ["tier", "null", undefined],
    ["no' trait", "x", undefined],
    ["name", "=SUM(A1)", "=SUM(A1)"],
  ])("are filtered by the trait %s = %j", async (trait, value, stored) => {
    const expected = everybody().filter(
      ({ traits }) => stored !== undefined && JSON.stringify(traits[trait]) === JSON.stringify(stored),
    );
    const answer = await world.ask<{ total: number; users: ListedUser[] }>("/api/users", { trait, value });
    expect(answer.total).toBe(expected.length);
    expect(answer.users.map(({ userId }) => userId).sort()).toEqual(
      expected.map(({ userId }) => userId).sort(),
    );
  });
});

describe("accounts", () => {
  const ids = ["acme", "=2+2", "o'neil & sons", "Zebra"];
  const expectedAccount = (accountId: string) => {
    const today = world.today();
    const members = everybody().filter(({ account }) => account === accountId);
    const names = new Set(members.map(({ userId }) => userId));
    const events = world.events.filter(({ userId }) => names.has(userId));
    // Events that carry the account, on the 28 days before the scores. The event's user may have left the
    // account.
    const active = new Set(
      world.events
        .filter(({ account, day }) => account === accountId && day < today && day >= today - 28)
        .map(({ userId }) => userId),
    );
    return {
      accountId,
      name: `Name of ${accountId}`,
      avatar: null,
      traits: {},
      createdAt: expect.stringMatching(/Z$/),
      members: members.length,
      activeMembers: active.size,
      ...spanOf(events, today),
    };
  };

  test("are listed with members and active members, sorted and searched", async () => {
    interface Answer {
      readonly total: number;
      readonly accounts: readonly { readonly accountId: string; readonly members: number }[];
    }
    const ask = (parameters = {}) => world.ask<Answer>("/api/accounts", parameters);
    const byId = { sort: "accountId", order: "ascending" };
    const { total, accounts } = await ask(byId);
    expect(total).toBe(4);
    expect(accounts.map(withoutScores) as object[]).toEqual(
      ids.toSorted(byBytes).map((id) => ({ ...expectedAccount(id), ...noOwner, ...noSeats })),
    );
    const byMembers = (await ask({ sort: "members" })).accounts.map(({ members }) => members);
    expect(byMembers).toEqual(byMembers.toSorted((a, b) => b - a));
    const page = await ask({ ...byId, limit: 2, offset: 3 });
    expect([page.total, page.accounts.length]).toEqual([4, 1]);
    const foundBy = async (search: string) =>
      (await ask({ search })).accounts.map(({ accountId }) => accountId);
    expect(await foundBy("NAME OF Z")).toEqual(["Zebra"]);
    expect(await foundBy("O'NEIL")).toEqual(["o'neil & sons"]);
  });

  test("are shown one by one with their members", async () => {
    for (const id of ids) {
      const { users, ...account } = await world.ask<{ users: ListedUser[] }>(
        `/api/accounts/${encodeURIComponent(id)}`,
      );
      expect(account).toEqual({
        ...expectedAccount(id),
        ...noOwner,
        ...noSeats,
        unknownOwner: null,
        saidByPages: [],
      });
      const expected = everybody().filter((person) => person.account === id);
      expect(users.toSorted((a, b) => byBytes(a.userId, b.userId))).toEqual(
        expected
          .map((person) => ({ ...expectedUser(person), controlUntil: null }))
          .toSorted((a, b) => byBytes(a.userId, b.userId)),
      );
    }
    await expectError(await world.get("/api/accounts/nobody's"), "not_found", "Account not found");
    await expectError(await world.get("/api/accounts/nobody's/timeline"), "not_found");
  });
});

test("a user who is new today is listed without scores, and so is the account", async () => {
  const token = await server.organization("Of today", "--timezone", quietZone);
  const key = (await server.command("key", "create", "--organization", "Of today")).trim();
  await send(server, "/identify", token, user("ada", { account: { id: "acme", name: "Acme" } }));
  await send(server, "/track", token, { userId: "ada", event: "opened" });
  await server.exported("events", "Of today");
  for (const list of ["users", "accounts"]) {
    const answer = await (await patientGet(`${server.url}/api/${list}`, key)).json();
    expect(answer).toMatchObject({ ...noRun, total: 1, [list]: [noScores] });
  }
});

describe("timelines", () => {
  interface Timeline {
    readonly events: readonly { readonly id: string; readonly event: string; readonly timestamp: string }[];
    readonly next: string | null;
  }

  async function readAll(path: string, limit: number) {
    const seen: Timeline["events"][number][] = [];
    let next: string | null = "";
    while (next !== null) {
      const answer: Timeline = await world.ask(path, { limit, ...(next !== "" && { before: next }) });
      seen.push(...answer.events);
      next = answer.next;
    }
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
    return seen;
  }

  const fact = (timestamp: string, event: string, properties: unknown) =>
    `${timestamp} ${event} ${JSON.stringify(properties)}`;
  const sent = (events: readonly Happening[]) =>
    events.map((one) => fact(new Date(one.timeMs).toISOString(), one.event, one.properties)).sort();

  test("of a user have everything that was sent, page by page, the newest first", async () => {
    for (const userId of ["u0", "u5", "u39"]) {
      const seen = await readAll(`/api/users/${userId}/timeline`, 9);
      const times = seen.map(({ timestamp }) => timestamp);
      expect(times).toEqual(times.toSorted().reverse());
      const facts = seen.map((one) =>
        fact(one.timestamp, one.event, "properties" in one ? one.properties : ""),
      );
      expect(facts.sort()).toEqual(sent(world.events.filter((event) => event.userId === userId)));
    }
  });

  const called = (userId: unknown) => {
    const person = everybody().find((each) => each.userId === userId);
    return person?.traits.name ?? person?.email ?? "";
  };

  test("of an account have what its users did while they belonged to it, by name", async () => {
    let longest = 0;
    for (const id of ["acme", "=2+2", "o'neil & sons", "Zebra"]) {
      const seen = await readAll(`/api/accounts/${encodeURIComponent(id)}/timeline`, 40);
      const facts = seen.map((one) => `${one.timestamp} ${one.event} ${"userId" in one ? one.userId : ""}`);
      const expected = world.events
        .filter(({ account }) => account === id)
        .map(({ timeMs, event, userId }) => `${new Date(timeMs).toISOString()} ${event} ${userId}`);
      longest = Math.max(longest, expected.length);
      expect(facts.sort()).toEqual(expected.sort());
      for (const one of seen)
        expect(one).toMatchObject({ userLabel: called("userId" in one ? one.userId : "") });
    }
    expect(longest, "a timeline of several pages").toBeGreaterThan(50);
  });
});
