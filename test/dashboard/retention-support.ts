/** The parts that tests of the retention page share: the page with choices, and its figures as they stand
 * there. */
import type { Locator } from "playwright-core";
import type { Static } from "typebox";
import type { RetentionAnswer } from "../../contract/api/retention.ts";
import { asReader, openPage, signedIn } from "./support.ts";
import { world } from "./world.ts";

export type Retention = Static<typeof RetentionAnswer>;

/** Parameters that the page sends of itself. */
export const usual = { periods: "26" };

const { server, browser } = await world();

/** The page with these choices, when its table is there, and a way to ask the API as its reader. */
export async function opened(
  choices = "",
  options: Parameters<typeof openPage>[1] = {},
  organization = "Demo",
) {
  const watched = await openPage(browser, options);
  const { id } = await signedIn(watched.page, server, organization);
  // The demonstration has fewer than 30 new users a week: without a choice the page has months.
  const weeks = /[?&]period=/.test(choices) ? "" : `${choices === "" ? "?" : "&"}period=week`;
  await watched.page.goto(`${server.url}/o/${id}/retention${choices}${weeks}`);
  const grid = watched.page.getByRole("grid", { name: "Retention by cohort" });
  await grid.waitFor();
  const ask = <Answer>(path: string, query: Readonly<Record<string, string>> = {}) =>
    asReader<Answer>(watched.page, `${path}?${new URLSearchParams(query)}`);
  return { ...watched, grid, ask };
}

/** The figures of a row, as they stand there. */
export const figuresOf = (row: Locator) =>
  row
    .locator("td[data-column]")
    .evaluateAll((cells) => cells.map((cell) => /\d+/.exec(cell.textContent ?? "")?.[0]));

/** A cell's share as the table shows it. */
export const percent = ({ share }: { readonly share: number }) => String(Math.round(share * 100));

/** A share as the page's sentences show it. */
export const percentText = (share = 0) =>
  new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 1 }).format(share);
