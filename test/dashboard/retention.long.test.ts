/** The retention page: its figures are the endpoint's, and every cell and its people are reached by
 * keyboard. */
import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Static } from "typebox";
import type { RetentionPeopleAnswer } from "../../contract/api/retention.ts";
import { becomes } from "../until.ts";
import { figuresOf, opened, percent, percentText, type Retention, usual } from "./retention-support.ts";
import { axe, comesTrue, settled } from "./support.ts";
import { world } from "./world.ts";

const { server } = await world();

type People = Static<typeof RetentionPeopleAnswer>;
const tip = (page: Page) => page.getByRole("tooltip");
const focusedText = (page: Page) =>
  page.evaluate("document.activeElement.closest('tr')?.innerText.split('\\t')[0]");

test("without the library that draws, a chart says so and its table is open", async () => {
  const { page, ask, complaints } = await opened();
  await page.route("**/assets/echarts-*.js", (route) => route.abort());
  await page.reload();
  await page.getByText("The chart could not be loaded. Its figures are in the table.").first().waitFor();
  const { mean } = await ask<Retention>("/api/retention", usual);
  const table = page.getByRole("region", { name: /as a table$/ }).first();
  await table.waitFor();
  if (mean[1] === undefined) throw new Error("there is no second week");
  expect(await table.textContent()).toContain(percent(mean[1]));
  await settled(page);
  expect(complaints).toEqual([]);
});

describe("the heat map", () => {
  test("shows the endpoint's cells and the weighted mean, and marks what is not over and what is small", async () => {
    const { page, grid, ask, complaints } = await opened();
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
  });

  test("says base, interval and what is missing of a cell, on hover and on focus", async () => {
    const { page, grid, ask } = await opened();
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
    await becomes(() => tip(page).count(), 0);
  });

  test("is one stop of the Tab key; arrows move, Home and End go to the ends of a row", async () => {
    const { page, grid } = await opened();
    await settled(page);
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
  });
});

describe("the people behind a cell", () => {
  test("open by Enter, with links and both sides, stay over a reload, and give the focus back", async () => {
    const { page, grid, ask, complaints } = await opened();
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
    await becomes(
      names,
      people.people.map(({ name, email }) => name ?? email ?? ""),
    );
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    await comesTrue(page, `document.activeElement.dataset.column === "1"`);
    await page.keyboard.press("Enter");
    await drawer.waitFor();
    await page.reload();
    await drawer.getByRole("tab", { name: "Did not" }).click();
    await page.waitForURL(/side=lost/);
    await drawer.getByText(`${gone.people.length} of ${gone.cohortUsers} users`).waitFor();
    await becomes(
      names,
      gone.people.map(({ name, email }) => name ?? email ?? ""),
    );
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
    // Another cell opens on the kind of people that was looked at last.
    await grid.locator("tbody tr").nth(index).locator("td[data-column='1']").focus();
    await page.keyboard.press("Enter");
    await drawer.getByText(`${gone.people.length} of ${gone.cohortUsers} users`).waitFor();
    expect(await drawer.getByRole("tab", { name: "Did not" }).getAttribute("aria-selected")).toBe("true");
    expect(complaints).toEqual([]);
  });

  test("of a group of a split are those of the group", async () => {
    const { page, grid, ask } = await opened("?trait=plan&open=%3Dfree");
    const { cells } = await ask<Retention>("/api/retention", { ...usual, trait: "plan" });
    const free = cells.find(({ value, period }) => value === "free" && period === 0);
    // The cohorts of the group are rows of their own, which come later.
    await settled(page);
    await grid.getByRole("button", { name: "free" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const drawer = page.getByRole("dialog", { name: /free/ });
    const users = free?.cohortUsers === 1 ? "1 user" : `${free?.cohortUsers} users`;
    await drawer.getByText(`${free?.users} of ${users} of the cohort`).waitFor();
  });
});
