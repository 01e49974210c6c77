/** With a declared churn target, pages say how many have churned and how many are only inactive. */
import { beforeAll, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { demonstrationDay } from "../scored-demonstration.ts";
import { axe, openInOrganization } from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();
const organization = "Both labels";
const today = demonstrationDay;
let key = "";

/** Days ago of the last activity, and whether the user canceled 10 days ago. */
const users: Readonly<Record<string, readonly [idle: number, hasCanceled: boolean]>> = {
  canceled1: [1, true],
  canceled2: [60, true],
  quiet1: [40, false],
  quiet2: [50, false],
  quiet3: [60, false],
  busy: [1, false],
};

beforeAll(async () => {
  const token = await server.organization(organization);
  const batch = Object.entries(users).flatMap(([userId, [idle, hasCanceled]]) => {
    const event = (name: string, daysAgo: number) => ({
      type: "track",
      userId,
      event: name,
      timestamp: `${formatDay(today - daysAgo)}T12:00:00Z`,
    });
    return [
      { type: "identify", userId, email: `${userId}@example.com` },
      ...Array.from({ length: 5 }, (_, index) => event("opened", idle + 7 * (4 - index))),
      ...(hasCanceled ? [event("subscription_canceled", 10)] : []),
    ];
  });
  expect((await server.post("/batch", token, { batch })).status).toBe(201);
  key = (await server.command("key", "create", "--organization", organization)).trim();
});

async function scoredBy(target: string): Promise<void> {
  const named = ["--organization", organization];
  await server.command("settings", "set", ...named, "--user-churn", target);
  await server.exported("events", organization);
  await server.command("score", ...named, "--as-of", formatDay(today));
}

async function newestWeek() {
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`${server.url}/api/health-by-week?kind=user`, { headers });
  return ((await response.json()) as RouteAnswer<"GET /api/health-by-week">).weeks.at(-1);
}

const sentence = "more are silent for 28 days.";

test("with silence, all of them have churned, and one figure says it", async () => {
  await scoredBy("silence");
  expect(await newestWeek()).toMatchObject({ churned: 4, inactive: 0 });
  const { page } = await openInOrganization(browser, server, "/overview?more=true", organization);
  const health = page.getByRole("region", { name: "Health of users" });
  await health.getByRole("link", { name: "4" }).first().waitFor();
  expect(await health.getByText(sentence).count()).toBe(0);
  await page.close();
});

test("with an event, the overview and the win-back page show both figures, which lead to the users", async () => {
  await scoredBy("event subscription_canceled");
  expect(await newestWeek()).toMatchObject({ churned: 2, inactive: 3 });
  const { page, complaints } = await openInOrganization(browser, server, "/overview?more=true", organization);
  const both = `2 users churned: subscription_canceled. 3 ${sentence}`;
  const health = page.getByRole("region", { name: "Health of users" });
  await health.getByText(both).waitFor();
  const week = page.getByText(/3 users silent for 28 days and not churned\./);
  await week.waitFor();
  expect(await axe(page)).toEqual([]);
  await page.goto(page.url().replace("/overview?more=true", "/win-back?kind=user"));
  await page.getByText(both).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByText(both).getByRole("link", { name: "3" }).click();
  await page.getByRole("row").filter({ hasText: "quiet1" }).waitFor();
  const names = ["canceled1", "canceled2", "busy"];
  for (const name of names)
    expect(
      await page
        .getByRole("row")
        .filter({ hasText: `${name}@` })
        .count(),
    ).toBe(0);
  expect(complaints).toEqual([]);
});
