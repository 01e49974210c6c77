/** People's way in, through the pages: claiming, signing out and in, an invitation, a new password. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { password } from "../people/support.ts";
import { Server } from "../server.ts";
import { startBrowser } from "./chromium.ts";
import { openPage } from "./support.ts";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), startBrowser()]);
  await server.ready();
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** The link in a text, as the path that it leads to. */
function pathIn(text: string, page: string): string {
  const path = new RegExp(`/${page}#[A-Za-z0-9_-]+`).exec(text)?.[0];
  if (path === undefined) throw new Error(`no link to ${page} in:\n${text}`);
  return path;
}

const overview = (page: Page) => page.getByRole("heading", { name: "Overview" }).waitFor();

test("the link of the first start makes the owner, who signs out and in again", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(server.url + pathIn(server.output(), "claim"));
  await page.getByLabel("Your name").fill("Ada Lovelace");
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password", { exact: true }).fill("too short");
  await page.getByRole("button", { name: "Create account" }).click();
  expect(page.url()).toEndWith("/claim");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Start" }).waitFor();

  await page.getByRole("button", { name: /Ada Lovelace/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.goto(`${server.url}/o/1/users?order=ascending`);
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password", { exact: true }).fill("wrong password");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Users" }).waitFor();
  await page.waitForURL(`${server.url}/o/1/users?order=ascending`);
  expect(complaints).toEqual([]);
});

/** Follows an invitation to an organization. */
async function join(page: Page, name: string, organization: string, hasAccount: boolean): Promise<void> {
  const email = `${name.toLowerCase()}@example.com`;
  const said = await server.command("member", "invite", email, "--organization", organization);
  await page.goto(server.url + pathIn(said, "invitation"));
  await page.getByRole("heading", { name: `Join ${organization}` }).waitFor();
  if (hasAccount) await page.getByRole("button", { name: "I have an account already" }).click();
  else await page.getByLabel("Your name").fill(name);
  await page
    .getByLabel(/password/i)
    .first()
    .fill(password);
  await page.getByRole("button", { name: "Join" }).click();
  await overview(page);
}

test("an invited person chooses a name and a password, and switches between organizations", async () => {
  await server.organization("Other");
  const { page, complaints } = await openPage(browser);
  for (const organization of ["default", "Other"]) {
    await join(page, "Bo", organization, organization !== "default");
  }
  await page.getByRole("button", { name: /^Organization/ }).click();
  const other = (await page.getByRole("menuitemradio", { checked: false }).textContent()) ?? "";
  await page.getByRole("menuitemradio", { checked: false }).click();
  await page.getByRole("button", { name: `Organization: ${other}. Switch` }).waitFor();
  expect(complaints).toEqual([]);
});

test("a session that ends elsewhere ends on the page, too", async () => {
  const { page, complaints } = await openPage(browser);
  await join(page, "Cy", "default", false);
  await page.context().clearCookies();
  // A question that the page asks by itself may end the session before the link is reached.
  const leaving = page.getByRole("link", { name: "Model" }).click();
  leaving.catch(() => undefined);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  // The browser reports the refused requests. The page itself must not fail before it is left.
  expect(complaints.filter((complaint) => !complaint.includes("401"))).toEqual([]);
});
