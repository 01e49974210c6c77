/** Rules about cards that end before the renewal, from billing events and subscriptions as the warehouse has
 * them. Live decisions fire what the preview foretells. */
import { expect, test } from "bun:test";
import { Zone } from "../../server/calendar/zone.ts";
import { replaysOf } from "../../server/features/alerts/rules/preview.ts";
import { msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";
import { type ScoreRow, storeDays } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
/** 2026-11-10. */
const today = 20_767;
const condition = { kind: "cardExpires" } as const;
const noon = (day: number) => (day + 0.5) * msPerDay;

/** What is said of a card, so many days from today. */
async function sayCard(
  organization: number,
  account: number,
  day: number,
  event: "card_updated" | "card_removed",
  expires: string,
): Promise<void> {
  await subject.warehouse.command(
    `INSERT INTO billing_events (organization, subscription, user, account, is_account_named, event, time, id, tie_break, properties)
     SELECT {organization:UInt32}, '', 1, {account:UInt32}, true, {event:String}, fromUnixTimestamp64Milli({atMs:Int64}),
       generateUUIDv4(), toString(generateUUIDv4()), {properties:String}`,
    {
      organization,
      account,
      event,
      atMs: noon(today + day),
      properties: JSON.stringify({ cardExpires: expires }),
    },
  );
}

interface Period {
  readonly from: number;
  /** Null: no end of a period is known. */
  readonly renews: number | null;
  readonly status?: string;
  readonly ends?: number;
}

/** A subscription of an account with these periods, in days from today. */
async function subscribe(organization: number, account: number, periods: readonly Period[]): Promise<void> {
  const times = (of: (period: Period) => number | null | undefined) =>
    `[${periods.map((one) => (of(one) == null ? "NULL" : `fromUnixTimestamp64Milli(${noon(today + (of(one) ?? 0))}::Int64)`)).join(", ")}]`;
  await subject.warehouse.command(
    `INSERT INTO subscriptions (organization, subscription, version, "from", status, mrr, period_end, ends_at, trial_ends_at,
       payer_account, payer_user)
     SELECT {organization:UInt32}, toString({account:UInt32}), 1, ${times(({ from }) => from)},
       [${periods.map(({ status = "active" }) => `'${status}'`).join(", ")}], [${periods.map(() => 900).join(", ")}],
       ${times(({ renews }) => renews)}, ${times(({ ends }) => ends)}, [${periods.map(() => "NULL").join(", ")}],
       [${periods.map(() => account).join(", ")}], [${periods.map(() => 1).join(", ")}]`,
    { organization, account },
  );
}

/** The alerts of 60 days, each decided at noon, and those of the preview on the last of them. */
async function alertsOf(organization: number, accounts: readonly number[]) {
  const days = Array.from({ length: 61 }, (_, at) => today - 30 + at);
  const rows = accounts.flatMap((entity) =>
    days.map((day): ScoreRow => ({ entity, day, state: "active", risk: 0.1, health: 50, volume28: 1 })),
  );
  await storeDays(subject, { organization, kind: "account", days, rows, horizonDays: 14 });
  const ledger = new LedgerInMemory(organization, condition, { scope: "accounts" });
  for (const day of days) await ledger.decide(subject.warehouse, noon(day) + 1);
  const question = {
    organization: { id: organization, zone: new Zone("UTC") },
    scope: { kind: "accounts" } as const,
    condition,
    cooldownDays: null,
    horizonDays: 14,
    today: days.at(-1) ?? today,
  };
  const { replays } = await replaysOf(subject.warehouse, question, {});
  const foretold = [...replays].flatMap(({ entity, fired }) => fired.map(({ day }) => [entity, day - today]));
  const fired = ledger.fired.map(({ entity, day, reasons }) => [
    entity.kind === "source" ? 0 : entity.number,
    day - today,
    reasons[0]?.text,
  ]);
  return { fired, foretold, closed: ledger.closed };
}

test("a card that ends before the renewal fires once, 30 days before it or when it is known", async () => {
  const organization = subject.newOrganization();
  // A yearly renewal on 10 December: 30 days before it is today.
  await sayCard(organization, 1, -29, "card_updated", "2026-11");
  await subscribe(organization, 1, [{ from: -300, renews: 30 }]);
  // A monthly subscription renews on 3 November, and then on 3 December. The next month says nothing new.
  await sayCard(organization, 2, -100, "card_updated", "2026-11");
  await subscribe(organization, 2, [
    { from: -38, renews: -7 },
    { from: -7, renews: 23 },
    { from: 23, renews: 54 },
  ]);
  // The card is known only a week before the renewal.
  await sayCard(organization, 3, 5, "card_updated", "2026-10");
  await subscribe(organization, 3, [{ from: -300, renews: 12 }]);
  const accounts = [1, 2, 3];
  const { fired, foretold } = await alertsOf(organization, accounts);
  expect(fired).toEqual([
    [2, -7, "Card ends in 11/2026, renewal on 3 Dec"],
    [1, 0, "Card ends in 11/2026, renewal on 10 Dec"],
    [3, 5, "Card ends in 10/2026, renewal on 22 Nov"],
  ]);
  expect<unknown>(foretold.toSorted(([, a = 0], [, b = 0]) => a - b)).toEqual(
    fired.map(([entity, day]) => [entity, day]),
  );
});

test("a card that lasts, one that was replaced or detached, and a subscription that ends do not fire", async () => {
  const organization = subject.newOrganization();
  const yearly = [{ from: -300, renews: 30 }];
  // It lasts until the end of the month of the renewal.
  await sayCard(organization, 1, -29, "card_updated", "2026-12");
  await subscribe(organization, 1, yearly);
  await sayCard(organization, 2, -29, "card_updated", "2026-11");
  await sayCard(organization, 2, -1, "card_updated", "2029-11");
  await subscribe(organization, 2, yearly);
  await sayCard(organization, 3, -29, "card_updated", "2026-11");
  await sayCard(organization, 3, -1, "card_removed", "2026-11");
  await subscribe(organization, 3, yearly);
  await sayCard(organization, 4, -29, "card_updated", "2026-11");
  await subscribe(organization, 4, [{ from: -300, renews: 30, ends: 30 }]);
  await sayCard(organization, 5, -29, "card_updated", "2026-11");
  await subscribe(organization, 5, [{ from: -300, renews: 30, status: "canceled" }]);
  await sayCard(organization, 6, -29, "card_updated", "2026-11");
  await subscribe(organization, 6, [{ from: -300, renews: null }]);
  // Nobody pays with it.
  await sayCard(organization, 7, -29, "card_updated", "2026-11");
  // Events of before the contract had this name.
  await sayCard(organization, 8, -29, "card_updated", "soon");
  await subscribe(organization, 8, yearly);
  // The removal of an older card says nothing of the newer one.
  await sayCard(organization, 9, -29, "card_updated", "2026-11");
  await sayCard(organization, 9, -28, "card_removed", "2025-01");
  await subscribe(organization, 9, yearly);
  const { fired, foretold } = await alertsOf(organization, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(fired.map(([entity]) => entity)).toEqual([9]);
  expect(foretold).toEqual([[9, 0]]);
});

test("a new card ends the alert on the next scored day, and other alerts stay", async () => {
  const organization = subject.newOrganization();
  for (const account of [1, 2]) {
    await sayCard(organization, account, -29, "card_updated", "2026-11");
    await subscribe(organization, account, [{ from: -300, renews: 30 }]);
  }
  await sayCard(organization, 1, 3, "card_updated", "2030-01");
  const { fired, closed } = await alertsOf(organization, [1, 2]);
  expect(fired).toHaveLength(2);
  expect(closed).toMatchObject([{ entity: { kind: "account", number: 1 }, firedOn: today, why: "resolved" }]);
});

test("users have the cards that they said", async () => {
  const organization = subject.newOrganization();
  await sayCard(organization, 1, -29, "card_updated", "2026-10");
  await subscribe(organization, 1, [{ from: -300, renews: 10 }]);
  const ledger = new LedgerInMemory(organization, condition);
  ledger.savedAtMs = noon(today - 40);
  await ledger.decide(subject.warehouse, noon(today - 20) + 1);
  expect(ledger.fired.map(({ entity, day }) => [entity, day])).toEqual([
    [{ kind: "user", number: 1 }, today - 20],
  ]);
});
