/** As many exclusion rules as an organization may have, each as long as it may be. */
import { expect, test } from "bun:test";
import type { JsonObject } from "../../contract/json.ts";
import { userRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { maxExclusionRules } from "../../server/ledger/stores/exclusions.ts";
import { applyExclusions } from "../../server/warehouse/load/exclusions.ts";
import { user } from "../ledger/writes.ts";
import { WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();

/** 1,000 characters that end with a number. A backslash is the character that grows most: eight bytes
 * each. */
function long(number: number): string {
  return String(number).padStart(1_000, "\\");
}

test("200 rules of 1,000 characters that all grow when they are escaped are applied", async () => {
  const organization = subject.newOrganization();
  const count = maxExclusionRules;
  const rules = Array.from({ length: count }, (_, index) => {
    return { kind: "trait", key: long(index), value: long(index) } as const;
  });
  const people = Array.from({ length: 3 }, (_, index) => {
    const traits: JsonObject = index === 1 ? { plan: "free" } : { [long(index * 99)]: long(index * 99) };
    return user(organization, `u${index}`, { number: index + 1, traits });
  });
  await subject.insert("users", people.map(userRow));
  expect(await applyExclusions(subject.warehouse, organization, { revision: 1, rules, accounts: [] })).toBe(
    2,
  );
});

test.each(["user", "email", "email_domain"] as const)("so are 200 rules about a %s", async (kind) => {
  const organization = subject.newOrganization();
  const rules = Array.from({ length: maxExclusionRules }, (_, index) => {
    return { kind, key: "", value: long(index) };
  });
  const own = { user: long(7), email: "", email_domain: "" }[kind] || "u";
  const email = { user: "a@b.c", email: long(7), email_domain: `a@${long(7)}` }[kind];
  await subject.insert("users", [userRow(user(organization, own, { number: 1, email }))]);
  expect(await applyExclusions(subject.warehouse, organization, { revision: 1, rules, accounts: [] })).toBe(
    1,
  );
});
