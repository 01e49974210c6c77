/** The model's page as a reader sees it: figures of the endpoint, in words that say how far they hold. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { ModelAnswer } from "../../contract/api/scores.ts";
import {
  axe,
  heldFigures,
  openInOrganization,
  openPage,
  openWhileStarting,
  phone,
  settled,
  sidewaysPixels,
  signedIn,
} from "./support.ts";
import { columnTexts } from "./tables.ts";
import { emptyOrganization, world } from "./world.ts";

const { server, browser } = await world();
const empty = await emptyOrganization();
type Card = Static<typeof ModelAnswer>;

async function modelPage(query = "", options: Parameters<typeof openPage>[1] = {}, organization = "Demo") {
  const watched = await openPage(browser, options);
  const { page } = watched;
  const { id } = await signedIn(page, server, organization);
  const held = await heldFigures(page, server, id);
  await page.goto(`${server.url}/o/${id}/model${query}`);
  await page.getByRole("region", { name: "Models", exact: true }).waitFor();
  await settled(page);
  const kind = query.includes("account") ? "account" : "user";
  return { ...watched, card: await held<Card>(`/api/model?kind=${kind}`) };
}

const decimal = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 1 });
const digits = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 3, maximumFractionDigits: 3 });

test("its figures are the endpoint's, and it does not call proven what is not", async () => {
  const { page, card, complaints } = await modelPage();
  expect([card.model, card.isProven]).toEqual(["bgbb", false]);
  await page.getByRole("heading", { name: "Shown, but not proven yet" }).waitFor();
  const serving = card.models.find(({ model }) => model === "bgbb");
  if (serving === undefined) throw new Error("the demonstration has no back-test");
  const text = (await page.locator("main").textContent()) ?? "";
  expect(text).toContain(`${decimal.format((serving.auc ?? 0) * 100)} of 100`);
  expect(text).toContain(`${decimal.format(serving.topDecileLift ?? 0)} ×`);
  expect(text).toContain(`a log loss of ${digits.format(serving.logLoss)}`);
  expect(text).toContain(`${percent.format(card.baseRate ?? 0)} left in the back-test`);
  const { cutoffs, rarerLabels } = card.proof ?? { cutoffs: undefined, rarerLabels: undefined };
  for (const part of [cutoffs, rarerLabels]) expect(text).toContain(`${part?.have} of ${part?.need}`);
  const table = page.getByRole("table", { name: "Back-test of all models" });
  expect(await table.getByRole("row").count()).toBe(card.models.length + 1);
  const served = await table.getByRole("row", { name: /Visit rhythm In use/ }).textContent();
  expect(served).toContain(digits.format(serving.logLoss));
  expect(complaints).toEqual([]);
});

test("every tenth and every health band is shown, also as a table", async () => {
  const { page, card } = await modelPage();
  await page
    .getByRole("region", { name: "Do the percentages hold?", exact: true })
    .getByText("Show as a table")
    .click();
  const rows = page.getByRole("region", { name: "Do the percentages hold?", exact: true }).getByRole("row");
  expect(await rows.count()).toBe(card.reliability.length + 1);
  const [bin] = card.reliability;
  expect(await rows.nth(1).textContent()).toContain(percent.format(bin?.meanPrediction ?? -1));
  expect(card.realised.length).toBeGreaterThan(1);
  const bands = page.getByRole("region", { name: "Actual churn by health band" }).getByRole("row");
  expect(await bands.count()).toBe(card.realised.length + 1);
  for (const [index, { churned, count, rate }] of card.realised.entries()) {
    const cells = await bands
      .nth(index + 1)
      .locator("td")
      .allTextContents();
    expect(cells.slice(0, 3)).toEqual([String(churned), decimal.format(count), percent.format(rate)]);
  }
});

test("what control groups change about the training stands below the models", async () => {
  const { page, card, complaints } = await modelPage("?kind=account");
  const models = page.getByRole("region", { name: "Models", exact: true });
  expect(card.trainedOn?.controlGroups).toBeNull();
  expect(await models.getByText("Control groups").count()).toBe(0);
  const trainedOn = { ...card.trainedOn, controlGroups: { treated: 1, control: 12, exempt: 3 } };
  await page.route(/\/api\/model\?.*kind=account/, (route) =>
    route.fulfill({ json: { ...card, trainedOn } }),
  );
  await page.reload();
  await models
    .getByText(
      "Control groups: 1 outcome of treated accounts left out of training, 12 of controls weigh more instead.",
    )
    .waitFor();
  expect(complaints).toEqual([]);
});

test("by keyboard one chooses accounts; that stands in the address and survives a reload", async () => {
  const { page } = await modelPage();
  const choice = page.getByLabel("Predictions about");
  await choice.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/kind=account/);
  await page.reload();
  await page.getByText("A fully engaged account").waitFor();
  expect(await choice.inputValue()).toBe("account");
});

describe("everybody can read it", () => {
  test.each(["light", "dark"] as const)(
    "axe finds nothing in %s, with menu and tables open",
    async (colorScheme) => {
      const { page } = await modelPage("", { colorScheme });
      for (const summary of await page.getByText("Show as a table").all()) await summary.click();
      await page.getByRole("button", { name: "Columns" }).click();
      await page.getByRole("menuitemcheckbox", { name: "Calibration slope" }).waitFor();
      expect(await axe(page)).toEqual([]);
    },
  );

  test("it is not wider than a phone", async () => {
    const { page } = await modelPage("", { viewport: phone });
    expect(await sidewaysPixels(page)).toBe(0);
  });
});

describe("with too little data", () => {
  const name = "Few on the model page";
  const day = (daysAgo: number) => new Date(server.nowMs() - daysAgo * 86_400_000).toISOString();

  beforeAll(async () => {
    const token = await server.organization(name);
    const track = (userId: string, event: string, daysAgo: number) => {
      return { type: "track", userId, event, timestamp: day(daysAgo) };
    };
    const users = ["ada", "bob", "cleo", "dan"];
    const batch = [
      ...users.map((userId) => ({ type: "identify", userId, email: `${userId}@example.com` })),
      ...users.flatMap((userId, index) =>
        Array.from({ length: 12 }, (_, week) => track(userId, "opened", 2 + 7 * week * (index + 1))),
      ),
      track("dan", "canceled", 40),
    ];
    const sent = await server.post("/batch", token, { batch });
    expect(await sent.json()).toMatchObject({ rejected: [] });
    await server.command("settings", "set", "--organization", name, "--user-churn", "event canceled");
    await server.command("score", "--organization", name);
  });

  test("it gives the base rate and the order by activity in place of a churn risk", async () => {
    const { page, card, complaints } = await modelPage("", {}, name);
    await page.getByText("Too little data for a churn risk: users are ordered by activity.").waitFor();
    const { rate = 0, low = 0, high = 0, count = 0, cutoffs = 0 } = card.observedBaseRate ?? {};
    const share = (value: number) => percent.format(value).replace(/\s/, "");
    await page
      .getByText(
        `Base rate ${share(rate)} (${share(low)} to ${share(high)}): 1 of ${count} users at ${cutoffs} cut-off dates churned.`,
      )
      .waitFor();
    const inUse = page.getByRole("region", { name: "Models", exact: true }).locator("[aria-current=step]");
    expect(await inUse.textContent()).toContain("Order by activity");
    expect(await axe(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("the page of a user says the same, and lists say how they are ordered", async () => {
    const { page, complaints } = await openInOrganization(browser, server, "/users/cleo", name);
    await page.getByText("Too little data for a churn risk: users are ordered by activity.").waitFor();
    await page.goto(page.url().replace("/users/cleo", "/users?sort=risk&order=descending"));
    await page.getByText("No churn risk yet: the least active come first").waitFor();
    expect(await page.getByText(/^No\. \d/).count()).toBe(0);
    expect((await columnTexts(page, "User"))[0]).toContain("cleo");
    expect(complaints).toEqual([]);
  });
});

describe("without figures", () => {
  test("an empty organization gets the first steps, without empty charts", async () => {
    const { page, complaints } = await modelPage("", {}, empty);
    await page.getByRole("heading", { name: "No predictions yet" }).waitFor();
    expect(await page.getByRole("img").count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("while analysis starts it says so, and goes on by itself", async () => {
    const { page, ends } = await openWhileStarting(browser, server, "/model", "**/api/model?*");
    ends();
    await page.getByRole("heading", { name: "Shown, but not proven yet" }).waitFor();
  });
});
