/** An account that a page gave its user with a browser token is marked on both pages, with what the page said
 * of it, until a server says it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser as Chromium, Page } from "playwright-core";
import { Server } from "../server.ts";
import { startBrowser } from "./chromium.ts";
import { axe, openInOrganization, settled } from "./support.ts";

let server: Server;
let browser: Chromium;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const marked = "said by a page";

/** The value of a trait or an attribute, with what stands beside it. */
function fieldNamed(page: Page, name: string) {
  return page
    .locator("dl > div")
    .filter({ has: page.locator("dt", { hasText: name }) })
    .locator("dd");
}

async function textsOf(page: Page, ...names: string[]): Promise<string[]> {
  return Promise.all(
    names.map(async (name) =>
      ((await fieldNamed(page, name).textContent()) ?? "").replaceAll(/\s+/g, " ").trim(),
    ),
  );
}

test("from a browser token to the pages, and a server's value takes the mark away", async () => {
  const name = "Said by pages";
  const token = await server.organization(name);
  const create = ["token", "create", "--organization", name, "--scope", "browser"];
  const pages = (await server.command(...create)).trim();
  const visit = { anonymousId: "visit-1", userId: "gina" };
  const traits = { email: "gina@example.com" };
  expect((await server.post("/v1/identify", pages, { ...visit, traits })).status).toBe(200);
  const group = { ...visit, groupId: "gco", traits: { name: "Acme Inc", tier: "gold", city: "Kiel" } };
  expect((await server.post("/v1/group", pages, group)).status).toBe(200);
  const account = { id: "gco", name: "Acme Ltd", properties: { tier: "silver" } };
  const said = { userId: "gina", email: "gina@example.com", account };
  await server.ready();
  await server.exported("users", name);

  const { page, complaints, id } = await openInOrganization(browser, server, "/users/gina", name);
  await settled(page);
  await page.getByText(`at Acme Inc ${marked}`).waitFor();
  expect(await axe(page)).toEqual([]);

  await page.goto(`${server.url}/o/${id}/accounts/gco`);
  await settled(page);
  expect(await textsOf(page, "tier", "city")).toEqual([`gold ${marked}`, `Kiel ${marked}`]);
  await page.getByText(`name ${marked}`).waitFor();
  expect(await axe(page)).toEqual([]);

  expect((await server.post("/identify", token, said)).status).toBe(201);
  await server.exported("accounts", name);
  await page.reload();
  await settled(page);
  expect(await textsOf(page, "tier", "city")).toEqual(["silver", `Kiel ${marked}`]);
  expect(await page.getByText(`name ${marked}`).count()).toBe(0);
  await page.goto(`${server.url}/o/${id}/users/gina`);
  await page.getByText("at Acme Ltd").waitFor();
  expect(await page.getByText(marked).count()).toBe(0);
  expect(complaints).toEqual([]);
});
