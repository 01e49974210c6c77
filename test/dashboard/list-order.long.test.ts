/** The default order of lists, and their users. The heading, the count, the rows, the API and the CSV share
 * one definition. */
import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { becomes } from "../until.ts";
import {
  asReader,
  axe,
  comesTrue,
  openInOrganization,
  type openPage,
  phone,
  settled,
  sidewaysPixels,
} from "./support.ts";
import { cellOf, untilShown } from "./tables.ts";
import { world } from "./world.ts";

const { server, browser } = await world();

interface Window {
  getComputedStyle(element: unknown): { readonly color: string };
}

interface Row {
  readonly userId?: string;
  readonly accountId?: string | null;
  readonly email?: string | null;
  readonly name: string | null;
  readonly risk: number | null;
  readonly activityPosition: number | null;
  readonly change: number | null;
}
interface List {
  readonly total: number;
  readonly usualChange: number | null;
  readonly users?: readonly Row[];
  readonly accounts?: readonly Row[];
  readonly freshness: { readonly excludedUsers: number };
}

const open = (path: string, options: Parameters<typeof openPage>[1] = {}) =>
  openInOrganization(browser, server, path, "Demo", options);

const list = (page: Page, path: string) => asReader<List>(page, path);

const names = (rows: readonly Row[] = []) =>
  rows.map(({ name, email, accountId }) => name || email || accountId || "");

describe("excluded users", () => {
  test("are in no part of the list, and are shown with a mark when they are asked for", async () => {
    const { page, complaints } = await open("/users");
    const { total, freshness } = await list(page, "/api/users?limit=1");
    const { excludedUsers } = freshness;
    expect(excludedUsers).toBeGreaterThan(0);
    const count = (users: number) => page.getByText(new RegExp(`^${users} users?$`)).waitFor();
    await count(total);
    await page.getByText(`without ${excludedUsers} excluded user`).waitFor();
    await settled(page);
    expect(await page.getByRole("table").getAttribute("aria-rowcount")).toBe(String(total + 1));
    expect(await page.locator("tbody").getByText("excluded", { exact: true }).count()).toBe(0);
    const csv = async () => {
      const address = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
      const text = await (await page.request.get(server.url + address)).text();
      return text.trimEnd().split("\r\n").length - 1;
    };
    expect(await csv()).toBe(total);
    await page.getByLabel("Excluded users").selectOption({ label: "Only excluded" });
    await page.waitForURL(/excluded=only/);
    await count(excludedUsers);
    await settled(page);
    expect(await page.locator("tbody").getByText("excluded", { exact: true }).count()).toBe(excludedUsers);
    expect(
      await page.getByText("without", { exact: false }).filter({ hasText: "excluded users" }).count(),
    ).toBe(0);
    expect(await csv()).toBe(excludedUsers);
    expect(await axe(page)).toEqual([]);
    await page.getByLabel("Excluded users").selectOption({ label: "With excluded" });
    await count(total + excludedUsers);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await count(total);
    expect(complaints).toEqual([]);
  });
});

describe("the first rows", () => {
  // The world has too few accounts for a churn risk.
  test.each([
    ["users", "those with the highest risk", "risk"],
    ["accounts", "the least active", "activityPosition"],
  ] as const)("of %s are %s", async (kind, _, column) => {
    const { page } = await open(`/${kind}`);
    const { [kind]: byRisk = [] } = await list(page, `/api/${kind}?sort=risk&limit=20`);
    const order = byRisk.map((row) => row[column] ?? -1);
    expect(order[0]).toBeGreaterThan(0);
    expect(order).toEqual(order.toSorted((a, b) => b - a));
    expect(byRisk.every(({ risk }) => (risk === null) === (kind === "accounts"))).toBe(true);
    await untilShown(page, names(byRisk));
    const header = page.getByRole("columnheader", { name: "Churn risk" });
    expect(await header.getAttribute("aria-sort")).toBe("descending");
    // Addresses that name their order keep it.
    await page.goto(page.url().replace(/\?.*|$/, "?sort=lastSeen&order=ascending"));
    const { [kind]: oldest = [] } = await list(page, `/api/${kind}?sort=lastSeen&order=ascending&limit=10`);
    await untilShown(page, names(oldest));
  });

  test("are those seen last while there are no scores, and the column says so", async () => {
    const token = await server.organization("Unscored");
    const daysAgo = (days: number) => new Date(server.nowMs() - days * 86_400_000).toISOString();
    for (const [userId, days] of [
      ["a", 3],
      ["b", 1],
      ["c", 2],
    ] as const) {
      await server.post("/identify", token, { userId, email: `${userId}@example.com` });
      await server.post("/track", token, { userId, event: "opened", timestamp: daysAgo(days) });
    }
    await server.exported("events", "Unscored");
    const { page } = await openInOrganization(browser, server, "/users", "Unscored");
    await page.route("**/api/users?*", async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { users: object[] };
      const unscored = { risk: null, riskBand: null, health: null, healthBand: "none", state: "no_data" };
      const users = answer.users.map((row) => ({ ...row, ...unscored }));
      await route.fulfill({ response, json: { ...answer, day: null, sinceDay: null, users } });
    });
    await page.reload();
    await untilShown(page, ["b@example.com", "c@example.com", "a@example.com"]);
    const header = page.getByRole("columnheader", { name: "Last seen" });
    expect(await header.getAttribute("aria-sort")).toBe("descending");
  });

  test.each(["/users", "/accounts", "/users?sort=engagement"])(
    "of %s on a phone have beside the name what they are sorted by",
    async (path) => {
      const { page } = await open(path, { viewport: phone });
      await page.getByRole("table").waitFor();
      await settled(page);
      const beside = page.getByRole("columnheader").nth(1);
      expect(await beside.getAttribute("aria-sort")).toBe("descending");
      const cell = await cellOf(page, 0, (await beside.textContent()) ?? "");
      const { x = 0, width = 0 } = (await cell.boundingBox()) ?? {};
      // Before the edge that fades.
      expect(x + width).toBeLessThanOrEqual(phone.width - 32);
      const byActivity = await page.getByText("No churn risk yet: the least active come first").count();
      expect(await cell.textContent()).toMatch(byActivity > 0 ? /^–$/ : /[0-9]/);
      expect(await sidewaysPixels(page)).toBe(0);
    },
  );
});

test("a change of health has a colour only beyond what is usual in a week", async () => {
  const { page } = await open("/users?sort=change");
  const colourOf = (token: string) =>
    page.evaluate<string>(`(() => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = "var(--color-${token})";
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  })()`);
  const asked = "/api/users?sort=change&limit=200";
  const { usualChange, users: rows = [] } = await list(page, asked);
  const usual = usualChange ?? expect.unreachable();
  expect(usual).toBeGreaterThan(1);
  const [grey, good, bad] = [await colourOf("soft"), await colourOf("healthy"), await colourOf("at-risk")];
  const wanted = (change: number) => (Math.abs(change) <= usual ? grey : change > 0 ? good : bad);
  await page.getByRole("columnheader", { name: "Change" }).waitFor();
  const colourIn = async (index: number): Promise<string> => {
    const figure = (await cellOf(page, index, "Change")).locator("span").first();
    return figure.evaluate((span) => (globalThis as never as Window).getComputedStyle(span).color);
  };
  const seen = new Set<string>();
  for (const order of ["descending", "ascending"]) {
    await page.goto(page.url().replace(/\?.*/, `?sort=change&order=${order}`));
    const { users: sorted = rows } = await list(page, `/api/users?sort=change&order=${order}&limit=200`);
    await untilShown(page, names(sorted.slice(0, 10)));
    for (const [index, { change }] of sorted.slice(0, 15).entries()) {
      if (change === null || Math.round(change) === 0) continue;
      const colour = await colourIn(index);
      expect([index, change, colour]).toEqual([index, change, wanted(change)]);
      seen.add(colour);
    }
  }
  const small =
    rows.find(({ change }) => change !== null && Math.round(change) > 0 && change <= usual) ??
    expect.unreachable();
  // Two of 230 users may have one name. An e-mail address is of one user.
  await page.goto(page.url().replace(/\?.*/, `?search=${encodeURIComponent(small.email ?? "")}`));
  await page.getByText(/^1 user$/).waitFor();
  await untilShown(page, names([small]));
  expect(await colourIn(0)).toBe(grey);
  expect(seen.size).toBeGreaterThan(1);
});

test("the button that clears filters stays on the line of the first filter", async () => {
  const traits = JSON.stringify(
    ["plan", "name", "role", "city"].map((trait) => ({ trait, match: "isNotEmpty" })),
  );
  const { page } = await open(`/users?account=a-0001&healthBand=watch&traits=${encodeURIComponent(traits)}`);
  const clear = page.getByRole("button", { name: "Clear filters" }).first();
  const search = page.getByLabel("Search users");
  await clear.waitFor();
  const [first, last] = [await search.boundingBox(), await clear.boundingBox()];
  const middle = (last?.y ?? 0) + (last?.height ?? 0) / 2;
  expect(middle).toBeGreaterThan(first?.y ?? Number.NaN);
  expect(middle).toBeLessThan((first?.y ?? 0) + (first?.height ?? 0));
});

test.each([
  ["also far down", true],
  ["also when the page comes back at its top", false],
])("after Back the focus is on the row that was opened, %s", async (_, isScrollKept) => {
  const { page } = await open("/users?sort=userId&order=ascending");
  await page.getByRole("table").waitFor();
  await settled(page);
  // A page that is left at once after scrolling.
  const unheard = `addEventListener("scroll", (event) => event.stopImmediatePropagation(), { capture: true })`;
  if (!isScrollKept) await page.evaluate(unheard);
  await page.getByRole("region", { name: "Users", exact: true }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  await comesTrue(page, `document.activeElement.closest("tr")?.dataset.index === "199"`);
  const name = await page.evaluate<string>("document.activeElement.textContent");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/users\/[^?]+/);
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await page.goBack();
  await becomes(() => page.evaluate("document.activeElement.textContent"), name);
  const row = await page.evaluate("document.activeElement.closest('tr')?.dataset.index");
  expect(row).toBe("199");
  await page.keyboard.press("ArrowUp");
  await comesTrue(page, `document.activeElement.closest("tr")?.dataset.index === "198"`);
});
