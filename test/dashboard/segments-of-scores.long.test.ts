/** Health and churn risk on the overview, and the win-back list, with the users or accounts of one
 * segment. */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { identify, sendAll, track } from "../erasure/support.ts";
import { company } from "../people/support.ts";
import { demonstrationDay } from "../scored-demonstration.ts";
import { becomes } from "../until.ts";
import { asReader, axe, openPage, phone, settled, sidewaysPixels, signInAs } from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();
const name = "Health of segments";
const dayAgo = (days: number) => formatDay(demonstrationDay - days);

let people: Awaited<ReturnType<typeof company>>;

/** Users of six accounts. Those of the last two stopped five weeks ago. */
const users = Array.from({ length: 18 }, (_, n) => ({
  id: `user-${n}`,
  account: `account-${n % 6}`,
  activeUntil: n % 6 < 4 ? 1 : 34,
}));

beforeAll(async () => {
  people = await company(server, name);
  await sendAll(
    server,
    people.token,
    users.flatMap(({ id, account, activeUntil }) => [
      identify(id, { account: { id: account, name: account } }),
      ...Array.from({ length: 30 }, (_, time) =>
        track(id, "opened", `${dayAgo(activeUntil + time * 2)}T12:00:00Z`),
      ),
    ]),
  );
  await server.exported("events", name);
  for (const days of [14, 7, 0]) {
    const options = ["--as-of", dayAgo(days), "--even-if-stopped"];
    await server.command("score", "--organization", name, ...options);
  }
  await save("Some users", { kind: "users", ids: ["user-0", "user-1", "user-4"] });
  await save("Some accounts", { kind: "accounts", ids: ["account-0", "account-5"] });
  await save("No scores", { kind: "accounts", ids: ["account-3"] });
});

const save = (title: string, body: object) =>
  people.owner.json("POST", people.at("/api/segments"), { name: title, ...body }, 201);

async function openAt(path: string, options: Parameters<typeof openPage>[1] = {}) {
  const watched = await openPage(browser, options);
  await signInAs(watched.page, server, people.owner);
  await watched.page.goto(`${server.url}/o/${people.organization}${path}`);
  await watched.page.locator("h1").waitFor();
  await settled(watched.page);
  return watched;
}

/** The choice in the page's header: panels have their own. */
const pick = (page: Page, of: "Users" | "Accounts") => page.getByLabel(`${of} of a segment`).first();

async function choose(page: Page, of: "Users" | "Accounts", label: string): Promise<void> {
  await pick(page, of).selectOption({ label });
  await settled(page);
}

const count = (page: Page, kind: string, band: string) =>
  page
    .getByRole("table", { name: `Health of ${kind}, and how it changed` })
    .getByRole("row", { name: new RegExp(`^${band}`) })
    .getByRole("cell")
    .first()
    .textContent();

/** The row of the health band that the twelve active users share. */
async function bandOfActive(page: Page): Promise<string> {
  const path = "/api/health-by-week?kind=user";
  const { weeks } = await asReader<RouteAnswer<"GET /api/health-by-week">>(page, path);
  const now = weeks.at(-1);
  const rows = { healthy: "Healthy", watch: "Watch", atRisk: "At risk" } as const;
  const band = (["healthy", "watch", "atRisk"] as const).find((key) => now?.[key] === 12);
  expect([band !== undefined, now?.churned]).toEqual([true, 6]);
  return rows[band ?? "healthy"];
}

test("health is that of the segment's users, and its figures lead to their lists", async () => {
  const { page, complaints } = await openAt("/overview?more=true");
  const band = await bandOfActive(page);
  expect(await count(page, "users", band)).toBe("12");
  await choose(page, "Users", "Some users");
  expect(await count(page, "users", band)).toBe("2");
  expect(await count(page, "users", "Churned")).toBe("1");
  const panel = page.getByRole("region", { name: "Health of users", exact: true });
  await panel.getByText("All weeks count the segment’s current members").waitFor();
  expect(await axe(page)).toEqual([]);
  await panel.getByRole("link", { name: "2", exact: true }).first().click();
  await page.getByRole("button", { name: "Remove the filter In Some users" }).waitFor();
  await page.getByText("2 users").first().waitFor();
  expect(complaints).toEqual([]);
});

test("the week and the figures above it are those of the segment's users", async () => {
  const { page, complaints } = await openAt("/overview?more=true");
  const week = page.getByRole("region", { name: "The week", exact: true });
  await week.getByText("12 users were active in the 7 days").waitFor();
  await week.getByLabel("Users of a segment").selectOption({ label: "Some users" });
  await week.getByText("2 users were active in the 7 days").waitFor();
  await week.getByText("All weeks count the segment’s current members").waitFor();
  await page.getByText("Active users of the segment “Some users”: its current users, on all days.").waitFor();
  const stat = page.locator("dl", { hasText: "Active in 7 days" });
  await becomes(() => stat.locator("dd").first().textContent(), "2");
  expect(await axe(page)).toEqual([]);
  await week.getByRole("link", { name: "2", exact: true }).first().click();
  await page.getByRole("button", { name: "Remove the filter In Some users" }).waitFor();
  await page.getByText("2 users").first().waitFor();
  expect(complaints).toEqual([]);
});

test("events by name are those of the segment's users, and so is the volume that they lead to", async () => {
  const { page, complaints } = await openAt("/events");
  const names = page.getByRole("region", { name: "Events by name", exact: true });
  const counted = names.getByRole("row", { name: /^opened/ }).getByRole("cell");
  await becomes(async () => (await counted.allTextContents()).slice(0, 3), ["opened", "540", "18"]);
  await names.getByLabel("Users of a segment").selectOption({ label: "Some users" });
  await becomes(async () => (await counted.allTextContents()).slice(0, 3), ["opened", "90", "3"]);
  expect(await names.getByRole("link", { name: "CSV" }).getAttribute("href")).toMatch(/[?&]segment=\d+/);
  await settled(page);
  expect(await axe(page)).toEqual([]);
  await names.getByRole("link", { name: "opened" }).click();
  await page.waitForURL(/event=opened/);
  expect(page.url()).toMatch(/[?&]segment=\d+/);
  expect(complaints).toEqual([]);
});

test("accounts have segments of accounts only, and accounts at risk follow", async () => {
  const { page, complaints } = await openAt("/overview?kind=account&more=true", { viewport: phone });
  const choices = await pick(page, "Accounts").getByRole("option").allTextContents();
  expect(choices).toEqual(["All accounts", "No scores", "Some accounts"]);
  await choose(page, "Accounts", "Some accounts");
  const path = "/api/health-by-week?kind=account";
  const { weeks } = await asReader<RouteAnswer<"GET /api/health-by-week">>(page, path);
  const all = weeks.at(-1);
  expect([all?.healthy, all?.churned]).toEqual([4, 2]);
  expect(await count(page, "accounts", "Healthy")).toBe("1");
  expect(await count(page, "accounts", "Churned")).toBe("1");
  await page.getByText("No account of the segment is at risk").waitFor();
  expect(await sidewaysPixels(page)).toBe(0);
  await page.getByLabel("Health and churn risk of").selectOption("user");
  await settled(page);
  expect(page.url()).not.toContain("scored");
  expect(await count(page, "users", await bandOfActive(page))).toBe("12");
  expect(complaints).toEqual([]);
});

test("the win-back list has the churned of the segment, and so does its file", async () => {
  const { page, complaints } = await openAt("/win-back?days=56");
  const rows = page.getByRole("table", { name: "Churned accounts" }).getByRole("row");
  expect(await rows.count()).toBe(3);
  await choose(page, "Accounts", "Some accounts");
  expect(await rows.count()).toBe(2);
  const file = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
  expect(file).toMatch(/[?&]segment=\d+/);
  await choose(page, "Accounts", "No scores");
  await page.getByText(/^No account that matches churned within/).waitFor();
  await page.getByLabel("Users or accounts").selectOption("user");
  await settled(page);
  const churned = page.getByRole("table", { name: "Churned users" }).getByRole("row");
  expect(await churned.count()).toBe(7);
  await choose(page, "Users", "Some accounts");
  expect(await churned.count()).toBe(4);
  expect(complaints).toEqual([]);
});
