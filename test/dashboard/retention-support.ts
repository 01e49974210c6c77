/** What the tests of the retention page share: the page with choices, and its figures as they stand there. */
import { afterAll, beforeAll, expect } from "bun:test";
import type { Browser, Locator } from "playwright-core";
import type { Static } from "typebox";
import type { RetentionAnswer } from "../../contract/api/retention.ts";
import { Server } from "../server.ts";
import { startBrowser } from "./chromium.ts";
import { openPage, signedIn } from "./support.ts";

export type Retention = Static<typeof RetentionAnswer>;

/** Parameters that the page sends of itself. */
export const usual = { periods: "26" };

let server: Server;
let browser: Browser;

/** Starts a server with a small demonstration, and a browser, before the tests of a file, and stops both after them. */
export function aroundDemo(): void {
  beforeAll(async () => {
    [server, browser] = await Promise.all([Server.start(), startBrowser()]);
    await server.ready();
    await server.demo("--users", "160", "--weeks", "14");
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });
}

/** The server and the browser that were started. */
export const started = () => ({ server, browser });

/** The page with these choices, when its table is there, and a way to ask the API as its reader. */
export async function opened(choices = "", options: Parameters<typeof openPage>[1] = {}) {
  const watched = await openPage(browser, options);
  const { id } = await signedIn(watched.page, server, "Demo");
  await watched.page.goto(`${server.url}/o/${id}/retention${choices}`);
  const grid = watched.page.getByRole("grid", { name: "Retention by cohort" });
  await grid.waitFor();
  const ask = async <Answer>(path: string, query: Readonly<Record<string, string>> = {}) => {
    const search = new URLSearchParams({ organization: String(id), ...query });
    const response = await watched.page.request.get(`${server.url}${path}?${search}`);
    expect([path, response.status()]).toEqual([path, 200]);
    return (await response.json()) as Answer;
  };
  return { ...watched, grid, ask };
}

/** The figures of a row, as they stand there. */
export const figuresOf = (row: Locator) =>
  row
    .locator("td[data-column]")
    .evaluateAll((cells) => cells.map((cell) => /\d+/.exec(cell.textContent ?? "")?.[0]));

/** A cell's share as the table shows it. */
export const percent = ({ share }: { readonly share: number }) => String(Math.round(share * 100));

/** A share as it is said in a sentence. */
export const percentText = (share = 0) =>
  new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 1 }).format(share);
