/** The retention page: its figures are the endpoint's, its choices are in the address, and all of it goes by keyboard. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Locator, Page } from "playwright-core";
import type { Static } from "typebox";
import type { RetentionAnswer, RetentionPeopleAnswer } from "../../contract/api-retention.ts";
import type { TraitsAnswer } from "../../contract/api-traits.ts";
import { Server } from "../server.ts";
import { startBrowser } from "./chromium.ts";
import { axe, openPage, phone, sidewaysPixels, signedIn } from "./support.ts";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), startBrowser()]);
  await server.ready();
  await server.command("demo", "--users", "160", "--weeks", "9");
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** The page with these choices, when its table is there. */
async function retentionPage(choices = "", options: Parameters<typeof openPage>[1] = {}) {
  const watched = await openPage(browser, options);
  const { id } = await signedIn(watched.page, server, "Demo");
  await watched.page.goto(`${server.url}/o/${id}/retention${choices}`);
  const grid = watched.page.getByRole("grid", { name: "Retention by cohort" });
  await grid.waitFor();
  const ask = async <Answer>(path: string, query: Readonly<Record<string, string>> = {}) => {
    const search = new URLSearchParams({ organization: String(id), ...query });
    const response = await watched.page.request.get(`${server.url}${path}?${search}`);
    expect([path, response.status()]).toEqual([path, 200]);
    return (await response.json()) as Answer;
  };
  return { ...watched, grid, ask };
}

type Retention = Static<typeof RetentionAnswer>;
type People = Static<typeof RetentionPeopleAnswer>;
const usual = { periods: "26" };

/** The figures of a row, as they stand there. */
const figuresOf = (row: Locator) =>
  row
    .locator("td[data-column]")
    .evaluateAll((cells) => cells.map((cell) => /\d+/.exec(cell.textContent ?? "")?.[0]));
const percent = ({ share }: { readonly share: number }) => String(Math.round(share * 100));
const tip = (page: Page) => page.getByRole("tooltip");
const focusedText = (page: Page) =>
  page.evaluate("document.activeElement.closest('tr')?.innerText.split('\\t')[0]");

describe("the heat map", () => {
  test("shows the endpoint's cells and the weighted mean, and marks what is not over and what is small", async () => {
    const { page, grid, ask, complaints } = await retentionPage();
    const { cells, mean } = await ask<Retention>("/api/retention", usual);
    const cohorts = [...Map.groupBy(cells, ({ cohortDay }) => cohortDay).values()];
    const rows = grid.locator("tbody tr");
    expect(await rows.count()).toBe(cohorts.length + 1);
    expect(await figuresOf(rows.nth(0))).toEqual(mean.map(percent));
    for (const [index, cohort] of cohorts.entries()) {
      expect(await figuresOf(rows.nth(index + 1))).toEqual(cohort.map(percent));
    }
    const unfinished = cells.filter(({ isComplete }) => !isComplete).length;
    expect(await grid.locator("td.hatched").count()).toBe(unfinished);
    const small = cells.filter(({ cohortUsers, period }) => cohortUsers < 30 && period > 0).length;
    expect(small).toBeGreaterThan(0);
    expect(await grid.locator("td", { hasText: "small cohort" }).count()).toBeGreaterThanOrEqual(small);
    expect(await page.getByRole("columnheader", { name: "week 3", exact: true }).count()).toBe(1);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("says base, interval and what is missing of a cell, on hover and on focus", async () => {
    const { page, grid, ask } = await retentionPage();
    const { cells } = await ask<Retention>("/api/retention", usual);
    const [open] = cells.filter(({ isComplete, period }) => !isComplete && period > 0);
    const first = cells.findIndex(({ cohortDay }) => cohortDay === open?.cohortDay);
    const row = 1 + new Set(cells.slice(0, first).map(({ cohortDay }) => cohortDay)).size;
    const cell = grid.locator("tbody tr").nth(row).locator(`td[data-column="${open?.period}"]`);
    for (const show of [() => cell.hover(), () => cell.focus()]) {
      await page.mouse.move(0, 0);
      await show();
      await tip(page).getByText(`${open?.users} of ${open?.cohortUsers} users`).waitFor();
      await tip(page)
        .getByText(`${percentText(open?.low)} to ${percentText(open?.high)}`)
        .waitFor();
      await tip(page).getByText("not over, so the share may still rise").waitFor();
    }
    expect(await cell.getAttribute("aria-describedby")).toBe(await tip(page).getAttribute("id"));
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await tip(page).count()).toBe(0);
    await page.context().close();
  });

  test("is one stop of the Tab key; arrows move, Home and End go to the ends of a row", async () => {
    const { page, grid } = await retentionPage();
    const column = () => page.evaluate("document.activeElement.dataset.column");
    expect(await grid.locator("td[tabindex='0']").count()).toBe(1);
    await grid.locator("td[tabindex='0']").focus();
    await page.keyboard.press("ArrowDown");
    const second = await focusedText(page);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    expect([await column(), await focusedText(page)]).toEqual(["2", second]);
    await page.keyboard.press("ArrowUp");
    expect([await column(), await focusedText(page)]).toEqual(["2", "Weighted mean"]);
    await page.keyboard.press("Home");
    expect(await column()).toBe("0");
    await page.keyboard.press("ArrowLeft");
    expect(await column()).toBe("0");
    await page.keyboard.press("Control+End");
    expect([await column(), await focusedText(page)]).not.toEqual(["0", "Weighted mean"]);
    expect(await grid.locator("td[tabindex='0']").count()).toBe(1);
    await page.context().close();
  });
});

const percentText = (share = 0) =>
  new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 1 }).format(share);

describe("the people behind a cell", () => {
  test("open by Enter, with links and both sides, stay over a reload, and give the focus back", async () => {
    const { page, grid, ask, complaints } = await retentionPage();
    const { cells } = await ask<Retention>("/api/retention", usual);
    const [asked] = cells.filter(
      ({ period, users, cohortUsers }) => period === 1 && users > 0 && users < cohortUsers,
    );
    const cohort = asked?.cohortDay ?? "";
    const people = await ask<People>("/api/retention/people", { cohort, at: "1" });
    const gone = await ask<People>("/api/retention/people", { cohort, at: "1", retained: "false" });
    const index = new Set(
      cells.filter(({ cohortDay }) => cohortDay <= cohort).map(({ cohortDay }) => cohortDay),
    ).size;
    await grid.locator("tbody tr").nth(index).locator("td[data-column='1']").focus();
    await page.keyboard.press("Enter");
    const drawer = page.getByRole("dialog");
    const names = () => drawer.getByRole("listitem").getByRole("link").allInnerTexts();
    await drawer.getByRole("listitem").first().waitFor();
    expect(await names()).toEqual(people.people.map(({ name, email }) => name ?? email));
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.dataset.column")).toBe("1");
    await page.keyboard.press("Enter");
    await drawer.waitFor();
    await page.reload();
    await drawer.getByRole("tab", { name: "Did not" }).click();
    await page.waitForURL(/side=lost/);
    await drawer.getByText(`${gone.people.length} of ${gone.cohortUsers} users`).waitFor();
    expect(await names()).toEqual(gone.people.map(({ name, email }) => name ?? email));
    const csv = await page.request.get(
      `${server.url}${await drawer.getByRole("link", { name: "CSV" }).getAttribute("href")}`,
    );
    expect((await csv.text()).trim().split("\n").length).toBe(1 + gone.people.length);
    const [first] = gone.people;
    await drawer.getByRole("listitem").getByRole("link").first().click();
    await page.waitForURL(`**/users/${encodeURIComponent(first?.userId ?? "")}`);
    await page.goBack();
    await drawer.waitFor();
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => !url.searchParams.has("cohort"));
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("of a group of a split are those of the group", async () => {
    const { page, grid, ask } = await retentionPage("?trait=plan&open=%3Dfree");
    const { cells } = await ask<Retention>("/api/retention", { ...usual, trait: "plan" });
    const free = cells.find(({ value, period }) => value === "free" && period === 0);
    await grid.getByRole("button", { name: "free" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const drawer = page.getByRole("dialog", { name: /free/ });
    await drawer.getByText(`${free?.users} of ${free?.cohortUsers} users`).waitFor();
    await page.context().close();
  });
});

describe("the choices", () => {
  test("offer the organization's traits and events, go into the address, and survive a reload", async () => {
    const { page, grid, ask } = await retentionPage();
    const { traits } = await ask<Static<typeof TraitsAnswer>>("/api/traits");
    const split = page.getByLabel("Split by");
    await page.locator("optgroup").nth(2).waitFor({ state: "attached" });
    const offered = (await split.locator("option").allInnerTexts()).map((text) => text.replace(/ \(.*/, ""));
    expect(traits.filter(({ distinctValues }) => (distinctValues ?? 101) > 1).length).toBeGreaterThan(3);
    for (const { trait, distinctValues } of traits)
      if ((distinctValues ?? 101) > 1) expect(offered).toContain(trait);
    const { events } = await ask<{ events: { event: string }[] }>("/api/events", { limit: "500" });
    expect(await page.getByLabel("Came back by").locator("option").allInnerTexts()).toEqual([
      "any event",
      ...events.map(({ event }) => event),
    ]);
    const returnEvent = events[3]?.event ?? "";
    await split.selectOption({ value: "user plan" });
    await page.getByLabel("Came back by").selectOption(returnEvent);
    await page.getByLabel("Counts as retained").selectOption("inOrAfter");
    await page.getByRole("button", { name: "More" }).click();
    await page.getByLabel("The trait", { exact: true }).selectOption("now");
    await page.waitForURL(/asOf=now/);
    await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    const { mean } = await ask<Retention>("/api/retention", {
      ...{ ...usual, returnEvent, measure: "inOrAfter", trait: "plan", asOf: "now" },
    });
    const groups = [...Map.groupBy(mean, ({ kind, value }) => `${kind} ${value}`).values()];
    const rowOf = (index: number) => grid.locator("tbody").nth(index).locator("tr").first();
    const check = async () => {
      await grid.getByRole("button", { name: String(groups[0]?.[0]?.value) }).waitFor();
      await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
      for (const [index, group] of groups.entries()) {
        expect(await figuresOf(rowOf(index))).toEqual(group.map(percent));
      }
    };
    await check();
    await page.reload();
    await check();
    await page.context().close();
  });

  test("open a group by keyboard, and the address keeps it", async () => {
    const { page, grid } = await retentionPage("?trait=plan");
    const button = grid.getByRole("button", { name: "free" });
    const closed = await grid.locator("tbody tr").count();
    await button.focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/open=/);
    expect(await button.getAttribute("aria-expanded")).toBe("true");
    const open = await grid.locator("tbody tr").count();
    expect(open).toBeGreaterThan(closed);
    await page.reload();
    await button.waitFor();
    expect(await grid.locator("tbody tr").count()).toBe(open);
    await page.getByRole("button", { name: "Open all" }).click();
    await page.getByRole("button", { name: "Close all" }).click();
    expect(await grid.locator("tbody tr").count()).toBe(closed);
    await page.context().close();
  });

  test("are copied as a link that shows the same", async () => {
    const { page } = await retentionPage("?period=month&trait=plan");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByText("Copied to the clipboard.", { exact: true }).waitFor();
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(page.url());
    await page.context().close();
  });
});

describe("the curves", () => {
  test("compare two groups, with model and intervals in the table beside them", async () => {
    const { page, ask } = await retentionPage("?trait=plan&measure=inOrAfter&first=%3Dfree&second=%3Dpro");
    const { mean, projections } = await ask<Retention>("/api/retention", {
      ...{ ...usual, measure: "inOrAfter", trait: "plan" },
    });
    await page.getByText("Show as a table").click();
    const row = page.getByRole("row", { name: /^1 week / });
    const said = await row.getByRole("cell").allInnerTexts();
    const expected = ["free", "pro"].flatMap((value) => {
      const cell = mean.find((one) => one.value === value && one.period === 1);
      const fit = projections.find((one) => one.value === value)?.fit;
      return [
        percentText(cell?.share),
        `${percentText(cell?.low)} to ${percentText(cell?.high)}`,
        String(cell?.cohortUsers),
        String(cell?.cohorts),
        fit ? percentText(fit.shares[1]) : "–",
      ];
    });
    expect(projections.some(({ fit }) => fit !== null)).toBe(true);
    expect(said.slice(1)).toEqual(expected);
    await page.context().close();
  });

  test("say why there is no projection, and lead to it", async () => {
    const { page } = await retentionPage();
    await page.getByRole("button", { name: "Show with projection" }).click();
    await page.waitForURL(/measure=inOrAfter/);
    await page.getByText(/Dashed: the shifted beta-geometric model/).waitFor();
    await page.context().close();
  });
});

describe("everywhere", () => {
  test("axe finds nothing, light and dark, with everything open; a phone scrolls nothing but the table", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, complaints } = await retentionPage("?trait=plan&measure=inOrAfter&open=%3Dfree,%3Dpro", {
        colorScheme,
        viewport: phone,
      });
      await page.waitForLoadState("networkidle");
      await page.getByText("Show as a table").click();
      expect(await axe(page)).toEqual([]);
      expect(await sidewaysPixels(page)).toBe(0);
      expect(complaints).toEqual([]);
      await page.context().close();
    }
  });

  test("an organization without anything is told so, and a question that asks too much in the server's words", async () => {
    await server.organization("Empty");
    const { page } = await openPage(browser);
    const { id } = await signedIn(page, server, "Empty");
    await page.goto(`${server.url}/o/${id}/retention?trait=plan`);
    await page.getByText("No cohorts yet").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.goto(`${server.url}/o/${id}/retention?period=day&from=2020-01-01`);
    await page
      .getByRole("alert")
      .getByText(/cohorts are more than 120/)
      .waitFor();
    await page.context().close();
  });

  test("while analysis starts it is said, and the table comes by itself", async () => {
    const { page } = await openPage(browser);
    const { id } = await signedIn(page, server, "Demo");
    let isStarting = true;
    const answer = { message: "analysis is starting", statusCode: 500, name: "application_error" };
    await page.route("**/api/retention?*", (route) =>
      isStarting
        ? route.fulfill({ status: 500, headers: { "Retry-After": "1" }, json: answer })
        : route.fallback(),
    );
    await page.goto(`${server.url}/o/${id}/retention`);
    await page.getByText("The analysis is starting").waitFor();
    isStarting = false;
    await page.getByRole("grid").waitFor();
    await page.context().close();
  });
});
