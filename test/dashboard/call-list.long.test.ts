/** The card that says whom to call: its rows are the call list's, and a task, a snooze and a verdict can be
 * given on the row. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { until } from "../until.ts";
import { axe, openPage, phone, settled, sidewaysPixels, signedIn } from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();

type CallList = RouteAnswer<"GET /api/call-list">;

const table = (page: Page) => page.getByRole("table", { name: "Whom to call first" });

/** The row has an open alert, whose changes are answered and not made. @returns the changes */
async function withAlert(page: Page, row: CallList["rows"][number] | undefined): Promise<unknown[]> {
  const changes: unknown[] = [];
  const alert = {
    id: 77,
    entityKind: row?.kind,
    entityId: row?.accountId ?? row?.userId,
    note: "Calls back.",
  };
  await page.route("**/api/alerts?*", (route) =>
    route.fulfill({ json: { total: 1, alerts: [alert], freshness: {} } }),
  );
  await page.route("**/api/alerts/77*", async (route) => {
    changes.push(route.request().postDataJSON());
    await route.fulfill({ json: {} });
  });
  return changes;
}

test("the first card has the call list's rows, with what can be done about each", async () => {
  const { page, complaints } = await openPage(browser);
  const { id } = await signedIn(page, server, "Demo");
  const answer = await page.request.get(`${server.url}/api/call-list?organization=${id}&limit=10`);
  const { rows } = (await answer.json()) as CallList;
  const changes = await withAlert(page, rows[0]);
  await page.goto(`${server.url}/o/${id}/overview`);
  await table(page).waitFor();
  await settled(page);
  const names = await table(page).getByRole("row").getByRole("link").allInnerTexts();
  expect(names).toEqual(rows.map(({ name }) => name));
  expect(await axe(page)).toEqual([]);
  const menuOf = async (item: string) => {
    await page.getByRole("button", { name: `Actions for ${rows[0]?.name}` }).click();
    await page.getByRole("menuitem", { name: item, exact: true }).click();
  };
  await menuOf("Add task");
  await page.getByRole("dialog", { name: "Add task" }).getByRole("button", { name: "Cancel" }).click();
  await menuOf("Snooze");
  await page.getByRole("dialog").getByRole("button", { name: "Snooze" }).click();
  await page.getByRole("status").getByRole("button", { name: "Undo", exact: true }).click();
  await menuOf("Not useful");
  await page.getByRole("status").getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByRole("button", { name: "Undo", exact: true }).waitFor({ state: "detached" });
  await menuOf("Handled");
  const dialog = page.getByRole("dialog", { name: `What came of it: ${rows[0]?.name}` });
  await dialog.getByLabel("Lost").check();
  await dialog.getByLabel("Note").fill("They left.");
  await dialog.getByRole("button", { name: "Mark as handled" }).click();
  await page.getByRole("status").getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByRole("button", { name: "Undo", exact: true }).waitFor({ state: "detached" });
  expect(changes).toEqual([
    { snoozedUntil: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
    { snoozedUntil: null },
    { verdict: "notUseful" },
    { verdict: null, note: "Calls back." },
    { verdict: "handled", outcome: "lost", note: "They left." },
    { verdict: null, note: "Calls back." },
  ]);
  const owned = page.waitForRequest(
    (request) => request.method() === "PATCH" && request.url().includes("/owner"),
  );
  await page.route("**/owner?*", (route) => route.fulfill({ json: {} }));
  await page.getByRole("checkbox", { name: `Choose ${rows[0]?.name}` }).check();
  await page.getByText("1 row chosen").waitFor();
  await page.getByRole("button", { name: "Assign", exact: true }).click();
  expect((await owned).postDataJSON()).toEqual({ owner: expect.any(Number) });
  await page.getByText("1 row assigned. The list shows it within seconds.", { exact: true }).waitFor();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  expect(complaints).toEqual([]);
});

test("a row without an alert is snoozed and judged, too", async () => {
  const { page, complaints } = await openPage(browser);
  const { id } = await signedIn(page, server, "Demo");
  await page.route("**/api/alerts?*", (route) =>
    route.fulfill({ json: { total: 0, alerts: [], freshness: {} } }),
  );
  const changes: unknown[] = [];
  await page.route("**/call?*", async (route) => {
    changes.push([new URL(route.request().url()).pathname, route.request().postDataJSON()]);
    await route.fulfill({ status: 204 });
  });
  const answer = await page.request.get(`${server.url}/api/call-list?organization=${id}&limit=10`);
  const [row] = ((await answer.json()) as CallList).rows;
  await page.goto(`${server.url}/o/${id}/overview`);
  await table(page).waitFor();
  const choose = async (item: string) => {
    await page.getByRole("button", { name: `Actions for ${row?.name}` }).click();
    await page.getByRole("menuitem", { name: item, exact: true }).click();
  };
  const undo = page.getByRole("status").getByRole("button", { name: "Undo", exact: true });
  await choose("Snooze");
  await page.getByRole("dialog").getByRole("button", { name: "Snooze" }).click();
  await undo.click();
  await undo.waitFor({ state: "detached" });
  await choose("Not useful");
  await undo.click();
  await undo.waitFor({ state: "detached" });
  const path = `/api/accounts/${encodeURIComponent(row?.accountId ?? "")}/call`;
  await until("all four are sent", () => changes.length === 4);
  expect(changes).toEqual([
    [path, { snoozedUntil: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) }],
    [path, { snoozedUntil: null }],
    [path, { verdict: "notUseful" }],
    [path, { verdict: null }],
  ]);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  expect(complaints).toEqual([]);
});

test("the card fits a phone", async () => {
  const { page } = await openPage(browser, { viewport: phone });
  const { id } = await signedIn(page, server, "Demo");
  await page.goto(`${server.url}/o/${id}/overview`);
  await table(page).waitFor();
  await settled(page);
  expect(await sidewaysPixels(page)).toBe(0);
});
