/** `rekindle import --from`: the exports of other tools, as their documents describe them, up to the users
 * and events that are stored. */
import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { Session } from "chdb";
import { importBench } from "./bench.ts";
import { countsOf } from "./support.ts";
import { zipOf } from "./zip.ts";

const bench = importBench();

const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

async function emptyOrganization(name: string): Promise<void> {
  await bench.server.command("organization", "create", name, "--timezone", "Europe/Paris");
}

async function imported(organization: string, tool: string, file: string, ...options: string[]) {
  const result = await bench.import(file, organization, "--from", tool, ...options);
  expect([result.exitCode, result.stderr]).toEqual([0, ""]);
  return countsOf(result);
}

/** Events in the order of their times, with the fields that an import decides. */
async function events(organization: string) {
  const rows = await bench.server.exported("events", organization);
  return rows
    .map(({ userId, event, timestamp, properties, messageId, isActivity }) => ({
      userId,
      event,
      timestamp,
      properties,
      messageId,
      isActivity,
    }))
    .sort((a, b) => String(a.timestamp).localeCompare(String(b.timestamp)));
}

async function users(organization: string) {
  const rows = await bench.server.exported("users", organization);
  return rows.sort((a, b) => String(a.userId).localeCompare(String(b.userId)));
}

const amplitudeEvent = (some: object) => ({
  app: 1,
  amplitude_id: 99,
  platform: "Web",
  version_name: null,
  country: "France",
  device_id: "device-a",
  user_id: "ada",
  event_type: "Order Placed",
  $insert_id: "insert",
  uuid: "5f1c7d6e-0000-11ee-8000-000000000001",
  event_time: "2023-06-01 09:30:00.123000",
  event_properties: { total: 12 },
  user_properties: { email: "ada@example.com", plan: "pro" },
  groups: { company: ["Acme"] },
  ...some,
});
const uuid = (n: number) => `5f1c7d6e-0000-11ee-8000-${String(n).padStart(12, "0")}`;

test("Amplitude: a .zip of .json.gz, with users, devices, accounts and times in UTC", async () => {
  await emptyOrganization("amplitude");
  const before = amplitudeEvent({
    user_id: null,
    event_type: "[Amplitude] Page Viewed",
    uuid: uuid(2),
    groups: {},
    user_properties: {},
    event_time: "2023-06-01 08:00:00",
    event_properties: { "[Amplitude] Page Path": "/pricing" },
  });
  const session = amplitudeEvent({ event_type: "session_start", uuid: uuid(3) });
  const entries = [
    {
      name: "1/1_2023-06-01_9#0.json.gz",
      content: gzipSync(lines([amplitudeEvent({}), session])),
      isStored: true,
    },
    { name: "1/1_2023-06-01_8#0.json.gz", content: gzipSync(lines([before]).trimEnd()) },
    { name: "__MACOSX/1/._x.json.gz", content: Buffer.from("no JSON") },
    { name: "1/", content: Buffer.alloc(0), isStored: true },
  ];
  // Amplitude is known to name its .zip like a .gz.
  const file = bench.file("amplitude.json.gz", zipOf(entries));
  expect(await imported("amplitude", "amplitude", file)).toEqual({
    rows: 3,
    new: 3,
    duplicate: 0,
    rejected: 0,
  });
  const described = { platform: "Web", country: "France" };
  expect(await events("amplitude")).toEqual([
    {
      userId: "ada",
      event: "page_viewed",
      timestamp: "2023-06-01T08:00:00.000Z",
      messageId: uuid(2),
      properties: { ...described, path: "/pricing" },
      isActivity: true,
    },
    {
      userId: "ada",
      event: "Order_Placed",
      timestamp: "2023-06-01T09:30:00.123Z",
      messageId: uuid(1),
      properties: { ...described, total: 12 },
      isActivity: true,
    },
    {
      userId: "ada",
      event: "session_start",
      timestamp: "2023-06-01T09:30:00.123Z",
      messageId: uuid(3),
      properties: { ...described, total: 12 },
      isActivity: false,
    },
  ]);
  expect(await users("amplitude")).toMatchObject([
    { userId: "ada", email: "ada@example.com", properties: { plan: "pro" }, account: { id: "Acme" } },
  ]);
});

test("a second and an overlapping file store each row once, and rows without an id are all stored", async () => {
  await emptyOrganization("overlap");
  const rows = [1, 2, 3].map((n) => amplitudeEvent({ uuid: uuid(n), $insert_id: `insert-${n}` }));
  const first = bench.file("first.json", lines(rows.slice(0, 2)));
  expect(await imported("overlap", "amplitude", first)).toMatchObject({ new: 2 });
  const again = await imported("overlap", "amplitude", first);
  expect(again).toMatchObject({ rows: 2, new: 0, duplicate: 2 });
  const overlapping = bench.file("second.json.gz", gzipSync(lines(rows.toReversed())));
  expect(await imported("overlap", "amplitude", overlapping)).toEqual({
    rows: 3,
    new: 1,
    duplicate: 2,
    rejected: 0,
  });
  const withoutIds = rows.slice(0, 2).map((row) => ({ ...row, uuid: undefined, $insert_id: undefined }));
  const equal = bench.file("equal.json", lines(withoutIds));
  expect(await imported("overlap", "amplitude", equal)).toMatchObject({ new: 2, duplicate: 0 });
  expect((await events("overlap")).map(({ messageId }) => messageId).sort()).toEqual(
    [uuid(1), uuid(2), uuid(3), null, null].sort(),
  );
});

test("Mixpanel: $user_id and $device_id, profiles, aliases, and times of a project before 2023", async () => {
  await emptyOrganization("mixpanel");
  // 09:30 in New York, written as if it was UTC.
  const time = Date.UTC(2022, 5, 1, 9, 30) / 1_000;
  const event = (name: string, properties: object) => ({
    event: name,
    properties: { time, mp_lib: "web", $browser: "Chrome", $insert_id: `i-${name}`, ...properties },
  });
  const rows = [
    event("Visited", { distinct_id: "$device:d-1", $device_id: "d-1" }),
    event("Order Placed", {
      distinct_id: "ada",
      $user_id: "ada",
      $device_id: "d-1",
      company_id: ["acme"],
      total: 3,
    }),
    event("Order Paid", {
      distinct_id: "ada",
      $user_id: "ada",
      $device_id: "d-1",
      $insert_id: "i-Order Placed",
    }),
    event("Old Event", { distinct_id: "grace" }),
    event("Alias Event", { distinct_id: "old-grace" }),
    event("$create_alias", { distinct_id: "grace", alias: "old-grace" }),
    event("$mp_web_page_view", { distinct_id: "ada", $user_id: "ada", $current_url: "https://example.com/" }),
  ];
  const profiles = [
    {
      $distinct_id: "ada",
      $properties: { $email: "ada@example.com", $name: "Ada", $city: "Paris", plan: "pro" },
    },
    {
      $distinct_id: "grace",
      $properties: { $email: "grace@example.com", $last_seen: "2022-06-01T10:00:00" },
    },
    { $distinct_id: "$device:d-9", $properties: {} },
  ];
  const options = ["--timezone", "America/New_York", "--account-property", "company_id"];
  const file = bench.file("mixpanel.jsonl", lines(rows));
  expect(await imported("mixpanel", "mixpanel", file, ...options)).toMatchObject({
    rows: 7,
    new: 7,
    rejected: 0,
  });
  const people = bench.file("profiles.jsonl", lines(profiles));
  const printed = await bench.import(people, "mixpanel", "--from", "mixpanel", ...options);
  expect(printed.stdout).toMatch(/new +2\n[\s\S]*ignored +1\n/);
  const timestamp = "2022-06-01T13:30:00.000Z";
  expect(
    (await events("mixpanel")).toSorted((a, b) => String(a.event).localeCompare(String(b.event))),
  ).toEqual(
    [
      ["Alias_Event", "grace", {}, "i-Alias Event:Alias Event"],
      ["Old_Event", "grace", {}, "i-Old Event:Old Event"],
      ["Order_Paid", "ada", {}, "i-Order Placed:Order Paid"],
      ["Order_Placed", "ada", { company_id: ["acme"], total: 3 }, "i-Order Placed:Order Placed"],
      ["page_viewed", "ada", { url: "https://example.com/" }, "i-$mp_web_page_view:$mp_web_page_view"],
      ["Visited", "ada", {}, "i-Visited:Visited"],
    ].map(([name, userId, properties, messageId]) => ({
      userId,
      event: name,
      timestamp,
      messageId,
      isActivity: true,
      properties: { browser: "Chrome", ...(properties as object) },
    })) as never,
  );
  expect(await users("mixpanel")).toMatchObject([
    {
      userId: "ada",
      email: "ada@example.com",
      account: { id: "acme" },
      properties: { name: "Ada", plan: "pro" },
    },
    { userId: "grace", email: "grace@example.com" },
  ]);
});

test("PostHog: events of a batch export with $identify, groups and properties of persons", async () => {
  await emptyOrganization("posthog");
  const event = (n: number, name: string, some: { properties?: object; distinct_id?: string }) => ({
    uuid: uuid(n),
    event: name,
    distinct_id: "ada",
    timestamp: `2024-02-01 10:00:0${n}.000000+00:00`,
    person_id: "p",
    person_properties: { email: "ada@example.com", $initial_os: "Linux" },
    created_at: "2024-02-01T10:00:10Z",
    elements_chain: "",
    ...some,
    properties: JSON.stringify(some.properties ?? {}),
  });
  const visitor = "018d5e10-0000-7000-8000-000000000001";
  const rows = [
    event(1, "$pageview", { distinct_id: visitor, properties: { $device_id: visitor, $pathname: "/" } }),
    event(2, "$identify", { properties: { $anon_distinct_id: visitor } }),
    event(3, "invoice sent", { properties: { $groups: { company: "acme" }, total: 3 } }),
    event(4, "$pageleave", {}),
    event(5, "$create_alias", { properties: { alias: "old-ada" } }),
    event(6, "before", { distinct_id: "old-ada", properties: {} }),
  ].map((row) => (row.event === "before" ? { ...row, person_properties: "{}" } : row));
  const file = bench.file("posthog.jsonl.gz", gzipSync(lines(rows)));
  expect(await imported("posthog", "posthog", file)).toEqual({ rows: 6, new: 5, duplicate: 0, rejected: 0 });
  expect(await events("posthog")).toMatchObject([
    { userId: "ada", event: "page_viewed", timestamp: "2024-02-01T10:00:01.000Z", messageId: uuid(1) },
    { userId: "ada", event: "invoice_sent", properties: { total: 3 }, messageId: uuid(3) },
    { userId: "ada", event: "before", messageId: uuid(6) },
  ]);
  expect(await users("posthog")).toMatchObject([
    { userId: "ada", email: "ada@example.com", account: { id: "acme" } },
  ]);
});

test("PostHog: a batch export as Parquet, whose objects are text", async () => {
  await emptyOrganization("parquet");
  const session = new Session();
  const file = bench.path("posthog.parquet");
  try {
    await session.queryAsync(`INSERT INTO FUNCTION file('${file}', 'Parquet')
      SELECT '${uuid(1)}' AS uuid, 'invoice sent' AS event, 'ada' AS distinct_id, CAST(NULL, 'Nullable(String)') AS set,
        '{"total":3,"$is_identified":true}' AS properties, '{"email":"ada@example.com"}' AS person_properties,
        toDateTime64('2024-02-01 10:00:00.123456', 6, 'UTC') AS timestamp`);
  } finally {
    session.close();
  }
  expect(await imported("parquet", "posthog", file)).toEqual({ rows: 1, new: 1, duplicate: 0, rejected: 0 });
  expect(await events("parquet")).toMatchObject([
    {
      userId: "ada",
      event: "invoice_sent",
      properties: { total: 3 },
      messageId: uuid(1),
      timestamp: "2024-02-01T10:00:00.123Z",
    },
  ]);
  expect(await users("parquet")).toMatchObject([{ userId: "ada", email: "ada@example.com" }]);
});

test.each(["segment", "rudderstack"])(
  "%s: a raw archive with each type of message, not moved by its age",
  async (tool) => {
    await emptyOrganization(tool);
    const message = (n: number, some: object) => ({
      messageId: `${tool}-${n}`,
      timestamp: `2021-03-01T10:00:0${n}.000Z`,
      anonymousId: "anon-1",
      sentAt: "2021-03-01T09:00:00.000Z",
      receivedAt: "2021-03-01T10:00:10.000Z",
      ...some,
    });
    const rows = [
      message(1, { type: "page", name: "Home", properties: { path: "/" } }),
      message(2, { type: "identify", userId: "ada", traits: { email: "ada@example.com", plan: "pro" } }),
      message(3, { type: "track", userId: "ada", event: "Signed Up", properties: { total: 3 } }),
      message(4, { type: "group", userId: "ada", groupId: "acme", traits: { name: "Acme Inc" } }),
      message(5, { type: "alias", previousId: "old-ada", userId: "ada", anonymousId: undefined }),
      message(6, { type: "track", userId: "old-ada", anonymousId: undefined, event: "Before" }),
      message(7, {
        type: "track",
        userId: "ada",
        event: "No Time",
        timestamp: undefined,
        receivedAt: undefined,
      }),
    ];
    const file = bench.file(`${tool}.json.gz`, gzipSync(lines(rows)));
    const result = await bench.import(file, tool, "--from", tool);
    expect(countsOf(result)).toEqual({ rows: 7, new: 6, duplicate: 0, rejected: 1 });
    expect(result.stdout).toContain(
      "line 7: timestamp is missing: an imported row needs the time at which it happened.",
    );
    expect(await events(tool)).toMatchObject([
      { userId: "ada", event: "page_viewed", timestamp: "2021-03-01T10:00:01.000Z", messageId: `${tool}-1` },
      { userId: "ada", event: "Signed_Up", timestamp: "2021-03-01T10:00:03.000Z", messageId: `${tool}-3` },
      { userId: "ada", event: "Before", timestamp: "2021-03-01T10:00:06.000Z", messageId: `${tool}-6` },
    ]);
    expect(await users(tool)).toMatchObject([
      { userId: "ada", email: "ada@example.com", account: { id: "acme", name: "Acme Inc" } },
    ]);
  },
);

test("an import that is killed goes on, and stores each row once", async () => {
  await emptyOrganization("killed");
  const rows = Array.from({ length: 3_000 }, (_, n) =>
    amplitudeEvent({
      uuid: n % 3 === 0 ? undefined : uuid(n),
      $insert_id: undefined,
      event_properties: { n },
    }),
  );
  const name = "1_2023-06-01_9#0.json.gz";
  const file = bench.file("killed.zip", zipOf([{ name, content: gzipSync(lines(rows)) }]));
  const done = await bench.importKilledAt(1_000, file, "killed", "--from", "amplitude");
  expect(done).toBeGreaterThanOrEqual(1_000);
  expect(done).toBeLessThan(3_000);
  expect(await imported("killed", "amplitude", file)).toEqual({
    rows: 3_000,
    new: 3_000,
    duplicate: 0,
    rejected: 0,
  });
  const stored = await events("killed");
  expect(stored.map(({ properties }) => (properties as { n: number }).n).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 3_000 }, (_, n) => n),
  );
});

test("several files are imported in their order, each with a report of its own", async () => {
  await emptyOrganization("several");
  const good = bench.file("hour-1.json", lines([amplitudeEvent({})]));
  const bad = bench.file("hour-2.json", lines([amplitudeEvent({ event_time: "noon" })]));
  const report = bench.path("rejected.csv");
  const options = ["--from", "amplitude", "--report", report];
  const result = await bench.server.run({}, "import", good, bad, "--organization", "several", ...options);
  expect([result.exitCode, result.stderr]).toEqual([0, ""]);
  expect(result.stdout).toMatch(
    /file +hour-1\.json\n[\s\S]*new +1\n[\s\S]*file +hour-2\.json\n[\s\S]*rejected +1\n/,
  );
  const rejected = await Bun.file(bench.path("rejected-hour-2.json.csv")).text();
  expect(rejected).toContain('1,"event_time is not a time that can be read');
});

test("the preview shows the items of a row, and stores nothing", async () => {
  await emptyOrganization("preview");
  const file = bench.file("preview.json", lines([amplitudeEvent({})]));
  const result = await bench.import(file, "preview", "--from", "amplitude", "--preview");
  expect([result.exitCode, result.stderr]).toEqual([0, ""]);
  expect(result.stdout).toContain("an export of amplitude, the first rows as they are sent:\nline 1: new\n");
  expect(result.stdout).toContain('"type":"track"');
  expect(await users("preview")).toEqual([]);
});
