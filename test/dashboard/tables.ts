/** Finds what stands in a table as readers do: by the names of the table, of its columns and of its rows. */
import type { Page } from "playwright-core";
import { becomes } from "../until.ts";

/** The rows of the page's tables that have figures, those that are drawn. */
const bodyRows = (page: Page) => page.getByRole("row").filter({ has: page.getByRole("cell") });

/** The place of a column, found by the text of its header. */
async function placeOf(page: Page, column: string): Promise<number> {
  const headers = page.getByRole("columnheader");
  await headers.filter({ hasText: column }).first().waitFor();
  const place = (await headers.allTextContents()).indexOf(column);
  if (place === -1) throw new Error(`there is no column ${column}`);
  return place;
}

/** The texts of a column of the page's only table, one for each row that is drawn. */
export async function columnTexts(page: Page, column: string): Promise<string[]> {
  const place = await placeOf(page, column);
  return bodyRows(page).evaluateAll(
    (rows, at) => rows.map((row) => row.children[at]?.textContent ?? ""),
    place,
  );
}

/** A cell of the page's only table. */
export async function cellOf(page: Page, row: number, column: string) {
  return bodyRows(page)
    .nth(row)
    .getByRole("cell")
    .nth(await placeOf(page, column));
}

/** The user or account of each drawn row: the text of its first link. */
export function rowNames(page: Page): Promise<string[]> {
  return bodyRows(page).evaluateAll((rows) => rows.map((row) => row.querySelector("a")?.textContent ?? ""));
}

/** Waits until the first rows of the table are these. */
export async function untilShown(page: Page, names: readonly string[]): Promise<void> {
  await becomes(async () => (await rowNames(page)).slice(0, names.length), names);
}
