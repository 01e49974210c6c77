/** Cells as spreadsheets write them: times, numbers and delimiters, each with the value that is sent. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { idsIn } from "../../dashboard/pages/segments/ids.ts";
import { delimiterOf } from "../../server/features/imports/reading/delimiter.ts";
import { itemOf } from "../../server/features/imports/reading/item.ts";
import { type Mapping, resolveMapping } from "../../server/features/imports/reading/mapping.ts";
import { apiTime, type TimeForm, type TimestampFormat } from "../../server/features/imports/reading/time.ts";
import { exportTranslations } from "../../server/sources/exports/exports.ts";

const refused = (words: string) => ({ invalid: expect.stringContaining(words) });

/** Formats, a cell, its time, and the timezone that is given. */
const times: readonly (readonly [TimestampFormat, unknown, unknown, string?])[] = [
  // Days of Excel: 46082 is 2026-03-01.
  ["excel", "46082", "2026-03-01"],
  ["excel", 46082, "2026-03-01"],
  ["excel", "44927.5", "2023-01-01T12:00:00.000Z", "UTC"],
  ["excel", 44927.5, "2023-01-01T11:00:00.000Z", "Europe/Berlin"],
  ["excel", "46082.524259", "2026-03-01T12:34:55.978Z", "UTC"],
  ["excel", "44927", "2022-12-31T23:00:00.000Z", "Europe/Berlin"],
  ["excel", "44927.5", refused("--timezone")],
  ["excel", "2026-05-17T09:30:00Z", "2026-05-17T09:30:00Z"],
  ...["0", "1", "2025", "-5", "1e5", "1778923800"].map(
    (cell) => ["excel", cell, cell === "1e5" ? "1e5" : refused("is not a day of Excel")] as const,
  ),
  // Without an option a number is Unix time, and of 1980 or later.
  ["auto", "1778923800", "2026-05-16T09:30:00.000Z"],
  ["auto", 1778923800123, "2026-05-16T09:30:00.123Z"],
  ["auto", "315532800", "1980-01-01T00:00:00.000Z"],
  ["auto", "46082.524259", refused("may be 2026-03-01 as Excel counts days: give --timestamp-format excel")],
  ["auto", 44927, refused("give --timestamp-format excel")],
  ...[0, "0", 2025, "2025", "202605", -46082, 315532799, "202605170930", "20260517093000", 1e16].map(
    (cell) => ["auto", cell, refused("is not a unix time of the years 1980 to 2299")] as const,
  ),
  ["unix", "20260517", refused("is not a unix time")],
  ["unix", "1778923800123", refused("is not a unix time")],
  ["unix-ms", "1778923800", refused("is not a unix time")],
  ...["1970-01-01", "1970-01-01T00:00:00Z", "1970-01-01 01:00:00+01", "1969-12-31T19:00:00-05:00"].map(
    (cell) => ["auto", cell, refused("the zero of Unix times")] as const,
  ),
  ["auto", "1971-05-17", "1971-05-17"],
  // The day first.
  ["auto", "31.12.2025", "2025-12-31"],
  ["auto", "1.2.2025", "2025-02-01"],
  ["auto", "31.12.2025 14:05", "2025-12-31T13:05:00.000Z", "Europe/Berlin"],
  ["auto", "31.12.2025 14:05:06", refused("--timezone")],
  ["dmy", "31/12/2025 14:05", "2025-12-31T14:05:00.000Z", "UTC"],
  ["dmy", "05/06/2025", "2025-06-05"],
  ["dmy", "05-06-2025, 9:05:07.5", "2025-06-05T09:05:07.500Z", "UTC"],
  ["dmy", "5.6.2025", "2025-06-05"],
  ["dmy", "2025-06-05T00:00:00Z", "2025-06-05T00:00:00Z"],
  ["mdy", "12/31/2025", "2025-12-31"],
  ["mdy", "12/31/2025 2:05 PM", "2025-12-31T14:05:00.000Z", "UTC"],
  ["mdy", "12/31/2025 12:05 am", "2025-12-31T00:05:00.000Z", "UTC"],
  ["mdy", "05.06.2025", "2025-06-05"],
  ["auto", "31/12/2025", refused("give --timestamp-format dmy or mdy")],
  ["auto", "05/06/2025 10:00", refused("give --timestamp-format dmy or mdy"), "UTC"],
  ["dmy", "12/31/2025 14:05", refused("is not a time of the calendar"), "UTC"],
  ["dmy", "31/06/2025", refused("is not a time of the calendar"), "UTC"],
  ["dmy", "31/12/2025 25:05", refused("is not a time of the calendar"), "UTC"],
  // Without an offset.
  ["auto", "2026-04-04 16:18:00", "2026-04-04T14:18:00.000Z", "Europe/Paris"],
  ["iso", "2026-04-04T16:18", "2026-04-04T20:18:00.000Z", "America/New_York"],
  ["auto", "2026-04-04", "2026-04-03T22:00:00.000Z", "Europe/Paris"],
  ["auto", "20260404", "2026-04-03T22:00:00.000Z", "Europe/Paris"],
  ["auto", "2026-04-04T16:18:00Z", "2026-04-04T16:18:00Z", "Europe/Paris"],
  ["auto", "2026-04-04 16:18:00", refused("--timezone")],
  ["utc", "2026-04-04 16:18:00", "2026-04-04T16:18:00.000Z"],
  ["utc", "2026-04-04", "2026-04-04"],
  // The hour that is skipped, and the one that comes twice.
  ["auto", "2026-03-29 02:30:00", "2026-03-29T01:30:00.000Z", "Europe/Paris"],
  ["auto", "2026-10-25 02:30:00", "2026-10-25T00:30:00.000Z", "Europe/Paris"],
  ["auto", "yesterday", "yesterday"],
];

test("times are sent as the instants that they mean, or refused with what to change", () => {
  for (const [timestampFormat, cell, time, timezone] of times) {
    const form: TimeForm = { timestampFormat, ...(timezone !== undefined && { timezone }) };
    expect([timestampFormat, cell, apiTime(cell, form)]).toEqual([timestampFormat, cell, time as string]);
  }
});

function sent(columns: readonly string[], cells: readonly string[], options: Partial<Mapping> = {}) {
  const { decimalComma, numbers = [] } = options;
  const mapping = resolveMapping(
    { columns: {}, timestampFormat: "auto", numbers, ...(decimalComma && { decimalComma }) },
    columns,
    true,
  );
  const item = itemOf({ line: 2, columns, cells }, mapping);
  return typeof item === "string" ? JSON.parse(item) : item;
}

describe("numbers", () => {
  const amount = (cell: string, decimalComma?: true) => {
    const columns = ["user_id", "event", "time", "amount"];
    const options = { numbers: ["amount"], ...(decimalComma && { decimalComma }) };
    const item = sent(columns, ["u1", "paid", "2026-03-01", cell], options);
    return "invalid" in item ? item.invalid : item.properties.amount;
  };

  test.each([
    ["1234,56", 1234.56],
    ["1.234,56", 1234.56],
    ["-1.234.567,8", -1234567.8],
    ["1 234,5", 1234.5],
    ["1\u202f234,5", 1234.5],
    ["1'234", 1234],
    ["1.234", 1234],
    ["12", 12],
    ["0,5", 0.5],
  ])("with a decimal comma %p is %p", (cell, value) => {
    expect(amount(cell, true)).toBe(value);
  });

  test.each(["1.23", "1234.56", "1.2345,6", "1,2,3", "1.234 567,8", "12.34,5", ",", "1,"])(
    "%p has no decimal comma",
    (cell) => {
      expect(amount(cell, true)).toStartWith("amount is not a number:");
    },
  );

  test("a number with the other mark is refused with the option", () => {
    expect(amount("1234,56")).toBe(
      'amount is not a number: "1234,56"; give --decimal-comma if it has a decimal comma.',
    );
    expect(amount("1,234")).toContain("--decimal-comma");
    expect(amount("1234.56", true)).toBe('amount is not a number: "1234.56"; leave out --decimal-comma.');
    expect(amount("much")).toBe('amount is not a number: "much".');
    expect(amount("1.234")).toBe(1.234);
  });
});

test("the delimiter is found in the first lines", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-delimiters-"));
  const cases: readonly (readonly [string, string])[] = [
    ["a,b,c\n", ","],
    ["a;b;c\n1,5;2,5;3,5,4,5\n", ";"],
    ["a\tb\n1,5\t2\n", "\t"],
    ["a|b\n", "|"],
    ["sep=;\r\na;b,c,d\r\n", ";"],
    ['"sep=,"\na;b;c,d\n', ","],
    ["SEP=\t\na,b\n", "\t"],
    ["price, EUR;id;name\n", ";"],
    ['"a,b,c,d";e\n', ";"],
    ['"a\n;;;;",b,c\n', ","],
    ["a;b,c\n", ","],
    ["\ufeffa;b\n", ";"],
    ["\r\n\r\na;b\n", ";"],
    ["only\n", ","],
    ["", ","],
  ];
  try {
    const path = join(folder, "a.csv");
    const found: string[] = [];
    for (const [text] of cases) {
      writeFileSync(path, text);
      found.push(await delimiterOf({ path, name: "a.csv" }, { gzip: false, header: true }));
    }
    expect(found).toEqual(cases.map(([, delimiter]) => delimiter));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([
  ["userId,name\nu1,Ada\nu2,\n", ["u1", "u2"]],
  ["\ufeffsep=;\r\nuserId;name\r\nu1;a, b\r\nu2;\r\n", ["u1", "u2"]],
  ["sep=,\nu1,a\nsep=,b\n", ["u1", "sep="]],
  ["u1\tAda\nu2\tBob\n", ["u1", "u2"]],
])("the ids of a fixed segment in %j", (csv, ids) => {
  expect(idsIn(csv, "users")).toEqual(ids);
});

describe("columns by their names", () => {
  const columnsOf = (columns: readonly string[], complete = true) =>
    resolveMapping({ columns: {}, timestampFormat: "auto", numbers: [] }, columns, complete);

  test.each([
    [["id", "email"], { userId: "id", email: "email" }],
    [["id", "user_id", "email"], { userId: "user_id", email: "email" }],
    [
      ["id", "email", "company_id", "company"],
      { userId: "id", email: "email", accountId: "company_id", accountName: "company" },
    ],
    [["id", "email", "company"], { userId: "id", email: "email", account: "company" }],
    [["id", "email", "Company Name"], { userId: "id", email: "email", account: "Company Name" }],
    [["company_id", "company", "plan"], { accountId: "company_id", accountName: "company" }],
    [["user_id", "event", "time", "id"], { userId: "user_id", event: "event", timestamp: "time" }],
  ])("%j", (columns, roles) => {
    expect(columnsOf(columns).columns).toEqual(roles);
  });

  test("a company of JSON may be an object and stays a trait, its id is the account's", () => {
    const { columns } = columnsOf(["id", "email", "company", "company_id"], false);
    expect(columns).toEqual({ userId: "id", email: "email", accountId: "company_id" });
  });

  test("an event's id is no user's, and neither is an id beside a company's", () => {
    expect(() => columnsOf(["id", "event", "time"])).toThrow("give --user-id COLUMN");
    expect(() => columnsOf(["id", "company_id", "plan"])).toThrow("give --type events, --type users");
  });

  test("a full name is the name, unless there is one", () => {
    const email = ["a@example.com", "Ada"];
    expect(sent(["id", "email", "Full Name"], ["u1", ...email]).properties).toEqual({ name: "Ada" });
    expect(sent(["id", "email", "full_name", "name"], ["u1", ...email, "A."]).properties).toEqual({
      full_name: "Ada",
      name: "A.",
    });
  });
});

describe("rows of Stripe that a spreadsheet has saved", () => {
  const context = {
    nowMs: Date.UTC(2026, 10, 1),
    zone: undefined,
    accountProperty: undefined,
    createdCustomers: new Set<string>(),
  };
  const translated = (cells: object) =>
    exportTranslations.stripe(
      {
        id: "sub_1",
        "Customer ID": "cus_1",
        Plan: "price_x",
        Currency: "eur",
        Interval: "month",
        Status: "active",
        Quantity: "1",
        Amount: "49,00",
        "Created (UTC)": "2025-03-01 12:34",
        ...cells,
      },
      context,
    );
  const started = (cells: object) => {
    const row = translated(cells);
    const [first] = "items" in row ? row.items.filter(({ type }) => type === "track") : [];
    return first === undefined ? row : first;
  };

  test.each([
    ["49,00", 4_900],
    ["1.234,56", 123_456],
    ["1,234.56", 123_456],
    ["1.234.567,89", 123_456_789],
  ])("the amount %p is %p minor units", (Amount, amount) => {
    expect(started({ Amount })).toMatchObject({ properties: { amount } });
  });

  test.each([
    ["01.03.2025 12:34", Date.UTC(2025, 2, 1, 12, 34)],
    ["1.3.2025", Date.UTC(2025, 2, 1)],
  ])("the time %p has its day first", (created, atMs) => {
    expect(started({ "Created (UTC)": created })).toMatchObject({ atMs });
  });

  test.each([
    [{ Amount: "1,234" }, "Amount is not an amount"],
    [{ "Created (UTC)": "03/01/2025 12:34" }, "created (utc) is not a time"],
    [{ "Created (UTC)": "45717.52" }, "created (utc) is not a time"],
  ])("%j is refused", (cells, words) => {
    expect(translated(cells)).toEqual(refused(words));
  });

  test.each([2025, 45_717, 20_260_517, -1])("a start_date of %d in JSON is no time", (start_date) => {
    const object = { id: "sub_1", object: "subscription", customer: "cus_1", status: "active", start_date };
    expect(exportTranslations.stripe(object, context)).toEqual(refused("start_date is no time"));
  });
});
