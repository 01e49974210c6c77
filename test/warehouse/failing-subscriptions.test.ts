/** Subscriptions that cannot be computed are known as failing. */
import { expect, test } from "bun:test";
import { changes, keeperOf, life, lifeChanges, load } from "./billing-support.ts";
import { WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();

test("an organization whose subscriptions cannot be computed is failing until all of them can", async () => {
  const organization = subject.newOrganization();
  const keeper = keeperOf(subject);
  await load(subject, keeper, life(organization));
  await subject.warehouse.command(
    `INSERT INTO billing_events (organization, subscription, event, time, properties)
     SELECT {organization:UInt32}, 'sub_1', 'subscription_changed', now64(3), 'no JSON'`,
    { organization },
  );
  const beforeMs = Date.now();
  await expect(keeper.complete(organization)).rejects.toThrow("JSON");
  expect(keeper.failing).toEqual([organization]);
  const sinceMs = keeper.failingSinceMs(organization) ?? 0;
  expect(sinceMs).toBeGreaterThanOrEqual(beforeMs);
  // Another subscription is computed meanwhile.
  await load(subject, keeper, life(organization, "sub_2"));
  await keeper.updateLoaded();
  expect(await changes(subject, organization, "sub_2")).toEqual(lifeChanges);
  expect(keeper.failingSinceMs(organization)).toBe(sinceMs);
  await subject.warehouse.command(
    "ALTER TABLE billing_events DELETE WHERE organization = {organization:UInt32} AND properties = 'no JSON'",
    { organization },
  );
  await keeper.complete(organization);
  expect([keeper.failing, keeper.failingSinceMs(organization)]).toEqual([[], null]);
});
