/** The retention page's choices, which are in the address, its curves, and the states of its figures. */
import { describe, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { TraitsAnswer } from "../../contract/api/figures.ts";
import type { RetentionComparisonAnswer } from "../../contract/api/retention.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { demonstrationDay } from "../scored-demonstration.ts";
import { becomes } from "../until.ts";
import { figuresOf, opened, percent, percentText, type Retention, usual } from "./retention-support.ts";
import {
  axe,
  notedMessages,
  openPage,
  openWhileStarting,
  phone,
  settled,
  sidewaysPixels,
  signedIn,
} from "./support.ts";
import { emptyOrganization, world } from "./world.ts";

type Comparison = Static<typeof RetentionComparisonAnswer>;

const { server, browser } = await world();

describe("the choices", () => {
  test("offer the organization's traits and events, go into the address, and survive a reload", async () => {
    const { page, grid, ask } = await opened();
    const { traits } = await ask<Static<typeof TraitsAnswer>>("/api/traits");
    const split = page.getByLabel("Split by");
    const divisible = traits.filter(({ distinctValues }) => (distinctValues ?? 101) > 1);
    expect(divisible.length).toBeGreaterThan(3);
    const missing = async () => {
      const offered = (await split.getByRole("option").allInnerTexts()).map((text) =>
        text.replace(/ \(.*/, ""),
      );
      return divisible.map(({ trait }) => trait).filter((trait) => !offered.includes(trait));
    };
    await becomes(missing, []);
    const { events } = await ask<{ events: { event: string }[] }>("/api/events", { limit: "500" });
    // Events come with an answer of their own.
    await becomes(
      () => page.getByLabel("Came back by").locator("option").allInnerTexts(),
      ["any event", ...events.map(({ event }) => event)],
    );
    const returnEvent = events[3]?.event ?? "";
    await split.selectOption({ value: "user plan" });
    await page.getByLabel("Came back by").selectOption(returnEvent);
    await page.getByLabel("Counts as retained").selectOption("inOrAfter");
    await page.getByRole("button", { name: "More" }).click();
    await page.getByLabel("The trait", { exact: true }).selectOption("now");
    await page.waitForURL(/asOf=now/);
    await settled(page);
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    const { mean } = await ask<Retention>("/api/retention", {
      ...usual,
      returnEvent,
      measure: "inOrAfter",
      trait: "plan",
      asOf: "now",
    });
    const groups = [...Map.groupBy(mean, ({ kind, value }) => `${kind} ${value}`).values()];
    const rowOf = (index: number) => grid.locator("tbody").nth(index).locator("tr").first();
    const check = async () => {
      await grid.getByRole("button", { name: String(groups[0]?.[0]?.value) }).waitFor();
      for (const [index, group] of groups.entries()) {
        await becomes(() => figuresOf(rowOf(index)), group.map(percent));
      }
    };
    await check();
    await page.reload();
    await check();
  });

  test("open a group by keyboard, and the address keeps it", async () => {
    const { page, grid } = await opened("?trait=plan");
    const button = grid.getByRole("button", { name: "free" });
    const closed = await grid.locator("tbody tr").count();
    await button.focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/open=/);
    // The address changes first, and then the page.
    await grid.getByRole("button", { name: "free", expanded: true }).waitFor();
    const open = await grid.locator("tbody tr").count();
    expect(open).toBeGreaterThan(closed);
    await page.reload();
    await button.waitFor();
    await becomes(() => grid.locator("tbody tr").count(), open);
    await page.getByRole("button", { name: "Open all" }).click();
    await page.getByRole("button", { name: "Close all" }).click();
    await page.waitForURL((url) => !url.searchParams.has("open"));
    await page.getByRole("button", { name: "Open all" }).waitFor();
    await becomes(() => grid.locator("tbody tr").count(), closed);
  });

  test("are copied as a link that shows the same", async () => {
    const { page } = await opened("?period=month&trait=plan");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const told = await notedMessages(page);
    await page.getByRole("button", { name: "Copy link" }).click();
    await told("Copied to the clipboard.");
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(page.url());
  });
});

describe("the curves", () => {
  test("compare two groups, with model and intervals in the table beside them", async () => {
    const { page, ask } = await opened("?trait=plan&measure=inOrAfter&first=%3Dfree&second=%3Dpro");
    const { mean, projections } = await ask<Retention>("/api/retention", {
      ...usual,
      measure: "inOrAfter",
      trait: "plan",
    });
    await page.getByText("Show as a table").click();
    const row = page.getByRole("row", { name: /^1 week / });
    const said = await row.getByRole("cell").allInnerTexts();
    const expected = ["free", "pro"].flatMap((value) => {
      const cell = mean.find((one) => one.value === value && one.period === 1);
      return [
        percentText(cell?.share),
        `${percentText(cell?.low)} to ${percentText(cell?.high)}`,
        String(cell?.cohortUsers),
        String(cell?.cohorts),
      ];
    });
    expect(projections.some(({ fit }) => fit !== null)).toBe(true);
    // Beside them what is projected, where a model fits.
    const isProjected = projections.some(
      ({ value, fit }) => (value === "free" || value === "pro") && (fit?.shares.length ?? 0) > 0,
    );
    const columns = isProjected ? 5 : 4;
    expect(said.slice(1).filter((_, index) => index % columns < 4)).toEqual(expected);
  });

  test("tell share and interval of the age under the pointer, and nothing of what only draws the band", async () => {
    const { page, ask } = await opened();
    const { mean } = await ask<Retention>("/api/retention", usual);
    await settled(page);
    const canvas = page.locator("canvas").first();
    await canvas.hover({ position: { x: 500, y: 150 } });
    const said = page.locator(".chart-tooltip");
    await said.getByText("weeks after").waitFor();
    const text = await said.textContent();
    const at = Number(/^\d+/.exec(text ?? "")?.[0]);
    const cell = mean.find(({ period }) => period === at);
    const interval = `${percentText(cell?.low)} to ${percentText(cell?.high)}`;
    expect(text).toBe(`${at} weeks afterAll cohorts${percentText(cell?.share)} (${interval})`);
  });

  test("say why there is no projection, and lead to it", async () => {
    const { page } = await opened();
    await page.getByRole("button", { name: "Show with projection" }).click();
    await page.waitForURL(/measure=inOrAfter/);
    await page.getByText(/is complete one churn horizon after its end/).waitFor();
  });
});

describe("the comparison of groups", () => {
  test("has all groups with the best first, a sentence of the two curves, and its week in the address", async () => {
    const { page, ask } = await opened(
      "?trait=plan&measure=inOrAfter&first=%3Dfree&second=%3Dpro&compareAt=2",
    );
    const { groups, pairs } = await ask<Comparison>("/api/retention/comparison", {
      ...usual,
      measure: "inOrAfter",
      trait: "plan",
      at: "2",
    });
    const panel = page.getByRole("region", { name: "Do the groups differ?" });
    await panel.getByRole("table").waitFor();
    const shown = await panel
      .locator("tbody tr")
      .evaluateAll((rows) =>
        rows.map((row) => [...row.querySelectorAll("td, th")].slice(0, 3).map((cell) => cell.textContent)),
      );
    expect(shown).toEqual(
      groups.map(({ value, kind, cohortUsers, share }) => [
        value ?? (kind === "none" ? "No plan" : "Other values"),
        String(cohortUsers),
        percentText(share),
      ]),
    );
    const places = ["free", "pro"].map((plan) => groups.findIndex(({ value }) => value === plan));
    const pair = pairs.find(({ first, second }) => places.includes(first) && places.includes(second));
    const points = Math.round((pair?.difference ?? Number.NaN) * 100);
    const [better, worse] = [groups[pair?.first ?? 0]?.value, groups[pair?.second ?? 0]?.value];
    const unit = points === 1 ? "point" : "points";
    const chance = (pair?.curveProbability ?? 1) < 0.05 ? "is unlikely to be chance" : "may be chance";
    const text = await panel.textContent();
    expect(text).toContain(`${better} keeps ${points} ${unit} more than ${worse} at week 2 (`);
    expect(text).toContain(`). Over the whole curve the difference ${chance} (log-rank test, p `);
    // One verdict: the week has none of its own.
    expect(text?.match(/chance/g)).toHaveLength(1);
    await panel.getByLabel("Compared after").selectOption({ label: "after 3 weeks" });
    await page.waitForURL(/compareAt=3/);
  });

  test("ignores an age of the address that the periods do not have", async () => {
    const { page } = await opened("?trait=plan&periods=6&compareAt=20");
    await page.getByRole("region", { name: "Do the groups differ?" }).getByRole("table").waitFor();
  });

  test("is not asked for without a split", async () => {
    const { page } = await opened("?measure=inOrAfter");
    expect(await page.getByRole("region", { name: "Do the groups differ?" }).count()).toBe(0);
  });
});

const alreadyHereName = "Already here";

/** An organization whose data begins with 40 users, 13 weeks ago. Two new users follow in each week. */
async function fillAlreadyHere(): Promise<void> {
  const token = await server.organization(alreadyHereName);
  const today = demonstrationDay;
  // 1970-01-05 was a Monday.
  const firstMonday = today - ((today - 4) % 7) - 13 * 7;
  const firstDays = Array.from({ length: 40 + 2 * 12 }, (_, n) =>
    n < 40 ? firstMonday : firstMonday + 7 * (1 + Math.floor((n - 40) / 2)) + 2,
  );
  const batch = firstDays.flatMap((day, n) => [
    { type: "identify", userId: `u${n}`, email: `u${n}@example.com` },
    { type: "track", userId: `u${n}`, event: "opened", timestamp: `${formatDay(day)}T12:00:00Z` },
  ]);
  expect((await server.post("/batch", token, { batch })).status).toBe(201);
  await server.exported("events", alreadyHereName);
}

describe("users who were there before the data begins", () => {
  test("are marked and left out of the mean, until they are counted", async () => {
    await fillAlreadyHere();
    const { page, grid, ask } = await opened("", {}, alreadyHereName);
    const { cells } = await ask<Retention>("/api/retention", usual);
    const marked = [...new Set(cells.filter((cell) => cell.isAlreadyHere).map((cell) => cell.cohortDay))];
    expect(marked).toHaveLength(1);
    expect(await grid.getByText("already here").count()).toBe(1);
    const meanUsers = async (alreadyHere: string) =>
      (await ask<Retention>("/api/retention", { ...usual, alreadyHere })).mean[0]?.cohortUsers ?? 0;
    const ofMarked = cells.find(({ cohortDay }) => cohortDay === marked[0])?.cohortUsers ?? 0;
    expect((await meanUsers("counted")) - (await meanUsers("leftOut"))).toBe(ofMarked);
    await page.getByRole("button", { name: "Include them" }).click();
    await page.waitForURL(/alreadyHere=counted/);
    await page.getByRole("button", { name: "Exclude them" }).waitFor();
    // Two new users a week are too few for weeks, until the reader asks for them.
    await page.goto(page.url().replace(/\?.*/, ""));
    await page.getByRole("heading", { name: "Monthly cohorts" }).waitFor();
    await page.getByLabel("Periods").selectOption({ label: "weeks" });
    await page.getByRole("heading", { name: "Weekly cohorts" }).waitFor();
  });
});

describe("everywhere", () => {
  test("axe finds nothing, light and dark, with everything open; a phone scrolls nothing but the table", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, complaints } = await opened("?trait=plan&measure=inOrAfter&open=%3Dfree,%3Dpro", {
        colorScheme,
        viewport: phone,
      });
      await settled(page);
      await page.getByText("Show as a table").click();
      expect(await axe(page)).toEqual([]);
      expect(await sidewaysPixels(page)).toBe(0);
      expect(complaints).toEqual([]);
      await page.context().close();
    }
  });

  test("an organization without data says so, and a refused question shows the server's words", async () => {
    const { page } = await openPage(browser);
    const { id } = await signedIn(page, server, await emptyOrganization());
    await page.goto(`${server.url}/o/${id}/retention?trait=plan`);
    await page.getByText("No cohorts yet").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.goto(`${server.url}/o/${id}/retention?period=day&from=2020-01-01`);
    await page
      .getByRole("alert")
      .getByText(/cohorts are more than 120/)
      .waitFor();
  });

  test("while analysis starts it is said, and the table comes by itself", async () => {
    const { page, ends } = await openWhileStarting(browser, server, "/retention", "**/api/retention?*");
    ends();
    await page.getByRole("grid").waitFor();
  });
});
