/** The overview as a reader sees it: the endpoints' figures, choices in the address, every state. */
import { describe, expect, test } from "bun:test";
import { becomes } from "../until.ts";
import {
  axe,
  heldFigures,
  openPage,
  openWhileStarting,
  phone,
  settled,
  sidewaysPixels,
  signedIn,
} from "./support.ts";
import { emptyOrganization, world } from "./world.ts";

const { server, browser } = await world();
const empty = await emptyOrganization();

async function overview(query = "", options: Parameters<typeof openPage>[1] = {}, organization = "Demo") {
  const watched = await openPage(browser, options);
  const { id } = await signedIn(watched.page, server, organization);
  const answer = await heldFigures(watched.page, server, id);
  await watched.page.goto(`${server.url}/o/${id}/overview${query}`);
  await settled(watched.page);
  return { ...watched, answer };
}

const number = new Intl.NumberFormat("en-GB");
const percent = new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 1 });

interface Week {
  readonly sentences: readonly {
    readonly about: string;
    readonly parts: readonly { readonly form: string; readonly text: string; readonly value: unknown }[];
  }[];
}

describe("the figures are the endpoints'", () => {
  test("of activity, of the week, of health, of risk and of accounts", async () => {
    const { page, complaints, answer } = await overview("?kind=user&more=true");
    interface Day extends Record<"daily" | "weekly" | "monthly" | "stickiness", number> {
      readonly day: string;
    }
    const { days } = await answer<{ days: Day[] }>("/api/active-users?days=91");
    const yesterday = days.at(-2);
    const stat = (label: string) =>
      page.locator("dl", { hasText: label }).locator("dd").first().textContent();
    expect(await stat("Active yesterday")).toBe(number.format(yesterday?.daily ?? -1));
    // A Sunday is compared with a Sunday.
    const [weekBefore, weekday] = [
      days.at(-9),
      new Intl.DateTimeFormat("en-GB", { weekday: "long", timeZone: "UTC" }),
    ];
    const beside = `last ${weekday.format(Date.parse(weekBefore?.day ?? ""))} ${number.format(weekBefore?.daily ?? -1)}`;
    expect(await page.locator("dl", { hasText: "Active yesterday" }).textContent()).toContain(beside);
    expect(await stat("Stickiness")).toBe(percent.format(yesterday?.stickiness ?? -1));
    expect(await stat("Active in 7 days")).toBe(number.format(yesterday?.weekly ?? -1));
    expect(await stat("Active in 30 days")).toBe(number.format(yesterday?.monthly ?? -1));

    const week = await answer<Week>("/api/week-summary");
    const said = await page.getByRole("region", { name: "The week" }).textContent();
    for (const { about, parts } of week.sentences.filter((sentence) => sentence.about !== "call")) {
      const words = parts.filter(({ form }) => form === "words" || form === "count");
      for (const { text } of words)
        expect([about, said]).toEqual([about, expect.stringContaining(text.trim())]);
    }
    const { rows } = await answer<{ rows: { name: string; reason: string }[] }>("/api/call-list?limit=10");
    const called = page.getByRole("table", { name: "Whom to call first" }).getByRole("row");
    const texts = (await called.allTextContents()).slice(1);
    expect(
      texts.map((text, at) => [text.includes(rows[at]?.name ?? "–"), text.includes(rows[at]?.reason ?? "–")]),
    ).toEqual(rows.map(() => [true, true]));

    const { weeks, baseRate } = await answer<{
      baseRate: number | null;
      weeks: { healthy: number; atRisk: number; churned: number; meanRisk: number | null }[];
    }>("/api/health-by-week?kind=user");
    const now = weeks.at(-1);
    const row = (name: RegExp) =>
      page.getByRole("region", { name: "Health of users" }).getByRole("row", { name }).first();
    expect(
      await row(/^Healthy/)
        .locator("td")
        .first()
        .textContent(),
    ).toBe(number.format(now?.healthy ?? -1));
    expect(
      await row(/^Churned/)
        .locator("td")
        .first()
        .textContent(),
    ).toBe(number.format(now?.churned ?? -1));
    const risk = await page.getByRole("region", { name: "Churn risk" }).textContent();
    expect(risk).toContain(percent.format(now?.meanRisk ?? -1));
    if (baseRate !== null) expect(risk).toContain(percent.format(baseRate));

    const { accounts, scored } = await answer<{ scored: number; accounts: { label: string }[] }>(
      "/api/accounts-at-risk?limit=8",
    );
    const region = page.getByRole("region", { name: "Accounts at risk", exact: true });
    const atRisk = await region.textContent();
    expect(atRisk).toContain(number.format(scored));
    for (const { label } of accounts) expect(atRisk).toContain(label);
    expect(complaints).toEqual([]);
  });

  test("of biggest drops and gains, by name, with account and reason, and those who returned by themselves", async () => {
    const { page, answer } = await overview("?kind=user&more=true");
    type Mover = { id: string; label: string; change: number; accountName: string | null; reason: string };
    const { movers, returned } = await answer<{ movers: Mover[]; returned: Mover[] }>(
      "/api/movers?kind=user&state=active&limit=5",
    );
    expect(movers.length).toBeGreaterThan(2);
    const { users } = await answer<{ users: { userId: string; name: string | null }[] }>(
      "/api/users?limit=1000",
    );
    const nameOf = (id: string) => users.find(({ userId }) => userId === id)?.name;
    const shown = async (list: string) =>
      page.getByRole("region", { name: list, exact: true }).getByRole("listitem").allInnerTexts();
    const lists = [
      ["Biggest drops", movers.filter(({ change }) => change < 0)],
      ["Biggest gains", movers.filter(({ change }) => change > 0)],
      ["Returned after churn", returned],
    ] as const;
    for (const [title, rows] of lists) {
      const texts = await shown(title);
      expect([title, texts.length]).toEqual([title, rows.length]);
      for (const [index, { id, label, accountName, reason }] of rows.entries()) {
        expect(label).toBe(nameOf(id) ?? label);
        expect(texts[index]).toStartWith(label);
        expect(texts[index]).toEndWith(
          [...(accountName === null ? [] : [accountName, "·"]), reason].join("\n"),
        );
      }
    }
    expect(movers.some(({ label }) => !label.includes("@"))).toBe(true);
    // Back from churned is no gain.
    const ids = new Set(returned.map(({ id }) => id));
    expect(movers.filter(({ id }) => ids.has(id))).toEqual([]);
  });
});

describe("on the demonstration", () => {
  test("it begins with whom to call, has three figures and charts, and at most 350 words", async () => {
    const { page, complaints, answer } = await overview("", { viewport: { width: 1440, height: 900 } });
    await page.getByRole("region", { name: "Health of accounts" }).getByRole("img").first().waitFor();
    const regions = await page
      .getByRole("main")
      .getByRole("region")
      .evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
    expect(regions[0]).toStartWith("Call th");
    expect(regions.slice(-3)).toEqual(["Health of accounts", "User lifecycle", "Active users"]);
    const figures = await page.getByRole("main").locator("dl dt").allTextContents();
    // The small demonstration has no churn risk of accounts.
    const { payersWithRisk } = await answer<{ payersWithRisk: number }>("/api/revenue/at-risk?kind=account");
    const money = payersWithRisk === 0 ? "MRR" : "MRR at risk";
    expect(figures.slice(0, 3)).toEqual([money, "Active accounts", "Departures"]);
    // All that can be read, with the choices of selects.
    const text = await page.evaluate<string>("document.body.innerText");
    const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
    expect(words.length).toBeLessThanOrEqual(350);
    expect(words.length).toBeGreaterThan(100);
    await page.getByRole("region", { name: "The week" }).getByText("Nothing unusual.").waitFor();
    expect(complaints).toEqual([]);
  });

  test("a question mark says how many of each health band churned, and the rest is shown on demand", async () => {
    const { page, answer, complaints } = await overview();
    await page.getByRole("button", { name: "What is meant: Health of accounts" }).click();
    const { realised, horizonDays } = await answer<{
      horizonDays: number;
      realised: { healthBand: string; churned: number; count: number }[];
    }>("/api/model?kind=account");
    const help = page.getByRole("dialog", { name: "Health of accounts" });
    const healthy = realised.find(({ healthBand }) => healthBand === "healthy");
    await help.getByText(`Churned within ${horizonDays} days, by the band before:`).waitFor();
    await help
      .getByText(`${number.format(healthy?.churned ?? -1)} of ${number.format(healthy?.count ?? -1)}`)
      .waitFor();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Show all figures" }).click();
    await page.waitForURL(/more=true/);
    await page.getByRole("region", { name: "Accounts at risk", exact: true }).waitFor();
    await page.getByRole("button", { name: "Show less" }).click();
    await page.getByRole("region", { name: "Accounts at risk", exact: true }).waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });
});

test("choices stand in the address and survive a reload", async () => {
  const { page, answer } = await overview("?kind=user&more=true");
  await page.getByLabel("Health and churn risk of").selectOption("account");
  await page.getByLabel("Days shown").selectOption("28");
  await page.waitForURL(/kind=account/);
  await page.waitForURL(/days=28/);
  await page.reload();
  const panel = page.getByRole("region", { name: "Health of accounts" });
  await panel.waitFor();
  const { weeks } = await answer<{ weeks: { healthy: number }[] }>("/api/health-by-week?kind=account");
  const cell = panel
    .getByRole("row", { name: /^Healthy/ })
    .first()
    .locator("td")
    .first();
  await becomes(() => cell.textContent(), number.format(weeks.at(-1)?.healthy ?? -1));
  await becomes(() => page.getByLabel("Days shown").inputValue(), "28");
});

test("the biggest drop can be reached by keyboard", async () => {
  const { page } = await overview("?kind=user&more=true");
  const rows = page.getByRole("region", { name: "Biggest drops" }).getByRole("listitem");
  const link = rows.first().getByRole("link").first();
  const label = (await link.textContent()) ?? "";
  const address = (await link.getAttribute("href")) ?? "";
  await page.getByLabel("Days shown").focus();
  const isReached = () => page.evaluate("document.activeElement.textContent");
  for (let presses = 0; presses < 40 && (await isReached()) !== label; presses += 1) {
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${address}`);
  await page.getByRole("main").getByText(label).first().waitFor();
});

describe("everybody can read it", () => {
  test.each(["light", "dark"] as const)("axe finds nothing in %s, tables shown", async (colorScheme) => {
    const { page, complaints } = await overview("?more=true", { colorScheme });
    for (const summary of await page.getByText("Show as a table").all()) await summary.click();
    expect(await axe(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("it is not wider than a phone", async () => {
    const { page } = await overview("?more=true", { viewport: phone });
    expect(await sidewaysPixels(page)).toBe(0);
  });
});

describe("without figures", () => {
  test("an empty organization is led to its first event", async () => {
    const { page, complaints } = await overview("", {}, empty);
    await page.getByText("No events yet").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole("link", { name: "Send the first event" }).click();
    await page.waitForURL(/\/start$/);
    expect(complaints).toEqual([]);
  });

  test("while analysis starts that is said once, and the figures come by themselves", async () => {
    const figures = /\/api\/(active|week|health|score|movers|lifecycle|accounts)/;
    const { page, ends } = await openWhileStarting(browser, server, "/overview", figures);
    const said = page.getByText("The analysis is starting");
    // Each question gets this answer at a different time. Then one message stands for all.
    await becomes(() => said.count(), 1);
    ends();
    await page.getByRole("heading", { name: "Active users" }).waitFor();
  });

  test("one figure that fails leaves the others standing", async () => {
    const { page } = await openPage(browser);
    const { id } = await signedIn(page, server, "Demo");
    await page.route("**/api/week-summary?*", (route) =>
      route.fulfill({
        status: 500,
        json: { message: "The query failed.", statusCode: 500, name: "application_error" },
      }),
    );
    await page.goto(`${server.url}/o/${id}/overview`);
    await page.getByRole("alert").getByText("The query failed.").first().waitFor();
    await page.getByRole("heading", { name: "Active users" }).waitFor();
  });
});
