/** A scheduled end of the last subscription on the pages: in the list of accounts, and on the page of one. */
import { beforeAll, expect, test } from "bun:test";
import { dayText } from "../../dashboard/text/format.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { demonstrationDay } from "../scored-demonstration.ts";
import { axe, openInOrganization } from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();
const organization = "Canceling";
const today = demonstrationDay;
const noon = (daysAgo: number) => `${formatDay(today - daysAgo)}T12:00:00Z`;
const endsDay = formatDay(today + 20);

beforeAll(async () => {
  const token = await server.organization(organization);
  const price = { plan: "Team", amount: 4_900, currency: "EUR", interval: "month" };
  const batch = ["ending", "staying"].flatMap((userId) => {
    const billed = (daysAgo: number, event: string, properties: object) => ({
      type: "track",
      userId,
      event,
      timestamp: noon(daysAgo),
      properties: { subscriptionId: `sub_${userId}`, ...properties },
    });
    return [
      {
        type: "identify",
        userId,
        email: `${userId}@example.com`,
        account: { id: `${userId}-co`, name: `${userId} co` },
      },
      ...Array.from({ length: 60 }, (_, index) => ({
        type: "track",
        userId,
        event: "opened",
        timestamp: noon(index + 1),
      })),
      billed(50, "subscription_started", price),
      ...(userId === "ending"
        ? [billed(5, "cancellation_scheduled", { endsAt: `${endsDay}T12:00:00Z` })]
        : []),
    ];
  });
  expect((await server.post("/batch", token, { batch })).status).toBe(201);
  const named = ["--organization", organization];
  await server.command("settings", "set", ...named, "--account-churn", "subscription");
  await server.exported("subscriptions", organization);
  await server.command("score", ...named, "--as-of", formatDay(today));
});

test("a list says when the last subscription ends, and the page why health is low", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/accounts", organization);
  const rowOf = (name: string) => page.getByRole("row").filter({ hasText: name });
  await rowOf("ending co")
    .getByText(`ends ${dayText(endsDay, "short")}`)
    .waitFor();
  expect(
    await rowOf("staying co")
      .getByText(/^ends /)
      .count(),
  ).toBe(0);
  expect(await axe(page)).toEqual([]);
  await page.getByRole("link", { name: "ending co" }).click();
  await page.getByRole("region", { name: "Health by component" }).getByText("Scheduled end").waitFor();
  await page.getByText(`The end of the last subscription is scheduled for ${dayText(endsDay)}.`).waitFor();
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
});
