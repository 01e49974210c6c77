/** The page of events, as a browser shows it: the endpoint's figures, the live view, warnings, and dead letters. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { joined } from "../people/support.ts";
import { Server } from "../server.ts";
import { startBrowser } from "./chromium.ts";
import { axe, openPage, phone, sidewaysPixels, signedIn } from "./support.ts";

let server: Server;
let browser: Browser;
let token: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), startBrowser()]);
  await server.ready();
  await server.command("demo", "--users", "60", "--weeks", "8");
  token = (await server.command("token", "create", "--organization", "Demo", "--name", "Shop")).trim();
  await server.post("/identify", token, { userId: "ada", email: "ada@example.com", plann: "pro" });
  await server.post("/track", token, { userId: "nobody", event: "signed_up" });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Somebody who is signed in, on the page of events. */
async function eventsPage(
  query: string,
  options: Parameters<typeof openPage>[1] = {},
  organization = "Demo",
) {
  const watched = await openPage(browser, options);
  const { id } = await signedIn(watched.page, server, organization);
  const ask = async <Answer>(path: string) =>
    (await (
      await watched.page.request.get(
        `${server.url}${path}${path.includes("?") ? "&" : "?"}organization=${id}`,
      )
    ).json()) as Answer;
  await watched.page.goto(`${server.url}/o/${id}/events${query}`);
  return { ...watched, ask };
}

/** The texts of a table's cells, by row. */
async function cells(page: Page, name: string): Promise<string[][]> {
  const rows = page.getByRole("table", { name }).locator("tbody tr");
  await rows.first().waitFor();
  return Promise.all((await rows.all()).map((row) => row.getByRole("cell").allInnerTexts()));
}

const number = new Intl.NumberFormat("en-GB");

describe("volume", () => {
  interface Named {
    readonly event: string;
    readonly count: number;
    readonly users: number;
  }

  test("shows the endpoint's names with their figures, sorted as the address says", async () => {
    const { page, ask } = await eventsPage("?sort=users&order=ascending");
    const { events } = await ask<{ events: Named[] }>("/api/events?sort=users&order=ascending");
    expect(events.length).toBeGreaterThan(5);
    const shown = (await cells(page, "Every event by name")).map((row) => row.slice(0, 3));
    expect(shown).toEqual(
      events.map(({ event, count, users }) => [event, number.format(count), number.format(users)]),
    );
    await page.getByRole("columnheader", { name: "Events" }).getByRole("button").click();
    await page.waitForURL(/order=descending|sort=count|\?$|events$/);
    const most = events.toSorted((a, b) => b.count - a.count)[0];
    await page
      .getByRole("table", { name: "Every event by name" })
      .locator("tbody tr")
      .first()
      .getByText(most?.event ?? "")
      .waitFor();
    await page.context().close();
  });

  test("draws the endpoint's sums over time, of all groups and of one event split by a trait", async () => {
    interface Row {
      readonly value: string | null;
      readonly count: number;
      readonly users: number;
    }
    const { page, ask } = await eventsPage("?range=13w");
    const { events } = await ask<{ events: Named[] }>("/api/events");
    await page.getByText("Show as a table").click();
    const drawn = page.getByRole("region", { name: /Number of events by week.*as a table/ });
    const top = "period=week&periods=13&top=7";
    const all = await ask<{ periods: Row[] }>(`/api/events-over-time?breakdown=event&${top}`);
    expect(await sums(drawn)).toEqual(sumsOf(all.periods, "count"));
    await page
      .getByRole("list", { name: /Groups/ })
      .getByRole("button")
      .first()
      .click();
    const name = events[0]?.event ?? "";
    await page.getByRole("heading", { name, exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get("event")).toBe(name);
    await page.getByLabel("Split").selectOption("trait");
    await page.getByLabel("Trait").fill("plan");
    await page.keyboard.press("Enter");
    await page.getByLabel("What is counted").selectOption("users");
    await page
      .getByRole("list", { name: /Groups/ })
      .getByText("pro")
      .waitFor();
    await page.reload();
    await page.getByText("Show as a table").click();
    const users = page.getByRole("region", { name: /Number of users by week.*as a table/ });
    const one = await ask<{ periods: Row[] }>(
      `/api/events-over-time?breakdown=trait&key=plan&event=${name}&${top}`,
    );
    expect(await sums(users)).toEqual(sumsOf(one.periods, "users"));
    await page.context().close();
  });

  /** The sum of each column of a drawn table, without the first. */
  async function sums(region: ReturnType<Page["getByRole"]>): Promise<number[]> {
    const rows = await region.locator("tbody tr").all();
    const texts = await Promise.all(rows.map((row) => row.locator("td").allInnerTexts()));
    const width = (texts[0]?.length ?? 1) - 1;
    return Array.from({ length: width }, (_, at) =>
      texts.reduce((sum, row) => sum + Number(row[at + 1]?.replaceAll(",", "")), 0),
    );
  }

  function sumsOf(
    rows: readonly { readonly value: string | null; readonly count: number; readonly users: number }[],
    measure: "count" | "users",
  ): number[] {
    const groups = Map.groupBy(rows, ({ value }) => String(value));
    return [...groups.values()].map((of) => of.reduce((sum, row) => sum + row[measure], 0));
  }

  test("a name that nothing holds is said, and the search stays where it is typed", async () => {
    const { page } = await eventsPage("");
    await page.getByLabel("Search events").pressSequentially("nothing-of-it");
    await page.getByText("No event's name holds “nothing-of-it”").waitFor();
    expect(new URL(page.url()).searchParams.get("search")).toBe("nothing-of-it");
    expect(await page.evaluate("document.activeElement.type")).toBe("search");
    await page.context().close();
  });
});

test("adoption is the endpoint's, with the users of whom it is a share", async () => {
  const { page, ask } = await eventsPage("?tab=adoption&days=7");
  const { activeUsers, events } = await ask<{
    activeUsers: number;
    events: { event: string; users: number; share: number }[];
  }>("/api/adoption?days=7");
  await page.getByText(`Shares are of the ${activeUsers} users who did anything within 7 days`).waitFor();
  const share = new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 1 });
  const shown = (await cells(page, "Adoption of every event")).map((row) => row.slice(0, 3));
  expect(shown).toEqual(events.map((row) => [row.event, share.format(row.share), String(row.users)]));
  await page.context().close();
});

describe("live", () => {
  const arrived = (page: Page) => page.getByRole("list", { name: /What arrived/ }).getByRole("button");

  /** The page when its stream is open. */
  async function livePage(query = "", options: Parameters<typeof openPage>[1] = {}) {
    const watched = await eventsPage(`?tab=live${query}`, options);
    await watched.page.getByRole("status").getByText("Live", { exact: true }).waitFor();
    return watched;
  }

  test("shows what arrives, why it was refused as the sender was told, and how to send it again", async () => {
    const { page, complaints } = await livePage();
    await server.post("/track", token, { userId: "ada", event: "it's_live" });
    const answer = await server.post("/track", token, { userId: "ghost", event: "it's_live" });
    const { message } = (await answer.json()) as { message: string };
    const row = arrived(page).filter({ hasText: "ghost" });
    await row.filter({ hasText: "Rejected 404" }).filter({ hasText: message }).waitFor();
    await row.first().click();
    const dialog = page.getByRole("dialog", { name: "it's_live" });
    await dialog.getByText(message).first().waitFor();
    expect(await dialog.getByLabel("What was sent").textContent()).toBe(
      JSON.stringify({ userId: "ghost", event: "it's_live" }, null, 2),
    );
    expect(await dialog.getByText(/Shop, ends in/).textContent()).toContain(token.slice(-4));
    const curl = (await dialog.getByLabel("The request as a curl command").textContent()) ?? "";
    expect(curl).not.toContain(token);
    const sent = Bun.spawn(["sh", "-c", curl.replace("curl", "printf '%s\\n'")], { stdout: "pipe" });
    expect((await new Response(sent.stdout).text()).split("\n").slice(0, -1)).toEqual([
      ...["-X", "POST", `${server.url}/track`, "-H", "Authorization: Bearer rk-…", "-H"],
      ...["Content-Type: application/json", "--data-raw", '{"userId":"ghost","event":"it\'s_live"}'],
    ]);
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await axe(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("filters live in the address, and a pause holds the page while things arrive", async () => {
    const { page } = await livePage();
    await server.post("/track", token, { userId: "ada", event: "kept" });
    await server.post("/track", token, { userId: "ghost", event: "kept" });
    await arrived(page).filter({ hasText: "ghost" }).first().waitFor();
    await page.getByLabel("Outcome").selectOption("accepted");
    await page.getByLabel("Event", { exact: true }).fill("KEP");
    await page.waitForURL(/outcome=accepted/);
    expect(await arrived(page).filter({ hasText: "ghost" }).count()).toBe(0);
    await page.reload();
    // What arrived before is shown to who comes back.
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
    await page.context().close();
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
    expect(await page.evaluate("document.activeElement.textContent")).toContain("by_key_1");
    await page.context().close();
  });

  test("what is left out in a flood is counted where it is left out", async () => {
    const { page } = await livePage("&");
    const batch = Array.from({ length: 500 }, () => ({ type: "track", userId: "ada", event: "flood" }));
    await server.post("/batch", token, { batch });
    const told = await page
      .getByText(/more accepted, not shown/)
      .first()
      .textContent();
    const shown = await arrived(page).filter({ hasText: "flood" }).count();
    expect(Number.parseInt(told ?? "", 10) + shown).toBe(500);
    await page.context().close();
  });

  test("works while analysis is away, and says when it is refused", async () => {
    const { page } = await openPage(browser);
    const { id } = await signedIn(page, server, "Demo");
    const away = { message: "analysis is starting", statusCode: 500, name: "application_error" };
    await page.route("**/api/dead-letters?*", (route) =>
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
    await page.context().close();
  });
});

test("a warning says what it means and shows the latest request that caused it", async () => {
  const { page } = await eventsPage("?tab=warnings&kind=refused_unknown_user");
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
  await page.context().close();
});

describe("dead letters", () => {
  const letters = [
    {
      id: 7,
      at: "2026-05-17T10:00:00.000Z",
      table: "events",
      reason: "Code: 27. Cannot parse",
      row: "[1,2]",
    },
    { id: 8, at: "2026-05-18T10:00:00.000Z", table: "events", reason: "Code: 27. Cannot parse", row: "[3]" },
  ];

  /** The page with dead letters that no test can make at will; what is asked for is noted. */
  async function withLetters(page: Page): Promise<string[]> {
    const asked: string[] = [];
    let left = letters;
    await page.route("**/api/dead-letters**", (route) => {
      const request = route.request();
      const { searchParams, pathname } = new URL(request.url());
      if (request.method() === "GET") {
        return route.fulfill({ json: { total: left.length, deadLetters: left } });
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
    const { id } = await signedIn(page, server, "Demo");
    const asked = await withLetters(page);
    await page.goto(`${server.url}/o/${id}/events?tab=dead-letters`);
    await page.getByRole("button", { name: "7", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Dead letter 7" });
    await dialog.getByText("Code: 27. Cannot parse").waitFor();
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Send again" }).click();
    const question = page.getByRole("alertdialog");
    await question.getByRole("button", { name: "Send again" }).click();
    await page.getByText("1 row on the way to the warehouse again.", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Delete all" }).click();
    expect(await axe(page)).toEqual([]);
    await question.getByRole("button", { name: "Cancel" }).click();
    expect(asked).toEqual(["POST /api/dead-letters/retry 7 null"]);
    await page.getByRole("button", { name: "Delete all" }).click();
    await question.getByRole("button", { name: "Delete 1 row" }).click();
    await page.getByText("No dead letters").waitFor();
    expect(asked.at(-1)).toBe("DELETE /api/dead-letters null true");
    await page.context().close();
  });

  test("cannot be changed by a viewer", async () => {
    const viewer = await joined(server, "Demo", "viewer", "View Er");
    const { page } = await openPage(browser);
    await withLetters(page);
    await page
      .context()
      .addCookies([{ name: "rekindle_session", value: viewer.cookie ?? "", url: server.url }]);
    await page.goto(`${server.url}/o/${viewer.organization}/events?tab=dead-letters`);
    await page.getByRole("button", { name: "7", exact: true }).click();
    await page.getByRole("dialog", { name: "Dead letter 7" }).waitFor();
    expect(await page.getByRole("button", { name: /Send|Delete/ }).count()).toBe(0);
    await page.context().close();
  });
});

const tabs = ["", "?tab=adoption", "?tab=live", "?tab=warnings", "?tab=dead-letters"];

test.each(tabs)("%s: axe finds nothing in either theme, and a phone is wide enough", async (query) => {
  for (const options of [{ colorScheme: "light" }, { colorScheme: "dark", viewport: phone }] as const) {
    const { page, complaints } = await eventsPage(query, options);
    await page.getByRole("tabpanel").getByRole("heading").first().waitFor();
    await page.getByText("Loading …").first().waitFor({ state: "detached" });
    expect(await axe(page)).toEqual([]);
    expect(await sidewaysPixels(page)).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  }
});

test("an organization without anything says so in every tab, and what to do", async () => {
  await server.organization("Empty");
  const texts = {
    "": "No events yet",
    "?tab=adoption": "Nobody did anything within 28 days",
    "?tab=live": "Waiting for the first request",
    "?tab=warnings": "Nothing to warn of",
    "?tab=dead-letters": "No dead letters",
  };
  for (const [query, text] of Object.entries(texts)) {
    const { page } = await eventsPage(query, {}, "Empty");
    await page.getByText(text).first().waitFor();
    expect(await axe(page)).toEqual([]);
    await page.context().close();
  }
});

test("the tabs are reached by keyboard, and the chosen one is in the address", async () => {
  const { page } = await eventsPage("");
  await page.getByRole("tab", { name: "Volume" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/tab=adoption/);
  await page.getByRole("table", { name: "Adoption of every event" }).waitFor();
  await page.goBack();
  await page.getByRole("tab", { name: "Volume", selected: true }).waitFor();
  await page.context().close();
});
