/** The revenue page with the payers of one segment. */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { type Company, companyWithMoney, stat, summer } from "./revenue-support.ts";
import { axe, openPage, phone, settled, sidewaysPixels, signInAs } from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();

let money: Company;

beforeAll(async () => {
  money = await companyWithMoney("Money of segments");
  await save("Acme and Bolt", { kind: "accounts", ids: ["acme", "bolt"] });
  await save("User of Dyno", { kind: "users", ids: ["dyno"] });
  await save("Coil", { kind: "accounts", ids: ["coil"] });
});

const save = (name: string, body: object) =>
  money.owner.json<RouteAnswer<"POST /api/segments">>(
    "POST",
    money.at("/api/segments"),
    { name, ...body },
    201,
  );

async function revenuePage(options: Parameters<typeof openPage>[1] = {}) {
  const watched = await openPage(browser, options);
  await signInAs(watched.page, server, money.owner);
  await watched.page.goto(`${server.url}/o/${money.organization}/revenue${summer}`);
  await watched.page.getByLabel("Payers of a segment").waitFor();
  await settled(watched.page);
  return watched;
}

async function choose(page: Page, label: string): Promise<void> {
  await page.getByLabel("Payers of a segment").selectOption({ label });
  await settled(page);
}

const mrr = (page: Page) => stat(page, "MRR on 31 Aug 2026").then(([amount]) => amount);

test("figures, tables and files are of the segment's payers, and the page says which they are", async () => {
  const { page, complaints } = await revenuePage();
  expect(await mrr(page)).toBe("$160.00");
  await choose(page, "Acme and Bolt");
  await page
    .getByText(
      "Only payers of the segment “Acme and Bolt”: its accounts, and the users of them who pay without an account. All periods count its current members.",
    )
    .waitFor();
  expect(await mrr(page)).toBe("$120.00");
  await page.getByText("Of all payers of the segment, the newest first").waitFor();
  // Acme is left of acme and bolt, which paid 155 when they began.
  const grid = page.getByRole("grid", { name: "MRR kept by cohort" });
  const cohort = grid.getByRole("row", { name: /^Jun 2026/ }).getByRole("gridcell");
  expect(await cohort.first().textContent()).toContain("2");
  expect(await grid.getByRole("row", { name: /^Aug 2026/ }).count()).toBe(0);
  // Coil pays in francs, and is not in the segment.
  expect(await page.getByText("MRR in no other figure").count()).toBe(0);
  const links = await page.getByRole("link", { name: "CSV" }).all();
  const addresses = await Promise.all(links.map((link) => link.getAttribute("href")));
  expect(addresses).toHaveLength(4);
  expect(addresses.every((address) => /[?&]segment=\d+/.test(address ?? ""))).toBe(true);
  expect(await axe(page)).toEqual([]);
  await page.reload();
  await settled(page);
  expect(await mrr(page)).toBe("$120.00");
  expect(complaints).toEqual([]);
});

test("a segment of users has the accounts with a member in it", async () => {
  const { page, complaints } = await revenuePage({ viewport: phone });
  await choose(page, "User of Dyno");
  await page
    .getByText("its users who pay without an account, and all accounts with at least one member in it.", {
      exact: false,
    })
    .waitFor();
  expect(await mrr(page)).toBe("$40.00");
  await page.getByLabel("Split by").selectOption({ label: "plan of the subscription" });
  await settled(page);
  const groups = page.getByRole("table", { name: "Groups of payers" }).getByRole("row");
  expect(await groups.count()).toBe(2);
  expect(await sidewaysPixels(page)).toBe(0);
  await choose(page, "All payers");
  expect(await mrr(page)).toBe("$160.00");
  expect(complaints).toEqual([]);
});

test("without MRR in the reporting currency the panels are empty, and the choice stays", async () => {
  const { page, complaints } = await revenuePage();
  await choose(page, "Coil");
  expect(await mrr(page)).toBe("$0.00");
  await page.getByText("MRR in no other figure: CHF 7.00 of 1 payer.", { exact: false }).waitFor();
  await page.getByText("No user of the segment pays without an account").waitFor();
  await page.getByText("No MRR in this period").waitFor();
  await page.getByText("No cohorts in these periods").waitFor();
  expect(complaints).toEqual([]);
});
