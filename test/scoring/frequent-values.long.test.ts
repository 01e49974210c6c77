/** The values of traits that a model may use, read with a bound on memory. */
import { expect, test } from "bun:test";
import { frequentValuesQuery } from "../../server/scoring/queries/trait-query.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();
const users = 400_000;

/** Names of values, as the query writes them. */
async function namesOf(pairs: readonly (readonly [trait: string, raw: string])[]): Promise<string[]> {
  const rows = await subject.warehouse.rows<{ name: string }>(
    "SELECT toString(cityHash64(one.1, one.2)) AS name FROM (SELECT arrayJoin(arrayZip({traits:Array(String)}, {raws:Array(String)})) AS one)",
    { traits: pairs.map(([trait]) => trait), raws: pairs.map(([, raw]) => raw) },
  );
  return rows.map(({ name }) => name).sort();
}

test("values are found beside traits with a value for each user, in little memory", async () => {
  const organization = subject.newOrganization();
  await subject.warehouse.command(
    `INSERT INTO user_versions
     SELECT {organization:UInt32}, number, 1, toDateTime64(0, 3, 'UTC'),
       toJSONString(map('plan', if(number % 10 = 0, 'pro', 'free'), 'seats', toString(number % 7),
         'rare', if(number < 29, 'yes', toString(number % 50000)),
         'externalId', concat('crm-', toString(number), repeat('x', 100)),
         'lastLoginAt', toString(number * 61), 'name', concat('Ada ', hex(number), ' Lovelace'))), NULL
     FROM numbers({users:UInt32})`,
    { organization, users },
    { maxSeconds: 300 },
  );
  const { sql, parameters } = frequentValuesQuery(organization);
  const found = await subject.warehouse.rows<{ value: string }>(sql, parameters, {
    maxSeconds: 300,
    maxBytes: 100_000_000,
  });
  const expected = await namesOf([
    ...["free", "pro"].map((plan) => ["plan", `"${plan}"`] as const),
    ...Array.from({ length: 7 }, (_, seats) => ["seats", `"${seats}"`] as const),
  ]);
  expect(found.map(({ value }) => value).sort()).toEqual(expected);
});
