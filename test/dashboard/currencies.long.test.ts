/** The page of currencies, and what a rate changes on the revenue page. */
import { beforeAll, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { company } from "../people/support.ts";
import { becomes } from "../until.ts";
import { type Company, companyWithMoney, sendBilling, stat, summer } from "./revenue-support.ts";
import { save } from "./settings-support.ts";
import { axe, notedMessages, openPage, signInAs } from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();

let money: Company;

beforeAll(async () => {
  money = await companyWithMoney("Money of others");
});

test("a rate is set by an owner, errors stand beside the field, and figures follow", async () => {
  const own = await company(server, "Rates");
  await sendBilling(own);
  const { page, complaints } = await openPage(browser);
  await signInAs(page, server, own.owner);
  const place = `${server.url}/o/${own.organization}`;
  await page.goto(`${place}/settings/currencies`);
  await page.getByText("Choose a reporting currency first.", { exact: false }).waitFor();
  await page.getByRole("combobox", { name: "Reporting currency" }).selectOption("USD");
  await page.getByLabel("1 EUR in USD").fill("1,1");
  await save(page).click();
  await page.getByText("Enter a number above 0, such as 1.08.", { exact: false }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByLabel("1 EUR in USD").fill("2000000000");
  await save(page).click();
  await page.getByRole("alert").getByText("EUR", { exact: false }).waitFor();
  await page.getByLabel("1 EUR in USD").fill("1.1");
  await page.getByLabel("Another currency").fill("XXQ");
  await page.getByRole("button", { name: "Add currency" }).click();
  await page.getByText("Enter a code of ISO 4217", { exact: false }).waitFor();
  await page.getByLabel("Another currency").fill("gbp");
  await page.keyboard.press("Enter");
  await page.getByLabel("1 GBP in USD").fill("1.25");
  const told = await notedMessages(page);
  await save(page).click();
  await told("Saved. Figures of revenue are restated.");
  await save(page).waitFor({ state: "detached" });
  const { settings } = await own.owner.json<RouteAnswer<"GET /api/settings">>("GET", own.at("/api/settings"));
  expect(settings).toMatchObject({ reportingCurrency: "USD", currencyRates: { EUR: 1.1, GBP: 1.25 } });
  await page.goto(`${place}/revenue${summer}`);
  await page.getByText("1 EUR = 1.1, 1 GBP = 1.25", { exact: false }).waitFor();
  await page.getByRole("link", { name: "Set rates" }).click();
  await page.getByLabel("1 CHF in USD").fill("2");
  await save(page).click();
  await save(page).waitFor({ state: "detached" });
  await page.goto(`${place}/revenue${summer}`);
  await becomes(async () => (await stat(page, "MRR on 31 Aug 2026"))[0], "$174.00");
  expect(complaints).toEqual([]);
});

test("another reporting currency takes no rates along, and going back restores them", async () => {
  const { page } = await openPage(browser);
  await signInAs(page, server, money.owner);
  await page.goto(`${server.url}/o/${money.organization}/settings/currencies`);
  const select = page.getByRole("combobox", { name: "Reporting currency" });
  await select.selectOption("GBP");
  await becomes(() => page.getByLabel("1 EUR in GBP").inputValue(), "");
  await select.selectOption("USD");
  await becomes(() => page.getByLabel("1 EUR in USD").inputValue(), "1.1");
  await save(page).waitFor({ state: "detached" });
});

test("rates are seen by others, and not changed", async () => {
  const { page } = await openPage(browser);
  await signInAs(page, server, money.viewer);
  await page.goto(`${server.url}/o/${money.organization}/settings/currencies`);
  await page.getByText("Only owners can change these settings.").waitFor();
  await page.getByText("1.1 USD").waitFor();
  await page.getByText("no rate").waitFor();
  expect(await page.locator("main :is(input, select)").count()).toBe(0);
});
