/** Churn reasons on the pages, from billing events that are tracked to what stands there. */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { nothing } from "../../dashboard/text/format.ts";
import { company } from "../people/support.ts";
import { becomes } from "../until.ts";
import type { Company } from "./revenue-support.ts";
import { axe, openPage, phone, settled, sidewaysPixels, signedIn, signInAs } from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();
const summer = "?periods=3&to=2026-08-31";

let left: Company;

const accounts = ["acme", "bolt", "coil", "dyno"];
const tracked = (userId: string, event: string, timestamp: string, properties: object) => ({
  userId,
  event,
  timestamp,
  properties: { subscriptionId: `of ${userId}`, ...properties },
});
const started = (userId: string, amount: number, plan: string) =>
  tracked(userId, "subscription_started", "2026-05-10T00:00:00Z", {
    plan,
    amount,
    currency: "USD",
    interval: "month",
  });

beforeAll(async () => {
  left = await company(server, "Left for reasons");
  for (const id of accounts) {
    const attributes = id === "dyno" ? { properties: { churnReason: "Bought by a rival" } } : {};
    const sent = { userId: id, email: `${id}@example.com`, account: { id, name: id, ...attributes } };
    expect((await server.post("/identify", left.token, sent)).status).toBe(201);
  }
  const events = [
    ...accounts.map((id, index) => started(id, (index + 1) * 10_000, id === "acme" ? "Team" : "Gold")),
    tracked("acme", "subscription_canceled", "2026-06-20T00:00:00Z", {
      feedback: "too_expensive",
      comment: "More than it saves us.",
    }),
    tracked("bolt", "subscription_canceled", "2026-08-05T00:00:00Z", { reason: "too_expensive" }),
    tracked("coil", "subscription_canceled", "2026-08-06T00:00:00Z", {}),
    tracked("dyno", "subscription_canceled", "2026-08-07T00:00:00Z", { reason: "unused" }),
  ];
  for (const event of events) expect((await server.post("/track", left.token, event)).status).toBe(201);
  expect(await server.exported("subscriptions", left.name)).not.toEqual([]);
});

async function opened(path: string, options: Parameters<typeof openPage>[1] = {}) {
  const watched = await openPage(browser, options);
  await signInAs(watched.page, server, left.owner);
  await watched.page.goto(`${server.url}/o/${left.organization}${path}`);
  await watched.page.getByRole("heading", { level: 1 }).waitFor();
  await settled(watched.page);
  return watched;
}

const panelOf = (page: Page) => page.getByRole("region", { name: "Churn reasons", exact: true });

/** The texts of the panel's rows, below the header. */
async function rowsOf(page: Page): Promise<string[][]> {
  const rows = panelOf(page).getByRole("table").getByRole("row");
  await rows.nth(1).waitFor();
  const texts = await rows.evaluateAll((all) =>
    all.map((row) =>
      [...row.querySelectorAll("th, td:not([aria-hidden])")].map((cell) => cell.textContent ?? ""),
    ),
  );
  return texts.slice(1);
}

test("the revenue page has reasons with their source by month, and what payers said", async () => {
  const { page, complaints } = await opened(`/revenue${summer}`);
  expect(await rowsOf(page)).toEqual([
    ["Bought by a rival", "$400.00", "1", "0", "1 by hand", "$400.00", nothing],
    ["Too expensive", "$300.00", "2", "0", "2 from billing", "$200.00", "$100.00"],
    ["No reason given", "$300.00", "1", "0", nothing, "$300.00", nothing],
  ]);
  const said = panelOf(page).getByRole("list", { name: "Comments of payers that left" });
  expect(await said.getByRole("listitem").allInnerTexts()).toEqual([
    expect.stringContaining("acme, 20 Jun 2026, $100.00: Too expensive (from billing)"),
  ]);
  await said.getByText("More than it saves us.").waitFor();
  expect(await axe(page)).toEqual([]);
  await panelOf(page).getByLabel("Split reasons").selectOption("plan");
  await becomes(
    async () => (await rowsOf(page)).map(([group, reason]) => [group, reason]),
    [
      ["Gold", "Bought by a rival"],
      ["Gold", "No reason given"],
      ["Gold", "Too expensive"],
      ["Team", "Too expensive"],
    ],
  );
  expect(new URL(page.url()).searchParams.get("reasonsBy")).toBe("plan");
  expect(complaints).toEqual([]);
});

test("months without a departure have no reasons, and the panel says so", async () => {
  const { page, complaints } = await opened("/revenue?periods=1&to=2026-07-31");
  await panelOf(page).getByText("No payer left in these periods").waitFor();
  expect(complaints).toEqual([]);
});

test("a phone in the dark shows the panel without moving sideways", async () => {
  const { page, complaints } = await opened(`/revenue${summer}`, { viewport: phone, colorScheme: "dark" });
  await panelOf(page).getByText("What they said").waitFor();
  expect(await sidewaysPixels(page)).toBe(0);
  expect(await axe(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("the page of an account says with the end why it left, and from where that is known", async () => {
  for (const [id, text] of [
    ["acme", "Ended. Too expensive: “More than it saves us.” (from billing)"],
    ["coil", "Ended"],
    ["dyno", "Ended. Bought by a rival (by hand)"],
  ] as const) {
    const { page, complaints } = await opened(`/accounts/${id}`);
    const history = page.getByRole("list", { name: "History of subscriptions" });
    await history.getByText(text, { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  }
});

test("the demonstration shows reasons and comments", async () => {
  const { page, complaints } = await openPage(browser);
  const { id } = await signedIn(page, server, "Demo");
  await page.goto(`${server.url}/o/${id}/revenue`);
  await settled(page);
  expect((await rowsOf(page)).length).toBeGreaterThan(3);
  await panelOf(page).getByText("What they said").waitFor();
  expect(complaints).toEqual([]);
});
