/** Retention cohorts through HTTP, from the sent events to the answer to a read key. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type CountedCell,
  cellOrder,
  type Facts,
  RetentionRecount,
} from "../../bench/history/retention-recount.ts";
import type { RetentionQuestion } from "../../server/analytics/retention/retention-question.ts";
import { formatDay, parseDay } from "../../server/calendar/days.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { Server } from "../server.ts";
import {
  combinations,
  questionAbout,
  randomFacts,
  shuffled,
  weekly,
} from "../warehouse/retention-support.ts";
import { randomOfThisRun } from "../warehouse/support.ts";
import { expectError } from "./support.ts";

const organization = "Cohorts";
const timezone = "America/Santiago";
const zone = new Zone(timezone);
const random = randomOfThisRun("retention through the front door");

let server: Server;
let key: string;
let facts: Facts;
let shape: Parameters<typeof randomFacts>[1];

beforeAll(async () => {
  server = await Server.shared();
  const token = await server.organization(organization, "--timezone", timezone);
  key = (await server.command("key", "create", "--organization", organization)).trim();
  await server.ready();
  // Yesterday is the last day of the history: nothing that is sent lies in the future.
  shape = { timezone, users: 60, today: zone.dayOf(Date.now()) - 1, days: 220 };
  const drawn = randomFacts(random, shape);
  const users = [...new Set(drawn.words.map(({ user }) => user))];
  facts = { ...drawn, users, excluded: new Set() };
  await sendAll(token);
  await server.exported("events", organization);
});
afterAll(() => server.stop());

const timestamp = (ms: number) => new Date(ms).toISOString();

/** Sends everything through POST /batch. Identifies come in the order of the facts, which is random in time.
 * Events come in between, as soon as their user is known. */
async function sendAll(token: string): Promise<void> {
  const known = new Set<number>();
  const items: object[] = [];
  for (const { user, atMs, traits, account } of facts.words) {
    items.push({
      type: "identify",
      userId: `u-${user}`,
      email: `u-${user}@example.com`,
      timestamp: timestamp(atMs),
      properties: traits,
      isAccountOwner: facts.owners.has(user),
      ...(account !== undefined && { account: accountBody(account) }),
    });
    if (known.has(user)) continue;
    known.add(user);
    for (const one of facts.events) {
      if (one.user !== user) continue;
      items.push({ type: "track", userId: `u-${user}`, event: one.event, timestamp: timestamp(one.timeMs) });
    }
  }
  for (let from = 0; from < items.length; from += 200) {
    const response = await server.post("/batch", token, { batch: items.slice(from, from + 200) });
    expect(await response.json()).toMatchObject({ success: true, rejected: [] });
  }
}

function accountBody(number: number): object | null {
  return number === 0 ? null : { ...facts.accounts.get(number) };
}

function get(path: string, parameters: Record<string, string> = {}): Promise<Response> {
  const url = `${server.url}${path}?${new URLSearchParams(parameters)}`;
  return fetch(url, { headers: { Authorization: `Bearer ${key}` } });
}

/** A question as parameters of the API. */
function parametersOf(question: RetentionQuestion): Record<string, string> {
  const { entry, returnEvent, period, measure, split, fromDay, toDay, periods } = question;
  return {
    entry: entry.kind,
    ...(entry.kind === "event" && { entryEvent: entry.event }),
    ...(returnEvent !== null && { returnEvent }),
    period: period.name,
    weekStart: String(period.weekStart),
    measure,
    ...split,
    from: formatDay(fromDay),
    to: formatDay(toDay),
    periods: String(periods),
  };
}

interface Cell extends Omit<CountedCell, "cohortDay"> {
  readonly cohortDay: string;
  readonly share: number;
  readonly low: number;
  readonly high: number;
  readonly isAlreadyHere: boolean;
}

interface Answer {
  readonly cells: readonly Cell[];
  readonly mean: readonly { readonly users: number; readonly cohortUsers: number; readonly share: number }[];
  readonly projections: readonly object[];
}

async function answerTo(parameters: Record<string, string>): Promise<Answer> {
  const response = await get("/api/retention", parameters);
  expect({ parameters, status: response.status }).toEqual({ parameters, status: 200 });
  return (await response.json()) as Answer;
}

function counted(cells: readonly Cell[]): CountedCell[] {
  return cells
    .map(({ share: _share, low: _low, high: _high, isAlreadyHere: _here, ...cell }) => ({
      ...cell,
      cohortDay: parseDay(cell.cohortDay) ?? Number.NaN,
    }))
    .sort(cellOrder);
}

test("answers equal a recount of what was sent, for questions of every kind, and so do the people", async () => {
  let people = 0;
  for (const combination of shuffled(random, combinations()).slice(0, 16)) {
    const today = zone.dayOf(Date.now());
    const asked = questionAbout(random, combination, { ...shape, today }, 0);
    // As the organization has it set: nothing.
    const question = { ...asked, passiveEvents: [], horizonDays: 28 };
    const parameters = parametersOf(question);
    const recount = new RetentionRecount(facts, question);
    const cells = counted((await answerTo(parameters)).cells);
    // Midnight has passed: the answer may be the next day's.
    if (zone.dayOf(Date.now()) !== today) continue;
    expect({ parameters, cells }).toEqual({ parameters, cells: recount.cells() });
    const cell = cells[random.between(0, cells.length)];
    if (cell === undefined) continue;
    const retained = random.chance(0.5);
    const response = await get("/api/retention/people", {
      ...parameters,
      cohort: formatDay(cell.cohortDay),
      at: String(cell.period),
      kind: cell.kind,
      ...(cell.value !== null && { value: cell.value }),
      retained: String(retained),
      limit: "1000",
    });
    const found = (await response.json()) as {
      users: number;
      people: { userId: string }[];
    };
    const expected = recount.people(cell, retained).map((user) => {
      const days = facts.events.filter((one) => one.user === user).map(({ timeMs }) => zone.dayOf(timeMs));
      const lastSeenDay = days.length === 0 ? null : formatDay(Math.max(...days));
      return { userId: `u-${user}`, email: `u-${user}@example.com`, name: null, lastSeenDay };
    });
    expect(found.people.toSorted(byUser)).toEqual(expected.toSorted(byUser));
    expect(found.users).toBe(cell.users);
    people += expected.length;
  }
  expect(people).toBeGreaterThan(0);
});

function byUser(a: { readonly userId: string }, b: { readonly userId: string }): number {
  return Number(a.userId.slice(2)) - Number(b.userId.slice(2));
}

test("without parameters it is weekly retention of the last 26 weeks from the first event", async () => {
  let today: number;
  let answer: Answer;
  do {
    today = zone.dayOf(Date.now());
    answer = await answerTo({});
    // Else midnight has passed, and the answer may be the next day's.
  } while (zone.dayOf(Date.now()) !== today);
  const { cells, mean, projections } = answer;
  expect(counted(cells)).toEqual(new RetentionRecount(facts, weekly(0, 26, today)).cells());
  expect(mean[0]?.users).toBe(mean[0]?.cohortUsers ?? -1);
  expect(projections).toEqual([]);
});

test("a table can be had as CSV, with the same figures", async () => {
  const parameters = { trait: "plan", period: "month", measure: "inOrAfter", periods: "7" };
  const { cells, projections } = await answerTo(parameters);
  expect(projections.length).toBeGreaterThan(0);
  const response = await get("/api/retention", { ...parameters, format: "csv" });
  expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const [header, ...lines] = (await response.text()).trimEnd().split("\r\n");
  expect(header).toBe(
    "kind,value,cohortDay,cohortUsers,period,users,share,low,high,isComplete,isAlreadyHere",
  );
  const quoted = (text: string) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  expect(lines).toHaveLength(cells.length);
  for (const [index, cell] of cells.entries()) {
    const { kind, value, cohortDay, cohortUsers, period, users, share, low, high, isComplete } = cell;
    const known = [kind, quoted(value ?? ""), cohortDay, cohortUsers, period, users].join(",");
    const line = lines[index] ?? "";
    expect(line.slice(0, known.length + 1)).toBe(`${known},`);
    const [shown = "", lowest = "", highest = "", ...is] = line.slice(known.length + 1).split(",");
    expect(is).toEqual([String(isComplete), String(cell.isAlreadyHere)]);
    // Four digits, rounded down.
    for (const [figure, text] of [
      [share, shown],
      [low, lowest],
      [high, highest],
    ] as const) {
      expect(Number(text)).toBeLessThanOrEqual(figure);
      expect(figure - Number(text)).toBeLessThan(0.001);
    }
  }
});

test("people are read page by page", async () => {
  const { cells } = await answerTo({ period: "month", periods: "1" });
  const largest = cells.toSorted((a, b) => b.cohortUsers - a.cohortUsers)[0];
  const ids: string[] = [];
  let pages = 0;
  for (let after: number | null = 0; after !== null; pages += 1) {
    const response = await get("/api/retention/people", {
      period: "month",
      cohort: largest?.cohortDay ?? "",
      at: "0",
      limit: "4",
      after: String(after),
    });
    const page = (await response.json()) as { people: { userId: string }[]; next: number | null };
    ids.push(...page.people.map(({ userId }) => userId));
    after = page.next;
  }
  expect(new Set(ids).size).toBe(largest?.cohortUsers ?? -1);
  expect(ids).toHaveLength(largest?.cohortUsers ?? -1);
  expect(pages).toBe(Math.ceil(ids.length / 4));
});

describe("refused", () => {
  test.each<readonly [string, Record<string, string>, string]>([
    ["/api/retention", { entry: "event" }, "entryEvent is not valid"],
    ["/api/retention", { entryEvent: "opened" }, "entryEvent is not valid"],
    ["/api/retention", { entry: "whenever" }, "entry is not valid"],
    ["/api/retention", { period: "year" }, "period is not valid"],
    ["/api/retention", { periods: "121" }, "periods is not valid"],
    ["/api/retention", { from: "2026-02-30" }, "from is not valid"],
    ["/api/retention", { from: "2020-01-01" }, "cohorts are more than 120"],
    ["/api/retention", { from: "2999-01-01" }, "from lies after to, or after today"],
    ["/api/retention", { to: "2999-01-01" }, "to is not valid"],
    ["/api/retention", { weekStart: "2" }, "weekStart is not valid"],
    ["/api/retention", { trait: "" }, "trait is empty: send 1 to 256 characters."],
    ["/api/retention", { weekstart: "7" }, "weekstart is no parameter of this path"],
    ["/api/retention/people", { at: "0" }, "cohort"],
    ["/api/retention/people", { cohort: "2026-03-02", at: "0", kind: "none" }, "kind is not valid"],
    ["/api/retention/people", { cohort: "2026-03-02", at: "0", trait: "plan" }, "kind is not valid"],
    [
      "/api/retention/people",
      { cohort: "2026-03-02", at: "0", trait: "plan", kind: "value" },
      "value is not valid",
    ],
  ])("%s with %j", async (path, parameters, message) => {
    await expectError(await get(path, parameters), "validation_error", message);
  });
});

test("a cohort without users has no users behind its cells", async () => {
  const response = await get("/api/retention/people", { cohort: "1990-01-01", at: "3" });
  expect(await response.json()).toMatchObject({ cohortUsers: 0, users: 0, people: [], next: null });
});
