/**
 * The cost of the pages in three tables: the size of their scripts, the time until they are usable in a
 * browser on this machine, and the time of the endpoints behind them for ONE organization of 100,000 users.
 *
 *   cli/with-bun bench/dashboard.ts [users of the demonstration, 2000] [users of the large organization, 100000] [its millions of events, 5]
 *
 * The design asks for one second until the first page is usable. 5 million events take about two minutes to
 * load.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { builtPages } from "../cli/pages.ts";
import { msPerDay } from "../server/calendar/zone.ts";
import { openChdbWarehouse } from "../server/warehouse/engine/chdb.ts";
import { startBrowser } from "../test/dashboard/chromium.ts";
import { openPage, signedIn } from "../test/dashboard/support.ts";
import { Server } from "../test/server.ts";
import { loadHistory } from "./history/history.ts";

const [demoUsers = "2000", largeUsers = "100000", millions = "5"] = process.argv.slice(2);

/** Pages, and the selector of a figure on each. */
const pages: readonly (readonly [path: string, figure: string])[] = [
  ["/overview", "dd"],
  ["/users", "td"],
  ["/accounts", "td"],
  ["/retention", "td"],
  ["/retention?trait=acquisitionChannel&open=%3Dads%2C%3Dsearch%2C%3Dreferral", "td"],
  ["/settings/scores", "td"],
  ["/start", "dd"],
];

/** The requests of the pages when they are opened. */
const endpoints = [
  "/api/score-summary",
  "/api/movers",
  "/api/lifecycle",
  "/api/active-users?days=90",
  "/api/active-days",
  "/api/adoption",
  "/api/scores/users?sort=risk&limit=100",
  "/api/scores/accounts?limit=100",
  "/api/users?limit=100",
  "/api/users?search=user-99&limit=100",
  "/api/accounts?limit=100",
  "/api/retention?period=week",
  "/api/retention?period=week&trait=plan",
  "/api/events?limit=1000",
  "/api/usage-intervals",
  "/api/model",
] as const;

const rounds = 5;

/** "median (least-most)" of times in milliseconds. */
function textOf(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const [least = 0, most = 0] = [sorted[0], sorted.at(-1)];
  return `${(sorted[sorted.length >> 1] ?? 0).toFixed(0)} ms (${least.toFixed(0)}-${most.toFixed(0)})`;
}

/** Milliseconds from going to an address until a figure is there. */
async function shownMs(page: Page, address: string, figure: string): Promise<number> {
  const startedMs = performance.now();
  await page.goto(address, { waitUntil: "commit" });
  await page.locator(`main ${figure}`).first().waitFor();
  return performance.now() - startedMs;
}

/** Opens a page with and without the browser's cache, and lists its scripts. */
async function measurePage(browser: Browser, server: Server, path: string, figure: string) {
  const [cold, warm]: [number[], number[]] = [[], []];
  let scripts: readonly string[] = [];
  for (let round = 0; round < rounds; round++) {
    const { page } = await openPage(browser);
    const { id } = await signedIn(page, server, "Demo");
    cold.push(await shownMs(page, `${server.url}/o/${id}${path}`, figure));
    scripts = await page.evaluate<string[]>(
      "performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js'))",
    );
    warm.push(await shownMs(page, `${server.url}/o/${id}${path}`, figure));
    await page.context().close();
  }
  return { cold, warm, scripts };
}

/** Bytes of the built scripts by gzip, by their file's name. */
async function scriptBytes(): Promise<ReadonlyMap<string, number>> {
  const folder = join((await builtPages()) ?? "", "assets");
  return new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith(".js"))
      .map((name) => [name, gzipSync(readFileSync(join(folder, name))).byteLength]),
  );
}

async function benchPages(): Promise<void> {
  const bytes = await scriptBytes();
  const server = await Server.start();
  const browser = await startBrowser();
  try {
    await server.ready();
    await server.command("demo", "--no-team", "--users", demoUsers);
    await server.command("score", "--organization", "Demo");
    console.log(`\nOf ${demoUsers} users: scripts until the first figure, and how soon it is there`);
    for (const [path, figure] of pages) {
      const { cold, warm, scripts } = await measurePage(browser, server, path, figure);
      const loaded = scripts.reduce((sum, name) => sum + (bytes.get(name.split("/").at(-1) ?? "") ?? 0), 0);
      const size = `${(loaded / 1024).toFixed(0)} KiB in ${scripts.length} files`;
      const times = `first time ${textOf(cold).padEnd(22)} again ${textOf(warm)}`;
      console.log(`${path.padEnd(18)} ${size.padEnd(24)} ${times}`);
    }
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** Requests every endpoint over HTTP, as pages do. */
async function benchEndpoints(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "rekindle-dashboard-"));
  try {
    // The first start creates the organization; then the loader itself loads its history into the warehouse.
    const first = await Server.start({ dataDir, role: "intake" });
    await first.stop();
    const warehouse = await openChdbWarehouse({ folder: join(dataDir, "warehouse") });
    const toDay = Math.floor(Date.now() / msPerDay);
    const size = { events: Number(millions) * 1e6, users: Number(largeUsers), days: 182, toDay };
    const loaded = await loadHistory(warehouse, { organization: 1, ...size });
    await warehouse.close();
    console.log(`\nOf ${loaded.users} users with ${loaded.events} events: each endpoint over HTTP`);
    await askAll(dataDir);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function askAll(dataDir: string): Promise<void> {
  const server = await Server.start({ dataDir });
  try {
    await server.ready();
    await server.command("score", "--organization", "default");
    const key = (await server.command("key", "create", "--organization", "default")).trim();
    for (const path of endpoints) {
      const times: number[] = [];
      let status = 0;
      let length = 0;
      for (let round = 0; round < rounds; round++) {
        const startedMs = performance.now();
        const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
        length = (await response.arrayBuffer()).byteLength;
        times.push(performance.now() - startedMs);
        status = response.status;
      }
      const what = `${status}, ${(length / 1024).toFixed(1)} KiB`;
      console.log(`${path.padEnd(40)} ${what.padEnd(18)} ${textOf(times)}`);
    }
  } finally {
    await server.stop();
  }
}

await benchPages();
await benchEndpoints();
process.exit(0);
