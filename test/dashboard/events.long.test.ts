/** The page of events: the endpoints' figures of volume and adoption, and what holds in every tab. */
import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { becomes } from "../until.ts";
import { eventsPage } from "./events-support.ts";
import { axe, phone, settled, sidewaysPixels } from "./support.ts";
import { emptyOrganization, world } from "./world.ts";

const { server, browser } = await world();

/** The texts of a table's cells, by row. */
async function cells(page: Page, name: string): Promise<string[][]> {
  const rows = page.getByRole("table", { name }).locator("tbody tr");
  await rows.first().waitFor();
  return Promise.all((await rows.all()).map((row) => row.getByRole("cell").allInnerTexts()));
}

const number = new Intl.NumberFormat("en-GB");

describe("volume", () => {
  interface Named {
    readonly event: string;
    readonly count: number;
    readonly users: number;
  }

  test("shows the endpoint's names with their figures, sorted as the address says", async () => {
    const { page, ask } = await eventsPage(server, browser, "?sort=users&order=ascending");
    const { events } = await ask<{ events: Named[] }>("/api/events?sort=users&order=ascending");
    expect(events.length).toBeGreaterThan(5);
    const shown = (await cells(page, "Every event by name")).map((row) => row.slice(0, 3));
    expect(shown).toEqual(
      events.map(({ event, count, users }) => [event, number.format(count), number.format(users)]),
    );
    await page.getByRole("columnheader", { name: "Events" }).getByRole("button").click();
    await page.waitForURL(/order=descending|sort=count|\?$|events$/);
    const most = events.toSorted((a, b) => b.count - a.count)[0];
    await page
      .getByRole("table", { name: "Every event by name" })
      .locator("tbody tr")
      .first()
      .getByText(most?.event ?? "")
      .waitFor();
  });

  test("draws the endpoint's sums over time, of all groups and of one event split by a trait", async () => {
    interface Row {
      readonly value: string | null;
      readonly count: number;
      readonly users: number;
    }
    const { page, ask } = await eventsPage(server, browser, "?range=13w");
    const { events } = await ask<{ events: Named[] }>("/api/events");
    await page.getByText("Show as a table").click();
    const drawn = page.getByRole("region", { name: /Number of events by week.*as a table/ });
    const top = "period=week&periods=13&top=7";
    const all = await ask<{ periods: Row[] }>(`/api/events-over-time?breakdown=event&${top}`);
    expect(await sums(drawn)).toEqual(sumsOf(all.periods, "count"));
    const name = events[0]?.event ?? "";
    await page
      .getByRole("list", { name: /Groups/ })
      .getByRole("button", { name })
      .click();
    await page.getByRole("heading", { name, exact: true }).waitFor();
    await page.waitForURL((url) => url.searchParams.get("event") === name);
    await page.getByLabel("Split").selectOption("trait");
    await page.getByLabel("Trait").fill("plan");
    await page.keyboard.press("Enter");
    await page.getByLabel("What is counted").selectOption("users");
    await page
      .getByRole("list", { name: /Groups/ })
      .getByText("pro")
      .waitFor();
    // The address has all choices by then.
    await page.getByRole("img", { name: /Number of users by week/ }).waitFor();
    await page.reload();
    await page.getByText("Show as a table").click();
    const users = page.getByRole("region", { name: /Number of users by week.*as a table/ });
    const one = await ask<{ periods: Row[] }>(
      `/api/events-over-time?breakdown=trait&key=plan&event=${name}&${top}`,
    );
    expect(await sums(users)).toEqual(sumsOf(one.periods, "users"));
  });

  test("is split by a property that is chosen from those that the events have", async () => {
    const { page, ask } = await eventsPage(server, browser, "?by=property");
    const { properties } = await ask<{ properties: { property: string }[] }>("/api/properties");
    const name = properties[0]?.property ?? "";
    const offered = page.locator("datalist option");
    await offered.first().waitFor({ state: "attached" });
    expect(await offered.evaluateAll((all) => all.map((one) => one.getAttribute("value")))).toEqual(
      properties.map(({ property }) => property),
    );
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name, exact: true }).click();
    await page.getByRole("list", { name: /Groups/ }).waitFor();
    await page.waitForURL((url) => url.searchParams.get("key") === name);
    await becomes(() => page.getByLabel("Property").inputValue(), name);
  });

  /** The sum of each column of a drawn table, without the first. */
  async function sums(region: ReturnType<Page["getByRole"]>): Promise<number[]> {
    const rows = await region.locator("tbody tr").all();
    const texts = await Promise.all(rows.map((row) => row.locator("td").allInnerTexts()));
    const width = (texts[0]?.length ?? 1) - 1;
    return Array.from({ length: width }, (_, at) =>
      texts.reduce((sum, row) => sum + Number(row[at + 1]?.replaceAll(",", "")), 0),
    );
  }

  function sumsOf(
    rows: readonly { readonly value: string | null; readonly count: number; readonly users: number }[],
    measure: "count" | "users",
  ): number[] {
    const groups = Map.groupBy(rows, ({ value }) => String(value));
    return [...groups.values()].map((of) => of.reduce((sum, row) => sum + row[measure], 0));
  }

  test("a name that nothing holds is said, and the search stays where it is typed", async () => {
    const { page } = await eventsPage(server, browser, "");
    await page.getByLabel("Search events").pressSequentially("nothing-of-it");
    await page.getByText("No event name contains “nothing-of-it”").waitFor();
    await page.waitForURL((url) => url.searchParams.get("search") === "nothing-of-it");
    expect(await page.evaluate("document.activeElement.type")).toBe("search");
  });
});

test("adoption is the endpoint's, with the users of whom it is a share", async () => {
  const { page, ask } = await eventsPage(server, browser, "?tab=adoption&days=7");
  const { activeUsers, events } = await ask<{
    activeUsers: number;
    events: { event: string; users: number; share: number }[];
  }>("/api/adoption?days=7");
  await page.getByText(`Shares are of the ${activeUsers} users who were active within 7 days`).waitFor();
  const share = new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 1 });
  const shown = (await cells(page, "Adoption of every event")).map((row) => row.slice(0, 3));
  expect(shown).toEqual(events.map((row) => [row.event, share.format(row.share), String(row.users)]));
});

const tabs = ["", "?tab=adoption", "?tab=live", "?tab=warnings", "?tab=rejected-events"];

test.each(tabs)("%s: axe finds nothing in either theme, and a phone is wide enough", async (query) => {
  for (const options of [{ colorScheme: "light" }, { colorScheme: "dark", viewport: phone }] as const) {
    const { page, complaints } = await eventsPage(server, browser, query, options);
    await page.getByRole("tabpanel").getByRole("heading").first().waitFor();
    await settled(page);
    expect(await axe(page)).toEqual([]);
    expect(await sidewaysPixels(page)).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  }
});

test("an organization without anything says so in every tab, and what to do", async () => {
  const empty = await emptyOrganization();
  const texts = {
    "": "No events yet",
    "?tab=adoption": "No active users in 28 days",
    "?tab=live": "Waiting for the first request",
    "?tab=warnings": "Nothing to warn of",
    "?tab=rejected-events": "No rejected events",
  };
  for (const [query, text] of Object.entries(texts)) {
    const { page } = await eventsPage(server, browser, query, {}, empty);
    await page.getByText(text).first().waitFor();
    expect(await axe(page)).toEqual([]);
    await page.context().close();
  }
});

test("the tabs are reached by keyboard, and the chosen one is in the address", async () => {
  const { page } = await eventsPage(server, browser, "");
  await page.getByRole("tab", { name: "Volume" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/tab=adoption/);
  await page.getByRole("table", { name: "Adoption of every event" }).waitFor();
  await page.goBack();
  await page.getByRole("tab", { name: "Volume", selected: true }).waitFor();
});
