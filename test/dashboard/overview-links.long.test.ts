/** Figures of the overview lead to the counted users: every link, and every bar, on the demonstration. */
import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { becomes, until } from "../until.ts";
import { follow, openPage, settled, signedIn } from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();

async function overview(query = "") {
  const watched = await openPage(browser);
  const { id } = await signedIn(watched.page, server, "Demo");
  await watched.page.goto(`${server.url}/o/${id}/overview${query}`);
  await settled(watched.page);
  return { ...watched, id };
}

interface FigureLink {
  readonly text: string;
  readonly href: string;
}

/** The links of the page to lists, including those in closed tables. */
async function figureLinks(page: Page): Promise<FigureLink[]> {
  for (const summary of await page.getByText("Show as a table").all()) await summary.click();
  const links = (await page.evaluate(`[...document.querySelectorAll("main a[href]")].map((link) => (
    { text: link.textContent, href: link.getAttribute("href") }))`)) as FigureLink[];
  return links.filter(({ href }) => /^\/o\/\d+\/(users|accounts)\?/.test(href));
}

const numberIn = (text: string) => Number(text.replaceAll(/[^0-9]/g, ""));

/** By the address of the list. Both kinds of the overview have many figures in common. */
const known = new Map<string, number>();

/** How many rows the API has for the address of a list: all parameters but one are the same. */
async function rowsOf(page: Page, href: string, organization: number): Promise<number> {
  const before = known.get(href);
  if (before !== undefined) return before;
  const { pathname, searchParams } = new URL(href, server.url);
  searchParams.set("organization", String(organization));
  // The one filter that the API has by two names: within so many days, and not within them.
  const [, seenDays] = /^within-(\d+)$/.exec(searchParams.get("seen") ?? "") ?? [];
  if (seenDays !== undefined) {
    searchParams.delete("seen");
    searchParams.set("seenWithinDays", seenDays);
  }
  searchParams.set("limit", "1");
  const response = await page.request.get(`${server.url}/api/${pathname.split("/").at(-1)}?${searchParams}`);
  expect([href, response.status()]).toEqual([href, 200]);
  const { total } = (await response.json()) as { total: number };
  known.set(href, total);
  return total;
}

/** Links of one shape ask the same of the list, of other days, accounts or colours. */
function shapeOf(href: string): string {
  const { pathname, searchParams } = new URL(href, server.url);
  const said = [...searchParams].map(([name, value]) =>
    name === "lifecycle" || name === "moved" ? `${name}=${value}` : name,
  );
  return [pathname, ...said].join(" ");
}

/** Up to six of them: the first, the last, and some between. */
function spread<T>(all: readonly T[]): T[] {
  const step = Math.max(1, (all.length - 1) / 5);
  return all.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

describe.each(["user", "account"])("figures with health of %ss", (kind) => {
  test("are links to lists with exactly as many rows", async () => {
    const { page, id, complaints } = await overview(`?kind=${kind}&days=28&more=true`);
    const links = await figureLinks(page);
    const figures = links.filter(({ text }) => text !== "");
    expect(figures.length).toBeGreaterThan(100);
    // Bars have no text: the table beside them says the same.
    const bars = links.filter(({ text }) => text === "");
    expect(bars.length).toBeGreaterThan(2);
    for (const { href } of bars) {
      const isInTable = figures.some((figure) => figure.href === href);
      expect([href, isInTable || (await rowsOf(page, href, id)) === 0]).toEqual([href, true]);
    }
    const wrong: unknown[] = [];
    for (const ofShape of Map.groupBy(figures, ({ href }) => shapeOf(href)).values()) {
      for (const { text, href } of spread(ofShape)) {
        const rows = await rowsOf(page, href, id);
        if (rows !== numberIn(text)) wrong.push([text, rows, href]);
      }
    }
    expect(wrong).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("lead to lists that show as many, with filters that can be taken away", async () => {
    const { page, complaints } = await overview(`?kind=${kind}&days=28&more=true`);
    const figures = (await figureLinks(page)).filter(({ text }) => text !== "");
    const ofShapes = new Map(figures.map((figure) => [shapeOf(figure.href), figure]));
    for (const { text, href } of ofShapes.values()) {
      if (kind === "account" && !href.includes("/accounts?")) continue;
      await follow(page, href);
      await page.getByRole("table", { name: /^(Users|Accounts)$/ }).waitFor();
      const shown = `${numberIn(text)} (user|account)s?`;
      await page.getByText(new RegExp(`^${shown}$`)).waitFor();
      // Each filter of the address stands on the page, and can be taken away.
      await page.getByRole("button", { name: "Clear filters" }).waitFor();
    }
    expect(complaints).toEqual([]);
  });
});

test("every panel and every sentence with a count has such links", async () => {
  const { page } = await overview("?kind=user&more=true");
  const regions = [
    "The week",
    "Health of users",
    "Churn risk",
    "Risk bands",
    "Movement",
    "Biggest drops",
    "Biggest gains",
    "Active users",
    "User lifecycle",
  ];
  for (const summary of await page.getByText("Show as a table").all()) await summary.click();
  for (const name of regions) {
    const links = page
      .getByRole("region", { name, exact: true })
      .locator("a[href*='/users?'], a[href*='/accounts?']");
    expect([name, (await links.count()) > 0]).toEqual([name, true]);
  }
  const stat = page.locator("dl", { hasText: "Active in 7 days" }).getByRole("link");
  expect(numberIn((await stat.textContent()) ?? "")).toBeGreaterThan(0);
});

/** When the page shows what the pointer does: before that a link may still be the one of a bar that the
 * pointer has left. */
function drawn(page: Page): Promise<unknown> {
  return page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
}

/**
 * Clicks on a bar until something has happened. The drawing is no link while its figures are asked for again,
 * as after another tab has closed: then the pointer moves on the bar, and clicks again.
 * @param seen waits for it so many milliseconds, and is undefined without it
 */
function click<T>(
  page: Page,
  [x, y]: readonly [number, number],
  button: "left" | "middle",
  seen: (timeout: number) => Promise<T>,
) {
  return until(`a click with the ${button} button at ${x}, ${y} does something`, async () => {
    const seeing = seen(5_000).catch(() => undefined);
    await page.mouse.click(x, y, { button });
    const result = await seeing;
    if (result === undefined) {
      await page.mouse.move(x, y + 1);
      await drawn(page);
    }
    return result;
  });
}

test("a bar of a chart is a link: it opens its list here, and in a new tab", async () => {
  const { page } = await overview("?kind=user&more=true");
  for (const title of ["Active users", "User lifecycle", "Health of users"]) {
    const panel = page.getByRole("region", { name: title, exact: true });
    await panel.getByText("Show as a table").click();
    await panel.getByRole("img").first().scrollIntoViewIfNeeded();
    const box = await panel.getByRole("img").first().boundingBox();
    if (box === null) throw new Error(`${title} has no drawing`);
    const link = panel.locator("a:has([role=img])");
    let href: string | null = null;
    let x = 0;
    const y = box.y + box.height * 0.7;
    for (let across = 0.5; href === null && across < 1; across += 0.01) {
      x = box.x + box.width * across;
      await page.mouse.move(x, y);
      await drawn(page);
      href = await link.getAttribute("href");
    }
    const inTable = panel.locator("details").locator(`a[href="${href}"]`).first();
    expect([title, await inTable.count()]).toEqual([title, 1]);
    const opened = await click(page, [x, y], "middle", (timeout) =>
      page.context().waitForEvent("page", { timeout }),
    );
    await opened.waitForURL(`**${href}`, { waitUntil: "commit" });
    await opened.close();
    // The pointer of a page in the background is answered late, or never.
    await page.bringToFront();
    expect(page.url()).toContain("/overview");
    if (title === "Active users") continue;
    await click(page, [x, y], "left", async (timeout) => {
      await page.waitForURL(`**${href}`, { timeout });
      return href;
    });
    await page.goBack();
    await settled(page);
  }
});

test("by keyboard the list behind a figure opens, and a filter is taken away", async () => {
  const { page } = await overview("?kind=user&more=true");
  const link = page.getByRole("region", { name: "Movement" }).getByRole("link").first();
  const rows = numberIn((await link.textContent()) ?? "");
  await link.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/users\?.*moved=changed/);
  await page.getByText(new RegExp(`^${rows} users?$`)).waitFor();
  const chip = page.getByRole("button", { name: /^Remove the filter Another health band since/ });
  await chip.focus();
  await page.keyboard.press("Enter");
  await becomes(async () => new URL(page.url()).searchParams.has("moved"), false);
  expect(new URL(page.url()).searchParams.has("since")).toBe(false);
});
