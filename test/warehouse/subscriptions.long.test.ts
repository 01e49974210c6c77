/** Subscriptions in the warehouse: computed from billing events in any order, and healed after any harm. */
import { describe, expect, test } from "bun:test";
import { Zone } from "../../server/calendar/zone.ts";
import { accountRow, type EventRow, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { embedded } from "../../server/warehouse/engine/topology.ts";
import { migrate, migrationStatements } from "../../server/warehouse/schema/migrations.ts";
import { billingDifferences, subscriptionDifferences } from "../../server/warehouse/upkeep/check-billing.ts";
import { deleteOrganization } from "../../server/warehouse/upkeep/delete-organization.ts";
import { eraseUsers } from "../../server/warehouse/upkeep/erase.ts";
import { eraseAccount } from "../../server/warehouse/upkeep/erase-account.ts";
import { dropEvents } from "../../server/warehouse/upkeep/keep-events.ts";
import { rebuild } from "../../server/warehouse/upkeep/rebuild.ts";
import { updateSubscriptions } from "../../server/warehouse/upkeep/subscriptions.ts";
import { account } from "../ledger/writes.ts";
import { until } from "../until.ts";
import { billed, changes, keeperOf, life, lifeChanges, load, price, storedRows } from "./billing-support.ts";
import { event, forgetMigrationsFrom, msPerDay, randomOfThisRun, WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();

const differences = async (organization: number) => [
  ...(await billingDifferences(subject.warehouse, organization, -1)),
  ...(await subscriptionDifferences(subject.warehouse, { organization, timezone: "UTC" })),
];

async function loadedLife(): Promise<number> {
  const organization = subject.newOrganization();
  const keeper = keeperOf(subject);
  await load(subject, keeper, life(organization));
  await keeper.updateLoaded();
  return organization;
}

test("a subscription has the changes of its billing events", async () => {
  const organization = await loadedLife();
  expect(await changes(subject, organization)).toEqual(lifeChanges);
  expect(await differences(organization)).toEqual([]);
});

test("only billing events count: no activity, no other name, and no event without a subscription", async () => {
  const organization = subject.newOrganization();
  const keeper = keeperOf(subject);
  const started = billed(organization, 1, "subscription_started", price);
  const others = [
    { ...started, isActivity: true },
    billed(organization, 1, "subscription_upgraded", price),
    billed(organization, 1, "subscription_started", { ...price, subscriptionId: undefined }),
    billed(organization, 1, "payment_failed", { subscriptionId: undefined, currency: "EUR" }),
  ];
  const payment = billed(organization, 2, "payment_succeeded", {
    subscriptionId: undefined,
    amount: 100,
    currency: "EUR",
  });
  await load(subject, keeper, [...others, payment]);
  await keeper.complete(organization);
  expect(await storedRows(subject, organization)).toEqual([]);
  // A payment without a subscription is kept, for questions about payments.
  expect(await subject.count("billing_events", organization)).toBe(1);
});

test("an id that was sent as a number is its digits", async () => {
  const organization = subject.newOrganization();
  const keeper = keeperOf(subject);
  await load(subject, keeper, [
    billed(organization, 1, "subscription_started", { ...price, subscriptionId: 42 }),
  ]);
  await keeper.updateLoaded();
  expect(await changes(subject, organization, "42")).toEqual(lifeChanges.slice(0, 1));
});

test("shuffled, repeated and late batches end in the same rows", async () => {
  const random = randomOfThisRun("subscriptions");
  const shuffled = (events: readonly EventRow[]) =>
    events
      .map((one) => ({ one, at: random.between(0, 2 ** 30) }))
      .sort((a, b) => a.at - b.at)
      .map(({ one }) => one);
  const rowsOf: unknown[] = [];
  for (const isShuffled of [false, true]) {
    const organization = subject.newOrganization();
    const keeper = keeperOf(subject);
    const all = ["a", "b", "c"].flatMap((id, index) =>
      life(organization, id, { user: index + 1 }).map((one, number) => {
        const digits = (index * 100 + number).toString(16).padStart(32, "0");
        return { ...one, id: digits, messageId: `message ${digits}` };
      }),
    );
    const sent = isShuffled ? shuffled([...all, ...all]) : all;
    for (let from = 0; from < sent.length; from += 5) {
      await load(subject, keeper, sent.slice(from, from + 5));
      await keeper.updateLoaded();
    }
    for (const id of ["a", "b", "c"]) expect(await changes(subject, organization, id)).toEqual(lifeChanges);
    rowsOf.push(await storedRows(subject, organization));
  }
  expect(rowsOf[1]).toEqual(rowsOf[0]);
});

test("a batch that is sent again after a crash is stored once", async () => {
  const organization = subject.newOrganization();
  const lines = life(organization).map(eventRow);
  for (let sent = 0; sent < 2; sent += 1)
    await subject.insert("events", lines, `subscriptions ${organization}`);
  expect(await subject.count("billing_events", organization)).toBe(lines.length);
});

describe("after a start", () => {
  test.each([
    ["rows that were lost", "ALTER TABLE subscriptions DELETE WHERE organization = {organization:UInt32}"],
    [
      "rows of other events",
      "ALTER TABLE subscriptions UPDATE events_hash = 1, mrr = [1], from = [now64(3)] WHERE organization = {organization:UInt32}",
    ],
    [
      "rows of older rules",
      "ALTER TABLE subscriptions UPDATE rules = '0 UTC', status = arrayMap(x -> 'paused', status) WHERE organization = {organization:UInt32}",
    ],
    [
      "a subscription without events",
      `INSERT INTO subscriptions (organization, subscription, version, events)
       SELECT {organization:UInt32}, 'sub_none', 1, 3`,
    ],
  ])("%s are mended", async (_name, harm) => {
    const organization = await loadedLife();
    const before = await storedRows(subject, organization);
    await subject.warehouse.command(harm, { organization });
    expect(await differences(organization)).toEqual([{ kind: "subscriptions", subscriptions: 1 }]);
    await keeperOf(subject).complete(organization);
    expect(await storedRows(subject, organization)).toEqual(before);
    expect(await differences(organization)).toEqual([]);
  });

  test("events that a killed process did not get to are computed", async () => {
    const organization = subject.newOrganization();
    await subject.insert("events", life(organization).map(eventRow));
    await subject.warehouse.close();
    await subject.open();
    const keeper = keeperOf(subject);
    keeper.start();
    await until(
      "changes are computed",
      () => changes(subject, organization),
      ({ length }) => length > 0,
    );
    await keeper.stop();
    expect(await changes(subject, organization)).toEqual(lifeChanges);
  });

  test("events of versions without these tables are computed, and once", async () => {
    const organization = subject.newOrganization();
    await subject.warehouse.command("DROP TABLE billing_events_view SYNC");
    const lines = life(organization).map(eventRow);
    await subject.insert("events", lines, `before ${organization}`);
    const ofBilling = migrationStatements(embedded).filter((statement) =>
      statement.includes("billing_events"),
    );
    for (const statement of [...ofBilling, ...ofBilling]) await subject.warehouse.command(statement);
    // The batch was frozen before the update and is sent again after it.
    await subject.insert("events", lines, `before ${organization}`);
    expect(await subject.count("events", organization)).toBe(lines.length);
    await keeperOf(subject).complete(organization);
    expect(await changes(subject, organization)).toEqual(lifeChanges);
    expect(await differences(organization)).toEqual([]);
  });
});

test("more subscriptions than fit into a page are all computed, each in its organization", async () => {
  const [organization, other] = [subject.newOrganization(), subject.newOrganization()];
  const ids = Array.from({ length: 4_500 }, (_, index) => `sub_${index}`);
  const events = ids.map((subscriptionId) =>
    billed(organization, 1, "subscription_started", { ...price, subscriptionId }),
  );
  await subject.insert("events", events.map(eventRow));
  await subject.insert("events", life(other).map(eventRow));
  await keeperOf(subject).complete(organization);
  const [sum] = await subject.warehouse.rows(
    `SELECT count() AS subscriptions, sum(arraySum(mrr)) AS mrr FROM subscriptions FINAL
     WHERE organization = {organization:UInt32}`,
    { organization },
  );
  expect(sum).toEqual({ subscriptions: 4_500, mrr: 4_500 * 4_900 });
  expect(await changes(subject, other)).toEqual([]);
  expect(await differences(organization)).toEqual([]);
});

test("a call ends after so many events, and the rest is named for the next one", async () => {
  const organization = subject.newOrganization();
  const whose = { organization, timezone: "UTC" };
  const ids = Array.from({ length: 2_000 }, (_, index) => `sub_${index}`);
  const payments = Array.from({ length: 11 }, (_, day) =>
    ids.map((subscriptionId) =>
      billed(organization, day + 1, "subscription_started", { ...price, subscriptionId }),
    ),
  );
  await subject.insert("events", payments.flat().map(eventRow));
  const all = { after: "", upto: undefined };
  const left = await updateSubscriptions(subject.warehouse, whose, all, 1);
  expect(left.length).toBeGreaterThan(0);
  expect(await subject.count("subscriptions", organization)).toBe(ids.length - left.length);
  expect(await updateSubscriptions(subject.warehouse, whose, { among: left }, 1)).toEqual([]);
  expect(await differences(organization)).toEqual([]);
});

test("rows of before price intervals were known are computed again after a start", async () => {
  const organization = await loadedLife();
  const { warehouse } = subject;
  await warehouse.command("ALTER TABLE subscriptions DROP COLUMN price_interval, DROP COLUMN trial_ends_at");
  await warehouse.command(
    "ALTER TABLE subscriptions UPDATE rules = '1 UTC' WHERE organization = {organization:UInt32}",
    { organization },
  );
  await forgetMigrationsFrom(
    subject,
    "price intervals and ends of trials of subscriptions; scores know of these, and of attributes of accounts",
  );
  await migrate(warehouse);
  const intervals = async () =>
    (
      await warehouse.rows<{ price_interval: string[] }>(
        "SELECT price_interval FROM subscriptions FINAL WHERE organization = {organization:UInt32}",
        { organization },
      )
    ).map((row) => row.price_interval);
  expect(await intervals()).toEqual([[]]);
  await keeperOf(subject).complete(organization);
  expect(await intervals()).toEqual([lifeChanges.map(() => "1 month")]);
  expect(await changes(subject, organization)).toEqual(lifeChanges);
});

describe("a rebuild", () => {
  test("mends billing events that differ, and keeps those whose raw events are deleted", async () => {
    const organization = await loadedLife();
    const beforeDay = Math.floor(Date.UTC(2026, 2, 6) / msPerDay);
    await dropEvents(subject.warehouse, [{ organization, beforeDay }], (work) => work());
    expect(await subject.count("events", organization)).toBe(3);
    await subject.warehouse.command(
      `ALTER TABLE billing_events DELETE
       WHERE organization = {organization:UInt32} AND time > toDateTime64('2026-03-15', 3, 'UTC')`,
      { organization },
    );
    await subject.warehouse.command(
      `INSERT INTO billing_events (organization, subscription, event, time, id, properties)
       SELECT {organization:UInt32}, 'sub_1', 'subscription_canceled', toDateTime64('2026-03-10', 3, 'UTC'), generateUUIDv4(), '{}'`,
      { organization },
    );
    expect(
      (await billingDifferences(subject.warehouse, organization, beforeDay + 1)).map(({ events, rollup }) => [
        events,
        rollup,
      ]),
    ).toEqual([
      [0, 1],
      [1, 0],
    ]);
    const keeper = keeperOf(subject);
    const { transitions } = new Zone("Asia/Kolkata");
    await keeper.changeAll(organization, () =>
      rebuild(subject.warehouse, organization, transitions, () => undefined, beforeDay),
    );
    await keeper.complete(organization);
    expect(await changes(subject, organization)).toEqual(lifeChanges);
    expect(await billingDifferences(subject.warehouse, organization, beforeDay + 1)).toEqual([]);
  });

  test("of an organization with all its events removes billing events without one", async () => {
    const organization = await loadedLife();
    await subject.warehouse.command("ALTER TABLE events DELETE WHERE organization = {organization:UInt32}", {
      organization,
    });
    const keeper = keeperOf(subject);
    await keeper.changeAll(organization, () =>
      rebuild(subject.warehouse, organization, new Zone("UTC").transitions),
    );
    await keeper.complete(organization);
    expect(await storedRows(subject, organization)).toEqual([]);
  });
});

describe("erasing", () => {
  /** Every text of the tables' files is in their rows, also in rows that a newer version replaced. */
  const rowsWith = async (text: string) => {
    const [found] = await subject.warehouse.rows<{ rows: number }>(
      `SELECT (SELECT countIf(position(formatRow('JSONEachRow', *), {text:String}) > 0) FROM billing_events)
         + (SELECT countIf(position(formatRow('JSONEachRow', *), {text:String}) > 0) FROM subscriptions)
         + (SELECT countIf(position(formatRow('JSONEachRow', *), {text:String}) > 0) FROM events) AS rows`,
      { text },
    );
    return found?.rows;
  };

  test("a user leaves no billing event and no change of theirs, and the rest is computed again", async () => {
    const organization = subject.newOrganization();
    const keeper = keeperOf(subject);
    const upgrade = billed(
      organization,
      3,
      "subscription_changed",
      { ...price, plan: "MARKER" },
      { user: 2 },
    );
    await load(subject, keeper, [...life(organization, "sub_1", { user: 1 }), upgrade]);
    await load(subject, keeper, life(organization, "MARKER", { user: 2 }));
    await keeper.updateLoaded();
    expect(await changes(subject, organization)).toHaveLength(6);
    await keeper.changeEvents([{ organization, numbers: [2] }], "user", () =>
      eraseUsers(subject.warehouse, [{ organization, user: 2 }]),
    );
    expect(await rowsWith("MARKER")).toBe(0);
    expect(await changes(subject, organization)).toEqual(lifeChanges);
    expect(await differences(organization)).toEqual([]);
  });

  test("an account leaves nothing that names it, and its users' subscriptions stay", async () => {
    const organization = subject.newOrganization();
    const keeper = keeperOf(subject);
    const named = (accountId: unknown, number: number) =>
      life(organization, `sub_${number}`, { account: number }).map((one) => ({
        ...one,
        properties: JSON.stringify({
          ...JSON.parse(one.properties),
          accountId,
          note: '"accountId":"MARKER"',
          list: { accountId: [777_123] },
        }),
      }));
    for (const [accountId, number] of [
      ["MARKER", 1],
      ["777", 2],
      ["kept", 3],
    ] as const) {
      await subject.insert("accounts", [accountRow(account(organization, accountId, { number }))]);
    }
    await load(subject, keeper, [...named("MARKER", 1), ...named(777, 2), ...named("kept", 3)]);
    await keeper.updateLoaded();
    for (const [number, erasure] of [
      [1, 1],
      [2, 2],
    ] as const) {
      await keeper.changeEvents([{ organization, numbers: [number] }], "account", () =>
        eraseAccount(subject.warehouse, { organization, account: number }, erasure),
      );
    }
    expect([await rowsWith('\\"accountId\\":\\"MARKER'), await rowsWith('\\"accountId\\":777')]).toEqual([
      0, 0,
    ]);
    expect(await rowsWith('\\"accountId\\":[777123]')).toBe(6 * 3 * 2);
    const payers = await subject.warehouse.rows(
      `SELECT subscription, arrayDistinct(payer_account) AS accounts, arrayDistinct(payer_user) AS users
       FROM subscriptions FINAL WHERE organization = {organization:UInt32} ORDER BY subscription`,
      { organization },
    );
    expect(payers).toEqual([
      { subscription: "sub_1", accounts: [0], users: [1] },
      { subscription: "sub_2", accounts: [0], users: [1] },
      { subscription: "sub_3", accounts: [3], users: [1] },
    ]);
    expect(await differences(organization)).toEqual([]);
    await keeper.changeAll(organization, () =>
      rebuild(subject.warehouse, organization, new Zone("UTC").transitions),
    );
    await keeper.complete(organization);
    expect(await differences(organization)).toEqual([]);
  });

  test("an organization leaves no row", async () => {
    const organization = await loadedLife();
    await keeperOf(subject).forgetOrganization(organization, () =>
      deleteOrganization(subject.warehouse, organization),
    );
    for (const table of ["billing_events", "subscriptions"]) {
      expect(await subject.count(table, organization)).toBe(0);
    }
  });
});

test("ordinary events beside them change nothing, and name nothing to compare", async () => {
  const organization = await loadedLife();
  const before = await storedRows(subject, organization);
  const keeper = keeperOf(subject);
  await load(subject, keeper, [
    event(organization, { properties: '{"text":",false]\\n"}' }),
    event(organization, { isActivity: false, event: "email_sent" }),
  ]);
  await keeper.updateLoaded();
  expect(await storedRows(subject, organization)).toEqual(before);
});
