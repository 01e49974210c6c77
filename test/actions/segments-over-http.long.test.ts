/** Segments over HTTP: who is in them is counted again from what was sent. Lists, figures and files show
 * exactly these users. */

import { beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import type { Filter } from "../../contract/segments/filters.ts";
import type { ErrorAnswer } from "../../contract/write-api.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { daysAgo, identify, sendAll, track } from "../erasure/support.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { ownServer } from "../own-server.ts";
import { type Browser, joined } from "../people/support.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";

const organization = "Segments";
const server: Server = await ownServer(() => server, { time: quick });
let olga: Awaited<ReturnType<typeof joined>>;
const at = (path: string) => `${path}${path.includes("?") ? "&" : "?"}organization=${olga.organization}`;

/** A user as it is sent, with the days ago of each event. */
interface Sent {
  readonly id: string;
  readonly plan: string;
  readonly account: string | null;
  readonly opened: readonly number[];
  readonly exported: readonly number[];
}

const plans = ["free", "pro", "team"];
const people: readonly Sent[] = Array.from({ length: 36 }, (_, n) => ({
  id: `user ${n}`,
  plan: plans[n % 3] ?? "",
  account: n % 4 === 0 ? null : `account ${n % 5}`,
  opened: Array.from({ length: 1 + (n % 7) }, (_, time) => time * (1 + (n % 6))),
  exported: Array.from({ length: n % 5 }, (_, time) => 2 + time * 9 + (n % 4)),
}));
const excluded = "user 7";
const counted = people.filter(({ id }) => id !== excluded);
const within = (days: readonly number[], most: number) => days.filter((day) => day < most).length;
const idsOf = (some: readonly Sent[]) => some.map(({ id }) => id).sort();

beforeAll(async () => {
  const token = await server.organization(organization, "--timezone", quietZone);
  olga = await joined(server, organization, "owner", "Olga Owner");
  await sendAll(
    server,
    token,
    people.flatMap(({ id, plan, account, opened, exported }) => [
      identify(id, {
        email: `${id.replace(" ", ".")}@example.com`,
        properties: { plan },
        ...(account !== null && { account: { id: account, name: account } }),
      }),
      ...opened.map((day) => track(id, "opened", daysAgo(day))),
      ...exported.map((day) => track(id, "exported", daysAgo(day))),
    ]),
  );
  await server.command("exclude", "add", "--organization", organization, "--user", excluded);
  await server.exported("events", organization);
});

type Saved = RouteAnswer<"POST /api/segments">;

const save = (name: string, filter: Filter, kind = "users") =>
  olga.json<Saved>("POST", at("/api/segments"), { kind, name, filter }, 201);

async function listed(query: string): Promise<string[]> {
  const { users, total } = await olga.json<RouteAnswer<"GET /api/users">>(
    "GET",
    at(`/api/users?limit=1000&${query}`),
  );
  expect(users).toHaveLength(total);
  return users.map(({ userId }) => userId).sort();
}

const isExporter = ({ exported }: Sent) => within(exported, 28) >= 2;
const exporters: Filter = { events: [{ event: "exported", times: 2, days: 28 }] };

describe("a segment", () => {
  test("by a trait and by events has those who did them often enough, and excluded users are in none", async () => {
    const filter: Filter = {
      traits: [{ trait: "plan", match: "isNot", value: "team" }],
      events: [
        { event: "exported", times: 2, days: 28 },
        { event: "opened", match: "fewerThan", times: 3, days: 7 },
      ],
    };
    const expected = counted.filter(
      (one) => one.plan !== "team" && isExporter(one) && within(one.opened, 7) < 3,
    );
    expect(expected.length).toBeGreaterThan(2);
    const { id } = await save("Exporters who come rarely", filter);
    expect(await listed(`segment=${id}`)).toEqual(idsOf(expected));
    const asParameters = new URLSearchParams(
      Object.entries(filter).map(([name, value]): [string, string] => [name, JSON.stringify(value)]),
    );
    expect(await listed(String(asParameters))).toEqual(idsOf(expected));
    const preview = { kind: "users", filter };
    const { members } = await olga.json<{ members: number }>("POST", at("/api/segments/preview"), preview);
    expect(members).toBe(expected.length);
  });

  test("may be a condition of another one, as those in it and as those not in it", async () => {
    const inner = await save("Inner exporters", exporters);
    const pro = { traits: [{ trait: "plan", value: "pro" }] };
    const both = await save("Pro exporters", { ...pro, segments: [{ segment: inner.id }] });
    const others = await save("Other pros", { ...pro, segments: [{ segment: inner.id, match: "isNotIn" }] });
    const ofPlan = counted.filter(({ plan }) => plan === "pro");
    expect(await listed(`segment=${both.id}`)).toEqual(idsOf(ofPlan.filter(isExporter)));
    expect(await listed(`segment=${others.id}`)).toEqual(idsOf(ofPlan.filter((one) => !isExporter(one))));
    const { segments } = await olga.json<RouteAnswer<"GET /api/segments">>("GET", at("/api/segments"));
    expect(segments.find(({ id }) => id === inner.id)?.usedBy.map(({ name }) => name)).toEqual([
      "Other pros",
      "Pro exporters",
    ]);
  });

  test("of accounts is by the events that carry the account, and a condition on its members", async () => {
    const timesOf = (account: string) =>
      counted
        .filter((one) => one.account === account)
        .reduce((sum, { exported }) => sum + within(exported, 28), 0);
    const accounts = [0, 1, 2, 3, 4].map((n) => `account ${n}`);
    const least = Math.max(...accounts.map(timesOf));
    const expected = accounts.filter((account) => timesOf(account) >= least);
    const filter: Filter = { events: [{ event: "exported", times: least, days: 28 }] };
    const { id } = await save("Busy accounts", filter, "accounts");
    const answer = await olga.json<RouteAnswer<"GET /api/accounts">>(
      "GET",
      at(`/api/accounts?segment=${id}`),
    );
    expect(answer.accounts.map(({ accountId }) => accountId).sort()).toEqual(expected);
    const members = counted.filter(({ account }) => account !== null && expected.includes(account));
    expect(await listed(`segment=${id}`)).toEqual(idsOf(members));
    const { days } = await figure<"GET /api/active-users">(`/api/active-users?days=1&segment=${id}`);
    expect(days[0]?.monthly).toBe(
      members.filter(({ opened, exported }) => within([...opened, ...exported], 30) > 0).length,
    );
  });

  test("of fixed ids has those that are known, and says which are not", async () => {
    const ids = ["user 1", "user 2", excluded, "nobody"];
    const body = { kind: "users", name: "Pilots", ids };
    const saved = await olga.json<Saved>("POST", at("/api/segments"), body, 201);
    expect(saved).toMatchObject({ fixed: 3, filter: null, unknownIds: ["nobody"] });
    expect(await listed(`segment=${saved.id}`)).toEqual(["user 1", "user 2"]);
  });
});

type FigureName =
  | "GET /api/active-users"
  | "GET /api/lifecycle"
  | "GET /api/adoption"
  | "GET /api/events"
  | "GET /api/events-over-time"
  | "GET /api/active-days"
  | "GET /api/retention"
  | "GET /api/retention/people"
  | "GET /api/week-summary"
  | "GET /api/usage-intervals";

function figure<Name extends FigureName>(path: string): Promise<RouteAnswer<Name>> {
  return olga.json<RouteAnswer<Name>>("GET", at(path));
}

describe("figures of a segment", () => {
  const members = counted.filter(isExporter);
  const days = ({ opened, exported }: Sent) => [...opened, ...exported];
  let segment = 0;

  beforeAll(async () => {
    segment = (await save("Exporters", exporters)).id;
  });

  test("count its users alone: active users, adoption, events and days of activity", async () => {
    const [active] = (await figure<"GET /api/active-users">(`/api/active-users?days=1&segment=${segment}`))
      .days;
    const seenWithin = (most: number) => members.filter((one) => within(days(one), most) > 0).length;
    expect(active).toMatchObject({ daily: seenWithin(1), weekly: seenWithin(7), monthly: seenWithin(30) });
    const { activeUsers, events } = await figure<"GET /api/adoption">(`/api/adoption?segment=${segment}`);
    const ofEvent = Object.fromEntries(events.map(({ event, users }) => [event, users]));
    expect(activeUsers).toBe(seenWithin(28));
    expect(ofEvent).toEqual({
      opened: members.filter(({ opened }) => within(opened, 28) > 0).length,
      exported: members.length,
    });
    const overTime = `/api/events-over-time?event=exported&period=day&periods=28&segment=${segment}`;
    const { periods } = await figure<"GET /api/events-over-time">(overTime);
    const times = members.reduce((sum, { exported }) => sum + within(exported, 28), 0);
    expect(periods.reduce((sum, { count }) => sum + count, 0)).toBe(times);
    const names = (await figure<"GET /api/events">(`/api/events?segment=${segment}`)).events;
    const ofName = (name: "opened" | "exported") => {
      const sent = members.flatMap((one) => one[name]);
      const firstDay = formatDay(todayIn(quietZone) - Math.max(...sent));
      return { event: name, count: sent.length, users: members.length, firstDay };
    };
    expect(names.toSorted((a, b) => (a.event < b.event ? -1 : 1))).toMatchObject(
      (["exported", "opened"] as const).map(ofName),
    );
    const { users } = await figure<"GET /api/active-days">(
      `/api/active-days?to=${formatDay(todayIn(quietZone))}&segment=${segment}`,
    );
    expect(users).toBe(seenWithin(28));
    const lifecycle = await figure<"GET /api/lifecycle">(
      `/api/lifecycle?period=month&periods=3&segment=${segment}`,
    );
    expect(lifecycle.periods.reduce((sum, row) => sum + row.new, 0)).toBe(members.length);
    const { gaps } = await figure<"GET /api/usage-intervals">(`/api/usage-intervals?segment=${segment}`);
    expect(gaps).toBe(members.reduce((sum, one) => sum + new Set(days(one)).size - 1, 0));
  });

  test("the summary of the week counts its users, and the list behind a count has the segment", async () => {
    const week = await figure<"GET /api/week-summary">(`/api/week-summary?segment=${segment}`);
    // The seven days end yesterday.
    const active = members.filter((one) => days(one).some((day) => day >= 1 && day <= 7));
    const [first] = week.sentences.find(({ about }) => about === "active")?.parts ?? [];
    expect(first?.value).toBe(active.length);
    expect(await listed(String(new URLSearchParams(first?.list?.query)))).toEqual(idsOf(active));
    expect(first?.list?.query.segment).toBe(String(segment));
  });

  test("retention cohorts have exactly its members", async () => {
    const query = `period=month&alreadyHere=counted&segment=${segment}`;
    const { cells } = await figure<"GET /api/retention">(`/api/retention?${query}`);
    const cohorts = cells.filter(({ period }) => period === 0);
    expect(cohorts.reduce((sum, { cohortUsers }) => sum + cohortUsers, 0)).toBe(members.length);
    const found: string[] = [];
    for (const { cohortDay } of cohorts) {
      const path = `/api/retention/people?${query}&cohort=${cohortDay}&at=0&limit=1000`;
      const { people: page } = await figure<"GET /api/retention/people">(path);
      found.push(...page.map(({ userId }) => userId));
    }
    expect(found.sort()).toEqual(idsOf(members));
  });

  test("files have its members: the list as CSV, and `rekindle segment export`", async () => {
    const csv = await (
      await olga.ask("GET", at(`/api/users?format=csv&columns=userId&segment=${segment}`))
    ).text();
    expect(csv.trim().split(/\r?\n/).slice(1).sort()).toEqual(idsOf(members));
    const exported = await server.command("segment", "export", "Exporters", "--organization", organization);
    expect(exported.trim().split(/\r?\n/)).toHaveLength(1 + members.length);
    const size = async () => {
      const sizes = await olga.json<RouteAnswer<"GET /api/segment-sizes">>("GET", at("/api/segment-sizes"));
      return sizes.segments.find(({ name }) => name === "Exporters")?.members;
    };
    await until("its members are counted", size, (counted) => counted === members.length);
    const list = await server.command("segment", "list", "--organization", organization);
    expect(list).toContain("Exporters");
  });

  test("that cannot take a segment refuse it by name, and so do lists that have no such segment", async () => {
    const refusal = async (path: string) => {
      const response = await olga.ask("GET", at(path));
      return [response.status, ((await response.json()) as { message: string }).message];
    };
    expect(await refusal(`/api/model?segment=${segment}`)).toEqual([
      400,
      "segment is no parameter of this path: leave it out.",
    ]);
    expect(await refusal("/api/users?segment=99999")).toEqual([
      400,
      "segment is not valid: there is no segment with the id 99999.",
    ]);
    expect(await refusal(`/api/accounts?segment=${segment}`)).toEqual([
      400,
      "segment is not valid: Exporters is a segment of users.",
    ]);
  });
});

test("`rekindle segment` saves a filter or the ids of a file, and deletes segments", async () => {
  const of = ["--organization", organization];
  const file = join(tmpdir(), `ids-${process.pid}.csv`);
  writeFileSync(file, 'userId,note\r\nuser 5,"a, b"\r\n\r\nuser 6\r\nnobody\r\n');
  await server.command("segment", "create", "From a file", ...of, "--ids", file);
  writeFileSync(file, "\ufeffsep=;\r\nuserId;note\r\nuser 5;a, b\r\nuser 6;\r\n");
  await server.command("segment", "create", "From Excel", ...of, "--ids", file);
  await server.command("segment", "create", "Exporting", ...of, "--filter", JSON.stringify(exporters));
  const { segments } = await olga.json<RouteAnswer<"GET /api/segments">>("GET", at("/api/segments"));
  const idOf = (name: string) => segments.find((one) => one.name === name)?.id;
  expect(await listed(`segment=${idOf("From a file")}`)).toEqual(["user 5", "user 6"]);
  expect(await listed(`segment=${idOf("From Excel")}`)).toEqual(["user 5", "user 6"]);
  expect(await listed(`segment=${idOf("Exporting")}`)).toEqual(idsOf(counted.filter(isExporter)));
  const refused = [
    [["--filter", '{"colour": "red"}'], "colour is not known: leave it out."],
    [["--filter", "plan=pro"], "--filter is not valid: give JSON."],
    [["--ids", file, "--filter", "{}"], "filter"],
    [[], "filter"],
    [["--ids", `${file}.missing`], "cannot be read: ENOENT"],
  ] as const;
  for (const [options, why] of refused) {
    const { exitCode, stderr } = await server.run({}, "segment", "create", "Wrong", ...of, ...options);
    expect([exitCode, stderr.includes(why)]).toEqual([1, true]);
  }
  await server.command("segment", "delete", "Exporting", ...of);
  expect(await server.command("segment", "list", ...of)).not.toContain("Exporting");
  rmSync(file);
});

test("`rekindle segment change` changes what is named, and nothing else", async () => {
  const of = ["--organization", organization];
  const file = join(tmpdir(), `changed-ids-${process.pid}.csv`);
  const all = async () =>
    (await olga.json<RouteAnswer<"GET /api/segments">>("GET", at("/api/segments"))).segments;
  await save("To change", exporters);
  await server.command("segment", "change", "To change", ...of, "--name", "Changed");
  const renamed = (await all()).find(({ name }) => name === "Changed");
  expect(renamed).toMatchObject({ kind: "users", filter: exporters });
  expect((await all()).map(({ name }) => name)).not.toContain("To change");
  const printed = await server.command(
    "segment",
    "change",
    "Changed",
    ...of,
    "--filter",
    '{"riskBand": "high"}',
  );
  expect(printed).toMatch(/^filter\.riskBand +high$/m);
  expect((await all()).find(({ name }) => name === "Changed")).toMatchObject({
    id: renamed?.id,
    filter: { riskBand: "high" },
  });

  writeFileSync(file, "user 5\n");
  await server.command("segment", "create", "Fixed", ...of, "--ids", file);
  writeFileSync(file, "userId\nuser 8\nuser 9\nnobody\n");
  const words = ["segment", "change", "Fixed", ...of, "--name", "Fixed again", "--ids", file];
  const { stdout, stderr } = await server.run({}, ...words, "--json");
  const answer = JSON.parse(stdout) as RouteAnswer<"PATCH /api/segments/:id">;
  expect(answer).toMatchObject({ name: "Fixed again", filter: null, fixed: 2, unknownIds: ["nobody"] });
  expect([await listed(`segment=${answer.id}`), stderr]).toEqual([["user 8", "user 9"], ""]);
  const again = await server.run({}, "segment", "change", "Fixed again", ...of, "--ids", file);
  expect(again.stdout).toMatch(/^unknownIds +nobody$/m);
  const refused = [
    ["Changed", [], "at least one of name, filter, ids"],
    ["Changed", ["--filter", '{"riskBand": "low"}', "--ids", file], "send either filter or ids"],
    ["Changed", ["--filter", '{"colour": "red"}'], "colour is not known: leave it out."],
    ["Changed", ["--name", "Fixed again"], "Fixed again"],
    ["Fixed again", ["--filter", '{"riskBand": "high"}'], "filter cannot be set: the segment is fixed."],
    ["To change", ["--name", "Other"], 'there is no segment "To change"'],
  ] as const;
  const before = await all();
  for (const [name, options, why] of refused) {
    const failed = await server.run({}, "segment", "change", name, ...of, ...options);
    expect([name, failed.exitCode, failed.stdout, failed.stderr]).toEqual([
      name,
      1,
      "",
      expect.stringContaining(why),
    ]);
  }
  expect(await all()).toEqual(before);
  rmSync(file);
});

test("by scores a segment has the users of the list with the same filters", async () => {
  await server.command("score", "--organization", organization);
  const filters = [
    { state: "active" },
    { healthBand: "at_risk" },
    { verdict: "not_churned", seenWithinDays: 3 },
  ] as const;
  for (const [index, filter] of filters.entries()) {
    const { id } = await save(`By scores ${index}`, filter);
    const query = new URLSearchParams(
      Object.entries(filter).map(([name, value]): [string, string] => [name, String(value)]),
    );
    expect(await listed(`segment=${id}`)).toEqual(await listed(String(query)));
  }
  expect((await listed("state=active")).length).toBeGreaterThan(5);
});

test("a list of several segments evaluates at most 50 conditions together", async () => {
  const filterOf = (count: number): Filter => ({
    traits: Array.from({ length: 8 }, (_, n) => ({ trait: `t${n}`, match: "isEmpty" })),
    events: Array.from({ length: count }, (_, n) => ({ event: `e${n}`, match: "fewerThan", days: 28 })),
  });
  const saved = await Promise.all(["one", "two", "three"].map((name) => save(`Many ${name}`, filterOf(8))));
  const query = (some: typeof saved) => `segments=${JSON.stringify(some.map(({ id }) => ({ segment: id })))}`;
  expect(await listed(query(saved.slice(1)))).toEqual(idsOf(counted));
  const { message } = await olga.json<ErrorAnswer>("GET", at(`/api/users?${query(saved)}`), undefined, 400);
  expect(message).toContain("the list would have 51 conditions");
  const below = { ...filterOf(2), segments: saved.map(({ id }) => ({ segment: id })) };
  const body = { kind: "users", name: "Above many", filter: below };
  const refused = await olga.json<ErrorAnswer>("POST", at("/api/segments"), body, 400);
  expect(refused.message).toContain("Above many would have 61 conditions");
});

test("a viewer reads segments and saves none; an erased user leaves a fixed one", async () => {
  const viewer: Browser = await joined(server, organization, "viewer", "Vic Viewer");
  expect((await viewer.ask("GET", at("/api/segments"))).status).toBe(200);
  const body = { kind: "users", name: "Mine", filter: exporters };
  expect((await viewer.ask("POST", at("/api/segments"), body)).status).toBe(403);
  const ids = { kind: "users", name: "Leaving", ids: ["user 3", "user 4"] };
  const { id } = await olga.json<Saved>("POST", at("/api/segments"), ids, 201);
  await olga.ask("DELETE", at("/api/users/user%203"));
  expect(await listed(`segment=${id}`)).toEqual(["user 4"]);
  expect((await olga.ask("DELETE", at(`/api/segments/${id}`))).status).toBe(204);
});
