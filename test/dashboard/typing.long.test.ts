/** Fields in which a letter, a key or a choice was lost, or acted before it was whole. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { fieldsOf, problemsOf } from "../../dashboard/pages/sources/webhook-fields.ts";
import { joined } from "../people/support.ts";
import { user } from "../specification/support.ts";
import { becomes } from "../until.ts";
import { at, SettingsWorld } from "./settings-support.ts";
import { axe, comesTrue, type Somebody, settled } from "./support.ts";

const world = await SettingsWorld.shared();
let owner: Somebody;
beforeAll(async () => {
  const token = await world.server.organization("Typed");
  owner = await joined(world.server, "Typed", "owner", "Toni Typed");
  for (const [id, name] of [
    ["u1", "Bo Ring"],
    ["u2", "Bob Able"],
  ] as const) {
    await world.server.post("/identify", token, {
      ...user(id),
      email: `${id}@example.com`,
      properties: { name },
    });
  }
  const properties = { page: "start", pages: 3 };
  for (const event of ["report_created", "signed_in"]) {
    await world.server.post("/track", token, { userId: "u1", event, properties });
  }
  await world.server.exported("events", "Typed");
});

const palette = (page: Page) => page.getByRole("combobox", { name: "Find a page, a user or an account" });

const opened = async (path: string) => {
  const watched = await world.pageOf(owner);
  await watched.page.goto(`${world.server.url}/o/${owner.organization}${path}`);
  await watched.page.locator("h1").waitFor();
  return watched;
};

test("a property can be typed whose name begins with that of another", async () => {
  const { page } = await opened("/events?by=property");
  const field = page.getByLabel("Property", { exact: true });
  await page.getByRole("button", { name: "pages", exact: true }).waitFor();
  await field.pressSequentially("pages", { delay: 30 });
  expect(await field.inputValue()).toBe("pages");
  await page.keyboard.press("Enter");
  await comesTrue(page, "new URLSearchParams(location.search).get('key') === 'pages'");
  await page.getByRole("button", { name: "All events" }).waitFor({ state: "detached" });
});

describe("the palette", () => {
  test("opens by Enter what was typed, and not a hit of the letters before", async () => {
    const { page } = await opened("/model");
    const held = Promise.withResolvers<void>();
    await page.route("**/api/users?*search=bob*", async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.keyboard.press("Control+k");
    await palette(page).fill("bo");
    await page.getByRole("option", { name: /Bo Ring/ }).waitFor();
    await palette(page).press("b");
    await palette(page).press("Enter");
    held.resolve();
    await page.waitForURL("**/users/u2");
  });

  test("keeps the letters that are typed before it is there", async () => {
    const { page } = await world.pageOf(owner);
    const held = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    await page.route(/\/assets\/palette[^/]*\.js$/, async (route) => {
      asked.resolve();
      await held.promise;
      await route.continue();
    });
    await page.goto(`${world.server.url}/o/${owner.organization}/model`);
    await page.locator("h1").waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("retx");
    await page.keyboard.press("Backspace");
    await asked.promise;
    held.resolve();
    const field = palette(page);
    await becomes(() => field.inputValue(), "ret");
    await page.keyboard.type("en");
    await becomes(() => field.inputValue(), "reten");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/retention");
  });
});

test("columns that were chosen stay when a view is left, without a reload", async () => {
  const { page } = await opened("/users");
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("menuitemcheckbox", { name: "E-mail" }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("columnheader", { name: "E-mail" }).waitFor();
  await page.getByRole("link", { name: "All users" }).click();
  await page.waitForURL((url) => !url.searchParams.has("columns"));
  await settled(page);
  await page.getByRole("columnheader", { name: "E-mail" }).waitFor();
});

test("the search of events is emptied with the list's, and does not ask by every letter", async () => {
  const { page } = await opened("/events");
  const field = page.getByLabel("Search events");
  const searches: string[] = [];
  page.on("request", (request) => {
    const search = new URL(request.url()).searchParams.get("search");
    if (search !== null) searches.push(search);
  });
  await page.getByRole("link", { name: "signed_in", exact: true }).waitFor();
  // The page's time stands still while the letters come, however long the machine takes for them.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1_000);
  await field.pressSequentially("report");
  await page.clock.resume();
  const row = page.getByRole("link", { name: "report_created", exact: true });
  await page.waitForURL((url) => url.searchParams.get("search") === "report");
  await page.getByRole("link", { name: "signed_in", exact: true }).waitFor({ state: "detached" });
  expect(new Set(searches)).toEqual(new Set(["report"]));
  await row.click();
  await page.getByRole("heading", { name: "report_created" }).waitFor();
  await page.getByRole("link", { name: "signed_in", exact: true }).waitFor();
  await becomes(() => field.inputValue(), "");
  expect(await axe(page)).toEqual([]);
});

test("letters go with their search when a row is chosen before the search is in the address", async () => {
  const { page } = await world.pageOf(owner);
  // The row is chosen between the change of the address and the page that follows it.
  await page.addInitScript(`{
    const replace = History.prototype.replaceState;
    History.prototype.replaceState = function (...call) {
      replace.apply(this, call);
      if (window.wasChosen || !location.search.includes("search=rep")) return;
      window.wasChosen = true;
      const row = [...document.querySelectorAll("a")].find((a) => a.textContent === "report_created");
      queueMicrotask(() => row.click());
    };
  }`);
  await page.goto(`${world.server.url}/o/${owner.organization}/events`);
  const field = page.getByLabel("Search events");
  await page.getByRole("link", { name: "report_created", exact: true }).waitFor();
  await field.pressSequentially("rep");
  await page.waitForURL((url) => url.searchParams.get("event") === "report_created");
  await page.getByRole("heading", { name: "report_created" }).waitFor();
  expect(new URL(page.url()).searchParams.get("search")).toBeNull();
  await page.getByRole("link", { name: "signed_in", exact: true }).waitFor();
  await becomes(() => field.inputValue(), "");
  // The same letters are a new search.
  await field.pressSequentially("rep");
  await page.waitForURL((url) => url.searchParams.get("search") === "rep");
  await page.getByRole("link", { name: "signed_in", exact: true }).waitFor({ state: "detached" });
});

describe("a webhook", () => {
  test("is not saved with fields that its mapping cannot hold: the field says so", async () => {
    const { page } = await opened("/sources?open=webhook");
    const saves: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") saves.push(request.url());
    });
    await page.getByRole("button", { name: "Add webhook" }).click();
    await page.getByLabel("Name", { exact: true }).fill("forms");
    await page.getByLabel("The user's id").fill("user.id");
    await page.getByLabel("The event's name").fill("type");
    await page.getByLabel("… or always").fill("form_sent");
    await page.getByLabel("The account's name").fill("team.name");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Give either a path or a fixed name, not both.").waitFor();
    await page.getByText("An account's name needs the path of its id.").waitFor();
    expect(await axe(page)).toEqual([]);
    expect(saves).toEqual([]);
    await page.getByLabel("The account's id").fill("team.id");
    await page.getByLabel("… or always").fill("");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Change the webhook forms" }).waitFor();
    type Answer = { webhooks: { mapping: object }[] };
    const { webhooks } = await owner.json<Answer>("GET", at(owner, "/api/webhooks"));
    expect(webhooks[0]?.mapping).toEqual({
      userId: "user.id",
      event: { path: "type" },
      account: { id: "team.id", name: "team.name" },
    });
  });

  test("with an id or one name alone is whole", () => {
    expect(problemsOf({ ...fieldsOf({}), accountId: "team", eventText: "sent" })).toEqual({});
  });
});

test("a date is asked for when it is typed whole: one question, one entry of the history", async () => {
  const { page } = await opened("/retention");
  await settled(page);
  const asked: string[] = [];
  page.on("request", (request) => {
    const from = new URL(request.url()).searchParams.get("from");
    if (from !== null) asked.push(from);
  });
  const before = await page.evaluate("history.length");
  await page.getByRole("button", { name: /^More/ }).click();
  await page.getByLabel("First cohort").focus();
  // As days are written on all pages, whatever the browser's own language.
  await page.keyboard.type("2 nov 2026", { delay: 20 });
  await page.keyboard.press("Enter");
  await becomes(() => page.getByLabel("First cohort").inputValue(), "2 Nov 2026");
  await comesTrue(page, "new URLSearchParams(location.search).get('from') === '2026-11-02'");
  await settled(page);
  expect([...new Set(asked)]).toEqual(["2026-11-02"]);
  expect(await page.evaluate("history.length")).toBe((before as number) + 1);
});
