/** MRR and subscriptions on the lists and pages of accounts and users, from /track to what readers see. */
import { beforeAll, expect, test } from "bun:test";
import { dayText } from "../../dashboard/text/format.ts";
import { company } from "../people/support.ts";
import { payersAt } from "../revenue/payers-support.ts";
import { send, user } from "../specification/support.ts";
import { axe, openInOrganization, phone, settled, sidewaysPixels } from "./support.ts";
import { columnTexts, untilShown } from "./tables.ts";
import { world } from "./world.ts";

const { server, browser } = await world();
const { dateOf, sendPayers } = payersAt(server.nowMs());
const long = "A plan with many words ".repeat(9).trim();

beforeAll(async () => {
  const place = await company(server, "Subscribers");
  await sendPayers(server, "Subscribers", place.token);
  const properties = { owner: place.member.email, renewsAt: dateOf(200), contractValue: 1_234 };
  const account = { id: "lambda", name: "L".repeat(200), properties };
  await send(server, "/identify", place.token, user("lou", { account }));
  await send(server, "/track", place.token, {
    userId: "lou",
    event: "subscription_started",
    properties: { subscriptionId: "l1", plan: long, amount: 100, currency: "USD", interval: "month" },
  });
  await server.exported("subscriptions", "Subscribers");
  await server.organization("No subscribers");
  const token = (await server.command("token", "create", "--organization", "No subscribers")).trim();
  await send(server, "/identify", token, user("ada", { account: { id: "acme", name: "Acme" } }));
  await server.exported("users", "No subscribers");
});

const columns = ["MRR", "Plan", "Subscription", "Renews"];

test("accounts have MRR, plan, status and renewal, by which they are sorted and filtered", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/accounts", "Subscribers");
  await page.getByRole("columnheader", { name: "MRR" }).getByRole("button").click();
  await untilShown(page, ["The acme", "The beta", "The gamma", "L".repeat(200)]);
  expect((await columnTexts(page, "MRR")).slice(0, 4)).toEqual(["$120.00", "$55.00", "$30.00", "$1.00"]);
  // A space that breaks no line.
  expect(await columnTexts(page, "MRR")).toContain("CHF\u00a07.00");
  expect((await columnTexts(page, "Plan"))[0]).toBe("Business+ 1 more");
  const status = await columnTexts(page, "Subscription");
  expect(status.slice(0, 3)).toEqual(["Active", `Canceling until ${dayText(dateOf(20))}`, "Past due"]);
  expect((await columnTexts(page, "Renews"))[2]).toStartWith(dayText(dateOf(40)));
  expect(await page.getByRole("columnheader", { name: "Expected loss" }).count()).toBe(0);
  expect(await axe(page)).toEqual([]);

  await page.getByLabel("Renewal").selectOption("Renews within 7 days");
  await page.waitForURL(/renewsWithinDays=7/);
  await untilShown(page, ["The acme", "The theta"]);
  await page.getByLabel("Plan", { exact: true }).selectOption("Storage");
  await page.getByText(/^1 account$/).waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByLabel("Subscription", { exact: true }).selectOption("Past due");
  await page.getByText(/^1 account$/).waitFor();
  await untilShown(page, ["The gamma"]);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("button", { name: "MRR", exact: true }).first().click();
  await page.getByLabel("MRR from, in USD").fill("30");
  await page.getByLabel("To", { exact: true }).fill("55.00");
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Show these" }).click();
  await page.getByText("MRR from $30.00 to $55.00").waitFor();
  await untilShown(page, ["The beta", "The gamma"]);
  await page.reload();
  await untilShown(page, ["The beta", "The gamma"]);
  expect(complaints).toEqual([]);
});

test("the page of an account has its subscriptions and their history, and names attributes by their meaning", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/accounts/acme", "Subscribers");
  const panel = page.getByRole("region", { name: "Subscriptions", exact: true });
  await panel.getByText("2 subscriptions").waitFor();
  await panel.getByText("$120.00").waitFor();
  expect(await panel.getByRole("listitem").allTextContents()).toEqual([
    `${dayText(dateOf(-20))}Started: MRR $20.00, Storage`,
    `${dayText(dateOf(-30))}Upgraded: MRR $80.00 to $100.00, Team to Business`,
    `${dayText(dateOf(-90))}Started: MRR $80.00, Team`,
  ]);
  expect(await axe(page)).toEqual([]);
  await page.goto(page.url().replace(/acme$/, "gamma"));
  await panel.getByText(`past due since ${dayText(dateOf(-3))}`).waitFor();
  await panel.getByText("Payment failed").waitFor();
  await page.goto(page.url().replace(/gamma$/, "lambda"));
  const attributes = page.getByRole("region", { name: "Attributes" });
  await attributes.getByText("Subscribers member").waitFor();
  for (const name of ["Owner", "Renews", "Contract value"]) await attributes.getByText(name).waitFor();
  await attributes.getByText("1234").waitFor();
  expect(complaints).toEqual([]);
});

test("long names and plans widen no page of a phone", async () => {
  for (const [path, place] of [
    ["/accounts?sort=mrr", "Accounts"],
    ["/accounts/lambda", "History of subscriptions"],
  ] as const) {
    const options = { viewport: phone };
    const { page } = await openInOrganization(browser, server, path, "Subscribers", options);
    await page
      .getByLabel(place, { exact: true })
      .getByText(/A plan with many/)
      .first()
      .waitFor();
    await settled(page);
    expect([path, await sidewaysPixels(page)]).toEqual([path, 0]);
  }
});

test("the day of a scheduled end is whole beside four other figures", async () => {
  const { page } = await openInOrganization(browser, server, "/accounts", "Subscribers", {
    viewport: { width: 1_280, height: 900 },
  });
  await page.getByRole("link", { name: "The beta" }).click();
  const panel = page.getByRole("region", { name: "Subscriptions", exact: true });
  const end = panel.locator("dd").getByText(`until ${dayText(dateOf(20))}`);
  await end.waitFor();
  await settled(page);
  const [own, figure] = [await end.boundingBox(), await end.locator("xpath=ancestor::dl/..").boundingBox()];
  expect((own?.x ?? 0) + (own?.width ?? 0)).toBeLessThanOrEqual((figure?.x ?? 0) + (figure?.width ?? 0));
  expect(own?.width).toBeGreaterThan(0);
});

test("a user who pays without an account has the same, and others have none of it", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/users?sort=mrr", "Subscribers");
  await page.getByRole("columnheader", { name: "MRR" }).waitFor();
  expect((await columnTexts(page, "MRR")).slice(0, 2)).toEqual(["$9.99", "–"]);
  await page.goto(page.url().replace("?sort=mrr", "/solo"));
  const panel = page.getByRole("region", { name: "Subscriptions", exact: true });
  await panel.getByText("Started: MRR $9.99, Solo").waitFor();
  await page.goto(page.url().replace(/solo$/, "ada"));
  await settled(page);
  expect(await panel.count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("without subscriptions no column, filter or panel of them is there", async () => {
  const { page } = await openInOrganization(browser, server, "/accounts", "No subscribers");
  await untilShown(page, ["Acme"]);
  const headers = await page.getByRole("columnheader").allTextContents();
  expect(headers.filter((header) => columns.includes(header))).toEqual([]);
  expect(await page.getByLabel("Renewal").count()).toBe(0);
  await page.getByRole("link", { name: "Acme" }).click();
  await settled(page);
  expect(await page.getByRole("region", { name: "Subscriptions", exact: true }).count()).toBe(0);
});
