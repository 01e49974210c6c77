/** The page of events, for repairs of an integration: the live view, ingestion warnings and rejected
 * events. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { joined } from "../people/support.ts";
import { becomes } from "../until.ts";
import { eventsPage } from "./events-support.ts";
import { axe, comesTrue, notedMessages, openPage, signedIn, signInAs } from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();
const watchedName = "Watched";
let token: string;

beforeAll(async () => {
  await server.command("organization", "create", watchedName);
  token = (await server.command("token", "create", "--organization", watchedName, "--name", "Shop")).trim();
  await server.post("/identify", token, { userId: "ada", email: "ada@example.com", plann: "pro" });
  await server.post("/track", token, { userId: "nobody", event: "signed_up" });
});

describe("live", () => {
  const arrived = (page: Page) => page.getByRole("list", { name: /^Items, the newest/ }).getByRole("button");

  /** The page when its stream is open. */
  async function livePage(query = "", options: Parameters<typeof openPage>[1] = {}) {
    const watched = await eventsPage(server, browser, `?tab=live${query}`, options, watchedName);
    await watched.page.getByRole("status").getByText("Live", { exact: true }).waitFor();
    return watched;
  }

  test("shows arriving items, the refusal as the sender got it, and how to send the item again", async () => {
    const { page, complaints } = await livePage();
    await server.post("/track", token, { userId: "ada", event: "it's_live" });
    const answer = await server.post("/track", token, { userId: "ghost", event: "it's_live" });
    const { message } = (await answer.json()) as { message: string };
    const row = arrived(page).filter({ hasText: "ghost" });
    await row.filter({ hasText: "Rejected 404" }).filter({ hasText: message }).waitFor();
    await row.first().click();
    const dialog = page.getByRole("dialog", { name: "it's_live" });
    await dialog.getByText(message).first().waitFor();
    expect(await dialog.getByLabel("Payload").textContent()).toBe(
      JSON.stringify({ userId: "ghost", event: "it's_live" }, null, 2),
    );
    expect(await dialog.getByText(/Shop, ends in/).textContent()).toContain(token.slice(-4));
    const curl = (await dialog.getByLabel("The request as a curl command").textContent()) ?? "";
    expect(curl).not.toContain(token);
    const sent = Bun.spawn(["sh", "-c", curl.replace("curl", "printf '%s\\n'")], { stdout: "pipe" });
    expect((await new Response(sent.stdout).text()).split("\n").slice(0, -1)).toEqual([
      "-X",
      "POST",
      `${server.url}/track`,
      "-H",
      "Authorization: Bearer rk-…",
      "-H",
      "Content-Type: application/json",
      "--data-raw",
      '{"userId":"ghost","event":"it\'s_live"}',
    ]);
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await axe(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("filters live in the address, and a pause holds the page while things arrive", async () => {
    const { page } = await livePage();
    await server.post("/track", token, { userId: "ada", event: "kept" });
    await server.post("/track", token, { userId: "ghost", event: "kept" });
    await arrived(page).filter({ hasText: "ghost" }).first().waitFor();
    await page.getByLabel("Outcome").selectOption("accepted");
    await page.getByLabel("Event", { exact: true }).fill("KEP");
    await page.waitForURL(/outcome=accepted.*event=KEP|event=KEP.*outcome=accepted/);
    // The address changes first, and then the page.
    await becomes(() => arrived(page).filter({ hasText: "ghost" }).count(), 0);
    await page.reload();
    // Messages from before a reload are shown again.
    await arrived(page).filter({ hasText: "kept" }).first().waitFor();
    expect(await arrived(page).count()).toBe(1);
    await page.getByRole("button", { name: "Pause" }).click();
    await server.post("/track", token, { userId: "ada", event: "kept_waiting" });
    await page.getByText("Paused, 1 waiting").waitFor();
    expect(await arrived(page).filter({ hasText: "kept_waiting" }).count()).toBe(0);
    await page.getByRole("button", { name: "Resume" }).click();
    await arrived(page).filter({ hasText: "kept_waiting" }).waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByText("Waiting for the first request").waitFor();
  });

  test("says which source sent, shows one alone, and says of what was not stored what it waits for", async () => {
    const { page } = await livePage();
    await server.post("/track", token, { userId: "ada", event: "by_api" });
    const bySegment = (event: string, more: object) =>
      server.post("/v1/track", undefined, { writeKey: token, event, messageId: event, ...more });
    await bySegment("by_visitor", { anonymousId: "visitor" });
    await bySegment("by_user", { userId: "ada" });
    await bySegment("by_user", { userId: "ada" });
    await bySegment("by_nobody", {});
    await page.getByLabel("Source").selectOption("segment");
    await page.waitForURL(/source=segment/);
    await arrived(page).filter({ hasText: "by_nobody" }).waitFor();
    await becomes(() => arrived(page).filter({ hasText: "by_api" }).count(), 0);
    const lines = await arrived(page).allInnerTexts();
    expect(lines.map((line) => /Accepted|Held|Duplicate|Rejected/.exec(line)?.[0])).toEqual([
      "Rejected",
      "Duplicate",
      "Accepted",
      "Held",
    ]);
    for (const line of lines) expect(line).toContain("Segment");
    expect(lines[1]).toContain("stored once");
    expect(lines[3]).toContain("Held until its user is identified");
    await page.getByLabel("Source").selectOption("api");
    await arrived(page).filter({ hasText: "by_api" }).waitFor();
    await becomes(() => arrived(page).filter({ hasText: "Segment" }).count(), 0);
  });

  test("can be read with the arrow keys, and opened with Enter", async () => {
    const { page } = await livePage("&event=by_key");
    for (const event of ["by_key_1", "by_key_2"])
      await server.post("/track", token, { userId: "ada", event });
    await arrived(page).nth(1).waitFor();
    await arrived(page).first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "by_key_1" }).waitFor();
    await page.keyboard.press("Escape");
    await comesTrue(page, `document.activeElement.textContent.includes("by_key_1")`);
  });

  test("what is left out in a flood is counted where it is left out", async () => {
    const { page } = await livePage("&");
    const batch = Array.from({ length: 500 }, () => ({ type: "track", userId: "ada", event: "flood" }));
    await server.post("/batch", token, { batch });
    // The omitted items are counted second by second, and the batch may take several seconds.
    await page
      .getByText(/more accepted, not shown/)
      .first()
      .waitFor();
    const told = async () => {
      const counts = await page.getByText(/more accepted, not shown/).allTextContents();
      const shown = await arrived(page).filter({ hasText: "flood" }).count();
      return counts.reduce((sum, text) => sum + Number.parseInt(text.replaceAll(",", ""), 10), shown);
    };
    await becomes(told, 500);
  });

  test("works while analysis is away, and says when it is refused", async () => {
    const { page } = await openPage(browser);
    const { id } = await signedIn(page, server, watchedName);
    const away = { message: "analysis is starting", statusCode: 500, name: "application_error" };
    await page.route("**/api/rejected-events?*", (route) =>
      route.fulfill({ status: 500, headers: { "Retry-After": "1" }, json: away }),
    );
    await page.goto(`${server.url}/o/${id}/events?tab=live`);
    await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
    const full = { message: "Too many people watch live.", statusCode: 429, name: "rate_limit_exceeded" };
    await page.route("**/api/live?*", (route) => route.fulfill({ status: 429, json: full }));
    await page.reload();
    await page.getByRole("alert").getByText(full.message).waitFor();
    await page.unroute("**/api/live?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  });
});

test("a warning says what it means and shows the latest request that caused it", async () => {
  const { page } = await eventsPage(
    server,
    browser,
    "?tab=warnings&kind=refused_unknown_user",
    {},
    watchedName,
  );
  const row = page.getByRole("table", { name: "Every ingestion warning" }).locator("tbody tr");
  await row.filter({ hasText: "signed_up" }).waitFor();
  expect(await row.filter({ hasText: "plann" }).count()).toBe(0);
  await row.filter({ hasText: "signed_up" }).getByRole("button").click();
  const dialog = page.getByRole("dialog", { name: "Refused: unknown user" });
  await dialog.getByText("User not found").waitFor();
  await dialog.getByText("nobody").waitFor();
  // There is no such user to go to.
  expect(await dialog.getByRole("link").count()).toBe(0);
  expect(await axe(page)).toEqual([]);
});

describe("rejected events", () => {
  const rejectedRows = [
    {
      id: 7,
      at: "2026-05-17T10:00:00.000Z",
      table: "events",
      reason: "Code: 27. Cannot parse",
      row: "[1,2]",
    },
    { id: 8, at: "2026-05-18T10:00:00.000Z", table: "events", reason: "Code: 27. Cannot parse", row: "[3]" },
  ];

  /** The page with rejected events, which a test cannot cause at will. Their requests are recorded. */
  async function withLetters(page: Page): Promise<string[]> {
    const asked: string[] = [];
    let left = rejectedRows;
    await page.route("**/api/rejected-events**", (route) => {
      const request = route.request();
      const { searchParams, pathname } = new URL(request.url());
      if (request.method() === "GET") {
        return route.fulfill({ json: { total: left.length, rejectedEvents: left } });
      }
      asked.push(`${request.method()} ${pathname} ${searchParams.get("ids")} ${searchParams.get("all")}`);
      const ids = searchParams.get("ids");
      const rows = left.filter(({ id }) => ids === null || ids === String(id)).length;
      left = left.filter(({ id }) => ids !== null && ids !== String(id));
      return route.fulfill({ json: { rows } });
    });
    return asked;
  }

  test("are shown with their rows, and sent again or deleted only after a question", async () => {
    const { page } = await openPage(browser);
    const { id } = await signedIn(page, server, watchedName);
    const asked = await withLetters(page);
    await page.goto(`${server.url}/o/${id}/events?tab=rejected-events`);
    await page.getByRole("button", { name: "7", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Rejected event 7" });
    await dialog.getByText("Code: 27. Cannot parse").waitFor();
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Send again" }).click();
    const question = page.getByRole("alertdialog");
    const told = await notedMessages(page);
    await question.getByRole("button", { name: "Send again" }).click();
    await told("1 row on the way to the warehouse again.");
    await page.getByRole("button", { name: "Delete all" }).click();
    expect(await axe(page)).toEqual([]);
    await question.getByRole("button", { name: "Cancel" }).click();
    expect(asked).toEqual(["POST /api/rejected-events/retry 7 null"]);
    await page.getByRole("button", { name: "Delete all" }).click();
    await question.getByRole("button", { name: "Delete 1 row" }).click();
    await page.getByText("No rejected events").waitFor();
    expect(asked.at(-1)).toBe("DELETE /api/rejected-events null true");
  });

  test("cannot be changed by a viewer", async () => {
    const viewer = await joined(server, watchedName, "viewer", "View Er");
    const { page } = await openPage(browser);
    await withLetters(page);
    await signInAs(page, server, viewer);
    await page.goto(`${server.url}/o/${viewer.organization}/events?tab=rejected-events`);
    await page.getByRole("button", { name: "7", exact: true }).click();
    await page.getByRole("dialog", { name: "Rejected event 7" }).waitFor();
    expect(await page.getByRole("button", { name: /Send|Delete/ }).count()).toBe(0);
  });
});
