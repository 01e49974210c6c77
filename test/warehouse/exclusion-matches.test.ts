/** The matches of each exclusion rule, compared with a recount of users and rules in this process. */
import { expect, test } from "bun:test";
import { matchesOfRules, previewOfRule } from "../../server/analytics/entities/exclusion-matches.ts";
import { accountRow, userRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { applyExclusions } from "../../server/warehouse/load/exclusions.ts";
import { account } from "../ledger/writes.ts";
import { asRules, matches, randomRule, randomUser } from "./exclusion-support.ts";
import { randomOfThisRun, WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();

test("each rule counts the users whom a recount finds, for all users, for one, and in a preview", async () => {
  const random = randomOfThisRun("matches of exclusion rules");
  const organization = subject.newOrganization();
  const accounts = [1, 2, 3].map((number) => account(organization, `account ${number}`, { number }));
  await subject.insert("accounts", accounts.map(accountRow));
  const people = Array.from({ length: 60 }, (_, index) => randomUser(random, organization, index + 1, 1));
  await subject.insert("users", people.map(userRow));
  const { warehouse } = subject;
  expect(await matchesOfRules(warehouse, { organization, rules: [] })).toEqual([]);
  let found = 0;
  for (let round = 0; round < 12; round += 1) {
    const rules = Array.from({ length: random.between(1, 20) }, () => randomRule(random));
    const matched = rules.map((rule) => people.filter((one) => matches(rule, one)));
    const sizes = matched.map(({ length }) => length);
    expect([rules, await matchesOfRules(warehouse, { organization, rules })]).toEqual([rules, sizes]);
    const one = random.pick(people);
    const ofOne = rules.map((rule) => (matches(rule, one) ? 1 : 0));
    expect([one, rules, await matchesOfRules(warehouse, { organization, rules, user: one.number })]).toEqual([
      one,
      rules,
      ofOne,
    ]);
    const [rule, another] = [random.pick(rules), random.pick(rules)];
    await applyExclusions(warehouse, organization, asRules([another]));
    const users = people.filter((person) => matches(rule, person));
    const { examples, ...counted } = await previewOfRule(warehouse, { organization, rule });
    const already = users.filter((person) => matches(another, person));
    expect([rule, another, counted]).toEqual([
      rule,
      another,
      { users: users.length, alreadyExcluded: already.length },
    ]);
    const first = [...users.filter((person) => !already.includes(person)), ...already].slice(0, 3);
    expect(examples.map(({ userId }) => userId)).toEqual(first.map(({ userId }) => userId));
    found += users.length;
  }
  expect(found).toBeGreaterThan(0);
});
