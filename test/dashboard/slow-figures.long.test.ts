/** Figures that do not come: the page says so, lets the reader stop, and never keeps other pages from
 * opening. */
import { expect, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import { becomes } from "../until.ts";
import { SettingsWorld } from "./settings-support.ts";
import { axe, comesTrue } from "./support.ts";

const world = await SettingsWorld.shared();

const figures = /\/api\/(?!session|installation|live)/;

/** Holds what a page asks for, and counts it. */
async function heldReads(page: Page) {
  const held = new Set<Route>();
  const asked: string[] = [];
  let most = 0;
  let isHolding = true;
  page.on("requestfailed", (request) => {
    for (const route of held) if (route.request() === request) held.delete(route);
  });
  await page.route(figures, async (route) => {
    asked.push(route.request().url());
    if (!isHolding) return route.continue();
    held.add(route);
    most = Math.max(most, held.size);
  });
  return {
    asked,
    held: () => held.size,
    most: () => most,
    async goOn() {
      isHolding = false;
      await Promise.all([...held].map((route) => route.continue().catch(() => undefined)));
    },
  };
}

test("a page asks four questions at once, and none any more when it is left", async () => {
  const { page, complaints } = await world.pageOf(world.first);
  const reads = await heldReads(page);
  const overview = `${world.server.url}/o/${world.first.organization}/overview`;
  await page.goto(overview);
  await becomes(async () => reads.held(), 4);
  await comesTrue(page, "document.querySelectorAll('.skeleton').length > 4");
  expect(reads.most()).toBe(4);
  await page.getByRole("link", { name: "Model", exact: true }).click();
  await page.getByRole("heading", { name: "Model", level: 1 }).waitFor();
  await becomes(async () => reads.asked.some((url) => url.includes("/api/model")), true);
  await becomes(async () => reads.held() <= 4, true);
  await page.goto(overview);
  await reads.goOn();
  await becomes(async () => new Set(reads.asked).size > 6, true);
  expect(complaints).toEqual([]);
});

test("after ten seconds the reader may wait or cancel, and after sixty there is an end", async () => {
  const { page } = await world.pageOf(world.first);
  await page.clock.install();
  const reads = await heldReads(page);
  const begunMs = performance.now();
  await page.goto(`${world.server.url}/o/${world.first.organization}/overview`);
  await becomes(async () => reads.held(), 4);
  const notice = page.getByText("Some figures take longer than usual.");
  // The page's time goes on by itself, too. The figures were asked for at most so long ago.
  const passedMs = Math.round(performance.now() - begunMs);
  await page.clock.runFor(Math.max(0, 9_000 - passedMs));
  expect(await notice.count()).toBe(0);
  await page.clock.runFor(2_000 + passedMs);
  await notice.waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Keep waiting" }).click();
  await notice.waitFor({ state: "detached" });
  await page.clock.runFor(50_000);
  await page.getByText("The server did not answer within 60 seconds.").first().waitFor();
  await page.clock.runFor(11_000);
  await page.reload();
  await becomes(async () => reads.held(), 4);
  await page.clock.runFor(11_000);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Not loaded: you cancelled it.").first().waitFor();
  await becomes(async () => reads.held(), 0);
  expect(await axe(page)).toEqual([]);
  await reads.goOn();
  const again = page.getByRole("button", { name: "Try again" });
  // A card may go with its button while it is clicked: before the first scores, one card says so for several.
  while ((await again.count()) > 0)
    await again
      .first()
      .click({ timeout: 1_000 })
      .catch(() => undefined);
  await page.getByRole("heading", { name: "Active users" }).waitFor();
});

test("with an analysis that hangs, the other pages open", async () => {
  const { page } = await world.pageOf(world.first);
  await page.goto(`${world.server.url}/o/${world.first.organization}/settings/account`);
  await page.getByRole("heading", { name: "Your account" }).waitFor();
  const pid = world.server.analysisPid() ?? Number.NaN;
  process.kill(pid, "SIGSTOP");
  try {
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    await comesTrue(page, "document.querySelectorAll('.skeleton').length > 0");
    await page.getByRole("link", { name: "Retention" }).click();
    await page.getByRole("heading", { name: "Retention", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Events" }).click();
    await page.getByRole("heading", { name: "Events", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("heading", { name: "Organization", level: 1 }).waitFor();
    await page.getByLabel("Name", { exact: true }).waitFor();
  } finally {
    process.kill(pid, "SIGCONT");
  }
});
