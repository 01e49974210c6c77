/** When an event happened: the forms that are taken, what they mean, and what is refused. The times are
 * checked where a reader sees them, in the export. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { expectError, expectRefused, expectSuccess, exportedTimes, send, user } from "./support.ts";

let server: Server;
/** A token of the organization "New York", which most tests share: each has event names of its own. */
let token: string;

beforeAll(async () => {
  server = await Server.shared();
  token = await organization("New York", "America/New_York");
});
afterAll(() => server.stop());

/** An organization with the user "u". Returns its token. */
async function organization(name: string, timezone: string): Promise<string> {
  const writer = await server.organization(name, "--timezone", timezone);
  await send(server, "/identify", writer, user("u"));
  return writer;
}

/** Texts and the UTC instants they mean, in an organization in New York. */
const forms: readonly (readonly [string, string])[] = [
  ["2026-05-17T09:30:00Z", "2026-05-17T09:30:00.000Z"],
  ["2026-05-17t09:30:00z", "2026-05-17T09:30:00.000Z"],
  ["2026-05-17T09:30:00.5Z", "2026-05-17T09:30:00.500Z"],
  ["2026-05-17T09:30:00.123456789Z", "2026-05-17T09:30:00.123Z"],
  ["2026-05-17T23:59:59.9999Z", "2026-05-17T23:59:59.999Z"],
  ["2026-05-17T09:30:00+02:00", "2026-05-17T07:30:00.000Z"],
  ["2026-05-17T09:30:00-05:30", "2026-05-17T15:00:00.000Z"],
  ["2026-05-17T00:15:00+05:45", "2026-05-16T18:30:00.000Z"],
  ["2026-05-17T09:30:00+00:00", "2026-05-17T09:30:00.000Z"],
  ["2026-05-17T09:30:00-00:00", "2026-05-17T09:30:00.000Z"],
  ["2026-01-01T00:00:00+23:59", "2025-12-31T00:01:00.000Z"],
  ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"],
  ["2000-02-29", "2000-02-29T05:00:00.000Z"],
  ["1998-12-31T23:59:60Z", "1999-01-01T00:00:00.000Z"],
  ["1998-12-31T15:59:60.123-08:00", "1999-01-01T00:00:00.000Z"],
  ["1970-01-02T00:00:00Z", "1970-01-02T00:00:00.000Z"],
  ["2299-12-30T23:59:59.999Z", "2299-12-30T23:59:59.999Z"],
  // New York's days: winter time, summer time, the two days on which the clock changes, and leap day.
  ["2026-01-15", "2026-01-15T05:00:00.000Z"],
  ["2026-07-15", "2026-07-15T04:00:00.000Z"],
  ["2026-03-08", "2026-03-08T05:00:00.000Z"],
  ["2026-03-09", "2026-03-09T04:00:00.000Z"],
  ["2026-11-01", "2026-11-01T04:00:00.000Z"],
  ["2026-11-02", "2026-11-02T05:00:00.000Z"],
  ["2024-02-29", "2024-02-29T05:00:00.000Z"],
];

test("every form of a time is kept as the instant that it means", async () => {
  for (const [index, [timestamp]] of forms.entries()) {
    await expectSuccess(await server.post("/track", token, { userId: "u", event: `e${index}`, timestamp }));
  }
  const times = await exportedTimes(server, "New York");
  const seen = forms.map(([text], index) => [text, new Date(times.get(`e${index}`) ?? Number.NaN).toJSON()]);
  expect(seen).toEqual(forms.map(([text, instant]) => [text, instant]));
});

/** A day whose midnight was skipped, and one that follows a skipped day. pure/zone.test.ts has more. */
const dates: readonly (readonly [string, string, string])[] = [
  ["America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00.000Z"],
  ["Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00.000Z"],
];

test("a date alone is the start of that day in the organization's timezone, where midnight is missing too", async () => {
  const seen: string[] = [];
  for (const [index, [timezone, timestamp]] of dates.entries()) {
    const writer = await organization(`Date ${index}`, timezone);
    await send(server, "/track", writer, { userId: "u", event: "e", timestamp });
    const times = await exportedTimes(server, `Date ${index}`);
    seen.push(new Date(times.get("e") ?? Number.NaN).toJSON());
  }
  expect(seen).toEqual(dates.map(([, , instant]) => instant));
});

test("the first and the last instant of the years that are kept are kept", async () => {
  const first = server.firstToken;
  await send(server, "/identify", first, user("u"));
  await send(server, "/track", first, { userId: "u", event: "first", timestamp: "1970-01-01" });
  await send(server, "/track", first, { userId: "u", event: "last", timestamp: "2299-12-31T23:59:59.999Z" });
  const times = await exportedTimes(server, "default");
  expect(times.get("first")).toBe(0);
  expect(times.get("last")).toBe(Date.UTC(2300, 0, 1) - 1);
});

test("a date follows a change of the organization's timezone at once", async () => {
  const writer = await organization("Moved", "UTC");
  await send(server, "/track", writer, { userId: "u", event: "before", timestamp: "2026-05-17" });
  await server.command("organization", "set", "Moved", "--timezone", "Asia/Tokyo");
  await send(server, "/track", writer, { userId: "u", event: "after", timestamp: "2026-05-17" });
  const times = await exportedTimes(server, "Moved");
  expect(times.get("before")).toBe(Date.UTC(2026, 4, 17));
  expect(times.get("after")).toBe(Date.UTC(2026, 4, 16, 15));
});

const refused = [
  "",
  " ",
  "now",
  "2026-05-17T09:30:00",
  "2026-05-17T09:30:00.000",
  "2026-05-17 09:30:00Z",
  "2026-05-17T09:30Z",
  "2026-05-17T09Z",
  "2026-05-17T09:30:00+02",
  "2026-05-17T09:30:00+0200",
  "2026-05-17T09:30:00 +02:00",
  "2026-05-17T09:30:00.Z",
  "2026-05-17T09:30:00,5Z",
  "2026-05-17T09:30:00Z[Europe/Paris]",
  "2026-05-17Z",
  "2026-02-30",
  "2026-02-29",
  "2100-02-29",
  "2026-04-31",
  "2026-13-01",
  "2026-00-10",
  "2026-01-00",
  "2026-02-30T10:00:00Z",
  "2026-02-31T23:00:00-08:00",
  "2026-05-17T24:00:00Z",
  "2026-05-17T09:60:00Z",
  "2026-05-17T09:30:61Z",
  "2026-05-17T09:30:60Z",
  "2016-12-31T23:59:60+01:00",
  "2026-05-17T09:30:00+24:00",
  "2026-05-17T09:30:00+10:60",
  "1969-12-31T23:59:59Z",
  "1969-12-31",
  "2300-01-01T00:00:00Z",
  "2300-01-01",
  "0000-01-01",
  "9999-12-31T23:59:59Z",
  "+012026-05-17",
  "20260517",
  "20260517T093000Z",
  "2026-W20-7",
  "2026-137",
  "2026-5-17",
  "17/05/2026",
  "Sun, 17 May 2026 09:30:00 GMT",
  "1779010200",
  "２０２６-05-17",
  "2026-05-17T09:30:00Z\n",
  " 2026-05-17",
];

describe("refused with what to send is the time", () => {
  test("of these texts, and nothing is stored", async () => {
    for (const timestamp of refused) {
      const response = await server.post("/track", token, { userId: "u", event: "refused", timestamp });
      const message = await expectError(response, "validation_error", "timestamp", "send", "offset");
      expect([timestamp, message.startsWith("timestamp ")]).toEqual([timestamp, true]);
    }
    expect((await exportedTimes(server, "New York")).has("refused")).toBe(false);
  });

  test.each([[1_779_010_200_000], [1_779_010_200], [true], [{}], [[]]])(
    "that is no text, %j",
    async (timestamp) => {
      const response = await server.post("/track", token, { userId: "u", event: "e", timestamp });
      await expectRefused(response, "timestamp");
    },
  );
});

const aliases = ["time", "date", "datetime", "eventTime", "occurredAt", "createdAt"];

describe("the aliases of timestamp", () => {
  test("mean the same, and agree when they are sent together", async () => {
    for (const alias of ["timestamp", ...aliases]) {
      await send(server, "/track", token, { userId: "u", event: alias, [alias]: "2020-02-03T04:05:06Z" });
    }
    const same = { timestamp: "2020-02-03T04:05:06Z", time: "2020-02-03T05:05:06+01:00", date: null };
    await send(server, "/track", token, { userId: "u", event: "together", ...same });
    const times = await exportedTimes(server, "New York");
    for (const name of ["timestamp", ...aliases, "together"]) {
      expect([name, times.get(name)]).toEqual([name, Date.UTC(2020, 1, 3, 4, 5, 6)]);
    }
  });

  test.each(aliases)("%s is refused when it differs from timestamp, or cannot be read", async (alias) => {
    const post = (more: object) => server.post("/track", token, { userId: "u", event: "e", ...more });
    const differing = await post({ timestamp: "2020-02-03", [alias]: "2020-02-04" });
    await expectError(differing, "validation_error", "timestamp", alias, "send");
    await expectRefused(await post({ [alias]: "yesterday" }), alias);
    await expectRefused(await post({ timestamp: "2020-02-03", [alias]: "yesterday" }), alias);
    await expectRefused(await post({ [alias]: 5 }), alias);
  });

  test("two aliases that differ are refused without a timestamp too", async () => {
    const body = { userId: "u", event: "e", createdAt: "2020-02-03", occurredAt: "2020-02-04" };
    const response = await server.post("/track", token, body);
    await expectError(response, "validation_error", "createdAt", "occurredAt");
  });
});

test("without a time, or with null, it is now; a future time is taken", async () => {
  const beforeMs = Date.now();
  await send(server, "/track", token, { userId: "u", event: "omitted" });
  await send(server, "/track", token, { userId: "u", event: "null", timestamp: null, time: null });
  const afterMs = Date.now();
  await send(server, "/track", token, { userId: "u", event: "future", timestamp: "2200-01-01T00:00:00Z" });
  const times = await exportedTimes(server, "New York");
  for (const event of ["omitted", "null"]) {
    expect(times.get(event)).toBeGreaterThanOrEqual(beforeMs);
    expect(times.get(event)).toBeLessThanOrEqual(afterMs);
  }
  expect(times.get("future")).toBe(Date.UTC(2200, 0, 1));
});
