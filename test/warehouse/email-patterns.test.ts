/** Characters of an e-mail pattern that the engine takes for wildcards: only `*` is one. */
import { expect, test } from "bun:test";
import { userRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { applyExclusions } from "../../server/warehouse/load/exclusions.ts";
import { user } from "../ledger/writes.ts";
import { WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();

test.each([
  ["bot_7@*", ["bot_7@example.com"], ["botx7@example.com", "bot7@example.com"]],
  ["a%b@*", ["a%b@example.com"], ["axb@example.com", "axyb@example.com"]],
  ["x\\_y@*", ["x\\_y@example.com"], ["x_y@example.com", "x\\zy@example.com"]],
])("%s", async (pattern, excluded, kept) => {
  const organization = subject.newOrganization();
  const people = [...excluded, ...kept].map((email, index) =>
    user(organization, `u${index}`, { number: index + 1, email }),
  );
  await subject.insert("users", people.map(userRow));
  const rules = [{ kind: "email", key: "", value: pattern } as const];
  await applyExclusions(subject.warehouse, organization, { revision: 1, rules, accounts: [] });
  const [row] = await subject.warehouse.rows<{ users: number[] }>(
    `SELECT bitmapToArray(groupBitmapMergeState(users)) AS users
     FROM excluded_users FINAL WHERE organization = {organization:UInt32}`,
    { organization },
  );
  expect(row?.users).toEqual(excluded.map((_, index) => index + 1));
});
