/** Which column becomes what, how that is shown before anything is stored, and what is refused in words. */
import { describe, expect, test } from "bun:test";
import { columnNames } from "../../server/features/imports/reading/row.ts";
import { importBench } from "./bench.ts";
import { countsOf, ImportBench } from "./support.ts";

const bench = importBench({ acmeUsers: 2 });

async function done(organization: string, name: string, content: string, ...options: string[]) {
  const result = await bench.import(bench.file(name, content), organization, ...options);
  expect([result.exitCode, result.stderr]).toEqual([0, ""]);
  return countsOf(result);
}

test("users: traits, account, owner and numbers come from columns that are named or known", async () => {
  await bench.server.command("organization", "create", "users");
  const content =
    "Customer ID,mail,seats,plan,account_id,account_name,is_account_owner,created_at\n" +
    "c1,ada@example.com,12,pro,7,Engines,yes,2020-01-01\n" +
    "c2,bob@example.com,,free,,,no,2021-01-01\n" +
    "c3,eve@example.com,many,free,,,no,2021-01-01\n";
  const options = ["--type", "users", "--email", "mail", "--number", "seats"];
  const counts = await done("users", "users.csv", content, ...options);
  expect(counts).toEqual({ rows: 3, new: 2, duplicate: 0, rejected: 1 });
  expect(await bench.server.exported("users", "users")).toMatchObject([
    {
      userId: "c1",
      email: "ada@example.com",
      isAccountOwner: true,
      properties: { seats: 12, plan: "pro", created_at: "2020-01-01" },
      account: { id: "7", name: "Engines", avatar: null },
    },
    {
      userId: "c2",
      properties: { plan: "free", created_at: "2021-01-01" },
      isAccountOwner: false,
      account: null,
    },
  ]);
});

test("users: what was said later wins, in whatever order the rows stand", async () => {
  await bench.server.command("organization", "create", "late");
  const content =
    "userId,email,plan,updated_at\nu1,a@example.com,pro,2026-02-01\nu1,a@example.com,free,2026-01-01\n";
  await done("late", "late.csv", content);
  expect(await bench.server.exported("users", "late")).toMatchObject([{ properties: { plan: "pro" } }]);
});

test("users: an address may be made of columns, and a user without them is rejected", async () => {
  await bench.server.command("organization", "create", "template");
  const options = ["--type", "users", "--email-template", "{id}@{host}.example", "--user-id", "id"];
  const content = "id,host\na,one\nb,\na,one\n";
  const counts = await done("template", "template.csv", content, ...options, "--no-properties");
  expect(counts).toEqual({ rows: 3, new: 1, duplicate: 1, rejected: 1 });
  expect(await bench.server.exported("users", "template")).toMatchObject([
    { email: "a@one.example", properties: {} },
  ]);
});

test("accounts: names, pictures and attributes come from columns, and the latest values win", async () => {
  const token = await bench.server.organization("accounts");
  const user = { userId: "u1", email: "a@example.com", account: { id: "c1", name: "Engines" } };
  await bench.server.post("/identify", token, user);
  const content =
    "accountId,name,avatar,timestamp,tier,seats,contractValue,owner,renewsAt\n" +
    "c1,Old name,,2026-01-01,gold,12,1200.50,cs@example.com,2027-03-31\n" +
    "c2,Looms,https://a.example/l.png,2026-02-01,iron,3,,,\n" +
    "c2,Older,,2026-01-01,gold,,,,\n" +
    "c2,Looms,https://a.example/l.png,2026-02-01,iron,3,,,\n" +
    `c3,,,,gold,1,,${"n".repeat(321)},\n` +
    "c4,,,,gold,1,,,31.03.2027\n" +
    "c5,,,,gold,1,much,,\n" +
    ",,,,gold,1,,,\n" +
    "c6,,,,wood,1,,,\n";
  const file = bench.file("accounts.csv", content);
  const options = ["--number", "seats", "--report", bench.path("accounts-rejected.jsonl")];
  const result = await bench.import(file, "accounts", ...options);
  expect(countsOf(result)).toEqual({ rows: 9, new: 4, duplicate: 1, rejected: 4 });
  const reasons = (await Bun.file(bench.path("accounts-rejected.jsonl")).text()).trim().split("\n");
  expect(reasons.map((line) => JSON.parse(line).reason)).toEqual([
    expect.stringMatching(/^properties.owner is too long/),
    expect.stringMatching(/^properties.renewsAt is not valid/),
    expect.stringMatching(/^contractValue is not a number/),
    expect.stringMatching(/^id is missing/),
  ]);
  const stored = [
    {
      id: "c1",
      name: "Engines",
      avatar: null,
      properties: {
        tier: "gold",
        seats: 12,
        contractValue: 1200.5,
        owner: "cs@example.com",
        renewsAt: "2027-03-31",
      },
    },
    {
      id: "c2",
      name: "Looms",
      avatar: "https://a.example/l.png",
      properties: { tier: "iron", seats: 3 },
    },
    { id: "c6", name: "c6", avatar: null, properties: { tier: "wood", seats: 1 } },
  ];
  expect(await bench.server.exported("accounts", "accounts")).toEqual(stored);
  const again = await bench.import(file, "accounts", ...options.slice(0, 2), "--format", "csv");
  expect(again.stdout).toContain("imported already");
  const preview = await bench.import(file, "accounts", ...options.slice(0, 2), "--preview");
  expect(preview.stdout).toContain('{"type":"account","id":"c1","name":"Old name"');
  expect(await bench.server.exported("accounts", "accounts")).toEqual(stored);
});

test("events: chosen properties under other names", async () => {
  const content = "userId,event,timestamp,a,b,c\nu1,chosen,2026-05-17,1,2,3\n";
  await done("acme", "chosen.csv", content, "--property", "a=alpha", "b");
  const events = await bench.server.exported("events", "acme");
  expect(events.find(({ event }) => event === "chosen")?.properties).toEqual({ alpha: "1", b: "2" });
});

describe("times", () => {
  const times: readonly (readonly [string, string, string | undefined])[] = [
    ["auto", "2026-05-17", "2026-05-16T22:00:00.000Z"],
    ["auto", "20260517", "2026-05-16T22:00:00.000Z"],
    ["auto", "1778923800", "2026-05-16T09:30:00.000Z"],
    ["auto", "1778923800.25", "2026-05-16T09:30:00.250Z"],
    ["auto", "1778923800123", "2026-05-16T09:30:00.123Z"],
    ["auto", "2026-05-17 09:30:00+02", "2026-05-17T07:30:00.000Z"],
    ["auto", "2026-05-17T09:30:00-0130", "2026-05-17T11:00:00.000Z"],
    ["auto", "2026-05-17 09:30 UTC", "2026-05-17T09:30:00.000Z"],
    ["auto", "2026-05-17 09:30:00", undefined],
    ["auto", "17.05.2026", "2026-05-16T22:00:00.000Z"],
    ["auto", "46082.524259", undefined],
    ["utc", "2026-05-17 09:30:00.5", "2026-05-17T09:30:00.500Z"],
    ["utc", "2026-05-17T09:30:00+02:00", "2026-05-17T07:30:00.000Z"],
    ["unix", "20260517", undefined],
    ["unix", "2026-05-17", undefined],
    ["unix-ms", "1000", undefined],
    ["excel", "46082", "2026-02-28T23:00:00.000Z"],
    ["excel", "2026", undefined],
    ["dmy", "05/06/2026", "2026-06-04T22:00:00.000Z"],
    ["mdy", "05/06/2026", "2026-05-05T22:00:00.000Z"],
    ["yyyymmdd", "20260231", undefined],
    ["yyyymmdd", "1778923800", undefined],
    ["iso", "20260517", undefined],
  ];
  const formats = [...new Set(times.map(([format]) => format))];

  test.each(formats)("--timestamp-format %s reads what it says and rejects the rest", async (format) => {
    const organization = `times-${format}`;
    await bench.organization(organization);
    const cases = times.filter(([name]) => name === format);
    const rows = cases.map(([, text], index) => `u1,e${index},${text}\n`);
    const file = bench.file(`${format}.csv`, `userId,event,timestamp\n${rows.join("")}`);
    const result = await bench.import(file, organization, "--timestamp-format", format);
    expect(countsOf(result).rejected).toBe(cases.filter(([, , time]) => time === undefined).length);
    const exported = await bench.server.exported("events", organization);
    const stored = new Map(exported.map(({ event, timestamp }) => [event, timestamp]));
    expect(cases.map((_, index) => stored.get(`e${index}`))).toEqual(cases.map(([, , time]) => time));
  });

  test("a time without an offset is rejected with the option that reads it", async () => {
    const file = bench.file("no-offset.csv", "userId,event,timestamp\nu1,a,2026-05-17 09:30:00\n");
    const { stdout } = await bench.import(file, "acme");
    expect(stdout).toContain('line 2: timestamp "2026-05-17 09:30:00" has no timezone');
    expect(stdout).toContain("give --timestamp-format utc");
  });

  test("an event without its time is rejected, and never gets the time of the import", async () => {
    const file = bench.file("timeless.csv", "userId,event,timestamp\nu1,timeless,\n");
    const result = await bench.import(file, "acme");
    expect(countsOf(result)).toMatchObject({ new: 0, rejected: 1 });
  });
});

test("a file of which every row is rejected is a failure, each time it is given", async () => {
  const file = bench.file("all-wrong.csv", "userId,event,timestamp\nu1,,2026-05-17\nu1,,2026-05-18\n");
  for (let time = 0; time < 2; time += 1) {
    const result = await bench.import(file, "acme");
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toBe("rekindle: each of the 2 rows was rejected: nothing was imported.\n");
    expect(countsOf(result)).toEqual({ rows: 2, new: 0, duplicate: 0, rejected: 2 });
  }
});

test("--preview shows the first rows as they are sent with their verdicts, and stores nothing", async () => {
  await bench.organization("preview");
  const content =
    "userId,event,timestamp,n\nu1,a,20260517,1\nu9,a,20260517,2\nu1,a b,20260517,3\nu1,a\nu1,a,20260517,5\nu1,a,20260517,6\n";
  const file = bench.file("preview.csv", content);
  const { exitCode, stdout, stderr } = await bench.import(file, "preview", "--preview");
  expect([exitCode, stderr]).toEqual([0, ""]);
  const item = (userId: string, event: string, n: string) =>
    `  ${JSON.stringify({ type: "track", userId, event, timestamp: "2026-05-17", properties: { n } })}`;
  expect(stdout.trimEnd().split("\n")).toEqual([
    'columns: "userId" is the user\'s id, "event" is the event\'s name, "timestamp" is the time; properties are "n"',
    "events, the first rows as they are sent:",
    "line 2: new",
    item("u1", "a", "1"),
    expect.stringMatching(/^line 3: User not found/),
    item("u9", "a", "2"),
    "line 4: new",
    item("u1", "a b", "3"),
    "line 5: row has 2 cells where 4 are expected.",
    "line 6: new",
    item("u1", "a", "5"),
  ]);
  expect(bench.rowsDone(file)).toBe(0);
  expect(await bench.server.exported("events", "preview")).toEqual([]);
});

/** The times, names and properties of an organization's events, in the order of times. */
async function stored(organization: string) {
  const events = await bench.server.exported("events", organization);
  return events
    .map(({ timestamp, event, properties }) => [timestamp, event, properties])
    .toSorted(([a], [b]) => String(a).localeCompare(String(b)));
}

describe("files of spreadsheets", () => {
  const excel = "user_id,event,timestamp\nu1,report_created,46082.524259\nu1,report_sent,46082\n";
  const german = "sep=;\r\nuser_id;event;timestamp;amount\r\nu1;order_placed;31.12.2025 14:05;1.234,56\r\n";
  const british = "user_id,event,timestamp\nu1,a,05/06/2025 10:00\nu1,b,31/12/2025 14:05\n";
  const american = "user_id,event,timestamp\nu1,a,05/06/2025 10:00 AM\nu1,b,12/31/2025 2:05 PM\n";

  test.each([
    [
      "excel.csv",
      excel,
      [],
      "give --timestamp-format excel",
      ["--timestamp-format", "excel", "--timezone", "UTC"],
      [
        ["2026-03-01T00:00:00.000Z", "report_sent", {}],
        ["2026-03-01T12:34:55.978Z", "report_created", {}],
      ],
    ],
    [
      "german.csv",
      german,
      ["--number", "amount", "--timezone", "Europe/Berlin"],
      "give --decimal-comma",
      ["--number", "amount", "--timezone", "Europe/Berlin", "--decimal-comma"],
      [["2025-12-31T13:05:00.000Z", "order_placed", { amount: 1234.56 }]],
    ],
    [
      "british.csv",
      british,
      [],
      "has no timezone: give --timestamp-format utc",
      ["--timezone", "Europe/London"],
      [
        ["2025-06-05T09:00:00.000Z", "a", {}],
        ["2025-12-31T14:05:00.000Z", "b", {}],
      ],
    ],
    [
      "american.csv",
      american,
      ["--timestamp-format", "utc"],
      "timestamp is not a time",
      ["--timezone", "America/New_York"],
      [
        ["2025-05-06T14:00:00.000Z", "a", {}],
        ["2025-12-31T19:05:00.000Z", "b", {}],
      ],
    ],
  ] as const)("%s comes in as it is meant", async (name, content, before, words, options, events) => {
    const organization = name.replace(".csv", "");
    await bench.organization(organization);
    const file = bench.file(name, content);
    const refused = await bench.import(file, organization, ...before);
    expect(refused.stdout + refused.stderr).toContain(words);
    expect(await stored(organization)).toEqual([]);
    const result = await bench.import(file, organization, ...options);
    expect([result.exitCode, result.stderr]).toEqual([0, ""]);
    expect(await stored(organization)).toEqual(events.map((event) => [...event]));
  });

  test("dates of which no row tells the order are refused, and those of two orders", async () => {
    const header = "user_id,event,timestamp\n";
    const either = `${header}u1,a,05/06/2025\nu1,a,06/07/2025\n`;
    for (const [rows, words] of [
      [either, "may have the day or the month first: give --timestamp-format dmy or mdy"],
      [`${either}u1,a,31/12/2025\nu1,a,12/31/2025\n`, "have the day first in some rows"],
    ] as const) {
      const { exitCode, stdout, stderr } = await bench.import(bench.file("order.csv", rows), "acme");
      expect([exitCode, stdout, stderr]).toEqual([1, "", expect.stringContaining(words)]);
    }
  });

  test("the dashboard's CSV of Stripe with semicolons is read by its columns", async () => {
    await bench.organization("stripe-semicolons");
    const content =
      "id;Customer ID;Customer Email;Plan;Quantity;Currency;Interval;Amount;Status;Created (UTC);Note\n" +
      "sub_ssc;cus_ssc;u1@example.com;price_x;1;eur;month;1.249,00;active;01.03.2025 12:34;a, b\n";
    for (const [name, text] of [
      ["semicolons.csv", content],
      ["tabs-of-stripe.csv", content.replaceAll(";", "\t").replaceAll("_ssc", "_tab")],
    ] as const) {
      const result = await bench.import(bench.file(name, text), "stripe-semicolons", "--from", "stripe");
      expect([result.stderr, countsOf(result).new]).toEqual(["", 1]);
    }
    const started = ["2025-03-01T12:34:00.000Z", "subscription_started", { amount: 124_900 }];
    expect(await stored("stripe-semicolons")).toMatchObject([started, started]);
  });
});

test("columns that are recognized are said, with names that have white space", async () => {
  await bench.server.command("organization", "create", "recognized");
  const people = "id,email,Full Name,company_id,company\n7,ada@example.com,Ada,c1,Engines\n";
  const users = await bench.import(bench.file("recognized.csv", people), "recognized");
  expect(users.stdout).toContain(
    'columns    "id" is the user\'s id, "email" is the e-mail address, "company_id" is the account\'s id, ' +
      '"company" is the account\'s name; traits are "Full Name"; "Full Name" becomes the name\n',
  );
  expect(await bench.server.exported("users", "recognized")).toMatchObject([
    { userId: "7", properties: { name: "Ada" }, account: { id: "c1", name: "Engines" } },
  ]);
  const events = "user_id,event,time\n7,Signed In,2026-03-01\n7, Signed  In ,2026-03-02\n";
  expect(await done("recognized", "names.csv", events)).toMatchObject({ new: 2 });
  expect((await stored("recognized")).map(([, event]) => event)).toEqual(["Signed_In", "Signed_In"]);
});

test("a file whose first 100 rows are refused for one reason is not begun", async () => {
  await bench.organization("alike");
  const rows = (count: number) =>
    Array.from({ length: count }, (_, n) => `u1,e${n},2026-04-04 16:18:${String(n % 60).padStart(2, "0")}\n`);
  const good = "u1,good,2026-04-04\n".repeat(700);
  const header = "userId,event,timestamp\n";
  const file = bench.file("alike.csv", header + rows(100).join("") + good);
  const { exitCode, stdout, stderr } = await bench.import(file, "alike");
  expect([exitCode, stdout]).toEqual([1, expect.not.stringContaining("rows  ")]);
  expect(stderr).toBe(
    "rekindle: the first 100 rows would be rejected for one reason, so nothing was imported. On line 2: timestamp " +
      '"2026-04-04 16:18:00" has no timezone: give --timestamp-format utc when such times are in UTC, or --timezone ' +
      "with theirs, such as Europe/Paris. (If later rows are right, give --max-rejected.)\n",
  );
  expect(await stored("alike")).toEqual([]);
  // Two reasons, and fewer rows, are no such file. Nor is one of which rejected rows are expected.
  const mixed = bench.file("mixed.csv", `${header}${rows(99).join("")}u1,,2026-04-04\n`);
  expect(countsOf(await bench.import(mixed, "alike"))).toMatchObject({ rows: 100, rejected: 100 });
  const few = bench.file("few.csv", header + rows(99).join("") + good);
  expect(countsOf(await bench.import(few, "alike"))).toMatchObject({ new: 700, rejected: 99 });
  const expected = await bench.import(file, "alike", "--max-rejected", "100");
  expect([expected.exitCode, countsOf(expected)]).toMatchObject([0, { new: 700, rejected: 100 }]);
});

const eventColumns = "userId,event,timestamp";
const refusals: readonly (readonly [string, string, readonly string[], string])[] = [
  ["columns that say nothing", "a,b", [], "give --type events, --type users or --type accounts"],
  [
    "events and users at once",
    "userId,event,email,timestamp",
    [],
    "give --type events, --type users or --type accounts",
  ],
  ["no user", "event,timestamp,x", [], "give --user-id COLUMN"],
  ["no time", "userId,event,x", [], "give --timestamp COLUMN"],
  ["no account", "name,x", ["--type", "accounts"], "give --account-id COLUMN"],
  [
    "an option that accounts lack",
    "accountId",
    ["--type", "accounts", "--email-template", "x"],
    "--email-template means nothing",
  ],
  ["no address", "userId,x,y", ["--type", "users"], "--email-template"],
  ["a column that is not there", eventColumns, ["--user-id", "id"], 'there is no column "id"'],
  ["a property that is not there", eventColumns, ["--property", "x"], 'there is no column "x"'],
  [
    "an option of the other type",
    eventColumns,
    ["--type", "events", "--email", "event"],
    "--email means nothing",
  ],
  ["a column twice", "userId,event,timestamp,event", [], 'the column "event" twice'],
];

test.each(refusals)("%s is refused with what to do", async (_name, header, options, words) => {
  const row = header.replace(/[^,]+/g, "1");
  const result = await bench.import(bench.file("refused.csv", `${header}\n${row}\n`), "acme", ...options);
  expect(result).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining(words) });
});

test("without a server the same command writes to the ledger, and a server shows it later", async () => {
  const alone = new ImportBench();
  try {
    await alone.startServer();
    await alone.organization("alone");
    await alone.server.kill("SIGTERM");
    const file = alone.file("alone.csv", `${eventColumns}\nu1,a,2026-05-17\nnobody,a,2026-05-17\n`);
    const preview = await alone.import(file, "alone", "--preview");
    expect(preview.stdout).toContain("line 3: User not found");
    expect(countsOf(await alone.import(file, "alone"))).toEqual({
      rows: 2,
      new: 1,
      duplicate: 0,
      rejected: 1,
    });
    await alone.startServer();
    expect(countsOf(await alone.import(file, "alone"))).toMatchObject({ new: 0, duplicate: 1 });
    expect(await alone.server.exported("events", "alone")).toHaveLength(1);
  } finally {
    await alone.end();
  }
});

test("200,000 columns are named as fast as they are read, and one that is there twice is found", () => {
  const cells = Array.from({ length: 200_000 }, (_, index) => `column ${index}`);
  const began = process.cpuUsage();
  expect(columnNames(cells, true)).toEqual(cells);
  expect(() => columnNames([...cells, " column 7 "], true)).toThrow('the column "column 7" twice');
  // Microseconds of processor time: 0.1 s each; 66 s when each name is looked for among all others.
  expect(process.cpuUsage(began).user).toBeLessThan(20_000_000);
});
