/** The page Results: an alert is handled with its outcome on the page Alerts, and its customer stands there
 * with what was at stake and what is left. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { daysAgo, identify, sendAll, track } from "../erasure/support.ts";
import { quietZone } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { startBrowser } from "./chromium.ts";
import { axe, openPage, phone, settled, sidewaysPixels, signInAs, type WatchedPage } from "./support.ts";

type People = Awaited<ReturnType<typeof company>>;
type Alerts = RouteAnswer<"GET /api/alerts">;

const rule = "Opened nothing";
const longName = "L".repeat(200);
let [server, browser, people]: [Server, Browser, People] = [] as never;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), startBrowser()]);
  await server.ready();
  people = await company(server, "Worked on", "--timezone", quietZone);
  const { owner, at, token, name } = people;
  const price = { plan: "Team", currency: "USD", interval: "month" };
  const started = (userId: string, amount: number) =>
    track(userId, "subscription_started", daysAgo(80), {
      properties: { ...price, subscriptionId: userId, amount },
    });
  await sendAll(server, token, [
    identify("ada", { account: { id: "acme", name: "Acme" } }),
    identify("carl", { account: { id: "looms", name: longName } }),
    ...[40, 12, 6].map((days) => track("ada", "opened", daysAgo(days))),
    ...[40, 1].map((days) => track("carl", "opened", daysAgo(days))),
    started("ada", 10_000),
    started("carl", 5_000),
    track("carl", "contacted", daysAgo(20), { properties: { by: longName, text: longName } }),
  ]);
  await server.exported("subscriptions", name);
  const condition = { kind: "keyEventUnseen", event: "opened", days: 4 };
  const body = { name: rule, scope: { kind: "accounts" }, includeCurrent: true, condition };
  await owner.json("POST", at("/api/alert-rules"), body, 201);
  const segment = { kind: "accounts", name: "Only Looms", ids: ["looms"] };
  await owner.json("POST", at("/api/segments"), segment, 201);
  await server.command("score", "--organization", name);
  await until("the alert has fired", alerts, ({ length }) => length === 1);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const alerts = async () => (await people.owner.json<Alerts>("GET", people.at("/api/alerts"))).alerts;

async function open(path: string): Promise<WatchedPage> {
  const watched = await openPage(browser);
  await signInAs(watched.page, server, people.member);
  await watched.page.goto(`${server.url}/o/${people.organization}${path}`);
  await watched.page.locator("h1").waitFor();
  return watched;
}

test("before anything is done the page says what will be there, and while it waits it shows no figure", async () => {
  const { page, complaints } = await open("/results");
  await page.getByText("Contacts, done tasks and handled alerts appear here.").waitFor();
  await settled(page);
  expect(await axe(page)).toEqual([]);
  await page.route(/\/api\/results\?/, () => undefined);
  await page.getByLabel("Rule").selectOption({ label: rule });
  await page.reload();
  await page.getByText("Loading …").first().waitFor();
  expect(await page.getByText("MRR at stake").count()).toBe(0);
  expect(complaints).toEqual([]);
});

test("an alert is handled by the keyboard, taken back with its note, and stands on the page Results", async () => {
  const [alert] = await alerts();
  const ofAlert = people.at(`/api/alerts/${alert?.id}`);
  await people.owner.json("PATCH", ofAlert, { note: "Calls back." });
  const { page, complaints } = await open("/alerts");
  const handle = async () => {
    await page.getByRole("button", { name: "Handled: Acme" }).click();
    const dialog = page.getByRole("dialog", { name: "What came of it: Acme" });
    // The focus is on the first outcome.
    await dialog.getByLabel("Saved").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Space");
    expect(await dialog.getByLabel("Note").inputValue()).toBe("Calls back.");
    await dialog.getByLabel("Note").fill("They stay.");
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Mark as handled" }).click();
    await page.getByText("No open alert").waitFor();
  };
  await handle();
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByText("Calls back.").waitFor();
  expect(await alerts()).toMatchObject([{ verdict: null, outcome: null, note: "Calls back." }]);
  await handle();
  await page.getByRole("tab", { name: "Handled" }).click();
  await page.getByText("Handled: saved, by Worked on member").waitFor();

  await page.getByRole("link", { name: "Results", exact: true }).click();
  const table = page.getByRole("table", { name: "Customers for whom something was done" });
  const row = table.getByRole("row", { name: /^Acme/ });
  await row.getByText("They stay.").waitFor();
  const cells = await row.getByRole("cell").allInnerTexts();
  expect(cells.slice(2, 6)).toEqual([rule, "Saved", "$100.00", "$100.00"]);
  expect(cells[1]).toContain("Handled by Worked on member");
  for (const [label, figure] of [
    ["Customers worked on", "1"],
    ["MRR at stake", "$100.00"],
    ["MRR now", "$100.00"],
    ["Saved", "1"],
  ] as const) {
    const stat = page.locator("dl").filter({ has: page.getByText(label, { exact: true }) });
    expect([label, await stat.locator("dd").first().textContent()]).toEqual([label, figure]);
  }
  await page.getByText("1 of 1 still pay").waitFor();
  await page.getByText(/^No proof yet: a control group on an/).waitFor();
  for (const [panel, text] of [
    ["By team member", "Worked on member"],
    ["By rule", rule],
  ] as const) {
    const region = page.getByRole("region", { name: panel, exact: true });
    await region.getByText(text, { exact: true }).waitFor();
    await region.getByText("1 customer, MRR $100.00 then, $100.00 now").waitFor();
  }
  await settled(page);
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("period, team member, rule and segment are in the address and in the CSV, and no name is too long", async () => {
  const { page, complaints } = await open("/results");
  const customers = async () => {
    await settled(page);
    const links = page.getByRole("table").getByRole("link");
    return (await links.allInnerTexts()).map((text) => text.slice(0, 4));
  };
  expect(await customers()).toEqual(["Acme"]);
  await page.getByLabel("Period").selectOption({ label: "Last 4 weeks" });
  await page.getByRole("link", { name: longName }).waitFor();
  expect(await customers()).toEqual(["Acme", "LLLL"]);
  expect(await axe(page)).toEqual([]);
  await page.setViewportSize(phone);
  expect(await sidewaysPixels(page)).toBe(0);
  await page.getByLabel("Segment", { exact: true }).selectOption({ label: "Only Looms" });
  await page.getByRole("link", { name: "Acme" }).waitFor({ state: "detached" });
  expect(await customers()).toEqual(["LLLL"]);
  await page.getByLabel("Rule").selectOption({ label: rule });
  await page.getByText("Choose a longer period, or other filters.").waitFor();
  await page.getByLabel("Segment", { exact: true }).selectOption({ label: "Any segment" });
  await page.getByLabel("Team member").selectOption({ label: "Worked on member (you)" });
  await page.getByRole("link", { name: "Acme" }).waitFor();
  const csv = page.getByRole("link", { name: "CSV" });
  const address = new URL((await csv.getAttribute("href")) ?? "", page.url());
  for (const of of [address, new URL(page.url())]) {
    expect(of.searchParams.get("period")).toBe("fourWeeks");
    expect(of.searchParams.get("member")).toBe(String(people.member.id));
    expect(of.searchParams.get("rule")).toMatch(/^\d+$/);
  }
  const lines = (await (await page.request.get(address.href)).text()).trim().split("\r\n");
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain("Acme");
  expect(complaints).toEqual([]);
});

const arms = {
  treated: { entries: 104, mature: 100, left: 30 },
  control: { entries: 103, mature: 100, left: 12 },
};

test("what control groups show stands in place of a hint, and harm is in red", async () => {
  const { page, complaints } = await open("/results");
  const hint = { customers: 8, predicted: 3.2, low: 1.1, high: 5.3, churned: 2 };
  const keeps = { since: "2026-05-03", verdict: "keeps", isRatioOff: false, arms, sentence: "It keeps." };
  const harms = { ...keeps, verdict: "harms", sentence: "It harms." };
  let proof: readonly object[] = [];
  await page.route(/\/api\/results\?/, async (route) => {
    const answer = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...answer, hint, proof } });
  });
  await page.reload();
  const sentence =
    "A hint, not proof: of 8 customers whose churn horizon is over, about 3 were expected to churn (1 to 5), and 2 did.";
  await page.getByText(sentence).waitFor();
  proof = [
    { ...keeps, rule: longName },
    { ...harms, rule },
  ];
  await page.reload();
  const groups = page.getByRole("list", { name: "Control groups" }).getByRole("listitem");
  await groups.getByText(`${rule}, control group since 3 May 2026: It harms.`).waitFor();
  expect(await page.getByText(sentence).count()).toBe(0);
  const items = `document.querySelectorAll("[aria-label='Control groups'] li")`;
  const colours = await page.evaluate(`[...${items}].map((one) => getComputedStyle(one).color)`);
  expect(new Set(colours as string[]).size).toBe(2);
  await settled(page);
  expect(await axe(page)).toEqual([]);
  await page.setViewportSize(phone);
  expect(await sidewaysPixels(page)).toBe(0);
  expect(complaints).toEqual([]);
});
