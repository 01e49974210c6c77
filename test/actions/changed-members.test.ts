/** Accounts of which members were excluded, included again or erased fire no alert for it: their state is
 * taken over. The preview has the same. */
import { expect, test } from "bun:test";
import type { RuleCondition } from "../../contract/alerts/rules.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { replaysOf } from "../../server/features/alerts/rules/preview.ts";
import { msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";
import { type ScoreRow, storeDays } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const today = 20_090;
const horizonDays = 14;
const accounts = [1, 2, 3, 4];

/** Account n has the members n and 10 + n. */
async function storePeople(organization: number): Promise<void> {
  const members = accounts.flatMap((account) => [account, 10 + account].map((user) => [user, account]));
  const values = members.map(([user, account]) => `({organization:UInt32}, ${user}, ${account}, 1)`);
  await subject.warehouse.command(
    `INSERT INTO users (organization, user, account, version) VALUES ${values.join(", ")}`,
    { organization },
  );
  const own = accounts.map((account) => `({organization:UInt32}, ${account}, 1)`).join(", ");
  await subject.warehouse.command(`INSERT INTO accounts (organization, account, version) VALUES ${own}`, {
    organization,
  });
}

interface ScoredDay {
  readonly day: number;
  /** Users without a row, because they are excluded or erased. */
  readonly without: readonly number[];
  readonly excluded: string;
  /** Of each account. */
  readonly risks: readonly number[];
  readonly volumes: readonly number[];
}

async function store(
  organization: number,
  { day, without, excluded, risks, volumes }: ScoredDay,
): Promise<void> {
  const row = { day, state: "active" as const, health: 50 };
  const users = accounts.flatMap((one) => [one, 10 + one]).filter((user) => !without.includes(user));
  const ofUsers: ScoreRow[] = users.map((entity) => ({ ...row, entity, risk: 0.1, volume28: 1 }));
  const ofAccounts = accounts.map((entity, at): ScoreRow => {
    return { ...row, entity, risk: risks[at] ?? 0, volume28: volumes[at] ?? 0 };
  });
  for (const [kind, rows] of [
    ["user", ofUsers],
    ["account", ofAccounts],
  ] as const) {
    await storeDays(subject, { organization, kind, days: [day], rows, horizonDays, excluded });
  }
  // The support counts ages from each insert.
  for (const kind of ["user", "account"]) {
    await subject.warehouse.command(
      `ALTER TABLE ${kind}_scores UPDATE tenure_days = 100
       WHERE organization = {organization:UInt32} SETTINGS mutations_sync = 1`,
      { organization },
    );
  }
}

async function foretold(organization: number, condition: RuleCondition): Promise<readonly number[]> {
  const question = {
    organization: { id: organization, zone: new Zone("UTC") },
    scope: { kind: "accounts" } as const,
    condition,
    cooldownDays: null,
    horizonDays,
    today,
  };
  const { replays } = await replaysOf(subject.warehouse, question, {});
  return [...replays].flatMap(({ entity, fired }) => fired.map(() => entity)).toSorted();
}

const firedAccounts = ({ fired }: LedgerInMemory) =>
  fired.map(({ entity }) => (entity.kind === "account" ? entity.number : 0)).toSorted();

async function decide(ledger: LedgerInMemory, days: readonly number[]): Promise<void> {
  for (const day of days) await ledger.decide(subject.warehouse, (day + 0.5) * msPerDay);
}

test("a member who is excluded, or included again, lets the account's usage fall without an alert", async () => {
  const organization = subject.newOrganization();
  await storePeople(organization);
  const before = { risks: [0.1, 0.1, 0.1, 0.1], volumes: [100, 100, 100, 100] };
  // User 2 is excluded until today, and user 1 from today on. Account 3 does less by itself.
  for (const day of [today - 29, today - 28, today - 1]) {
    await store(organization, { ...before, day, without: [2], excluded: "A" });
  }
  await store(organization, {
    ...before,
    day: today,
    without: [1],
    excluded: "B",
    volumes: [20, 20, 20, 100],
  });
  const condition = { kind: "usageDown", percent: 50 } as const;
  const ledger = new LedgerInMemory(organization, condition, { scope: "accounts" });
  await decide(ledger, [today - 1, today]);
  expect(firedAccounts(ledger)).toEqual([3]);
  expect(await foretold(organization, condition)).toEqual([3]);
  const states = await ledger.states(0, 0, -1, 9);
  expect(states.map(({ hasLeft, firedOn }) => [hasLeft, firedOn])).toEqual([
    [false, null],
    [false, null],
    [false, today],
  ]);
});

test("an account whose risk rises with an exclusion is taken over, also when the decided day was scored again after it", async () => {
  const organization = subject.newOrganization();
  await storePeople(organization);
  const calm = { risks: [0.1, 0.1, 0.1, 0.1], volumes: [] };
  for (const day of [today - 2, today - 1]) {
    await store(organization, { ...calm, day, without: [], excluded: "A" });
  }
  const condition = { kind: "riskBand", band: "high" } as const;
  const ledger = new LedgerInMemory(organization, condition, { scope: "accounts" });
  await decide(ledger, [today - 2, today - 1]);
  await subject.warehouse.command(
    `ALTER TABLE user_scores DELETE
     WHERE organization = {organization:UInt32} AND user = 1 AND day >= addDays(toDate32('1970-01-01'), {day:Int32})
     SETTINGS mutations_sync = 1`,
    { organization, day: today - 1 },
  );
  await store(organization, { ...calm, day: today - 1, without: [1], excluded: "B" });
  await store(organization, {
    day: today,
    without: [1],
    excluded: "B",
    risks: [0.9, 0.1, 0.9, 0.1],
    volumes: [],
  });
  await decide(ledger, [today]);
  expect(firedAccounts(ledger)).toEqual([3]);
});

test("an account of which a user was erased since the day that is compared with is taken over", async () => {
  const organization = subject.newOrganization();
  await storePeople(organization);
  const day = { without: [], excluded: "A", volumes: [] };
  for (const before of [today - 2, today - 1]) {
    await store(organization, { ...day, day: before, risks: [0.1, 0.1, 0.1, 0.1] });
  }
  const ledger = new LedgerInMemory(organization, { kind: "riskBand", band: "high" }, { scope: "accounts" });
  await decide(ledger, [today - 2, today - 1]);
  ledger.erasures = [
    { requestedAtMs: 1, account: 0, ofAccounts: [1] },
    // Long before the scores of the beginning of 1970.
    { requestedAtMs: -msPerDay, account: 0, ofAccounts: [3] },
  ];
  await store(organization, { ...day, day: today, risks: [0.9, 0.1, 0.9, 0.1] });
  await decide(ledger, [today]);
  expect(firedAccounts(ledger)).toEqual([3]);
});
