/** The parts that tests of the pages share: a page that records its errors, a signed-in member, and axe. */
import { expect } from "bun:test";
import axeCore from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { closeAfterTest } from "../closing.ts";
import { joined } from "../people/support.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";
import { contextOf } from "./contexts.ts";

/** How long anything is waited for: less than a test may take, which also says what did not come. */
export const patienceMs = 5 * 60_000;

/** Widths at which every page has to be right, in CSS pixels. */
export const phone = { width: 390, height: 844 } as const;
export const wide = { width: 1440, height: 900 } as const;

/** A page, and what went wrong on it: errors of scripts and whatever its security policy refused. */
export interface WatchedPage {
  readonly page: Page;
  readonly complaints: readonly string[];
}

/** Servers whose clock is not the machine's, by the browser of their pages. */
const clocks = new WeakMap<Browser, Server>();

/** Gives the pages of a browser the clock of a server. */
export function haveClockOf(browser: Browser, server: Server): void {
  clocks.set(browser, server);
}

/** Puts the clock of a page ahead, and leaves its timers alone. It runs in the page. */
function putPageAhead(aheadMs: number): void {
  const machineNow = Date.now;
  const nowMs = () => machineNow() + aheadMs;
  Date.now = nowMs;
  globalThis.Date = new Proxy(Date, {
    construct: (target, given) => Reflect.construct(target, given.length === 0 ? [nowMs()] : given),
  });
}

/** Opens an empty page, which is left again when the running test has ended. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const server = clocks.get(browser);
  const aheadMs = server === undefined ? 0 : server.nowMs() - Date.now();
  const all: BrowserContextOptions = {
    viewport: wide,
    locale: "en-GB",
    timezoneId: "America/New_York",
    reducedMotion: "reduce",
    ...options,
  };
  // Of pages with another clock none is taken: seconds, because one millisecond may pass between two looks.
  const key = JSON.stringify([all, Math.round(aheadMs / 1_000)]);
  const { page, giveBack } = await contextOf(browser, all, key, async (context) => {
    context.setDefaultTimeout(patienceMs);
    if (server !== undefined) await context.addInitScript(putPageAhead, aheadMs);
  });
  closeAfterTest(giveBack);
  const { width, height } = page.viewportSize() ?? wide;
  const { viewport } = all;
  if (viewport && (viewport.width !== width || viewport.height !== height))
    await page.setViewportSize(viewport);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // Chromium also reports every answer that is an error. Some tests are about those answers.
    const isAnswer = message.text().startsWith("Failed to load resource");
    if (["error", "warning"].includes(message.type()) && !isAnswer) complaints.push(message.text());
  });
  return { page, complaints };
}

/** A person with a session and a place in an organization. */
export type Somebody = Awaited<ReturnType<typeof joined>>;

const owners = new Map<string, Promise<Somebody>>();

/** Ada Lovelace, as an owner of this organization. */
export function ownerOf(server: Server, organization: string): Promise<Somebody> {
  const place = `${server.url} ${organization}`;
  const joining = owners.get(place) ?? joined(server, organization, "owner", "Ada Lovelace");
  owners.set(place, joining);
  return joining;
}

/** Signs a page in as a member. */
export async function signInAs(
  page: Page,
  server: Server,
  { cookie }: Pick<Somebody, "cookie">,
): Promise<void> {
  if (cookie === undefined) throw new Error("the person has no session");
  const session = { name: "rekindle_session", value: cookie, url: server.url };
  await page.context().addCookies([{ ...session, httpOnly: true, sameSite: "Lax" }]);
}

/** Signs a page in as an owner of an organization, called Ada Lovelace. Returns the organization's id. */
export async function signedIn(page: Page, server: Server, organization: string): Promise<{ id: number }> {
  const owner = await ownerOf(server, organization);
  await signInAs(page, server, owner);
  return { id: owner.organization };
}

/** True while nothing on the page is on its way: no figures, no chart, no rows that are out of date, and
 * nothing moves. */
const isAtRest = `document.querySelector("h1") !== null && document.getAnimations().length === 0 &&
  document.querySelector("[aria-busy=true], .skeleton") === null`;

/** Waits until the page shows all that it asked for, and has acted on it: a chart is drawn, keys are listened
 * to. A quiet network would not say that, it is quiet too while a busy machine has not yet begun. */
export async function settled(page: Page): Promise<void> {
  await comesTrue(page, isAtRest);
  // React's work after a drawing is done by then.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
  await comesTrue(page, isAtRest);
}

/** Goes to an address as a link does: the application is not loaded again, which takes half of a page's
 * processor time.
 * @param path begins with /o/ */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState({}, "", ${JSON.stringify(path)})`);
  const { pathname } = new URL(path, page.url());
  await comesTrue(
    page,
    `(({ status, resolvedLocation }) => status === "idle" && resolvedLocation.pathname === ${JSON.stringify(pathname)} &&
      resolvedLocation.href === location.href.slice(location.origin.length))(__TSR_ROUTER__.state)`,
  );
  await settled(page);
}

/** Breaches of WCAG 2.2 A and AA that axe finds on a page, each as a sentence. A breach has to be there on a
 * page that is at rest while axe looks. One that is there for a moment only is none, e.g. a pale table while
 * its successor is fetched. */
export async function axe(page: Page): Promise<string[]> {
  // Evaluated, not added as a script: the page's security policy forbids scripts of others. Once for a page
  // that is not loaded anew: it takes 0.1 s.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axeCore.source);
  const tags = JSON.stringify(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]);
  const look = () =>
    page.evaluate(`(async () => {
      const wasAtRest = ${isAtRest};
      let changes = 0;
      const watching = new MutationObserver(() => { changes += 1; });
      watching.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
      const { violations } = await axe.run(document, { runOnly: ${tags}, resultTypes: ["violations"] });
      watching.disconnect();
      return {
        isStill: wasAtRest && ${isAtRest} && changes === 0,
        violations: violations.map(
          ({ id, help, nodes }) => id + ": " + help + ": " + nodes.map(({ target }) => target.join(" ")).join(", ")),
      };
    })()`) as Promise<{ isStill: boolean; violations: string[] }>;
  const { violations } = await until(
    "the page stands still while axe looks",
    look,
    (seen) => seen.violations.length === 0 || seen.isStill,
  );
  return violations;
}

/** Pixels by which a page is wider than the window, once elements with a size of their own, e.g. charts, have
 * followed the window. They do so a frame or two later, or more on a busy machine. */
export function sidewaysPixels(page: Page): Promise<number> {
  return until(
    "the page is no wider than the window",
    () => page.evaluate("document.documentElement.scrollWidth - innerWidth") as Promise<number>,
    (pixels) => pixels <= 0,
  );
}

/** Waits until an expression is true on the page. The page's security policy blocks Playwright's own wait. */
export async function comesTrue(page: Page, expression: string): Promise<void> {
  const look = `[Boolean(${expression}), document.activeElement?.outerHTML.slice(0, 200)]`;
  await until(
    `${expression}; the focus is seen, too`,
    () => page.evaluate(look) as Promise<[boolean, string]>,
    ([isTrue]) => isTrue,
  );
}

/** Records the messages that disappear after seconds, from now on, on the page itself. A late look misses
 * none.
 * @returns waits for one */
export async function notedMessages(page: Page): Promise<(text: string) => Promise<void>> {
  await page.evaluate(`{
    const noted = window.notedMessages = [];
    new MutationObserver(() => {
      for (const { textContent } of document.querySelectorAll("[role=region][aria-label^=Notifications] li"))
        noted.push(textContent);
    }).observe(document, { childList: true, subtree: true });
  }`);
  return (text) => comesTrue(page, `window.notedMessages.includes(${JSON.stringify(text)})`);
}

/** The API's answer to the user of a page, about the organization of the page's address. */
export async function asReader<Answer>(page: Page, path: string): Promise<Answer> {
  const { origin, pathname } = new URL(page.url());
  const organization = pathname.split("/")[2];
  const address = `${origin}${path}${path.includes("?") ? "&" : "?"}organization=${organization}`;
  const response = await page.request.get(address);
  expect([address, response.status()]).toEqual([address, 200]);
  return (await response.json()) as Answer;
}

/** Holds the figures of a page still: an address of the API has the first answer that it gave, for the page
 * and for the test. Earlier days are being scored meanwhile, and what is asked again might be another.
 * @returns asks what the page asks, or would */
export async function heldFigures(page: Page, server: Server, organization: number) {
  const answers = new Map<string, Promise<{ readonly status: number; readonly body: string }>>();
  const first = (address: string) => {
    const url = new URL(address);
    url.searchParams.sort();
    const held = answers.get(url.href);
    if (held !== undefined) return held;
    const asked = page.request
      .get(address)
      .then(async (response) => ({ status: response.status(), body: await response.text() }));
    answers.set(url.href, asked);
    return asked;
  };
  await page.route(/\/api\/(?!live|session)/, async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    try {
      const { status, body } = await first(route.request().url());
      await route.fulfill({ status, body, contentType: "application/json" });
    } catch {
      // The page was closed during the request. A page that is still there shows that there is no answer.
      await route.abort().catch(() => undefined);
    }
  });
  return async <Answer>(path: string): Promise<Answer> => {
    const address = `${server.url}${path}${path.includes("?") ? "&" : "?"}organization=${organization}`;
    const { status, body } = await first(address);
    expect([address, status]).toEqual([address, 200]);
    return JSON.parse(body) as Answer;
  };
}

/** Answers what goes to one of these addresses as intake does while analysis is starting, until `ends` is
 * called. */
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

/** A page of the demonstration that says that analysis is starting: so answer these addresses until `ends` is
 * called. */
export async function openWhileStarting(
  browser: Browser,
  server: Server,
  path: string,
  ...addresses: readonly (string | RegExp)[]
): Promise<{ readonly page: Page; ends(): void }> {
  const { page } = await openPage(browser);
  const { id } = await signedIn(page, server, "Demo");
  const { ends } = await whileStarting(page, ...addresses);
  await page.goto(`${server.url}/o/${id}${path}`);
  await page.getByText("The analysis is starting").first().waitFor();
  return { page, ends };
}

/** A page of an organization, opened by a signed-in owner. Its heading is there. */
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
