/** Money in CSVs is in units, beside its currency. Every amount of every table takes this one way. */
import { expect, test } from "bun:test";
import Type from "typebox";
import type { Route } from "../../contract/api/route.ts";
import { routes } from "../../contract/api/routes.ts";
import { Field, isMoney, listOf, nullable } from "../../contract/api/schema.ts";
import { amountInUnits } from "../../contract/billing/currencies.ts";
import { isJsonObject, objectOf } from "../../contract/json.ts";
import { moneyColumns, rowInUnits } from "../../server/http/api/csv-money.ts";

test.each([
  [222_500, "USD", "2225.00"],
  [0, "USD", "0.00"],
  [5, "EUR", "0.05"],
  [1, "KWD", "0.001"],
  [1_250, "KWD", "1.250"],
  [4_900, "JPY", "4900"],
  [-2_820, "USD", "-28.20"],
  // A quotient of these is another number: 90071992547409.9 has no hundredths left.
  [9_007_199_254_740_991, "USD", "90071992547409.91"],
  [9_007_199_254_740_991, "KWD", "9007199254740.991"],
  // An expected loss has parts of a cent.
  [27_256.4, "USD", "272.56"],
  [0.4, "USD", "0.00"],
  [4_900, "", "49.00"],
])("%d of %s is %s", (minorUnits, currency, units) => {
  expect(amountInUnits(minorUnits, currency)).toBe(units);
});

const row = Type.Object({
  name: Type.String(),
  mrr: Type.Optional(nullable(Field.money("Now."))),
  seats: Field.count("No money."),
  unratedMrr: Type.Optional(listOf("By currency.", { currency: Type.String(), mrr: Field.money("Now.") })),
  loss: Type.Optional(nullable(Field.expectedMoney("Expected."))),
});

test("a row has amounts in the currency of the organization, and those with a currency of their own in it", () => {
  expect([...moneyColumns(row)]).toEqual(["mrr", "unratedMrr", "loss"]);
  const sent = {
    name: "Acme",
    mrr: 222_500,
    seats: 12,
    loss: null,
    unratedMrr: [
      { currency: "JPY", mrr: 4_900 },
      { currency: "KWD", mrr: 1_250 },
    ],
  };
  expect(rowInUnits(sent, row, "USD")).toEqual({
    currency: "USD",
    name: "Acme",
    mrr: "2225.00",
    seats: 12,
    loss: null,
    unratedMrr: [
      { currency: "JPY", mrr: "4900" },
      { currency: "KWD", mrr: "1.250" },
    ],
  });
  const own = Type.Object({ currency: Type.String(), mrr: Field.money("Now.") });
  expect(rowInUnits({ currency: "JPY", mrr: 4_900 }, own, "USD")).toEqual({ currency: "JPY", mrr: "4900" });
});

/** Numbers of a schema by the path of their names. */
function numbersOf(schema: unknown, path = ""): (readonly [string, unknown])[] {
  if (!isJsonObject(schema)) return [];
  const branches = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  if ([schema, ...branches].some((one) => ["integer", "number"].includes(String(objectOf(one).type)))) {
    return [[path, schema]];
  }
  return [
    ...branches.flatMap((one) => numbersOf(one, path)),
    ...numbersOf(schema.items, path),
    ...Object.entries(objectOf(schema.properties)).flatMap(([name, one]) =>
      numbersOf(one, `${path}.${name}`),
    ),
  ];
}

const isNameOfMoney = (path: string) => /(mrr|mrrBefore|loss|amount|price|revenue)$/i.test(path);
const tables = Object.entries(routes as Readonly<Record<string, Route>>).flatMap(
  ([name, { table, answer }]) =>
    table === undefined ? [] : [{ name, rows: objectOf(objectOf(answer).properties)[table] }],
);

test("every amount of every table with a CSV is declared as money", () => {
  const found = tables.flatMap(({ name, rows }) =>
    numbersOf(rows)
      // A loss of a model is no money.
      .filter(([path]) => isNameOfMoney(path) && !/logloss$/i.test(path))
      .map(([path, schema]) => [`${name} ${path}`, isMoney(schema)] as const),
  );
  expect(found.filter(([, is]) => !is)).toEqual([]);
  expect(found.map(([path]) => path)).toContain("GET /api/accounts .mrr");
  expect(found.map(([path]) => path)).toContain("GET /api/alerts .expectedLoss");
  expect(found.map(([path]) => path)).toContain("GET /api/revenue .churnedInvoluntarilyMrr");
  expect(found.map(([path]) => path)).toContain("GET /api/win-back .lastMrr");
});
