/** The revenue page, from billing events that are tracked to the figures that stand there. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { nothing } from "../../dashboard/text/format.ts";
import { becomes } from "../until.ts";
import { type Company, companyWithMoney, longAccount, longPlan, stat, summer } from "./revenue-support.ts";
import {
  axe,
  openInOrganization,
  openPage,
  openWhileStarting,
  phone,
  settled,
  sidewaysPixels,
  signedIn,
  signInAs,
} from "./support.ts";
import { emptyOrganization, world } from "./world.ts";

const { server, browser } = await world();

let money: Company;

beforeAll(async () => {
  money = await companyWithMoney("Money");
});

async function revenuePage(query = "", options: Parameters<typeof openPage>[1] = {}, who = money.owner) {
  const watched = await openPage(browser, options);
  await signInAs(watched.page, server, who);
  await watched.page.goto(`${server.url}/o/${money.organization}/revenue${query}`);
  await watched.page.getByRole("heading", { name: "Revenue", level: 1 }).waitFor();
  await settled(watched.page);
  return watched;
}

/** The texts of a row's cells, without the drawn ones. */
const cells = (page: Page, table: string | RegExp, row: string | RegExp) =>
  page
    .getByRole("table", { name: table })
    .getByRole("row", { name: row })
    .locator("th, td:not([aria-hidden])")
    .allInnerTexts();

describe("billing events that were tracked", () => {
  test("are MRR, retention and movements of the last period that is over", async () => {
    const { page, complaints } = await revenuePage(summer);
    expect(await stat(page, "MRR on 31 Aug 2026")).toEqual(["$160.00", "-8.6% since 31 Jul 2026"]);
    expect(await stat(page, "Net retention (NRR)")).toEqual(["68.6%", "Aug 2026"]);
    expect(await stat(page, "Logo churn")).toEqual(["50%", "Aug 2026\n0% voluntary, 50% failed payments"]);
    const movements = "Movements of MRR from 1 Aug 2026 to 31 Aug 2026";
    expect(await cells(page, movements, /^MRR on 31 Jul 2026/)).toEqual([
      "MRR on 31 Jul 20262 payers",
      "$175.00",
    ]);
    expect(await cells(page, movements, /^New/)).toEqual(["New1 payer", "+$40.00"]);
    expect(await cells(page, movements, /^Churned, voluntary/)).toEqual([
      "Churned, voluntary0 payers",
      "$0.00",
    ]);
    expect(await cells(page, movements, /^Churned, failed/)).toEqual([
      "Churned, failed payments1 payer",
      "-$55.00",
    ]);
    expect(await cells(page, movements, /^MRR on 31 Aug 2026/)).toEqual([
      "MRR on 31 Aug 20262 payers",
      "$160.00",
    ]);
    expect((await cells(page, "Revenue by month", /^Jul 2026/)).slice(0, 5)).toEqual([
      "Jul 2026",
      "$175.00",
      "2",
      "112.9%",
      "100%",
    ]);
    await page.getByText("1 EUR = 1.1 (version 1 of the settings").waitFor();
    expect(await axe(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("have movements of another period, which the address keeps", async () => {
    const { page } = await revenuePage(summer);
    await page.getByLabel("Period", { exact: true }).selectOption("Jul 2026");
    await page.waitForURL(/at=2026-07-01/);
    await page.reload();
    const movements = "Movements of MRR from 1 Jul 2026 to 31 Jul 2026";
    await page.getByRole("table", { name: movements }).waitFor();
    expect(await cells(page, movements, /^Expansion/)).toEqual(["Expansion1 payer", "+$20.00"]);
  });

  test("of a quarter are sums of its months, and retention compares its ends", async () => {
    const { page } = await revenuePage(`${summer}&period=quarter`);
    await page
      .getByText("The movements of a quarter are the sums of its months.", { exact: false })
      .waitFor();
    await page.getByLabel("Period", { exact: true }).selectOption("Q3 2026, so far");
    await settled(page);
    const row = await cells(page, "Revenue by quarter", /^Q3 2026/);
    // 120 of 155 at the start; expansion of July and the churn of August are both movements.
    expect(row.slice(0, 7)).toEqual(["Q3 2026, so far", "$160.00", "2", "77.4%", "64.5%", "50%", "0%"]);
    const movements = "Movements of MRR from 1 Jul 2026 to 31 Aug 2026";
    expect(await cells(page, movements, /^Expansion/)).toEqual(["Expansion1 payer", "+$20.00"]);
    expect(await cells(page, movements, /^Churned, failed/)).toEqual([
      "Churned, failed payments1 payer",
      "-$55.00",
    ]);
  });

  test("are split by plan, and names of 200 characters widen no page", async () => {
    for (const options of [{ colorScheme: "light" }, { colorScheme: "dark", viewport: phone }] as const) {
      const { page, complaints } = await revenuePage(`${summer}&split=plan`, options);
      expect((await cells(page, "Groups of payers", /^Gold/)).slice(0, 4)).toEqual([
        "Gold",
        "$120.00",
        "1",
        "100%",
      ]);
      expect((await cells(page, "Groups of payers", /^Team/)).slice(0, 2)).toEqual(["Team", "$0.00"]);
      await page.getByLabel("Payers of").selectOption(longPlan);
      await settled(page);
      expect(await cells(page, /^Movements of MRR/, /^New/)).toEqual(["New1 payer", "+$40.00"]);
      expect(await axe(page)).toEqual([]);
      expect(await sidewaysPixels(page)).toBe(0);
      expect(complaints).toEqual([]);
    }
  });

  test("make cohorts, whose cells say what was kept", async () => {
    const { page } = await revenuePage(summer);
    const grid = page.getByRole("grid", { name: "MRR kept by cohort" });
    const row = grid.getByRole("row", { name: /^Jun 2026/ });
    const shown = await row.getByRole("gridcell").allInnerTexts();
    expect(shown.map((text) => /\d+/.exec(text)?.[0])).toEqual(["2", "100", "113", "77"]);
    await row.getByRole("gridcell").last().hover();
    const tip = page.getByRole("tooltip");
    await tip.getByText("77.4% of the MRR at entry: $120.00 of $155.00, 2 payers").waitFor();
    await tip.getByText(/^95% interval: 0% to 120%$/).waitFor();
  });

  test("are CSV by the links of the page", async () => {
    const { page } = await revenuePage(summer);
    const links = page.getByRole("link", { name: "CSV" });
    const texts = await Promise.all(
      (await links.all()).map(async (link) => {
        const response = await page.request.get(`${server.url}${await link.getAttribute("href")}`);
        return (await response.text()).split("\r\n")[0] ?? "";
      }),
    );
    expect(texts.map((text) => text.split(",")[0])).toEqual([
      "\ufeffid",
      "\ufefffromDay",
      "\ufeffkind",
      "\ufeffkind",
    ]);
    expect(texts[1]).toContain("endMrr");
  });

  test("that stopped without an end are reported", async () => {
    const { page } = await revenuePage();
    await page.getByText("1 subscription with $40.00 MRR is unconfirmed", { exact: false }).waitFor();
    await page
      .getByText("MRR in no other figure: CHF 7.00 of 1 payer. CHF has no rate to USD.", { exact: false })
      .waitFor();
  });
});

type AtRisk = RouteAnswer<"GET /api/revenue/at-risk">;

/** Pages get this answer about MRR at risk of accounts. A model takes more history than these tests send. */
async function withRisk(page: Page, answer: Partial<AtRisk>): Promise<void> {
  await page.route("**/api/revenue/at-risk?*", async (route) => {
    const response = await route.fetch();
    const sent = (await response.json()) as AtRisk;
    const known = { day: "2026-11-20", payersWithRisk: 2, mrrWithRisk: 16_000, horizonDays: 28 };
    await route.fulfill({
      response,
      json: { ...sent, ...known, highRiskMrr: 12_000, highRiskPayers: 1, ...answer },
    });
  });
}

const acme = { id: "acme", name: "Acme", mrr: 12_000, churnRisk: 0.5, scheduledMrr: 0, laterMrr: 0 };
const dyno = { id: "dyno", name: longAccount, mrr: 4_000, churnRisk: 0.25, scheduledMrr: 0, laterMrr: 0 };
const echo = {
  id: "echo",
  name: "Echo",
  mrr: 3_000,
  churnRisk: null,
  scheduledMrr: 700,
  expectedLoss: 700,
  laterMrr: 2_300,
};
const noneLater = { laterMrr: 0, laterPayers: 0 };

describe("MRR at risk", () => {
  test("is an expected loss with its interval and the accounts behind it", async () => {
    const { page, complaints } = await openPage(browser);
    await signInAs(page, server, money.owner);
    await withRisk(page, {
      churnTarget: { by: "subscription" },
      expectedLoss: {
        mrr: 7_700,
        payers: 3,
        scheduledMrr: 2_000,
        low: 0,
        high: 16_000,
        laterMrr: 2_300,
        laterPayers: 1,
      },
      atRisk: [{ ...acme, expectedLoss: 6_000 }, { ...dyno, expectedLoss: 1_000 }, echo],
    });
    await page.goto(`${server.url}/o/${money.organization}/revenue`);
    const panel = page.getByRole("region", { name: "MRR at risk", exact: true });
    await panel
      .getByText("expected to be lost in the next 28 days (90% interval: $0.00 to $160.00)")
      .waitFor();
    await panel
      .getByText("$20.00 of the expected loss ends as scheduled and counts in full.", { exact: false })
      .waitFor();
    await panel
      .getByText("$23.00 more of 1 account ends as scheduled after these 28 days, within 90 days.", {
        exact: false,
      })
      .waitFor();
    expect(await cells(page, "Paying accounts by expected loss", /^Acme/)).toEqual([
      "Acme",
      "$120.00",
      "50%",
      "$60.00",
      nothing,
    ]);
    expect(await cells(page, "Paying accounts by expected loss", /^Echo/)).toEqual([
      "Echo",
      "$30.00",
      nothing,
      "$7.00",
      "$23.00",
    ]);
    await settled(page);
    expect(await axe(page)).toEqual([]);
    await panel.getByRole("link", { name: "Acme" }).click();
    await page.waitForURL("**/accounts/acme");
    expect(complaints).toEqual([]);
  });

  test("is what ends as scheduled where no churn risk is known, also on the overview", async () => {
    const { page } = await openPage(browser);
    await signInAs(page, server, money.owner);
    await withRisk(page, {
      churnTarget: { by: "subscription" },
      payersWithRisk: 0,
      mrrWithRisk: 0,
      highRiskPayers: 0,
      highRiskMrr: 0,
      atRisk: [echo],
      expectedLoss: { mrr: 700, payers: 1, scheduledMrr: 700, low: 700, high: 700, ...noneLater },
      withoutRisk: [{ reason: "no_model", payers: 2, mrr: 15_000 }],
    });
    await page.goto(`${server.url}/o/${money.organization}/revenue`);
    const panel = page.getByRole("region", { name: "MRR at risk", exact: true });
    await panel.getByText("expected to be lost in the next 28 days").waitFor();
    const text = (await panel.textContent()) ?? "";
    expect(text).toContain("$7.00 of the expected loss ends as scheduled and counts in full.");
    expect(text).toContain(
      "2 accounts with $150.00 MRR have no churn risk, because no model is good enough.",
    );
    expect(text).not.toContain("0 accounts");
    const { id } = await signedIn(page, server, "Demo");
    await page.goto(`${server.url}/o/${id}/overview`);
    await page.getByText(/^Likely to lose \$7\.00 of \$[\d.,]+ MRR in 28 days$/).waitFor();
  });

  test("is MRR at high risk with another churn target, and nothing is multiplied", async () => {
    const { page } = await openPage(browser);
    await signInAs(page, server, money.owner);
    await withRisk(page, {
      churnTarget: { by: "silence" },
      expectedLoss: null,
      atRisk: [{ ...acme, expectedLoss: null }],
    });
    await page.goto(`${server.url}/o/${money.organization}/revenue`);
    const panel = page.getByRole("region", { name: "MRR at high risk", exact: true });
    await panel.getByText("MRR of 1 account at high risk").waitFor();
    await panel.getByText("a churn risk is no probability that MRR is lost", { exact: false }).waitFor();
    expect(await cells(page, "Paying accounts at high risk", /^Acme/)).toEqual(["Acme", "$120.00", "50%"]);
    expect(await panel.getByRole("columnheader", { name: "Expected loss" }).count()).toBe(0);
  });

  test("is a figure on the overview, which leads to the page, and none without subscriptions", async () => {
    const { page, complaints } = await openPage(browser);
    const { id } = await signedIn(page, server, "Demo");
    const risk = { payers: 9, payersWithRisk: 7, hasSubscriptions: true, reportingCurrency: "USD" };
    const expectedLoss = {
      mrr: 410_000,
      payers: 7,
      scheduledMrr: 0,
      low: 100_000,
      high: 800_000,
      ...noneLater,
    };
    await withRisk(page, { ...risk, mrr: 5_200_000, expectedLoss });
    await page.goto(`${server.url}/o/${id}/overview`);
    await page.getByText("Likely to lose $4,100 of $52,000 MRR in 28 days", { exact: true }).waitFor();
    const line = page.getByRole("link", { name: "$4,100", exact: true });
    await settled(page);
    expect(await axe(page)).toEqual([]);
    await line.click();
    await page.getByRole("heading", { name: "Revenue", level: 1 }).waitFor();
    await page.unrouteAll({ behavior: "wait" });
    await withRisk(page, { ...risk, payers: 0, payersWithRisk: 0, hasSubscriptions: false });
    await page.route("**/api/call-list?*", async (route) => {
      const response = await route.fetch();
      const sent = (await response.json()) as RouteAnswer<"GET /api/call-list">;
      const rows = sent.rows.map((row) => ({ ...row, mrr: null, plan: null, endsOn: null, renewsOn: null }));
      await route.fulfill({ response, json: { ...sent, rows } });
    });
    await page.goto(`${server.url}/o/${id}/overview`);
    await settled(page);
    expect(await page.getByRole("main").getByText(/MRR/).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("waits for the first scores", async () => {
    const { page } = await revenuePage();
    await page.getByText("MRR at risk appears with the first scores of accounts.").waitFor();
  });
});

test("without billing data the page says how to connect it", async () => {
  const empty = await emptyOrganization();
  const { page, complaints } = await openInOrganization(browser, server, "/revenue", empty);
  await page.getByRole("region", { name: "Connect your billing data" }).waitFor();
  const command = await page.getByRole("region", { name: "A billing event in curl" }).textContent();
  expect(command).toContain(`${server.url}/track`);
  expect(await axe(page)).toEqual([]);
  await page.getByRole("link", { name: "Set up Stripe" }).click();
  await page.waitForURL(/\/sources\?open=stripe$/);
  expect(complaints).toEqual([]);
});

test("the event that the page shows is stored, and becomes MRR", async () => {
  const { page } = await openInOrganization(browser, server, "/revenue", await emptyOrganization());
  const command = (await page.getByRole("region", { name: "A billing event in curl" }).textContent()) ?? "";
  const event: unknown = JSON.parse(/-d '(.*)'/.exec(command)?.[1] ?? "");
  const token = await server.organization("Connected");
  await server.post("/identify", token, { userId: "u1", email: "u1@example.com" });
  expect((await server.post("/track", token, event)).status).toBe(201);
  await server.exported("subscriptions", "Connected");
  const opened = await openInOrganization(browser, server, "/revenue", "Connected");
  await opened.page.getByText("MRR now").waitFor();
  expect((await stat(opened.page, "MRR now"))[0]).toBe("$49.00");
  // A user who pays without an account is a payer, too.
  await opened.page.getByText("MRR at risk appears with the first scores of users.").waitFor();
});

describe("the states of the page", () => {
  test("while analysis starts, it is said, and figures come by themselves", async () => {
    const { page, ends } = await openWhileStarting(browser, server, "/revenue", "**/api/revenue?*");
    ends();
    await becomes(() => page.getByText("The analysis is starting").count(), 0);
  });

  test("an error is shown in the server's words, and another try repairs it", async () => {
    const { page } = await openPage(browser);
    await signInAs(page, server, money.owner);
    let isFailing = true;
    const json = { message: "periods is not valid.", statusCode: 400, name: "validation_error" };
    await page.route("**/api/revenue?*", (route) =>
      isFailing ? route.fulfill({ status: 400, json }) : route.fallback(),
    );
    await page.goto(`${server.url}/o/${money.organization}/revenue`);
    await page.getByRole("alert").getByText("The periods are not valid.").waitFor();
    isFailing = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("MRR now").waitFor();
  });

  test("the command palette finds the page and its settings", async () => {
    const { page } = await revenuePage();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find a page, a user or an account" }).fill("mrr");
    await page.getByRole("option", { name: /^Revenue/ }).waitFor();
    await page.getByRole("option", { name: /^Currencies/ }).click();
    await page.getByRole("heading", { name: "Currencies", level: 1 }).waitFor();
  });
});
