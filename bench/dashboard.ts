/**
 * How soon a page is usable: from its address to its first figure, in a browser on this machine, with and without what the
 * browser has kept. `cli/with-bun bench/dashboard.ts [users]`. The design asks for one second.
 */
import type { Browser, Page } from "playwright-core";
import { builtPages } from "../cli/pages.ts";
import { startBrowser } from "../test/dashboard/chromium.ts";
import { openPage, signedIn } from "../test/dashboard/support.ts";
import { Server } from "../test/server.ts";

const users = process.argv[2] ?? "2000";
const rounds = 5;

/** Pages, and what of them is a figure. */
const pages: readonly (readonly [path: string, figure: string])[] = [
  ["/overview", "dd"],
  ["/users", "td"],
  ["/accounts", "td"],
  ["/retention", "td"],
  ["/retention?trait=acquisitionChannel&open=%3Dads%2C%3Dsearch%2C%3Dreferral", "td"],
];

/** Milliseconds from going to an address until a figure is there. */
async function shownMs(page: Page, address: string, figure: string): Promise<number> {
  const startedMs = performance.now();
  await page.goto(address, { waitUntil: "commit" });
  await page.locator(`main ${figure}`).first().waitFor();
  return performance.now() - startedMs;
}

async function measure(browser: Browser, server: Server, path: string, figure: string): Promise<void> {
  const [cold, warm]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const { page } = await openPage(browser);
    const { id } = await signedIn(page, server, "Demo");
    cold.push(await shownMs(page, `${server.url}/o/${id}${path}`, figure));
    warm.push(await shownMs(page, `${server.url}/o/${id}${path}`, figure));
    await page.context().close();
  }
  const text = (times: number[]) => {
    const [least = 0, , median = 0, , most = 0] = times.sort((a, b) => a - b);
    return `${median.toFixed(0)} ms (${least.toFixed(0)}-${most.toFixed(0)})`;
  };
  console.log(`${path.padEnd(12)} first time ${text(cold).padEnd(24)} again ${text(warm)}`);
}

await builtPages();
const server = await Server.start();
const browser = await startBrowser();
try {
  await server.ready();
  await server.command("demo", "--users", users);
  for (const [path, figure] of pages) await measure(browser, server, path, figure);
} finally {
  await browser.close();
  await server.stop();
}
