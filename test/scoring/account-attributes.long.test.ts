/** Attributes of accounts as the models of accounts read them: as they were on the day, and never those of
 * later. */
import { expect, test } from "bun:test";
import { accountVersionRow, userRow, userVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { designFor } from "../../server/scoring/churn/design.ts";
import { readHealthValues } from "../../server/scoring/queries/health-sql.ts";
import { readSnapshots } from "../../server/scoring/queries/snapshots.ts";
import { user } from "../ledger/writes.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { logDay, population, zone } from "./engine-support.ts";

const subject = new WarehouseUnderTest();
const accounts = 80;
const [before, saidDay, after] = [100, 150, 200].map(logDay) as [number, number, number];

const tierOf = (account: number) => (account % 2 === 0 ? "gold" : "silver");
const contractOf = (account: number) => 1_000 * (account % 7);

async function filled(): Promise<number> {
  const organization = subject.newOrganization();
  const days = Array.from({ length: 200 }, (_, day) => logDay(day));
  await insertEvents(
    subject,
    Array.from({ length: accounts }, (_, index) =>
      days.map((day) => {
        const timeMs = zone.startOfDay(day) + msPerDay / 2;
        return event(organization, { user: index + 1, account: index + 1, event: "opened", timeMs, day });
      }),
    ).flat(),
    3,
  );
  const said = (number: number, version: number, day: number, traits: Record<string, string | number>) =>
    accountVersionRow({ organization, number, version }, { atMs: zone.startOfDay(day), traits });
  await subject.insert(
    "account_versions",
    Array.from({ length: accounts }, (_, index) => {
      const number = index + 1;
      return [
        said(number, 1, saidDay, {
          tier: tierOf(number),
          contractValue: contractOf(number),
          rare: `r${number}`,
        }),
        // Merged attribute by attribute: the value stays. It is said on the very day, so it does not count
        // yet.
        said(number, 2, after, { tier: "platinum" }),
      ];
    }).flat(),
  );
  return organization;
}

test("attributes count from the day after they were said, and later ones change nothing", async () => {
  const organization = await filled();
  const snapshots = await readSnapshots(
    subject.warehouse,
    population(organization, "account"),
    [before, saidDay, after, after + 1],
    { horizonDays: 28, everyone: true },
  );
  const told = (day: number) =>
    (snapshots.get(day)?.rows ?? []).map(({ entity, features: { traits, numbers } }) => ({
      entity,
      traits,
      numbers,
    }));
  expect(told(before)).toHaveLength(accounts);
  for (const day of [before, saidDay]) {
    for (const { traits, numbers } of told(day)) expect([traits, numbers]).toEqual([{}, {}]);
  }
  for (const { entity, traits, numbers } of told(after)) {
    expect(traits.tier).toBe(tierOf(entity));
    expect(traits.rare).toBeUndefined();
    expect(numbers).toEqual({ contractValue: contractOf(entity) });
  }
  expect(told(after + 1).map(({ traits }) => traits.tier)).toEqual(told(after).map(() => "platinum"));
  const design = designFor(snapshots.get(after)?.rows ?? []);
  expect(design.traits.map(({ trait, value }) => `${trait} ${value}`).toSorted()).toEqual([
    "tier gold",
    "tier silver",
  ]);
  expect(design.numbers).toEqual(["contractValue"]);
});

test("traits of members are none of the account's", async () => {
  const organization = await filled();
  await subject.warehouse.command(
    `INSERT INTO user_versions SELECT organization, account, 1, at, '{"plan":"pro"}', NULL
     FROM account_versions WHERE organization = {organization:UInt32}`,
    { organization },
  );
  const options = { horizonDays: 28, everyone: true };
  const snapshots = await readSnapshots(
    subject.warehouse,
    population(organization, "account"),
    [after],
    options,
  );
  for (const { features } of snapshots.get(after)?.rows ?? []) expect(features.traits.plan).toBeUndefined();
});

test("health has an account's own numbers, and its owner's where it has none", async () => {
  const organization = subject.newOrganization();
  await subject.insert("users", [
    userRow(user(organization, "owner", { number: 5, account: 7, isAccountOwner: true })),
  ]);
  await subject.insert("user_versions", [
    userVersionRow(user(organization, "owner", { number: 5 }), {
      atMs: zone.startOfDay(before),
      account: 7,
      traits: { nps: 3, tickets: 2, calls: 1 },
    }),
  ]);
  const said = (version: number, day: number, traits: Record<string, string | number>) =>
    accountVersionRow({ organization, number: 7, version }, { atMs: zone.startOfDay(day), traits });
  await subject.insert("account_versions", [
    said(1, before, { nps: 9, calls: "none" }),
    said(2, after, { nps: 1 }),
  ]);
  const ofAccount = { ...population(organization, "account"), entity: 7 };
  const valuesOn = (day: number) =>
    readHealthValues(subject.warehouse, ofAccount, day, ["nps", "tickets", "calls"]);
  expect(await valuesOn(before)).toEqual({});
  expect(await valuesOn(before + 1)).toEqual({ nps: 9, tickets: 2, calls: 1 });
  expect(await valuesOn(after + 1)).toEqual({ nps: 1, tickets: 2, calls: 1 });
});
