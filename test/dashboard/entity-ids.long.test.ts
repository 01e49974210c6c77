/** The pages of users and accounts with ids that are hard to encode, unknown ids, and erased ids. */
import { beforeAll, describe, expect, test } from "bun:test";
import { joined } from "../people/support.ts";
import { axe, openInOrganization, openPage, phone, sidewaysPixels, signInAs } from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();

/** Users with ids that are hard to encode in an address. */
const strangeIds = ["a/b?c#d&e=f", "100%25 %zz", "🙂 naïve 空", "x".repeat(256), "..hidden", "true"];

beforeAll(async () => {
  const token = await server.organization("Strange", "--timezone", "Pacific/Auckland");
  for (const id of strangeIds) {
    const account = { id, name: `Account of ${id.slice(0, 20)}` };
    const body = { userId: id, email: "someone@example.com", account };
    expect((await server.post("/identify", token, body)).status).toBe(201);
  }
  const properties = { cart: { items: [{ sku: "A-1", price: 12.5 }], note: "" }, paid: true };
  const event = {
    userId: strangeIds[0],
    event: "checked_out",
    properties,
    timestamp: "2026-01-05T12:30:15Z",
  };
  expect((await server.post("/track", token, event)).status).toBe(201);
  const erasable = { userId: "to/erase", email: "gone@example.com" };
  const alone = { userId: "alone", email: "alone@example.com", account: { id: "own", name: "Alone Ltd" } };
  for (const body of [erasable, alone]) {
    expect((await server.post("/identify", token, body)).status).toBe(201);
  }
  await server.exported("users", "Strange");
});

/** A page of the organization, with a signed-in user. */
function open(path: string, options: Parameters<typeof openPage>[1] = {}) {
  return openInOrganization(browser, server, path, "Strange", options);
}

describe("an event", () => {
  test("opens by keyboard, with its properties as a tree and times of the organization's zone", async () => {
    const { page, complaints } = await open(`/users/${encodeURIComponent(strangeIds[0] ?? "")}`);
    const row = page.getByRole("button", { name: /checked_out/ });
    await row.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /checked_out/, expanded: true }).waitFor();
    // 12:30:15 in UTC, in New Zealand's summer.
    await page.getByText("01:30:15").waitFor();
    await page.getByRole("heading", { name: /6 January 2026$/ }).waitFor();
    for (const text of ["A-1", "12.5", "empty text", "Pacific/Auckland"]) {
      await page.getByText(text, { exact: false }).first().waitFor();
    }
    expect(await axe(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

describe("both pages", () => {
  test.each(strangeIds)("work for the id %s, also on a phone", async (id) => {
    const { page, complaints } = await open(`/users/${encodeURIComponent(id)}`, {
      viewport: phone,
    });
    await page.getByRole("heading", { level: 1, name: "someone@example.com" }).waitFor();
    await page
      .getByRole("region", { name: "Timeline" })
      .getByText(/that is all|No events yet/)
      .waitFor();
    expect(await sidewaysPixels(page)).toBe(0);
    await page.getByRole("link", { name: /^Account of/ }).click();
    await page.getByRole("heading", { level: 1, name: /^Account of/ }).waitFor();
    await page.getByRole("table", { name: "Members of this account" }).getByRole("link").waitFor();
    expect(await sidewaysPixels(page)).toBe(0);
    await page.getByRole("table", { name: "Members of this account" }).getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "someone@example.com" }).waitFor();
    expect(complaints).toEqual([]);
  });

  test.each(["/users/no%2Fbody", "/accounts/no%25body"])(
    "%s says that there is no such user or account",
    async (path) => {
      const { page } = await open(path);
      await page.getByRole("heading", { name: /There is no such/ }).waitFor();
      await page.getByText(/^no.body$/).waitFor();
      expect(await axe(page)).toEqual([]);
    },
  );
});

describe("erasing a user", () => {
  test("is not offered without the right to do it", async () => {
    const { page } = await openPage(browser);
    const viewer = await joined(server, "Strange", "viewer", "Vera Viewer");
    await signInAs(page, server, viewer);
    await page.goto(`${server.url}/o/${viewer.organization}/users/to%2Ferase`);
    await page.getByRole("heading", { level: 1, name: "gone@example.com" }).waitFor();
    expect(await page.getByRole("button", { name: "Erase …" }).count()).toBe(0);
  });

  test("takes typing the id, tells what was done, and leaves nothing", async () => {
    const { page, complaints } = await open("/users/to%2Ferase");
    await page.getByRole("button", { name: "Erase …" }).click();
    const button = page.getByRole("button", { name: "Erase for good" });
    expect(await button.isDisabled()).toBe(true);
    expect(await axe(page)).toEqual([]);
    const field = page.getByLabel("Type the user's id to confirm");
    await field.fill("to/erase ");
    expect(await button.isDisabled()).toBe(true);
    await field.fill("to/erase");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "This user is erased" }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.reload();
    await page.getByRole("heading", { name: "There is no such user" }).waitFor();
    expect(complaints).toEqual([]);
  });
});

describe("erasing an account", () => {
  test("takes typing its id, and leaves its member without an account", async () => {
    const [id = ""] = strangeIds;
    const { page, complaints } = await open(`/accounts/${encodeURIComponent(id)}`);
    await page.getByRole("button", { name: "Erase …" }).click();
    expect(await axe(page)).toEqual([]);
    await page.getByLabel("Type the account's id to confirm").fill(id);
    await page.getByRole("button", { name: "Erase for good" }).click();
    await page.getByRole("heading", { name: "This account is erased" }).waitFor();
    await page.getByText("Members, now in no account").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.reload();
    await page.getByRole("heading", { name: "There is no such account" }).waitFor();
    await page.goto(`${page.url().split("/accounts/")[0]}/users/${encodeURIComponent(id)}`);
    await page.getByRole("heading", { level: 1, name: "someone@example.com" }).waitFor();
    expect(await page.getByRole("link", { name: /^Account of/ }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("is offered with its only member, and done with it", async () => {
    const { page, complaints } = await open("/users/alone");
    await page.getByRole("button", { name: "Erase …" }).click();
    await page.getByLabel(/Also erase the account Alone Ltd/).check();
    await page.getByLabel("Type the user's id to confirm").fill("alone");
    await page.getByRole("button", { name: "Erase for good" }).click();
    await page.getByRole("heading", { name: "This user is erased" }).waitFor();
    await page.goto(`${page.url().split("/users/")[0]}/accounts/own`);
    await page.getByRole("heading", { name: "There is no such account" }).waitFor();
    expect(complaints).toEqual([]);
  });
});
