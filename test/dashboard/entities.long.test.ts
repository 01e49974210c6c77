/** The pages of a user and of an account, as a browser shows them: the figures of the API, and nothing
 * else. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { formatDay } from "../../server/calendar/days.ts";
import { demonstrationDay } from "../scored-demonstration.ts";
import { rekindle } from "../server.ts";
import { becomes } from "../until.ts";
import { at } from "./settings-support.ts";
import {
  axe,
  comesTrue,
  heldFigures,
  openPage,
  openWhileStarting,
  ownerOf,
  phone,
  settled,
  sidewaysPixels,
  signedIn,
  wide,
} from "./support.ts";
import { world } from "./world.ts";

const { server, browser } = await world();
/** A user at risk with a history, and their account. */
let userId = "";
let accountId = "";
/** The models that served on the first and the last day that was scored; empty for none. */
const models: string[] = [];
const days: string[] = [];

beforeAll(async () => {
  for (const daysAgo of [196, 28, 0]) {
    const day = formatDay(demonstrationDay - daysAgo);
    const said = await rekindle(server.dataDir, "score", "--organization", "Demo", "--as-of", day);
    days.push(day);
    models.push(/users \(([a-z-]+),/.exec(said.stderr)?.[1] ?? "");
  }
  ({ userId, accountId } = await somebodyWithHistory());
});

/** A user at risk who had scores on the first day, with many events, and an account in use. */
async function somebodyWithHistory() {
  const owner = await ownerOf(server, "Demo");
  const ask = <Answer>(path: string, query = "") => owner.json<Answer>("GET", at(owner, path) + query);
  const query = `&limit=100&sort=risk&order=descending&since=${days[0]}&state=active`;
  type Score = { id: string; change: number | null; risk: number | null };
  const { scores } = await ask<{ scores: Score[] }>("/api/scores/users", query);
  for (const { id } of scores.filter(({ change, risk }) => change !== null && risk !== null)) {
    const user = await ask<{ account: { id: string } | null }>(`/api/users/${id}`);
    const { events } = await ask<{ events: { event: string; count: number }[] }>(`/api/users/${id}/events`);
    const count = events.reduce((sum, one) => sum + one.count, 0);
    const hasSignedIn = events.some(({ event }) => event === "signed_in");
    if (user.account === null || count <= 60 || !hasSignedIn) continue;
    const { isInUse } = await ask<{ isInUse: boolean }>(`/api/accounts/${user.account.id}/members`);
    if (isInUse) return { userId: id, accountId: user.account.id };
  }
  throw new Error("nobody of the demonstration has a history");
}

/** A page of the demonstration, with a signed-in user. @param script run in the page before its own
 * scripts */
async function open(path: string, options: Parameters<typeof openPage>[1] = {}, script = "") {
  const watched = await openPage(browser, options);
  await watched.page.addInitScript(script);
  const { id } = await signedIn(watched.page, server, "Demo");
  const held = await heldFigures(watched.page, server, id);
  await watched.page.goto(`${server.url}/o/${id}${path}`);
  await watched.page.locator("h1").waitFor();
  return { ...watched, held };
}

interface Scored {
  readonly day: string;
  readonly health: { readonly score: number };
  readonly risk: { readonly probability: number; readonly reasons: readonly { readonly text: string }[] };
  readonly engagement: { readonly score: number };
  readonly change: { readonly sinceDay: string; readonly health: Readonly<Record<string, number>> };
}

/** A busy browser reports in one call that an element left the window and that it came back. Here it always
 * does. */
const reportsOfOutsideWait = `
  window.IntersectionObserver = class extends IntersectionObserver {
    constructor(report, options) {
      let waiting = [];
      super((entries, observer) => {
        waiting.push(...entries);
        if (!waiting.at(-1).isIntersecting) return;
        report(waiting, observer);
        waiting = [];
      }, options);
    }
  };`;

/** On a busy page an answer may be there before a timer of 0 ms that was set ahead of the request. */
const timersAreLate = `
  const exactTimeout = window.setTimeout;
  window.setTimeout = (run, ms = 0, ...values) => exactTimeout(run, ms === 0 ? 500 : ms, ...values);`;

/** The cells of a table as texts, by row. */
function cellsOf(page: Page, name: string | RegExp): Promise<string[][]> {
  const rows = page.getByRole("table", { name }).locator("tbody tr");
  return rows.evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll("th, td")].map((cell) => cell.textContent?.trim() ?? "")),
  );
}

const tenths = (value: number) => value.toFixed(1);
/** As scores are shown: down, as their bands are by the exact value. */
const down = (value: number) => tenths(Math.floor(value * 10) / 10);

describe("the page of a user", () => {
  test("shows the scores of the endpoint, and parts that add up to them", async () => {
    const { page, complaints, held } = await open(`/users/${userId}`);
    const since = days[1] ?? "";
    const score = await held<Scored>(`/api/users/${userId}/score?since=${since}`);
    for (const [name, total] of [
      [/^Health of/, score.health.score],
      [/^Engagement of/, score.engagement.score],
      [/^Churn risk of/, 100 * score.risk.probability],
    ] as const) {
      await page.getByRole("table", { name }).waitFor();
      const shown = (await cellsOf(page, name)).map((row) => Number(row.at(-1)?.replace("%", "")));
      expect([String(name), tenths(shown.at(-1) ?? 0)]).toEqual([String(name), down(total)]);
      const sum = shown.slice(0, -1).reduce((all, part) => all + part, 0);
      expect([String(name), tenths(sum)]).toEqual([String(name), down(total)]);
    }
    for (const { text } of score.risk.reasons) {
      await page
        .getByText(text.split(": ")[0] ?? "", { exact: false })
        .first()
        .waitFor();
    }
    const [health = []] = await cellsOf(page, /^Changes of/);
    const parts = health.slice(1).map(Number);
    expect(tenths(parts[0] ?? 0)).toBe(tenths(score.change.health.total ?? Number.NaN));
    expect(tenths(parts.slice(1).reduce((sum, part) => sum + part, 0))).toBe(tenths(parts[0] ?? 0));
    expect(complaints).toEqual([]);
  });

  test("has a calendar with every active day of the endpoint", async () => {
    const { page, held } = await open(`/users/${userId}`);
    const activity = await held<{ days: { events: number }[] }>(`/api/users/${userId}/activity`);
    const active = activity.days.filter(({ events }) => events > 0);
    const events = active.reduce((sum, day) => sum + day.events, 0);
    expect(active.length).toBeGreaterThan(1);
    const name = `active on ${active.length} days of 365, ${events.toLocaleString("en")} events`;
    await page.getByRole("img", { name }).waitFor();
  });

  test("marks in the history where the model changed, as runs said it", async () => {
    const { page, held } = await open(`/users/${userId}?range=all`);
    const { changes } = await held<{ changes: { day: string; from: string | null; to: string | null }[] }>(
      "/api/model/changes",
    );
    const between = changes.filter(({ day }) => day > (days[0] ?? "") && day <= (days.at(-1) ?? ""));
    expect(models[0]).not.toBe(models.at(-1));
    expect([between[0]?.from ?? "", between.at(-1)?.to ?? ""]).toEqual([
      models[0] ?? "-",
      models.at(-1) ?? "-",
    ]);
    await page
      .getByRole("list", { name: "Changes of rules" })
      .getByText("Model of churn risk")
      .first()
      .waitFor();
  });

  test("keeps its choices in the address, over a reload", async () => {
    const { page } = await open(`/users/${userId}`);
    await page.getByRole("combobox", { name: "Compare with" }).selectOption("7");
    await page.waitForURL(/since=7/);
    await page.getByRole("combobox", { name: "Days of the history" }).selectOption("90");
    await page.waitForURL(/range=90/);
    const filter = page.getByRole("combobox", { name: "Event" });
    await filter.locator("option", { hasText: "signed_in" }).waitFor({ state: "attached" });
    await filter.selectOption("signed_in");
    await page.waitForURL(/event=signed_in/);
    await page.reload();
    const timeline = page.getByRole("region", { name: "Timeline" });
    await timeline.locator("button[aria-expanded]").first().waitFor();
    const names = await timeline.locator("button[aria-expanded]").allInnerTexts();
    expect(names.every((text) => text.includes("signed_in"))).toBe(true);
    expect(await page.getByRole("combobox", { name: "Compare with" }).inputValue()).toBe("7");
    expect(await page.getByRole("combobox", { name: "Days of the history" }).inputValue()).toBe("90");
  });

  /** The text under a timeline that was read to its end, and how many events it has. */
  async function endOfTimeline({ page, held }: Awaited<ReturnType<typeof open>>) {
    // Billing events are in it, too: the events by name leave them out.
    const { events } = await held<{ events: unknown[] }>(`/api/users/${userId}/timeline?limit=1000`);
    const all = events.length;
    expect(all).toBeGreaterThan(50);
    expect(all).toBeLessThan(1_000);
    const text = `${new Intl.NumberFormat("en-GB").format(all)} events, and that is all.`;
    return { all, end: page.getByText(text) };
  }

  const rowsOfTimeline = (page: Page) =>
    page.getByRole("region", { name: "Timeline" }).locator("button[aria-expanded]").count();

  test.each([
    ["by scrolling", ""],
    ["by scrolling, where several reports of the browser arrive at once", reportsOfOutsideWait],
  ])("reads the timeline on to its end, %s", async (_how, script) => {
    const opened = await open(`/users/${userId}`, {}, script);
    const { page } = opened;
    const { all, end } = await endOfTimeline(opened);
    await page.getByText("25 events so far.").waitFor();
    // Events that come lengthen the page, so it is scrolled again.
    const isAtEnd = async () => {
      await page.mouse.wheel(0, 20_000);
      return end.isVisible();
    };
    await becomes(isAtEnd, true);
    expect(await rowsOfTimeline(page)).toBe(all);
  });

  test("reads the timeline on to its end in a window that shows all of it, where answers overtake timers", async () => {
    // Each pixel of the screen is ten of the page: a browser draws 40 megapixels slowly.
    const look = { viewport: { ...wide, height: 60_000 }, deviceScaleFactor: 0.1 };
    const opened = await open(`/users/${userId}`, look, timersAreLate);
    const { all, end } = await endOfTimeline(opened);
    await end.waitFor();
    expect(await rowsOfTimeline(opened.page)).toBe(all);
  });
});

describe("the page of an account", () => {
  test("begins with one line, and counts members among those active in 90 days", async () => {
    const { page, complaints, held } = await open(`/accounts/${accountId}`);
    const line = page.getByRole("note", { name: "In short" });
    await line.waitFor();
    const score = await held<{ verdict: string }>(`/api/accounts/${accountId}/score?since=${days[1] ?? ""}`);
    const beginnings: Readonly<Record<string, RegExp>> = {
      high_risk: /^High churn risk/,
      at_risk: /At risk since /,
      watch: /Watch since /,
      new: /^New: too little is known of this account/,
      healthy: /^Nothing is wrong\./,
      churned: /^(Canceled|Churned) on /,
    };
    const text = (await line.textContent()) ?? "";
    expect(text).toMatch(beginnings[score.verdict] ?? /^$/);
    expect(text).toMatch(/(Nothing was done yet|Last done: .+ on \d+ \w+ \d{4}.*)\.$/);
    const { active28, active90 } = await held<{ active28: number; active90: number }>(
      `/api/accounts/${accountId}/members?sort=share&order=descending&limit=10`,
    );
    const share = `${active28} of ${active90}`;
    const stat = page.locator("dl", { hasText: "Members active in 28 days" });
    expect(await stat.locator("dd").first().textContent()).toBe(share);
    await page
      .getByRole("region", { name: "Activity by member" })
      .getByText(share, { exact: true })
      .waitFor();
    expect(complaints).toEqual([]);
  });

  interface Members {
    readonly total: number;
    readonly active28: number;
    readonly active90: number;
    readonly members: readonly { readonly userId: string; readonly name: string; readonly share: number }[];
  }

  test("shows its members and what each carries, as the endpoint says", async () => {
    const { page, complaints, held } = await open(`/accounts/${accountId}?members=all`);
    const answer = await held<Members>(`/api/accounts/${accountId}/members`);
    await page.getByText(`${answer.active28} of ${answer.active90}`).first().waitFor();
    const rows = await cellsOf(page, "Members of this account");
    expect(rows.length).toBe(answer.total);
    const percent = new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 1 });
    for (const [index, { name, share }] of answer.members.entries()) {
      expect(rows[index]?.[0]).toContain(name);
      expect(rows[index]?.[1]).toBe(percent.format(share));
    }
    expect(complaints).toEqual([]);
  });

  test("sorts its members in the address", async () => {
    const { page, held } = await open(`/accounts/${accountId}?members=all`);
    await page.getByRole("columnheader", { name: "Member" }).getByRole("button").click();
    await page.waitForURL(/sort=email/);
    const sent = new URL(page.url()).searchParams;
    sent.delete("members");
    await page.reload();
    const answer = await held<Members>(`/api/accounts/${accountId}/members?${sent}`);
    await page.getByRole("table", { name: "Members of this account" }).waitFor();
    const rows = await cellsOf(page, "Members of this account");
    expect(rows.map(([name]) => name)).toEqual(
      answer.members.map(({ name }) => expect.stringContaining(name)),
    );
  });
});

describe("both pages", () => {
  const looks = [{ colorScheme: "light" }, { colorScheme: "dark", viewport: phone }] as const;

  test.each(
    ["users", "accounts"].flatMap((kind) => looks.map((look) => [kind, look.colorScheme, look] as const)),
  )(
    "%s, %s: the security policy is obeyed, axe finds nothing, no phone is too narrow",
    async (kind, _theme, look) => {
      const { page, complaints } = await open(`/${kind}/${kind === "users" ? userId : accountId}`, look);
      await settled(page);
      await page.getByRole("region", { name: "Timeline" }).locator("button[aria-expanded]").first().click();
      expect(await axe(page)).toEqual([]);
      expect(await sidewaysPixels(page)).toBe(0);
      expect(complaints).toEqual([]);
    },
  );

  test("a phone sees on which side a table goes on, and a wide window that it does not", async () => {
    const { page } = await open(`/accounts/${accountId}`, { viewport: phone });
    const table = `document.querySelector('section[aria-label="Members of this account"]')`;
    const scrolledTo = (left: string) => page.evaluate(`{ const at = ${table}; at.scrollLeft = ${left}; }`);
    await comesTrue(page, `${table}?.dataset.more === "right"`);
    await scrolledTo("60");
    await comesTrue(page, `${table}.dataset.more === "left right"`);
    await scrolledTo("at.scrollWidth");
    await comesTrue(page, `${table}.dataset.more === "left"`);
    await page.setViewportSize({ width: 3_000, height: 900 });
    await comesTrue(page, `${table}.dataset.more === undefined`);
  });

  test.each(["users", "accounts"])("%s: what is starting is said, and comes by itself", async (kind) => {
    const path = `/${kind}/${kind === "users" ? userId : accountId}`;
    const { page, ends } = await openWhileStarting(browser, server, path, /\/api\/(users|accounts)\//);
    ends();
    await page.getByRole("table", { name: /^Health of/ }).waitFor();
    await page.getByRole("region", { name: "Timeline" }).locator("button[aria-expanded]").first().waitFor();
  });
});
