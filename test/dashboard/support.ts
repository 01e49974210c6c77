/** What tests of the pages share: a page that tells of its errors, somebody who is signed in, and axe. */
import axeCore from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { joined } from "../people/support.ts";
import type { Server } from "../server.ts";

/** Widths at which every page has to be right, in CSS pixels. */
export const phone = { width: 390, height: 844 } as const;
export const wide = { width: 1440, height: 900 } as const;

/** A page, and what went wrong on it: errors of scripts and whatever its security policy refused. */
export interface WatchedPage {
  readonly page: Page;
  readonly complaints: readonly string[];
}

/** Opens a new, empty page in a context of its own. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: wide,
    locale: "en-GB",
    timezoneId: "America/New_York",
    reducedMotion: "reduce",
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // Chromium also tells of every answer that is an error; those are what some tests are about.
    const isAnswer = message.text().startsWith("Failed to load resource");
    if (["error", "warning"].includes(message.type()) && !isAnswer) complaints.push(message.text());
  });
  return { page, complaints };
}

const owners = new Map<string, ReturnType<typeof joined>>();

/** Signs a page in as an owner of an organization, called Ada Lovelace; returns the organization's id. */
export async function signedIn(page: Page, server: Server, organization: string): Promise<{ id: number }> {
  const place = `${server.url} ${organization}`;
  const joining = owners.get(place) ?? joined(server, organization, "owner", "Ada Lovelace");
  owners.set(place, joining);
  const { cookie, organization: id } = await joining;
  if (cookie === undefined) throw new Error("the owner has no session");
  await page
    .context()
    .addCookies([
      { name: "rekindle_session", value: cookie, url: server.url, httpOnly: true, sameSite: "Lax" },
    ]);
  return { id };
}

/** Breaches of WCAG 2.2 A and AA that axe finds on a page, each as a sentence. What is there for a moment only, a pale table
 * while its successor is fetched, say, is no breach: only what stays for seconds is. */
export async function axe(page: Page): Promise<string[]> {
  // Evaluated, not added as a script: the page's security policy forbids scripts of others.
  await page.evaluate(axeCore.source);
  const tags = JSON.stringify(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]);
  const deadlineMs = performance.now() + 5_000;
  while (true) {
    const violations = (await page.evaluate(
      `axe.run(document, { runOnly: ${tags} }).then(({ violations }) => violations.map(
      ({ id, help, nodes }) => id + ": " + help + ": " + nodes.map(({ target }) => target.join(" ")).join(", ")))`,
    )) as string[];
    if (violations.length === 0 || performance.now() > deadlineMs) return violations;
    await Bun.sleep(200);
  }
}

/** Pixels by which a page is wider than the window, once what has a size of its own, a chart say, has followed the window:
 * that is a frame or two later, more on a busy machine. */
export async function sidewaysPixels(page: Page): Promise<number> {
  const deadlineMs = performance.now() + 5_000;
  while (true) {
    const pixels = (await page.evaluate("document.documentElement.scrollWidth - innerWidth")) as number;
    if (pixels <= 0 || performance.now() > deadlineMs) return pixels;
    await Bun.sleep(50);
  }
}

/** Waits until an expression is true on the page, whose security policy keeps Playwright's own wait from it. */
export async function until(page: Page, expression: string): Promise<void> {
  const deadlineMs = performance.now() + 20_000;
  while (!(await page.evaluate(expression))) {
    if (performance.now() > deadlineMs) {
      const focused = await page.evaluate("document.activeElement.outerHTML.slice(0, 200)");
      throw new Error(`never came true: ${expression}; the focus is on ${focused}`);
    }
    await Bun.sleep(50);
  }
}

/** Answers what goes to one of these addresses as intake does while analysis is starting, until `ends` is called. */
export async function whileStarting(
  page: Page,
  ...addresses: readonly (string | RegExp)[]
): Promise<{ ends(): void }> {
  const json = { message: "analysis is starting", statusCode: 500, name: "application_error" };
  let isStarting = true;
  for (const address of addresses) {
    await page.route(address, (route) =>
      isStarting ? route.fulfill({ status: 500, headers: { "Retry-After": "1" }, json }) : route.fallback(),
    );
  }
  return {
    ends: () => {
      isStarting = false;
    },
  };
}

/** A page of an organization, opened by an owner who is signed in; its heading is there. */
export async function openInOrganization(
  browser: Browser,
  server: Server,
  path: string,
  organization: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage & { readonly id: number }> {
  const watched = await openPage(browser, options);
  const { id } = await signedIn(watched.page, server, organization);
  await watched.page.goto(`${server.url}/o/${id}${path}`);
  await watched.page.locator("h1").waitFor();
  return { ...watched, id };
}
