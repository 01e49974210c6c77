/** The page of sources: it shows the endpoint's data, its buttons work, and a silent source appears on every
 * page. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { auditLog, joined } from "../people/support.ts";
import { Server } from "../server.ts";
import { writeHistory } from "../specification/source-history.ts";
import { send, user } from "../specification/support.ts";
import { startBrowser } from "./chromium.ts";
import {
  axe,
  openInOrganization,
  openPage,
  phone,
  sidewaysPixels,
  signInAs,
  whileStarting,
} from "./support.ts";

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-sources-page-"));
let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start({ dataDir }), startBrowser()]);
  const token = await server.organization("Full");
  await send(server, "/identify", token, user("u"));
  await send(server, "/track", token, { userId: "u", event: "opened" });
  await server.organization("Fresh");
  await server.organization("Viewed");
  await server.kill("SIGTERM");
  const past = [
    { source: "segment", fromHoursAgo: 400, toHoursAgo: 0, perHour: 40, rejected: 2 },
    { source: "posthog", fromHoursAgo: 400, toHoursAgo: 30, perHour: 20 },
    { source: "stripe", fromHoursAgo: 60, toHoursAgo: 1, perHour: 1 },
  ];
  await writeHistory(dataDir, "Full", past);
  await writeHistory(dataDir, "Viewed", past);
  server = await Server.start({ dataDir });
  await server.ready();
});
afterAll(async () => {
  await browser?.close();
  await server?.kill("SIGTERM");
  rmSync(dataDir, { recursive: true });
});

const row = (page: Page, name: string) =>
  page.getByRole("listitem").filter({ has: page.getByRole("heading", { name }) });

test("says of each source what it sends, which one is silent, and leads to what was rejected", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/sources", "Full");
  const posthog = row(page, "PostHog");
  await posthog.getByText("Silent", { exact: true }).waitFor();
  expect(await posthog.textContent()).toMatch(/Nothing since .*\. Usually sends every hour/);
  await page.getByText(/PostHog has sent nothing since .*, and scores wait/).waitFor();
  const names = await page.getByRole("heading", { level: 3 }).allInnerTexts();
  expect(names.map((name) => name.split(/\s/)[0])).toEqual([
    "PostHog",
    "Segment",
    "Stripe",
    "The",
    "RudderStack",
    "Customer.io",
    "Jitsu",
    "Dittofeed",
    "OpenPanel",
    "Mixpanel",
    "Paddle",
    "Chargebee",
    "RevenueCat",
    "LemonSqueezy",
    "Polar",
    "Webhooks",
  ]);
  const segment = row(page, "Segment");
  // 40 in an hour and 2 rejected. None in an hour that has begun since.
  expect([
    ["960", "6.7K", "336"],
    ["920", "6.7K", "334"],
  ]).toContainEqual(await segment.getByRole("definition").allInnerTexts());
  expect(await segment.textContent()).toMatch(
    /every hour or more often · counts as silent .* without new data/,
  );
  expect(await row(page, "Stripe").textContent()).toContain("active for less than a week");
  expect(await axe(page)).toEqual([]);
  await segment.getByRole("definition").getByRole("link").click();
  await page.waitForURL(/\/events\?.*outcome=rejected/);
  expect(new URL(page.url()).searchParams.get("tab")).toBe("live");
  expect(complaints).toEqual([]);
});

test("every figure names the silent source, until it is retired after a question", async () => {
  const { page, id } = await openInOrganization(browser, server, "/overview", "Full");
  await page.getByText(/PostHog is silent since .*, so scores wait/).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("link", { name: "PostHog is silent" }).click();
  await page.waitForURL(/\/sources$/);
  await page.getByRole("button", { name: "Retire PostHog" }).click();
  await page.getByRole("alertdialog").getByText("Scores no longer wait for it").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Retire PostHog" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Retire" }).click();
  await row(page, "PostHog").getByText("Retired", { exact: true }).waitFor();
  await page.getByText("and scores wait").waitFor({ state: "detached" });
  const owner = await joined(server, "Full", "owner", "Grace Hopper");
  const [entry] = (await auditLog(owner)).filter(({ action }) => action === "source.retired");
  expect(entry?.person?.name).toBe("Ada Lovelace");
  await page.goto(`${server.url}/o/${id}/overview`);
  await page.getByText("Data up to").waitFor();
  expect(await page.getByText("is silent").count()).toBe(0);
});

test("a set-up has the organization's own address, and a token that is made in place and writes", async () => {
  const { page, complaints } = await openInOrganization(browser, server, "/sources", "Fresh");
  await page.getByText("No data yet").waitFor();
  await page.getByRole("button", { name: "Set up Segment" }).click();
  const code = page.getByRole("region", { name: "On a server, @segment/analytics-node" });
  expect(await code.textContent()).toContain(`writeKey: "YOUR_TOKEN",\n  host: "${server.url}"`);
  await page.getByRole("table", { name: "What we do with it" }).getByText("context.groupId").waitFor();
  await page.getByRole("button", { name: "Create a token" }).click();
  await page.getByText("The new token is in place").waitFor();
  const token = /writeKey: "(rk-[^"]+)"/.exec((await code.textContent()) ?? "")?.[1] ?? "";
  expect((await server.post("/identify", token, user("u1"))).status).toBe(201);
  expect(await axe(page)).toEqual([]);
  await row(page, "The write API").getByText("Sending").waitFor();
  // The other set-ups have the token, too. An address opens one of them.
  await page.getByRole("button", { name: "Set up Stripe" }).click();
  await page.getByText(`${server.url}/v1/webhooks/stripe/${token}`).waitFor();
  expect(await page.getByRole("button", { name: "Close the set-up of Segment" }).count()).toBe(0);
  await page.reload();
  await page.getByText(`${server.url}/v1/webhooks/stripe/YOUR_TOKEN`).waitFor();
  expect(complaints).toEqual([]);
});

test("fits a phone, in the dark as well, with a set-up open", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const options = { viewport: phone, colorScheme };
    const { page } = await openInOrganization(browser, server, "/sources?open=segment", "Viewed", options);
    await row(page, "PostHog").getByText("Silent", { exact: true }).waitFor();
    await page.getByRole("table", { name: "What we do with it" }).waitFor();
    expect(await sidewaysPixels(page)).toBe(0);
    for (const figure of await page.getByRole("definition").all()) {
      const { x = 0, width = phone.width } = (await figure.boundingBox()) ?? {};
      expect(x + width).toBeLessThan(phone.width - 16);
    }
    expect(await axe(page)).toEqual([]);
    await page.context().close();
  }
});

test("a viewer reads, and neither retires a source nor makes a token", async () => {
  const viewer = await joined(server, "Viewed", "viewer", "Vera Viewer");
  const { page } = await openPage(browser);
  await signInAs(page, server, viewer);
  await page.goto(`${server.url}/o/${viewer.organization}/sources?open=posthog`);
  await page.getByText("Ask a member or an owner for a token").waitFor();
  expect(await page.getByRole("button", { name: "Retire PostHog" }).count()).toBe(0);
  await page.getByText("Ask a member or an owner for a browser token").waitFor();
  expect(await page.getByRole("button", { name: /^Create a / }).count()).toBe(0);
  const retire = `/api/sources/posthog/retire?organization=${viewer.organization}`;
  expect((await viewer.ask("POST", retire)).status).toBe(403);
});

test("is found by its name, waits while the analysis starts, and says what failed", async () => {
  const { page, id } = await openInOrganization(browser, server, "/settings/organization", "Fresh");
  const starting = await whileStarting(page, /\/api\/sources\?/);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /^Find a page/ }).fill("sour");
  await page.getByRole("option", { name: /Sources/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/sources$/);
  await page.getByText("The analysis is starting").waitFor();
  starting.ends();
  await page.getByRole("heading", { name: "Available sources" }).waitFor();
  const json = { message: "It broke.", statusCode: 500, name: "application_error" };
  await page.route(/\/api\/sources\?/, (route) => route.fulfill({ status: 500, json }));
  await page.goto(`${server.url}/o/${id}/sources`);
  await page.getByRole("alert").getByText("It broke.").waitFor();
  expect(await axe(page)).toEqual([]);
});
