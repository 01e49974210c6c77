/** Owners, recent churn and last payments in SQL, compared with plain TypeScript on random data. */
import { expect, test } from "bun:test";
import { lists } from "../../server/analytics/entities/lists.ts";
import { revenueQuestion } from "../../server/analytics/revenue/currencies.ts";
import { lastPaid } from "../../server/analytics/revenue/last-paid.ts";
import { ownerIn, ownersOf } from "../../server/ledger/rules/owners.ts";
import { conversionAt } from "../../server/revenue/rates.ts";
import { churnedLately } from "../../server/scoring/queries/lists/churned-lately.ts";
import { randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { randomChanges, randomDetails, store } from "./revenue-support.ts";

const subject = new WarehouseUnderTest();
const random = randomOfThisRun("owners");

const members = [
  { id: 1, name: "Ada", email: "ada@example.com" },
  { id: 2, name: "Bob", email: "bob@example.com" },
  // Two members with one name, and one whose name is another one's address.
  { id: 3, name: "Twin", email: "twin@example.com" },
  { id: 4, name: "twin", email: "other@example.com" },
  { id: 5, name: "Ada@Example.com", email: "spoofed@example.com" },
  { id: 6, name: "Ünïcode 'quoted' \\ 😀", email: "u@example.com" },
];
const texts: readonly unknown[] = [
  "ADA@example.com",
  "ada",
  "Bob",
  "bob@example.com",
  "twin",
  "TWIN@EXAMPLE.COM",
  "nobody",
  "",
  " Ada",
  "Ünïcode 'quoted' \\ 😀",
  "spoofed@example.com",
  null,
  7,
  true,
  { a: 1 },
  ["Ada"],
  undefined,
];

test("owners of users and accounts are found as they are read for a page", async () => {
  const organization = subject.newOrganization();
  const { warehouse } = subject;
  const traits = () => ({
    name: "x",
    owner: texts[random.between(0, texts.length - 1)],
    other: '"owner":"Ada"',
  });
  const accounts = Array.from({ length: 12 }, (_, index) => ({ account: index + 1, traits: traits() }));
  const users = Array.from({ length: 80 }, (_, index) => ({
    user: index + 1,
    account: random.between(0, 12),
    traits: traits(),
  }));
  const now = "2026-01-01 00:00:00";
  await warehouse.command(
    `INSERT INTO accounts (organization, account, account_id, name, created_at, updated_at, version, traits)
     SELECT {organization:UInt32}, row.1, toString(row.1), '', '${now}', '${now}', 1, row.2
     FROM (SELECT arrayJoin(arrayZip({numbers:Array(UInt32)}, {traits:Array(String)})) AS row)`,
    {
      organization,
      numbers: accounts.map(({ account }) => account),
      traits: accounts.map((one) => JSON.stringify(one.traits)),
    },
  );
  await warehouse.command(
    `INSERT INTO users (organization, user, user_id, email, traits, is_account_owner, account, first_identified_at, updated_at, version)
     SELECT {organization:UInt32}, row.1, toString(row.1), '', row.3, NULL, row.2, '${now}', '${now}', 1
     FROM (SELECT arrayJoin(arrayZip({numbers:Array(UInt32)}, {accounts:Array(UInt32)}, {traits:Array(String)})) AS row)`,
    {
      organization,
      numbers: users.map(({ user }) => user),
      accounts: users.map(({ account }) => account),
      traits: users.map((one) => JSON.stringify(one.traits)),
    },
  );
  const owners = ownersOf(members);
  const ofAccount = new Map(
    accounts.map(({ account, traits: own }) => [account, ownerIn(owners, own.owner)]),
  );
  const ofUser = new Map(
    users.map(({ user, account, traits: own }) => [
      user,
      ownerIn(owners, own.owner) ?? ofAccount.get(account),
    ]),
  );
  expect(new Set([...ofUser.values()].map((owner) => owner?.id)).size).toBeGreaterThan(4);
  const question = {
    organization,
    toDay: 20_000,
    passiveEvents: [],
    run: undefined,
    earlier: undefined,
    search: "",
    sort: "owner" as const,
    descending: false,
    limit: 1_000,
    offset: 0,
    owners,
  };
  for (const ownerId of [0, 1, 2, 3, 4, 5, 6, 99]) {
    const is = (owner: { id: number } | undefined) => (owner?.id ?? 0) === ownerId;
    const expected = users.filter(({ user }) => is(ofUser.get(user))).map(({ user }) => user);
    const found = await lists.user.numbers(warehouse, { ...question, ownerId });
    expect([ownerId, found.toSorted((a, b) => a - b)]).toEqual([ownerId, expected]);
    expect(await lists.user.count(warehouse, { ...question, ownerId })).toBe(expected.length);
    const own = accounts.filter(({ account }) => is(ofAccount.get(account))).map(({ account }) => account);
    expect(
      (await lists.account.numbers(warehouse, { ...question, ownerId })).toSorted((a, b) => a - b),
    ).toEqual(own);
  }
  const names = (await lists.user.numbers(warehouse, question)).map((user) =>
    ofUser.get(user)?.name.toLowerCase(),
  );
  const known = names.filter((name) => name !== undefined);
  expect(known).toEqual(known.toSorted());
  expect(names.slice(known.length).every((name) => name === undefined)).toBe(true);
  const rows = await lists.user.rows(warehouse, question, [1, 2, 3]);
  for (const { entity, traits: text, accountOwner } of rows) {
    const own = ownerIn(owners, (JSON.parse(text) as { owner?: unknown }).owner);
    expect(own ?? ownerIn(owners, accountOwner)).toEqual(ofUser.get(entity));
  }
});

test("who churned lately is found by the days of scores", async () => {
  const organization = subject.newOrganization();
  const day = 20_500;
  const scored = [day - 30, day - 9, day - 8, day - 7, day - 1, day];
  const states = ["active", "inactive", "churned", "churned", ""] as const;
  const rows = Array.from({ length: 60 }, (_, index) => ({
    entity: index + 1,
    states: scored.map((on) => [on, random.pick(states)] as const).filter(([, state]) => state !== ""),
  }));
  const cells = [
    ...rows.flatMap(({ entity, states: own }) =>
      own.map(([on, state]) => ({ entity, on, state, version: 5 })),
    ),
    // Rows of a day's earlier run, for entities that its last run left out.
    ...rows.flatMap(({ entity, states: own }) =>
      scored
        .filter((on) => !own.some(([other]) => other === on))
        .map((on) => ({ entity, on, state: random.pick(["active", "churned"]), version: 4 })),
    ),
  ];
  await subject.warehouse.command(
    `INSERT INTO score_records (organization, kind, what, day, version, rows_version)
     SELECT {organization:UInt32}, 'account', 'run', addDays(toDate32('1970-01-01'), arrayJoin({scored:Array(Int32)})), 6, 5`,
    { organization, scored },
  );
  await subject.warehouse.command(
    `INSERT INTO account_scores (organization, day, account, version, state, colour)
     SELECT {organization:UInt32}, addDays(toDate32('1970-01-01'), row.1), row.2, row.4, row.3, 'none'
     FROM (SELECT arrayJoin(arrayZip({days:Array(Int32)}, {entities:Array(UInt32)}, {states:Array(String)},
       {versions:Array(UInt64)})) AS row)`,
    {
      organization,
      days: cells.map(({ on }) => on),
      entities: cells.map(({ entity }) => entity),
      states: cells.map(({ state }) => state),
      versions: cells.map(({ version }) => version),
    },
  );
  for (const days of [1, 8, 9, 30]) {
    const expected = rows.flatMap(({ entity, states: own }) => {
      const within = own.filter(([on]) => on >= day - days);
      const last = within.findLastIndex(([, state]) => state !== "churned");
      const churned = within[last + 1];
      return within.at(-1)?.[0] === day && last >= 0 && churned !== undefined
        ? [{ entity, churnedDay: churned[0] }]
        : [];
    });
    const run = { organization, kind: "account", day, rowsVersion: 5 } as const;
    const found = await churnedLately(subject.warehouse, run, days, 1_000);
    expect(found.toSorted((a, b) => a.entity - b.entity)).toEqual(expected);
    expect(found.map(({ churnedDay }) => churnedDay)).toEqual(
      found.map(({ churnedDay }) => churnedDay).toSorted((a, b) => b - a),
    );
  }
});

test.each(["account", "user"] as const)("what an %s paid last follows from its changes", async (kind) => {
  const organization = subject.newOrganization();
  const [beginMs, endMs] = [Date.UTC(2024, 0, 1), Date.UTC(2026, 6, 1)];
  const [sinceMs, nowMs] = [Date.UTC(2025, 10, 1), Date.UTC(2026, 2, 17, 5)];
  const settings = { reportingCurrency: "USD", currencyRates: { EUR: 1.0842 } };
  const changes = randomChanges(random, {
    currencies: ["USD", "EUR", "CHF"],
    hasTransfers: false,
    subscriptions: 60,
    beginMs,
    endMs,
  });
  await store(subject.warehouse, organization, changes, randomDetails(random));
  const asked = await revenueQuestion(subject.warehouse, { organization, ...settings });
  const entities = Array.from({ length: 40 }, (_, index) => index + 1);
  const question = { ...asked, kind, sinceMs, nowMs };
  const found = await lastPaid(subject.warehouse, question, entities);
  const convert = conversionAt({ reporting: "USD", rates: settings.currencyRates });
  const expected = new Map<number, number | null>();
  for (const own of Map.groupBy(changes, ({ subscription }) => subscription).values()) {
    const ordered = own.toSorted((a, b) => a.fromMs - b.fromMs);
    const place = ordered.findLastIndex(({ fromMs, mrr }) => fromMs <= nowMs && mrr > 0);
    const last = ordered[place];
    const endsMs = ordered[place + 1]?.fromMs ?? nowMs;
    if (last === undefined || endsMs < sinceMs) continue;
    if (kind === "account" ? last.account === 0 : last.account !== 0 || last.user === 0) continue;
    const entity = kind === "account" ? last.account : last.user;
    const before = expected.get(entity);
    const converted = convert(last.mrr, last.currency ?? "");
    expected.set(entity, before === null || converted === undefined ? null : (before ?? 0) + converted);
  }
  const inOrder = (all: Iterable<readonly [number, number | null]>) => [...all].toSorted(([a], [b]) => a - b);
  expect(inOrder([...found].map(([entity, { mrr }]) => [entity, mrr] as const))).toEqual(inOrder(expected));
  expect(found.size).toBeGreaterThan(3);
});
