/** Lists with many rows, long names and narrow windows: no row is missed, nothing covers anything, and the
 * CSV is whole. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { joined } from "../people/support.ts";
import { SettingsWorld } from "./settings-support.ts";
import { axe, comesTrue, phone, type Somebody, settled, sidewaysPixels } from "./support.ts";

const users = 450;
const longName = "Wolfeschlegelsteinhausenbergerdorff".repeat(6);

const world = await SettingsWorld.shared();
let owner: Somebody;
let token: string;
beforeAll(async () => {
  token = await world.server.organization("Long");
  owner = await joined(world.server, "Long", "owner", "Lena Long");
  await joined(world.server, "Long", "viewer", longName.slice(0, 190));
  const batch = Array.from({ length: users }, (_, index) => ({
    type: "identify",
    userId: idOf(index),
    email: `${idOf(index)}@example.com`,
    properties: { name: index === 3 ? longName : `User ${index}`, plan: index % 2 === 0 ? "pro" : "free" },
    account:
      index === 3 ? { id: "long", name: longName } : { id: `a${index % 20}`, name: `Account ${index % 20}` },
  }));
  const tracks = batch.map(({ userId }) => ({ type: "track", userId, event: "report_created" }));
  await world.server.post("/batch", token, { batch: [...batch, ...tracks] });
  await world.server.post("/track", token, { userId: "u0003", event: longName.slice(0, 200) });
  await world.server.exported("events", "Long");
});

const idOf = (index: number) => `u${String(index).padStart(4, "0")}`;

async function opened(path: string, options: Parameters<SettingsWorld["pageOf"]>[1] = {}) {
  const watched = await world.pageOf(owner, options);
  await watched.page.goto(`${world.server.url}/o/${owner.organization}${path}`);
  await watched.page.locator("h1").waitFor();
  return watched;
}

const byId = "/users?sort=userId&order=ascending";
/** Reads a list on to its end, page after page. */
const readToTheEnd = (page: Page) =>
  comesTrue(
    page,
    `(() => {
      const more = [...document.querySelectorAll("button")].find((one) => one.textContent === "Load more");
      if (more !== undefined && !more.disabled) more.click();
      return more === undefined;
    })()`,
  );

describe("a list that is read on", () => {
  test("misses no row when rows before it leave the list meanwhile", async () => {
    const { page } = await opened(`${byId}&search=User`);
    await settled(page);
    const seen = new Set<string>();
    page.on("response", async (response) => {
      if (!response.url().includes("/api/users?")) return;
      const answer = (await response.json()) as { users: { userId: string }[] };
      for (const { userId } of answer.users) seen.add(userId);
    });
    const renamed = Array.from({ length: 30 }, (_, index) => ({
      type: "identify",
      userId: idOf(index),
      email: `${idOf(index)}@example.com`,
      properties: { name: index === 3 ? longName : `Person ${index}` },
    }));
    await world.server.post("/batch", token, { batch: renamed });
    await world.server.exported("users", "Long");
    await readToTheEnd(page);
    await settled(page);
    const rest = Array.from({ length: users - 200 }, (_, index) => idOf(index + 200));
    expect(rest.filter((id) => !seen.has(id))).toEqual([]);
  });

  test("is not read again as a whole for a name of a view", async () => {
    const { page } = await opened(byId);
    await settled(page);
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByLabel("Name", { exact: true }).fill("By id");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "By id" }).waitFor();
    await readToTheEnd(page);
    await settled(page);
    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/api/users?")) asked.push(request.url());
    });
    await page.getByRole("button", { name: /^View options/ }).click();
    await page.getByRole("menuitem", { name: /^Rename/ }).click();
    await page.getByLabel("Name", { exact: true }).fill("By their id");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "By their id" }).waitFor();
    await settled(page);
    expect(asked).toEqual([]);
  });
});

test("a second column that is chosen before the address has the first does not undo it", async () => {
  const { page } = await opened("/users?columns=health");
  await settled(page);
  await page.getByRole("button", { name: "Columns" }).click();
  for (const name of ["Churn risk", "Engagement"]) {
    await page.getByRole("menuitemcheckbox", { name }).waitFor();
  }
  await page.evaluate(`(async () => {
    for (const name of ["Churn risk", "Engagement"]) {
      [...document.querySelectorAll("[role=menuitemcheckbox]")].find((one) => one.textContent === name).click();
      await null;
    }
  })()`);
  await page.keyboard.press("Escape");
  for (const name of ["Health", "Churn risk", "Engagement"]) {
    await page.getByRole("columnheader", { name }).waitFor();
  }
});

test("the CSV of a list has all rows, the columns that are shown, and says what it is", async () => {
  const { page } = await opened("/users?sort=userId&order=ascending&healthBand=none");
  await settled(page);
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("menuitemcheckbox", { name: "plan" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Churn risk" }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("columnheader", { name: "plan" }).waitFor();
  await page.getByRole("columnheader", { name: "Churn risk" }).waitFor({ state: "detached" });
  const total = await page.getByRole("table").getAttribute("aria-rowcount");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "CSV" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^users-none-\d{4}-\d{2}-\d{2}\.csv$/);
  const bytes = await Bun.file(await download.path()).bytes();
  expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  const text = new TextDecoder().decode(bytes);
  const lines = text.trimEnd().split("\r\n");
  expect(lines[0]).toBe(
    "userId,name,email,controlUntil,verdict,health,change,engagement,accountId,accountName,owner,lastSeenDay,traits.plan",
  );
  expect(lines.length).toBe(Number(total));
});

describe("a long name", () => {
  test.each([
    ["/users?search=Wolfe", "Users"],
    ["/accounts?search=Wolfe", "Accounts"],
    ["/events?search=Wolfe", "Every event by name"],
  ])("leaves the other columns of %s in sight, and is whole in its title", async (path, name) => {
    const { page } = await opened(path);
    const table = page.getByRole("table", { name });
    await table.waitFor();
    await settled(page);
    const cell = table.locator("tbody td").first();
    expect((await cell.boundingBox())?.width).toBeLessThan(600);
    const box = await table.locator("tbody td").nth(1).boundingBox();
    expect(box?.x).toBeLessThan(900);
    expect(await cell.locator("[title*=Wolfe], [title*=wolfe]").count()).toBeGreaterThan(0);
    expect(await sidewaysPixels(page)).toBe(0);
  });

  test("of a member leaves the role and the button to remove them in sight", async () => {
    const { page } = await opened("/settings/members");
    const remove = page.getByRole("button", { name: /^Remove / });
    await remove.waitFor();
    const right = async (box: { x: number; width: number } | null) => (box?.x ?? 0) + (box?.width ?? 0);
    expect(await right(await remove.boundingBox())).toBeLessThan(1440);
    const role = page.getByRole("combobox", { name: /^Role of Wolfe/ });
    expect((await role.boundingBox())?.width).toBeGreaterThan(120);
  });

  test("and a phone: roles can be read, and the page is as wide as the window", async () => {
    const { page } = await opened("/settings/members", { viewport: phone });
    await settled(page);
    expect(await sidewaysPixels(page)).toBe(0);
    const box = await page.getByRole("combobox", { name: /^Role of Wolfe/ }).boundingBox();
    expect(box?.width).toBeGreaterThan(120);
    expect((box?.x ?? phone.width) + 120).toBeLessThan(phone.width);
    expect(await page.evaluate("innerWidth")).toBe(phone.width);
    expect(await axe(page)).toEqual([]);
  });

  test("of a person leaves the sign of their menu whole", async () => {
    const viewer = await joined(world.server, "Long", "viewer", `Second ${longName}`.slice(0, 190));
    const { page } = await world.pageOf(viewer);
    await page.goto(`${world.server.url}/o/${viewer.organization}/users`);
    await page.locator("h1").waitFor();
    await comesTrue(page, "document.querySelectorAll('aside button svg').length > 1");
    const icon = page.locator("aside button:has-text('Second') svg");
    expect((await icon.boundingBox())?.width).toBeGreaterThanOrEqual(14);
  });
});
