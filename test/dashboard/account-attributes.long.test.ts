/** Attributes of accounts on the pages: the list with its filter and columns, and the page of an account. */
import { beforeAll, expect, test } from "bun:test";
import { axe, openInOrganization } from "./support.ts";
import { columnTexts, untilShown } from "./tables.ts";
import { world } from "./world.ts";

const { server, browser } = await world();

beforeAll(async () => {
  const token = await server.organization("Attributes");
  const accounts = [
    { id: "a", name: "Engines", properties: { tier: "gold", contractValue: 9_000, deep: { seats: 3 } } },
    { id: "b", name: "Looms", properties: { tier: "iron", contractValue: 12_000 } },
    { id: "c", name: "Mills", properties: { tier: "gold", contractValue: 700 } },
    { id: "d", name: "Plain" },
  ];
  const batch = accounts.map((account) => ({
    type: "identify",
    userId: `of ${account.id}`,
    email: `${account.id}@example.com`,
    account,
  }));
  expect((await server.post("/batch", token, { batch })).status).toBe(201);
  await server.exported("accounts", "Attributes");
});

test("accounts are found by an attribute, sorted by another, and their pages show all", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/accounts", "Attributes");
  await page.getByRole("button", { name: "Attribute", exact: true }).click();
  await page.getByLabel("Attribute", { exact: true }).fill("tier");
  await page.getByText("3 accounts have it.").waitFor();
  await page.getByLabel("Value").fill("gold");
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Show these accounts" }).click();
  await page.getByText("tier is gold").waitFor();
  await page.getByText(/^2 accounts$/).waitFor();
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Contract value" }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("columnheader", { name: "Contract value" }).getByRole("button").click();
  await page.waitForURL(/sort=trait/);
  await untilShown(page, ["Mills", "Engines"]);
  expect(await columnTexts(page, "Contract value")).toEqual(["700", "9000"]);
  await page.reload();
  await untilShown(page, ["Mills", "Engines"]);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await untilShown(page, ["Mills", "Engines", "Looms", "Plain"]);
  await page.getByRole("link", { name: "Engines" }).click();
  const panel = page.getByRole("region", { name: "Attributes" });
  await panel.getByText("Contract value").waitFor();
  await panel.getByText("seats").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("the page of an account without attributes says so", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/accounts/d", "Attributes");
  await page.getByRole("region", { name: "Attributes" }).getByText("None were sent.").waitFor();
  expect(complaints).toEqual([]);
});
