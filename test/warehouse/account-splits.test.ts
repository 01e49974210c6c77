/** Retention split by attributes of accounts: their own as they were, and those of the owner where an account
 * never had one. */
import { expect, test } from "bun:test";
import { retention } from "../../server/analytics/retention/retention.ts";
import type { RetentionQuestion } from "../../server/analytics/retention/retention-question.ts";
import { Zone } from "../../server/calendar/zone.ts";
import {
  accountRow,
  accountVersionRow,
  userRow,
  userVersionRow,
} from "../../server/ledger/rules/warehouse-rows.ts";
import { account, user } from "../ledger/writes.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();
const day = 20_600;
const atMs = (onDay: number) => onDay * msPerDay + 1_000;

/** Users 1 and 2 are in account 1, user 3 in account 2, user 4 in account 3, user 5 in none. All of them
 * enter on one day. */
const accountsOfUsers = [1, 1, 2, 3, 0];

/** The attributes of each account, by the day on which they were said. */
const said: readonly (readonly [account: number, onDay: number, traits: Record<string, string | null>])[] = [
  [1, day - 10, { tier: "gold" }],
  [1, day + 5, { tier: "platinum" }],
  [2, day - 10, { region: "EU", note: '"tier": none' }],
  [3, day + 5, { tier: "silver" }],
];

async function filled(): Promise<number> {
  const organization = subject.newOrganization();
  const events = accountsOfUsers.map((of, index) =>
    event(organization, { user: index + 1, account: of, event: "opened", day, timeMs: atMs(day) }),
  );
  await insertEvents(subject, events);
  const users = accountsOfUsers.map((of, index) =>
    user(organization, `u${index + 1}`, {
      number: index + 1,
      account: of,
      isAccountOwner: of !== 0,
      traits: { tier: `of user ${index + 1}` },
    }),
  );
  await subject.insert("users", users.map(userRow));
  await subject.insert(
    "user_versions",
    users.map((one) =>
      userVersionRow(one, { atMs: atMs(day - 20), traits: one.traits, account: one.account }),
    ),
  );
  const accounts = [1, 2, 3].map((number) => {
    const own = said.filter(([of]) => of === number).map(([, , traits]) => traits);
    return account(organization, `a${number}`, { number, traits: Object.assign({}, ...own) });
  });
  await subject.insert("accounts", accounts.map(accountRow));
  await subject.insert(
    "account_versions",
    said.map(([number, onDay, traits], index) =>
      accountVersionRow({ organization, number, version: index + 1 }, { atMs: atMs(onDay), traits }),
    ),
  );
  return organization;
}

/** How many users entered with each value. */
async function entered(organization: number, of: "user" | "account", asOf: "entry" | "now") {
  const question: RetentionQuestion = {
    organization,
    entry: { kind: "firstEvent" },
    returnEvent: null,
    period: { name: "day", weekStart: 1 },
    measure: "in",
    split: { trait: "tier", of, asOf },
    fromDay: day,
    toDay: day,
    periods: 1,
    today: day + 20,
    countsAlreadyHere: true,
    horizonDays: 28,
    transitions: new Zone("UTC").transitions,
    passiveEvents: [],
  };
  const { cells } = await retention(subject.warehouse, question);
  return Object.fromEntries(
    cells.map(({ kind, value, cohortUsers }) => [kind === "value" ? value : kind, cohortUsers]).toSorted(),
  );
}

test("an account's own attribute counts as it was when its users entered, else the owner's trait", async () => {
  const organization = await filled();
  expect(await entered(organization, "account", "entry")).toEqual({
    gold: 2,
    "of user 3": 1,
    silver: 1,
    none: 1,
  });
  expect(await entered(organization, "account", "now")).toEqual({
    platinum: 2,
    "of user 3": 1,
    silver: 1,
    none: 1,
  });
});

test("a split by traits of users reads none of accounts", async () => {
  const organization = await filled();
  for (const asOf of ["entry", "now"] as const) {
    expect(await entered(organization, "user", asOf)).toEqual(
      Object.fromEntries(accountsOfUsers.map((_, index) => [`of user ${index + 1}`, 1])),
    );
  }
});
