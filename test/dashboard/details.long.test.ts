/** Small things that a reader stumbles over: marks without a meaning, months without anything, a focus that
 * stays. */
import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { joined } from "../people/support.ts";
import { becomes } from "../until.ts";
import { at, SettingsWorld } from "./settings-support.ts";
import { axe, comesTrue, ownerOf, phone, type Somebody, settled } from "./support.ts";
import { emptyOrganization } from "./world.ts";

const world = await SettingsWorld.shared();
const empty = await ownerOf(world.server, await emptyOrganization());

/** A page of a member's organization that remembers every text that was drawn on a canvas. */
async function opened(somebody: Somebody, path: string) {
  const watched = await world.pageOf(somebody);
  await watched.page.addInitScript(`{
    const { fillText } = CanvasRenderingContext2D.prototype;
    window.drawnTexts = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      window.drawnTexts.push(text);
      return fillText.call(this, text, ...rest);
    };
  }`);
  await watched.page.goto(`${world.server.url}/o/${somebody.organization}${path}`);
  await watched.page.locator("h1").waitFor();
  return watched;
}

const drawn = (page: Page, pattern: RegExp) =>
  comesTrue(page, `window.drawnTexts.some((text) => ${pattern}.test(text))`);

describe("charts", () => {
  test.each(["28d", "91d"])(
    "of events have the asterisk that the note below explains, over %s",
    async (range) => {
      const { page } = await opened(world.first, `/events?tab=volume&range=${range}`);
      await page.getByText("* Today is not over.").waitFor();
      await drawn(page, / \*$/);
    },
  );

  test("of the lifecycle have a minus below zero", async () => {
    const { page } = await opened(world.first, "/overview");
    await page.getByRole("img", { name: /^New, returning/ }).waitFor();
    await drawn(page, /^[-−][0-9]/);
  });
});

test("the calendar of a user begins with the month of the first event", async () => {
  const path = `${at(world.first, "/api/users")}&sort=firstSeen&order=ascending&limit=1`;
  const { users } = await world.first.json<{ users: { userId: string; firstSeenDay: string }[] }>(
    "GET",
    path,
  );
  const { userId = "", firstSeenDay = "" } = users[0] ?? {};
  const { page } = await opened(world.first, `/users/${userId}`);
  const calendar = page.getByRole("img", { name: /^Calendar/ });
  await calendar.waitFor();
  const titles = await calendar.locator("rect title").allTextContents();
  const month = new Date(`${firstSeenDay.slice(0, 7)}-01T00:00:00Z`);
  const first = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "long" }).format(
    month,
  );
  expect(titles[0]).toContain(first);
  // A calendar of a whole year would have 365 days.
  const days = Math.ceil((world.server.nowMs() - month.getTime()) / 86_400_000);
  expect(days).toBeLessThan(300);
  expect(titles.length).toBeLessThanOrEqual(days + 1);
});

test("the line of settings fades on a phone where it goes on", async () => {
  const { page } = await world.settingsOf(world.first, "exclusions", { viewport: phone });
  await comesTrue(page, `document.querySelector("nav[aria-label=Settings]").dataset.more === "left right"`);
  await page.getByRole("link", { name: "Organization", exact: true }).click();
  await comesTrue(page, `document.querySelector("nav[aria-label=Settings]").dataset.more === "right"`);
});

test("counts of a few events have no fractions on their axis", async () => {
  const token = await world.server.organization("Few");
  const owner = await joined(world.server, "Few", "owner", "Fay Few");
  await world.server.post("/identify", token, { userId: "u", email: "u@example.com" });
  await world.server.post("/track", token, { userId: "u", event: "opened" });
  await world.server.exported("events", "Few");
  const { page } = await opened(owner, "/events?tab=volume");
  await drawn(page, /^1$/);
  expect(await page.evaluate("window.drawnTexts.filter((text) => /^[0-9]+[.][0-9]$/.test(text))")).toEqual(
    [],
  );
});

test("a choice by mouse leaves no focus ring on the switch of organizations", async () => {
  await world.founder("Another");
  const { page } = await opened(world.first, "/users");
  await settled(page);
  const trigger = page.getByRole("button", { name: /^Organization: / });
  await trigger.click();
  await page.getByRole("menuitemradio", { name: "Another" }).click();
  await page.getByRole("button", { name: "Organization: Another. Switch" }).waitFor();
  await settled(page);
  expect(await page.locator("aside button:focus-visible").count()).toBe(0);
  // A keyboard gets its focus back.
  await trigger.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menu").waitFor();
  await page.keyboard.press("Escape");
  await becomes(() => page.locator("aside button:focus-visible").count(), 1);
});

test("the audit log has no name twice, and no names of the API", async () => {
  await world.server.organization("Logged");
  const owner = await joined(world.server, "Logged", "owner", "Mara Okonkwo");
  const query = "kind=email_domain&value=agency.example";
  await owner.json("POST", `${at(owner, "/api/exclusions")}&${query}`, undefined, 200);
  await owner.json(
    "PATCH",
    at(owner, "/api/settings"),
    { churnTargets: { user: { by: "event", event: "account_closed" } } },
    200,
  );
  const { page } = await opened(owner, "/settings/audit");
  const entries = page.getByRole("list", { name: /^Changes/ });
  await entries.getByText("Mara Okonkwo joined as owner").first().waitFor();
  await entries.getByText("Excluded: e-mails at agency.example", { exact: false }).waitFor();
  await entries.getByText("Changed the settings: Churn of users").waitFor();
  const text = (await entries.textContent()) ?? "";
  expect(text).not.toMatch(/Mara Okonkwo: Mara Okonkwo|email_domain|churnTargets/);
  expect(await axe(page)).toEqual([]);
});

describe("an empty organization", () => {
  test("shows that it has no events yet, and not that there is no such event", async () => {
    const { page } = await opened(empty, "/settings/scores");
    await page.getByText("No events yet").waitFor();
    await page.getByLabel("Find an event").fill("signed");
    await page.getByText("No such event").waitFor();
  });

  test("has an adoption without shares of 0 users", async () => {
    const { page } = await opened(empty, "/events?tab=adoption");
    await page.getByText("No active users in 28 days").waitFor();
    expect(await page.getByText("0 users").count()).toBe(0);
  });
});

test("live rows stand under names of their columns, and tell the whole reason", async () => {
  const token = await world.server.organization("Live");
  const owner = await joined(world.server, "Live", "owner", "Lia Live");
  const { page } = await opened(owner, "/events?tab=live");
  await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  const event = `${"x".repeat(120)} with white space`;
  const response = await world.server.post("/track", token, { userId: "u", event });
  const { message } = (await response.json()) as { message: string };
  const row = page
    .getByRole("list", { name: /^Items, the newest/ })
    .getByRole("button")
    .first();
  const reason = row.getByText(message);
  await reason.waitFor();
  const isWhole = await reason.evaluate((element) => {
    const { scrollWidth, clientWidth } = element as never as { scrollWidth: number; clientWidth: number };
    return scrollWidth <= clientWidth;
  });
  expect(isWhole).toBe(true);
  for (const name of ["Time", "Outcome", "Event", "User", "Reason", "Token"])
    await page.getByRole("region", { name: "Live" }).getByText(name, { exact: true }).first().waitFor();
  const left = async (text: string) =>
    (await page.getByRole("region", { name: "Live" }).getByText(text, { exact: true }).first().boundingBox())
      ?.x;
  expect(await left("Reason")).toBe((await reason.boundingBox())?.x);
  expect(await axe(page)).toEqual([]);
});
