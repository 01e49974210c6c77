/** Segments on the pages: saved from a list's filters, counted, chosen in figures, changed and deleted. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import type { Filter } from "../../contract/segments/filters.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { daysAgo, identify, sendAll, track } from "../erasure/support.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { ownServer } from "../own-server.ts";
import { company } from "../people/support.ts";
import type { Server } from "../server.ts";
import { becomes, until } from "../until.ts";
import { startBrowser } from "./chromium.ts";
import { answered } from "./settings-support.ts";
import {
  asReader,
  axe,
  notedMessages,
  openPage,
  phone,
  type Somebody,
  settled,
  sidewaysPixels,
  signInAs,
} from "./support.ts";

// Scores only when a test asks for them: the day's first ones are a reason to record members.
const server: Server = await ownServer(() => server, { time: { scheduleMs: null } });
let browser: Browser;
let people: Awaited<ReturnType<typeof company>>;
const folder = mkdtempSync(join(tmpdir(), "rekindle-segments-"));

const users = Array.from({ length: 12 }, (_, n) => ({
  id: `user ${n}`,
  plan: n % 2 === 0 ? "pro" : "free",
  account: n < 6 ? "acme" : "bolt",
  exportedDaysAgo: n % 3 === 0 ? 5 : undefined,
}));
const onPro = users.filter(({ plan }) => plan === "pro");
const onProFilter: Filter = { traits: [{ trait: "plan", value: "pro" }] };
const exportingOnPro = onPro.filter(({ exportedDaysAgo }) => exportedDaysAgo !== undefined);

beforeAll(async () => {
  browser = await startBrowser();
  people = await company(server, "Parts", "--timezone", quietZone);
  await sendAll(
    server,
    people.token,
    users.flatMap(({ id, plan, account, exportedDaysAgo }) => [
      identify(id, {
        email: `${id.replace(" ", ".")}@example.com`,
        properties: { plan },
        account: { id: account, name: account },
      }),
      ...[1, 9, 17].map((days) => track(id, "opened", daysAgo(days))),
      ...(exportedDaysAgo === undefined ? [] : [track(id, "exported", daysAgo(exportedDaysAgo))]),
    ]),
  );
  await server.exported("events", people.name);
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function openAs(who: Pick<Somebody, "cookie">, path: string, size = {}): Promise<Page> {
  const { page, complaints } = await openPage(browser, size);
  await signInAs(page, server, who);
  await go(page, path);
  expect(complaints).toEqual([]);
  return page;
}

async function go(page: Page, path: string): Promise<void> {
  await page.goto(`${server.url}/o/${people.organization}${path}`);
  await page.locator("h1").waitFor();
  await settled(page);
}

const row = (page: Page, name: string) =>
  page
    .getByRole("list", { name: "Segments", exact: true })
    .getByRole("listitem")
    .filter({ has: page.getByRole("link", { name, exact: true }) });

async function choose(page: Page, name: string, item: string): Promise<void> {
  await page.getByRole("button", { name: `Change ${name}`, exact: true }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** The segments as the API has them. */
async function stored(page: Page) {
  return (await asReader<RouteAnswer<"GET /api/segments">>(page, "/api/segments")).segments;
}

test("the users of a retention cell are saved as a fixed segment, with a name that says which", async () => {
  const page = await openAs(people.member, "/segments");
  const cohort = formatDay(todayIn(quietZone) - 17);
  const cell = `/retention?period=day&cohort=${cohort}&at=8`;
  await go(page, cell);
  const drawer = page.getByRole("dialog");
  await drawer.getByRole("button", { name: "Save as segment" }).click();
  const dialog = page.getByRole("dialog", { name: "Save as segment" });
  await dialog.getByText("A fixed segment of 12 users.").waitFor();
  const name = await dialog.getByLabel("Name").inputValue();
  expect(name).toEndWith(", active on day 8");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save segment" }).click();
  await page.getByText(`The segment “${name}” has 12 users.`, { exact: true }).waitFor();
  await dialog.waitFor({ state: "detached" });
  await drawer.getByRole("button", { name: "Save as segment" }).click();
  await dialog.getByRole("button", { name: "Save segment" }).click();
  await dialog.getByText("name is taken").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await drawer.waitFor();
  await go(page, "/segments");
  await row(page, name).getByText("Fixed").first().waitFor();
  const [saved] = (await stored(page)).filter((one) => one.name === name);
  expect(saved).toMatchObject({ kind: "users", fixed: 12, filter: null });
  await people.member.done("DELETE", people.at(`/api/segments/${saved?.id}`));
  const watching = await openAs(people.viewer, cell);
  await watching.getByRole("dialog").getByRole("listitem").first().waitFor();
  expect(await watching.getByRole("button", { name: "Save as segment" }).count()).toBe(0);
});

const save = (name: string, body: object) =>
  people.member.json<RouteAnswer<"POST /api/segments">>(
    "POST",
    people.at("/api/segments"),
    { name, ...body },
    201,
  );

test("a segment is saved from a list's filters, chosen in retention, changed in the list, and deleted", async () => {
  const page = await openAs(people.member, "/segments");
  await page.getByText("No segments yet").waitFor();
  await page.getByRole("link", { name: "Users", exact: true }).first().click();
  await page.getByRole("button", { name: "Trait", exact: true }).click();
  await page.getByLabel("Trait", { exact: true }).fill("plan");
  await page.getByLabel("Value").fill("pro");
  await page.getByRole("button", { name: "Show these users" }).click();
  await page.getByRole("button", { name: "Save as segment" }).click();
  await page.getByText("All users that match now and later: plan is pro.").waitFor();
  expect(await axe(page)).toEqual([]);
  const told = await notedMessages(page);
  await page.getByLabel("Name", { exact: true }).fill("On pro");
  await page.getByRole("button", { name: "Save segment" }).click();
  await told("The segment “On pro” was saved.");
  await page.getByRole("link", { name: "Segments", exact: true }).first().click();
  await row(page, "On pro").getByText(`${onPro.length} users`).waitFor();
  await row(page, "On pro").getByText("plan is pro").waitFor();
  await row(page, "On pro").getByText("Made by Parts member").waitFor();
  await settled(page);
  expect(await axe(page)).toEqual([]);

  await go(page, "/retention");
  await page.getByLabel("Users of a segment").selectOption({ label: "On pro" });
  await page.getByText(`Of the users of the segment “On pro” who`).first().waitFor();
  await page.getByText(`${onPro.length} users.`).waitFor();
  await settled(page);
  expect(await axe(page)).toEqual([]);

  await go(page, "/segments");
  await choose(page, "On pro", "Change filter");
  await page.getByText("Filter of the segment “On pro”").waitFor();
  await page.getByRole("button", { name: "Event", exact: true }).click();
  await page.getByLabel("Event", { exact: true }).fill("exported");
  await page.getByRole("button", { name: "Show these users" }).click();
  await page.getByRole("button", { name: "Remove the filter exported in 28 days" }).waitFor();
  await settled(page);
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Save filter" }).click();
  await row(page, "On pro").getByText("exported in 28 days").waitFor();
  await row(page, "On pro").getByText(`${exportingOnPro.length} users`).waitFor();

  await row(page, "On pro").getByRole("link").click();
  await page.getByRole("button", { name: "Remove the filter In On pro" }).waitFor();
  await page.getByText(`${exportingOnPro.length} users`).first().waitFor();
  await go(page, "/segments");
  await choose(page, "On pro", "Rename …");
  await page.getByLabel("Name", { exact: true }).fill("Exporters");
  await page.getByRole("button", { name: "Rename", exact: true }).click();
  await choose(page, "Exporters", "Delete …");
  await answered(page, "Delete the segment");
  await page.getByText("No segments yet").waitFor();
});

test("activity on the overview is that of a segment's users, and its figures lead to their lists", async () => {
  const { id } = await save("Pro in activity", { kind: "users", filter: onProFilter });
  const page = await openAs(people.viewer, "/overview");
  const active = page.getByRole("region", { name: "Active users", exact: true });
  const week = page.getByRole("region", { name: "The week", exact: true });
  await week.getByLabel("Users of a segment").selectOption({ label: "Pro in activity" });
  await settled(page);
  await active.getByText("Show as a table").click();
  const yesterday = active.getByRole("row").nth(2).getByRole("link").first();
  await becomes(() => yesterday.textContent(), String(onPro.length));
  await yesterday.click();
  await page.getByRole("button", { name: "Remove the filter In Pro in activity" }).waitFor();
  await page.getByText(`${onPro.length} users`).first().waitFor();
  await people.member.ask("DELETE", people.at(`/api/segments/${id}`));
});

test("a fixed segment of accounts comes from a CSV, and says which ids it left out", async () => {
  const page = await openAs(people.member, "/segments");
  const file = join(folder, "accounts.csv");
  writeFileSync(file, '\uFEFFaccountId,name\r\nacme,"Acme, Inc."\r\nnowhere,Nowhere\r\n');
  await page.getByRole("button", { name: "Add segment" }).click();
  await page.getByRole("menuitem", { name: "From a CSV of ids …" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Pilots");
  await page.getByLabel("Members").selectOption("accounts");
  await page.getByRole("button", { name: "Save segment" }).click();
  await page.getByText("Choose a file, or paste at least one id.").waitFor();
  await page.getByLabel("CSV file").setInputFiles(file);
  await page.getByText("Acme, Inc.").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Save segment" }).click();
  await page.getByText("The segment has 1 account. 1 unknown id left out:").waitFor();
  await page.getByRole("dialog").getByText("nowhere").waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await row(page, "Pilots").getByText("Fixed list of 1 account").waitFor();

  // Users are in it by their account.
  await go(page, "/users");
  await page.getByRole("button", { name: "Segment", exact: true }).click();
  await page.getByLabel("Users are").selectOption("isNotIn");
  await page.getByRole("button", { name: "Show these users" }).click();
  await page.getByRole("button", { name: "Remove the filter Not in Pilots" }).waitFor();
  await page.getByText("6 users").first().waitFor();
  await go(page, "/segments");
  await choose(page, "Pilots", "Replace ids …");
  await page.getByLabel("Or ids, one a line").fill("acme\nbolt");
  await page.getByRole("button", { name: "Replace ids" }).click();
  await row(page, "Pilots").getByText("2 accounts").first().waitFor();
});

test("every condition of a filter is in the list's address, and saved again as it was", async () => {
  const [{ id: other }] = [await save("Other", { kind: "users", filter: { riskBand: "high" } })];
  const filter: Filter = {
    traits: [
      { trait: "plan", match: "isNot", value: "free" },
      { trait: "team", match: "isEmpty", value: "" },
    ],
    verdict: "not_churned",
    state: "active",
    healthBand: "watch",
    riskBand: "low",
    seenWithinDays: 400,
    isPresent: true,
    healthBandBefore: "at_risk",
    moved: "better",
    toCall: false,
    activeFrom: "2026-01-01",
    activeTo: "2026-02-01",
    lifecycle: "new",
    mrrFrom: 1_000,
    mrrTo: 90_000,
    subscriptionPlan: "a&b",
    subscriptionStatus: "active",
    renewsWithinDays: 30,
    owner: "nobody",
    events: [
      { event: "exported", times: 3, days: 28 },
      { event: "opened", match: "fewerThan", days: 7 },
    ],
    segments: [{ segment: other, match: "isNotIn" }],
  };
  await people.owner.json("PATCH", people.at("/api/settings"), { reportingCurrency: "USD" });
  await save("All conditions", { kind: "users", filter });
  const page = await openAs(people.member, "/segments");
  const conditions = page.getByRole("list", { name: "Filter of All conditions" }).getByRole("listitem");
  await becomes(
    () => conditions.allTextContents(),
    [
      "Not churned",
      "Health: Watch",
      "Low risk",
      "Not churned",
      "No high churn risk and no sharp fall",
      "At risk 28 days before",
      "Health band got better since 28 days before",
      "State Active",
      "Seen within 400 days",
      "New, 1 Jan to 1 Feb 2026",
      "Subscription: Active",
      "Plan a&b",
      "Renews within 30 days",
      "MRR from $10.00",
      "MRR to $900.00",
      "Without owner",
      "plan is not free",
      "team is empty",
      "exported at least 3 times in 28 days",
      "No opened in 7 days",
      "Not in Other",
    ],
  );
  await choose(page, "All conditions", "Change filter");
  await page.getByRole("button", { name: "Save filter" }).click();
  await page.getByRole("heading", { name: "Segments", exact: true }).waitFor();
  await row(page, "All conditions").waitFor();
  expect((await stored(page)).find(({ name }) => name === "All conditions")?.filter).toEqual(filter);
  await choose(page, "Other", "Delete …");
  await answered(page, "Delete the segment");
  const refused = "This segment is used by the segment All conditions: change or delete that segment first.";
  await page.getByText(refused).first().waitFor();
});

test("a fall is a filter and a segment, and a list that is no segment is refused before it is saved", async () => {
  const page = await openAs(people.member, "/users");
  await page.getByRole("button", { name: "Fall", exact: true }).click();
  await page.getByLabel("By at least, in per cent").fill("40");
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Show these users" }).click();
  await page.getByText("Use fell by at least 40% in 4 weeks").first().waitFor();
  await page.waitForURL(/usageFellPercent=40/);
  await page.getByRole("button", { name: "Save as segment" }).click();
  await page.getByText("All users that match now and later: Use fell by at least 40% in 4 weeks.").waitFor();
  const told = await notedMessages(page);
  await page.getByLabel("Name", { exact: true }).fill("Use fell");
  await page.getByRole("button", { name: "Save segment" }).click();
  await told("The segment “Use fell” was saved.");

  await go(page, "/users?moved=fell&since=2020-02-29");
  await page.getByRole("button", { name: "Save as segment" }).click();
  const dialog = page.getByRole("dialog", { name: "This list cannot be a segment" });
  await dialog
    .getByText("A segment compares with 7 or 28 days ago, and this list with 29 Feb 2020.")
    .waitFor();
  await dialog.getByText(/would have \d+ users? today/).waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Close" }).last().click();
});

test("long names and values fit a phone, on the page, in a list and in retention", async () => {
  const long = "w".repeat(200);
  const filter = { traits: [{ trait: "plan", value: long }], events: [{ event: long, days: 7 }] };
  const page = await openAs(people.member, "/users?riskBand=low", { viewport: phone });
  await page.getByRole("button", { name: "Save as segment" }).click();
  await page.getByLabel("Name", { exact: true }).fill(long);
  await page.getByRole("button", { name: "Save segment" }).click();
  await page.getByRole("alert").or(page.getByText("The segment “www")).first().waitFor();
  const { id } = await save(`${long.slice(0, 79)}x`, { kind: "users", filter });
  for (const path of [
    "/segments",
    `/users?segment=${id}&riskBand=low`,
    "/users?saves=new&search=ada",
    `/users?saves=${id}&riskBand=low`,
    `/overview?segment=${id}`,
    `/retention?segment=${id}`,
    `/events?segment=${id}`,
    `/events?tab=adoption&segment=${id}`,
  ]) {
    await go(page, path);
    expect([path, await sidewaysPixels(page), await axe(page)]).toEqual([path, 0, []]);
  }
});

/** Waits until members of a segment are as recorded changes say. */
async function recorded(id: number, isSo: (history: History, changes: Changes) => boolean): Promise<void> {
  const read = <Answer>(part: string) =>
    people.viewer.json<Answer>("GET", people.at(`/api/segments/${id}/${part}`));
  await until("the history is recorded", async () =>
    isSo(await read<History>("history"), await read<Changes>("changes")),
  );
}

type History = RouteAnswer<"GET /api/segments/:id/history">;
type Changes = RouteAnswer<"GET /api/segments/:id/changes">;

async function openHistory(page: Page, name: string) {
  await page.getByRole("button", { name: `History of ${name}`, exact: true }).click();
  return page.getByRole("dialog");
}

test("an event that is tracked makes its user enter a segment, as the history says", async () => {
  const filter: Filter = { events: [{ event: "invited", days: 7 }] };
  const { id } = await save("Inviting", { kind: "users", filter });
  await recorded(id, ({ firstEvaluatedAt }) => firstEvaluatedAt !== null);
  const page = await openAs(people.viewer, "/segments");
  const empty = await openHistory(page, "Inviting");
  await empty.getByText("No changes yet").waitFor();
  await empty.getByText(/Evaluated for the first time on \d/).waitFor();
  await settled(page);
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press("Escape");

  await sendAll(server, people.token, [track("user 3", "invited", daysAgo(0))]);
  await server.exported("events", people.name);
  await server.command("score", "--organization", people.name, "--even-if-stopped");
  await recorded(id, (_, { changes }) => changes.length > 0);
  await go(page, "/segments");
  const dialog = await openHistory(page, "Inviting");
  const change = dialog.getByRole("list", { name: "Newest changes" }).getByRole("listitem");
  await change.getByRole("link", { name: "user.3@example.com" }).waitFor();
  expect(await change.allTextContents()).toEqual([expect.stringMatching(/^user\.3@example\.comentered · /)]);
  await dialog.getByText("Show as a table").click();
  await dialog.getByRole("row").nth(1).getByText("own data, first evaluation").waitFor();
  expect(await dialog.getByRole("row").nth(1).getByRole("cell").nth(1).textContent()).toBe("1");
  await settled(page);
  expect(await axe(page)).toEqual([]);

  // An edit is marked as one.
  await people.member.json("PATCH", people.at(`/api/segments/${id}`), { filter: onProFilter });
  await recorded(id, (_, { changes }) => changes.length > onPro.length);
  await go(page, "/segments");
  const edited = (await openHistory(page, "Inviting")).getByText("entered, segment edited");
  await becomes(() => edited.count(), onPro.length);
  await people.member.ask("DELETE", people.at(`/api/segments/${id}`));
});

test("a history that is not there yet, or hangs, says so, and a long name fits a phone", async () => {
  const name = "w".repeat(79);
  const { id } = await save(name, { kind: "users", filter: onProFilter });
  const page = await openAs(people.viewer, "/segments", { viewport: phone, colorScheme: "dark" });
  let answer = "hangs";
  await page.route(/\/api\/segments\/\d+\/history\?/, async (route) => {
    if (answer === "hangs") return;
    const freshness = { loadedUpto: null, excludedUsers: 0, timezone: quietZone, rebuilding: null };
    const segment = { id, kind: "users", name };
    const json = { segment, firstEvaluatedAt: null, lastEvaluatedAt: null, days: [], freshness };
    await route.fulfill({ json });
  });
  const hanging = await openHistory(page, name);
  await hanging.getByText("Loading …").waitFor({ state: "attached" });
  expect([await sidewaysPixels(page), await axe(page)]).toEqual([0, []]);
  await page.keyboard.press("Escape");
  await hanging.waitFor({ state: "detached" });
  answer = "nothing";
  await go(page, "/segments");
  await (await openHistory(page, name)).getByText("Not evaluated yet").waitFor();
  await settled(page);
  expect([await sidewaysPixels(page), await axe(page)]).toEqual([0, []]);
  await page.unroute(/\/api\/segments\/\d+\/history\?/);
  await recorded(id, ({ firstEvaluatedAt }) => firstEvaluatedAt !== null);
  await go(page, "/segments");
  await (await openHistory(page, name)).getByText("No changes yet").waitFor();
  await settled(page);
  expect([await sidewaysPixels(page), await axe(page)]).toEqual([0, []]);
  await people.member.ask("DELETE", people.at(`/api/segments/${id}`));
});

test("viewers read segments and change none", async () => {
  const page = await openAs(people.viewer, "/segments");
  await row(page, "Pilots").waitFor();
  const changing = page.getByRole("main").getByRole("button", { name: /^(?!History of )/ });
  expect(await changing.count()).toBe(0);
  await go(page, "/users?riskBand=high&saves=new");
  expect(await page.getByText("New segment of users").count()).toBe(0);
  expect(await page.getByRole("button", { name: "Save as segment" }).count()).toBe(0);
});
