/** The win-back list over HTTP: churned users by what they paid, with reasons of the team and of billing. */

import { beforeAll, expect, test } from "bun:test";
import { formatDay } from "../../server/calendar/days.ts";
import { daysAgo, identify, sendAll, track } from "../erasure/support.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { ownServer } from "../own-server.ts";
import { joined } from "../people/support.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";

const organization = "Winning";
const server: Server = await ownServer(() => server, { time: quick });
let olga: Awaited<ReturnType<typeof joined>>;
const at = (path: string) => `${path}${path.includes("?") ? "&" : "?"}organization=${olga.organization}`;

interface WinBack {
  readonly total: number;
  readonly lastMrr: number | null;
  readonly reportingCurrency: string | null;
  readonly churned: readonly {
    readonly id: string;
    readonly churnedDay: string;
    readonly lastMrr: number | null;
    readonly plan: string | null;
    readonly reason: string | null;
    readonly reasonFrom: string | null;
    readonly owner: string | null;
  }[];
}

const billing = (who: string, event: string, days: number, more: object) =>
  track(who, event, daysAgo(days), {
    isActivity: false,
    properties: { subscriptionId: `of ${who}`, ...more },
  });
const started = (who: string, amount: number) =>
  billing(who, "subscription_started", 200, {
    status: "active",
    plan: "pro",
    amount,
    currency: "USD",
    interval: "month",
  });

beforeAll(async () => {
  const token = await server.organization(organization, "--timezone", quietZone);
  olga = await joined(server, organization, "owner", "Olga Owner");
  const activity = (who: string, until: number) =>
    Array.from({ length: 30 }, (_, week) => track(who, "opened", daysAgo(until + week * 3)));
  const people = ["big", "small", "free", "gone", "here"];
  await sendAll(server, token, [
    ...people.map((who) => identify(who, { properties: who === "small" ? { churnReason: "Too hard" } : {} })),
    ...activity("big", 40),
    ...activity("small", 35),
    ...activity("free", 33),
    ...activity("gone", 100),
    ...activity("here", 1),
    started("big", 9_900),
    started("small", 1_900),
    started("here", 5_000),
    billing("big", "subscription_canceled", 38, { feedback: "too_expensive", comment: "Costs too much" }),
    billing("small", "subscription_canceled", 30, { reason: "cancellation_requested" }),
  ]);
  await server.exported("events", organization);
  // One scored day before they churned, and today.
  for (const days of [30, 9, 0]) {
    const day = formatDay(todayIn(quietZone) - days);
    await server.command("score", "--organization", organization, "--as-of", day, "--even-if-stopped");
  }
});

const list = (query = "") => olga.json<WinBack>("GET", at(`/api/win-back?kind=user${query}`));

test("those who churned within the horizon are listed by what they paid, with reasons", async () => {
  const answer = await list("&days=30");
  expect(
    answer.churned.map(({ id, lastMrr, reason, reasonFrom }) => [id, lastMrr, reason, reasonFrom]),
  ).toEqual([
    ["big", 9_900, "Costs too much", "billing"],
    ["small", 1_900, "Too hard", "team"],
    ["free", null, null, null],
  ]);
  expect(answer).toMatchObject({ total: 3, lastMrr: 11_800, reportingCurrency: "USD" });
  // The day is that of the page of each, also in the CSV, though scores of few days are there.
  for (const { id, churnedDay } of answer.churned) {
    const score = await olga.json<{ churnedDay: string }>("GET", at(`/api/users/${id}/score`));
    expect([id, churnedDay]).toEqual([id, score.churnedDay]);
  }
  expect((await list("&days=30&limit=1&offset=1")).churned.map(({ id }) => id)).toEqual(["small"]);
});

test("a reason that the team says replaces that of billing, and an owner filters", async () => {
  const path = at("/api/users/big/churn-reason");
  expect((await olga.ask("PATCH", path, { reason: "  Price, said Bea  " })).status).toBe(204);
  expect((await olga.ask("PATCH", at("/api/users/free/owner"), { owner: olga.id })).status).toBe(204);
  await server.exported("users", organization);
  expect((await list("&days=30")).churned[0]).toMatchObject({
    reason: "Price, said Bea",
    reasonFrom: "team",
  });
  expect((await list("&days=30&owner=me")).churned).toMatchObject([{ id: "free", owner: "Olga Owner" }]);
  expect((await list("&days=30&owner=nobody")).total).toBe(2);
  const csv = await (
    await olga.ask("GET", at("/api/win-back?kind=user&days=30&format=csv&columns=id,lastMrr,reason"))
  ).text();
  expect(csv).toBe(
    'id,currency,lastMrr,reason\r\nbig,USD,99.00,"Price, said Bea"\r\nsmall,USD,19.00,Too hard\r\nfree,USD,,\r\n',
  );
  const log = await olga.json<{ entries: readonly { summary: string }[] }>(
    "GET",
    at("/api/audit-log?limit=2"),
  );
  expect(log.entries.at(-1)?.summary).toBe("Changed the churn reason of a user");
});

test("the command line lists them by the same parameters", async () => {
  const rekindle = (...words: string[]) =>
    server.command("win-back", "--organization", organization, ...words);
  const printed = await rekindle("--days", "30");
  expect(printed).toMatch(/^.*ID .*LAST MRR .*\n.*big .* 99\.00 USD /);
  expect(printed).toMatch(/^total +3$/m);
  expect(printed).toMatch(/^lastMrr +118\.00 USD$/m);
  const one = ["--days", "30", "--limit", "1", "--offset", "1", "--json"];
  const { total, churned } = await list("&days=30&limit=1&offset=1");
  expect(JSON.parse(await rekindle(...one))).toMatchObject({ total, churned });
  expect(await rekindle("--days", "30", "--owner", "nobody")).toMatch(/^total +2$/m);
  const filter = JSON.stringify({ traits: [{ trait: "churnReason", value: "Too hard" }] });
  await server.command("segment", "create", "Hard", "--organization", organization, "--filter", filter);
  expect(await rekindle("--days", "30", "--segment", "Hard")).toMatch(/small (.*\n)+total +1$/m);
  expect(await rekindle("--kind", "account")).toMatch(/^total +0$/m);
});

test("before the first scores of accounts the list is empty", async () => {
  expect(await olga.json("GET", at("/api/win-back?kind=account"))).toMatchObject({ total: 0, churned: [] });
});
