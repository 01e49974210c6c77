/** The hits of the command palette, and how they differ from each other. */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { company } from "../people/support.ts";
import { SettingsWorld } from "./settings-support.ts";
import { axe, comesTrue, type Somebody } from "./support.ts";

const world = await SettingsWorld.shared();
let people: Awaited<ReturnType<typeof company>>;

beforeAll(async () => {
  people = await company(world.server, "Found");
  const { token, owner, at } = people;
  const batch = Array.from({ length: 8 }, (_, n) => ({
    type: "identify",
    userId: `u${n}`,
    email: `yilmaz${n}@example.com`,
    properties: { name: n < 2 ? "Priya Yilmaz" : `Person ${n} Yilmaz` },
    account: { id: "acme", name: "Acme" },
  }));
  expect((await world.server.post("/batch", token, { batch })).status).toBe(201);
  await world.server.post("/track", token, { userId: "u0", event: "report_created" });
  await world.server.exported("events", "Found");
  const view = { page: "users", name: "Quiet ones", query: "state=active" };
  await owner.json("POST", at("/api/views"), view, 201);
});

const field = (page: Page) => page.getByRole("combobox", { name: "Find a page, a user or an account" });

/** The palette, with a text, on a page of a signed-in user. */
async function found(somebody: Somebody, text: string): Promise<Page> {
  const { page } = await world.pageOf(somebody);
  await page.goto(`${world.server.url}/o/${people.organization}/model`);
  await page.locator("h1").waitFor();
  await page.keyboard.press("Control+k");
  await field(page).fill(text);
  return page;
}

test.each([
  ["invite", /Members/, "/settings/members"],
  ["timezone", /Organization/, "/settings/organization"],
  ["password", /Your account/, "/settings/account"],
  ["report_created", /report_created/, "/events?event=report_created"],
  ["quiet", /Quiet ones/, "/users?state=active&view=*"],
])("%s is found, and Enter goes there", async (text, name, address) => {
  const page = await found(people.owner, text);
  await page.getByRole("option", { name }).waitFor();
  await field(page).press("Enter");
  await page.waitForURL(`**/o/${people.organization}${address}`);
});

test.each([
  ["owner", ["Project tokens", "Read keys"]],
  ["member", ["Project tokens"]],
  ["viewer", []],
] as const)("of the settings a %s finds those that the role may see", async (role, labels) => {
  const page = await found(people[role], "revoke");
  await page.getByText(labels.length === 0 ? "No results" : `${labels.length} found`).waitFor({
    state: "attached",
  });
  expect(await page.getByRole("option").locator("span:first-of-type").allTextContents()).toEqual([...labels]);
});

test("the appearance is changed", async () => {
  const page = await found(people.viewer, "dark");
  await page.getByRole("option", { name: /^Dark/ }).waitFor();
  await field(page).press("Enter");
  await comesTrue(page, "document.documentElement.dataset.theme === 'dark'");
  await field(page).waitFor({ state: "detached" });
});

test("users of one name are distinguished by their addresses", async () => {
  const page = await found(people.viewer, "priya");
  for (const address of ["yilmaz0@example.com", "yilmaz1@example.com"]) {
    await page.getByRole("option", { name: new RegExp(`Priya Yilmaz.*${address}.*Acme`) }).waitFor();
  }
  expect(await axe(page)).toEqual([]);
});

test("an account whose name begins with the text comes before its members, whose addresses have it", async () => {
  const { token } = people;
  const sorn = ["a", "b", "c"].map((userId) => ({
    type: "identify",
    userId: `member-${userId}`,
    email: `${userId}@sornebis.example`,
    account: { id: "c-77", name: "Sornebis" },
  }));
  expect((await world.server.post("/batch", token, { batch: sorn })).status).toBe(201);
  await world.server.exported("users", "Found");
  const page = await found(people.viewer, "sornebis");
  await page.getByRole("option", { name: /a@sornebis/ }).waitFor();
  expect(await page.getByRole("option").first().locator("span").first().textContent()).toBe("Sornebis");
});

test("the palette says how many users there are beyond its list, and leads to all of them", async () => {
  const page = await found(people.viewer, "yilmaz");
  const all = page.getByRole("option", { name: /^All 8 users with “yilmaz”/ });
  await all.waitFor();
  expect(await page.getByRole("option").count()).toBe(7);
  await page.getByText("8 found").waitFor({ state: "attached" });
  expect(await axe(page)).toEqual([]);
  await all.click();
  await page.waitForURL(/\/users\?search=yilmaz&excluded=included$/);
  await page.getByText("8 users", { exact: true }).waitFor();
});
