/** The pages of users and accounts: what they show is what the API says, and every view of them is an
 * address. */
import { describe, expect, test } from "bun:test";
import { joined } from "../people/support.ts";
import { becomes } from "../until.ts";
import {
  asReader,
  axe,
  comesTrue,
  openInOrganization,
  openPage,
  phone,
  settled,
  sidewaysPixels,
  signedIn,
  signInAs,
  whileStarting,
} from "./support.ts";
import { columnTexts, rowNames, untilShown } from "./tables.ts";
import { world } from "./world.ts";

const { server, browser } = await world();

interface Row {
  readonly userId?: string;
  readonly accountId?: string | null;
  readonly email?: string;
  readonly name: string | null;
  readonly health: number | null;
  readonly members?: number;
}

const open = (path: string, options: Parameters<typeof openPage>[1] = {}) =>
  openInOrganization(browser, server, path, "Demo", options);

const label = ({ name, email, accountId }: Row) => name || email || accountId || "";

describe("users", () => {
  test("are those of the API, with its filters and its order, and the address keeps both", async () => {
    const { page, complaints } = await open("/users");
    await page.getByRole("table", { name: "Users" }).waitFor();
    await page.getByLabel("Verdict").selectOption({ label: "Healthy" });
    await page.getByRole("button", { name: "Health" }).click();
    await page.waitForURL(/verdict=healthy.*sort=health|sort=health.*verdict=healthy/);
    type Answer = { total: number; users: Row[] };
    const query = "/api/users?verdict=healthy&sort=health&order=descending&limit=20";
    const { total, users } = await asReader<Answer>(page, query);
    expect(total).toBeGreaterThan(20);
    await untilShown(page, users.map(label));
    await page.getByText(new RegExp(`^${total} users$`)).waitFor();
    expect((await columnTexts(page, "Verdict"))[0]).toBe("Healthy");
    expect((await columnTexts(page, "Health"))[0]).toBe(String(Math.floor(users[0]?.health ?? -1)));
    await page.reload();
    await untilShown(page, users.map(label));
    expect(await page.getByLabel("Verdict").inputValue()).toBe("healthy");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByText(/^22\d users$/).waitFor();
    await page.waitForURL((url) => !url.searchParams.has("verdict"));
    expect(complaints).toEqual([]);
  });

  test("are filtered by the verdict in the line, and by health and churn risk under More", async () => {
    const { page, complaints } = await open("/users");
    await page.getByRole("table", { name: "Users" }).waitFor();
    const filters = page.getByRole("search", { name: "Filter users" });
    expect(await filters.getByLabel("Verdict").count()).toBe(1);
    expect(await page.getByRole("combobox", { name: "Health", exact: true }).count()).toBe(0);
    await filters.getByRole("button", { name: "More" }).click();
    await page.getByRole("combobox", { name: "Health", exact: true }).selectOption({ label: "Watch" });
    await page.waitForURL(/healthBand=watch/);
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    const { total } = await asReader<{ total: number }>(page, "/api/users?healthBand=watch&limit=1");
    await page.getByText(new RegExp(`^${total} users?$`)).waitFor();
    await filters.getByRole("button", { name: "Remove the filter Health: Watch" }).click();
    await page.waitForURL((url) => !url.searchParams.has("healthBand"));
    expect(complaints).toEqual([]);
  });

  test("are found by a trait that is chosen from those there are, which can be a column to sort by", async () => {
    const { page } = await open("/users");
    await page.getByRole("button", { name: "Trait" }).click();
    await page.getByLabel("Trait", { exact: true }).fill("plan");
    await page.getByText(/users have it/).waitFor();
    const field = page.getByLabel("Value");
    const value = await page
      .locator(`datalist[id="${await field.getAttribute("list")}"] option`)
      .first()
      .getAttribute("value");
    await field.fill(value ?? "");
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name: "Show these users" }).click();
    await page.getByText(`plan is ${value}`).waitFor();
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("menuitemcheckbox", { name: "plan" }).click();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("columnheader", { name: "plan" }).getByRole("button").click();
    await page.waitForURL(/sort=trait/);
    const { users, total } = await asReader<{ total: number; users: Row[] }>(
      page,
      `/api/users?trait=plan&value=${value}&sort=trait&sortTrait=plan&order=ascending`,
    );
    await untilShown(page, users.slice(0, 10).map(label));
    await page.getByText(new RegExp(`^${total} users?$`)).waitFor();
    const address = page.url();
    expect(new URL(address).searchParams.get("columns")).toContain("trait");
    await page.reload();
    await page.getByRole("columnheader", { name: "plan" }).waitFor();
    await page.getByRole("button", { name: "Trait" }).click();
    await page.getByLabel("Trait", { exact: true }).fill("name");
    await page.getByLabel("Compared").selectOption("contains");
    await page.getByLabel("Value").fill("a");
    await page.getByRole("button", { name: "Show these users" }).click();
    await page.getByText("name contains a").waitFor();
    const both = JSON.stringify([
      { trait: "plan", match: "is", value },
      { trait: "name", match: "contains", value: "a" },
    ]);
    const fewer = await asReader<{ total: number }>(page, `/api/users?traits=${encodeURIComponent(both)}`);
    expect(fewer.total).toBeLessThan(total);
    await page.getByText(new RegExp(`^${fewer.total} users?$`)).waitFor();
    for (const filter of ["name contains a", `plan is ${value}`]) {
      await page.getByRole("button", { name: `Remove the filter ${filter}` }).click();
    }
    await page.getByText(/^22\d users$/).waitFor();
  });

  test("come as they are scrolled to, and are opened by keys alone", async () => {
    const { page } = await open("/users?sort=userId&order=ascending");
    const { total, users } = await asReader<{ total: number; users: Row[] }>(
      page,
      "/api/users?sort=userId&order=ascending&limit=1000",
    );
    await untilShown(page, users.slice(0, 5).map(label));
    await settled(page);
    expect(await page.getByRole("table").getAttribute("aria-rowcount")).toBe(String(total + 1));
    expect((await rowNames(page)).length).toBeLessThan(60);
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement.type")).toBe("search");
    await page.getByRole("region", { name: "Users", exact: true }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const focused = () => page.evaluate<string | null>("document.activeElement.textContent");
    await becomes(focused, label(users[1] as Row));
    await page.keyboard.press("End");
    await comesTrue(
      page,
      `document.activeElement.closest("tr")?.dataset.index === "${Math.min(199, total - 1)}"`,
    );
    // More than one page of the server: the rest has come meanwhile.
    await comesTrue(page, `!document.body.textContent.includes("more come as you scroll")`);
    await page.keyboard.press("End");
    await comesTrue(page, `document.activeElement.closest("tr")?.dataset.index === "${total - 1}"`);
    await becomes(focused, label(users.at(-1) as Row));
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`/users/${encodeURIComponent(users.at(-1)?.userId ?? "")}$`));
  });

  test("are searched while one types, and an empty result is shown", async () => {
    const { page } = await open("/users");
    const { users } = await asReader<{ users: Row[] }>(page, "/api/users?limit=1");
    const email = users[0]?.email ?? "";
    // Before the page is there, the slash is the palette's.
    await settled(page);
    await page.keyboard.press("/");
    await page.keyboard.type(email);
    await page.waitForURL(/search=/);
    await untilShown(page, [label(users[0] as Row)]);
    await page.getByText(/^1 user$/).waitFor();
    await page.keyboard.type("nobody");
    await page.getByText("No user matches").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name: "Clear filters" }).last().click();
    await page.getByText(/^22\d users$/).waitFor();
    await becomes(() => page.getByLabel("Search users").inputValue(), "");
  });
});

test("accounts are those of the API, and lead to their members", async () => {
  const { page, complaints } = await open("/accounts?sort=members");
  const { accounts } = await asReader<{ accounts: Row[] }>(page, "/api/accounts?sort=members&limit=10");
  await untilShown(page, accounts.slice(0, 5).map(label));
  const [first] = accounts;
  await page
    .getByRole("link", { name: String(first?.members), exact: true })
    .first()
    .click();
  await page.waitForURL(/\/users\?account=/);
  await page.getByText(`Account ${first?.accountId}`).waitFor();
  const { total } = await asReader<{ total: number }>(
    page,
    `/api/users?account=${encodeURIComponent(first?.accountId ?? "")}`,
  );
  await page.getByText(new RegExp(`^${total} users?$`)).waitFor();
  expect(complaints).toEqual([]);
});

describe("views", () => {
  test("are saved, opened, changed, renamed and deleted", async () => {
    const { page, complaints } = await open("/users?healthBand=healthy&sort=health");
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Healthy ones");
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Enter");
    const link = page.getByRole("link", { name: /^Healthy ones/ });
    await link.waitFor();
    await page.waitForURL(/view=\d+/);
    await page.getByLabel("Verdict").selectOption({ label: "Healthy" });
    await page.getByRole("link", { name: "Healthy ones · changed" }).waitFor();
    await page.getByRole("button", { name: /^View options/ }).click();
    await page.getByRole("menuitem", { name: "Save changes" }).click();
    await page.getByRole("button", { name: "Change the view" }).click();
    await page.getByRole("link", { name: "Healthy ones", exact: true }).waitFor();
    await page.getByRole("link", { name: "All users" }).click();
    await comesTrue(page, "!location.search.includes('verdict')");
    await link.click();
    await page.waitForURL(/verdict=healthy/);
    await page.getByRole("button", { name: "Remove the filter Health: Healthy" }).waitFor();
    await page.getByRole("button", { name: /^View options/ }).click();
    await page.getByRole("menuitem", { name: /^Rename/ }).click();
    await page.getByLabel("Name", { exact: true }).fill("Well");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Well", exact: true }).waitFor();
    await page.getByRole("button", { name: /^View options/ }).click();
    await page.getByRole("menuitem", { name: /^Delete/ }).click();
    await page.getByRole("alertdialog").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name: "Delete the view" }).click();
    await page.getByRole("link", { name: "Well" }).waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  test("and addresses from before a filter was renamed show the same list", async () => {
    const { page, complaints } = await open("/users?colour=healthy&band=low");
    await page.getByRole("button", { name: "Remove the filter Health: Healthy" }).waitFor();
    await page.getByRole("button", { name: "Remove the filter Churn risk: Low risk" }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("cannot be saved by viewers, who open them", async () => {
    const viewer = await joined(server, "Demo", "viewer", "Vera Viewer");
    const { page } = await openPage(browser);
    await signInAs(page, server, viewer);
    await page.goto(`${server.url}/o/${viewer.organization}/users?healthBand=healthy`);
    await page.getByRole("table", { name: "Users" }).waitFor();
    expect(await page.getByRole("button", { name: "Save view" }).count()).toBe(0);
  });
});

describe("everywhere", () => {
  test.each(["/users?riskBand=low&trait=plan&match=isNotEmpty", "/accounts?healthBand=healthy"])(
    "%s is right for axe, light and dark, and no wider than a phone",
    async (path) => {
      for (const colorScheme of ["light", "dark"] as const) {
        const { page, complaints } = await open(path, { colorScheme, viewport: phone });
        await page
          .getByRole("status")
          .filter({ hasText: /user|account/ })
          .first()
          .waitFor();
        await settled(page);
        expect(await axe(page)).toEqual([]);
        expect(await sidewaysPixels(page)).toBe(0);
        expect(complaints).toEqual([]);
        await page.context().close();
      }
    },
  );

  test("an organization without users says what to do, and one whose analysis starts says so", async () => {
    await server.organization("Nobody yet");
    const { page } = await openPage(browser);
    const { id } = await signedIn(page, server, "Nobody yet");
    await page.goto(`${server.url}/o/${id}/users`);
    await page.getByText("No users yet").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.goto(`${server.url}/o/${id}/accounts`);
    await page.getByText("No accounts yet").waitFor();
    const starting = await whileStarting(page, "**/api/users?*");
    await page.goto(`${server.url}/o/${id}/users`);
    await page.getByText("The analysis is starting").waitFor();
    starting.ends();
    await page.getByText("No users yet").waitFor();
  });
});
