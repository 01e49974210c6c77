/** The inbox, from events to alerts that team members assign, snooze, judge and filter. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { quietZone } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { startBrowser } from "./chromium.ts";
import { axe, openPage, phone, settled, sidewaysPixels, signInAs, type WatchedPage } from "./support.ts";

type People = Awaited<ReturnType<typeof company>>;

const longName = `Ada ${"Lovelace".repeat(25)}`.slice(0, 200);
const rule = "Opened nothing";
let [server, browser, people]: [Server, Browser, People] = [] as never;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), startBrowser()]);
  await server.ready();
  people = await company(server, "Inbox", "--timezone", quietZone);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function openAlerts(somebody: People["owner"], query = ""): Promise<WatchedPage> {
  const watched = await openPage(browser);
  await signInAs(watched.page, server, somebody);
  await watched.page.goto(`${server.url}/o/${people.organization}/alerts${query}`);
  await watched.page.getByRole("heading", { name: "Alerts", exact: true }).waitFor();
  await settled(watched.page);
  return watched;
}

/** Two users are silent for six days, which fires, and one is not. */
async function fire(): Promise<void> {
  const { owner, at, token } = people;
  const batch = ["ada", "bob", "eve"].flatMap((userId) => [
    {
      type: "identify",
      userId,
      email: `${userId}@example.com`,
      ...(userId === "ada" && { properties: { name: longName } }),
    },
    ...[40, 12, userId === "eve" ? 1 : 6].map((days) => ({
      type: "track",
      userId,
      event: "opened",
      timestamp: new Date(Date.now() - days * 86_400_000).toISOString(),
    })),
  ]);
  expect((await server.post("/batch", token, { batch })).status).toBe(201);
  const condition = { kind: "keyEventUnseen", event: "opened", days: 4 };
  const body = { name: rule, scope: { kind: "users" }, includeCurrent: true, condition };
  await owner.json("POST", at("/api/alert-rules"), body, 201);
  await server.command("score", "--organization", people.name);
  await until("both alerts have fired", async () => {
    const { total } = await owner.json<{ total: number }>("GET", at("/api/alerts"));
    return total === 2;
  });
}

test("without a rule the inbox says what an alert is", async () => {
  const { page, complaints } = await openAlerts(people.viewer);
  await page.getByText("No alert rule yet").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("alerts of silent users are assigned, snoozed with a note, and judged", async () => {
  await fire();
  const { page, complaints } = await openAlerts(people.member);
  const open = page.getByRole("list", { name: "Open alerts" });
  expect(await open.getByText("opened not done for 4 days").count()).toBe(2);
  expect(await open.getByText("eve@example.com").count()).toBe(0);
  expect(await axe(page)).toEqual([]);

  await page.getByRole("button", { name: `Change: ${longName}` }).click();
  const dialog = page.getByRole("dialog", { name: "Change alert" });
  const mine = await dialog.getByLabel("Assignee").locator("option", { hasText: "(you)" }).textContent();
  await dialog.getByLabel("Assignee").selectOption({ label: mine ?? "" });
  await dialog.getByLabel("Snoozed until").fill("2199-12-31");
  await dialog.getByLabel("Note").fill("Called, calls back in January");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("1 alert", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Not useful: bob@example.com" }).click();
  await page.getByText("No open alert").waitFor();
  await page.getByRole("tab", { name: "Snoozed" }).click();
  const snoozed = page.getByRole("list", { name: "Snoozed alerts" });
  await snoozed.getByText("Called, calls back in January").waitFor();
  await snoozed.getByText("Snoozed until 31 Dec 2199").waitFor();
  await snoozed.getByText("Assigned to Inbox member").waitFor();
  await settled(page);
  expect(await axe(page)).toEqual([]);
  await page.setViewportSize(phone);
  expect(await sidewaysPixels(page)).toBe(0);
  expect(complaints).toEqual([]);
});

test("the inbox is filtered by a segment", async () => {
  const { owner, at } = people;
  await owner.json("POST", at("/api/segments"), { kind: "users", name: "Only Ada", ids: ["ada"] }, 201);
  await owner.json("POST", at("/api/segments"), { kind: "users", name: "Only Eve", ids: ["eve"] }, 201);
  const { page, complaints } = await openAlerts(people.viewer, "?state=snoozed");
  const pick = page.getByLabel("Segment", { exact: true });
  await pick.selectOption({ label: "Only Eve" });
  await page.getByText("No alert matches").waitFor();
  await pick.selectOption({ label: "Only Ada" });
  await page.getByText("1 alert", { exact: true }).waitFor();
  expect(page.url()).toMatch(/[?&]segment=\d+/);
  await settled(page);
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("filters are in the address, and viewers change nothing", async () => {
  const { page, complaints } = await openAlerts(people.viewer, "?state=handled");
  const handled = page.getByRole("list", { name: "Handled alerts" });
  await handled.getByText("Not useful, by Inbox member").waitFor();
  expect(await page.getByRole("main").getByRole("button").count()).toBe(0);
  await page.getByLabel("Rule").selectOption({ label: rule });
  await page.getByLabel("Assignee").selectOption({ label: "Inbox member" });
  await page.getByText("No alert matches").waitFor();
  await page.getByRole("tab", { name: "Snoozed" }).click();
  await page.getByText("Called, calls back in January").waitFor();
  expect(page.url()).toContain("assignee=");
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("a verdict is taken back, and given again on the user's own page", async () => {
  const { page, complaints } = await openAlerts(people.owner, "?state=handled");
  await page.getByRole("button", { name: "Reopen: bob@example.com" }).click();
  await page.getByText("No alert is handled yet").waitFor();
  await page.getByRole("tab", { name: "Open" }).click();
  await page.getByRole("link", { name: "bob@example.com" }).click();
  await page.getByRole("heading", { level: 1, name: "bob@example.com" }).waitFor();
  const open = page.getByRole("list", { name: "Open alerts of this user" });
  await open.getByText(rule, { exact: true }).waitFor();
  await settled(page);
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Handled: bob@example.com" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Mark as handled" }).click();
  await open.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Alerts", exact: true }).click();
  await page.getByText("No open alert").waitFor();
  expect(complaints).toEqual([]);
});
