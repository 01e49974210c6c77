/** Sentences on pages that were not true: figures of another organization, warnings that are there, a start
 * that is none. */
import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { secondsOf } from "../../dashboard/api/client.ts";
import { joined } from "../people/support.ts";
import { user } from "../specification/support.ts";
import { becomes } from "../until.ts";
import { at, SettingsWorld } from "./settings-support.ts";
import { axe, settled, whileStarting } from "./support.ts";

const world = await SettingsWorld.shared();

const open = async (page: Page, organization: number, path: string) => {
  await page.goto(`${world.server.url}/o/${organization}${path}`);
  await page.locator("h1").waitFor();
};

test("figures of one organization are gone as soon as another is chosen", async () => {
  const { first } = world;
  const other = await world.founder("Elsewhere");
  const { page } = await world.pageOf(first);
  await open(page, first.organization, "/overview");
  await page.getByRole("heading", { name: "Active users" }).waitFor();
  await settled(page);
  const starting = await whileStarting(page, new RegExp(`/api/.*organization=${other.organization}\\b`));
  await page.getByRole("button", { name: "Organization: Demo. Switch" }).click();
  await page.getByRole("menuitemradio", { name: "Elsewhere" }).click();
  await page.waitForURL(`**/o/${other.organization}/overview`);
  await page.getByText("The analysis is starting").first().waitFor();
  await page.getByRole("heading", { name: "Active users" }).waitFor({ state: "detached" });
  starting.ends();
  await page.getByText("No events yet").waitFor();
});

describe("ingestion warnings", () => {
  test("of a kind are found behind newer ones of other kinds, on the page and in the CSV", async () => {
    const token = await world.server.organization("Warned");
    const owner = await joined(world.server, "Warned", "owner", "Wanda Warned");
    await world.server.post("/identify", token, user("u1"));
    await world.server.post("/track", token, { userId: "nobody", event: "opened" });
    await world.server.post("/track", token, { userId: "u1", event: "opened", colour: "red" });
    const path = (query: string) => `${at(owner, "/api/ingestion-warnings")}&limit=1${query}`;
    type Answer = { warnings: { kind: string }[] };
    const kinds = async (query: string) =>
      (await owner.json<Answer>("GET", path(query))).warnings.map(({ kind }) => kind);
    await becomes(() => kinds(""), ["unknown_key"]);
    expect(await kinds("&kind=refused_unknown_user")).toEqual(["refused_unknown_user"]);
    const { page } = await world.pageOf(owner);
    // As if there were a thousand newer ones: the page is given one line of what it asks for.
    await page.route("**/api/ingestion-warnings?*", (route) =>
      route.continue({ url: route.request().url().replace("limit=1000", "limit=1") }),
    );
    await open(page, owner.organization, "/events?tab=warnings&kind=refused_unknown_user");
    await page.getByRole("table", { name: "Every ingestion warning" }).waitFor();
    expect(await page.getByText("There is no such warning").count()).toBe(0);
    const csv = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
    expect(new URL(csv ?? "", world.server.url).searchParams.get("kind")).toBe("refused_unknown_user");
  });
});

describe("an answer of a proxy", () => {
  test("is not taken for a start of the analysis, and is not asked for without an end", async () => {
    const { first } = world;
    const { page } = await world.pageOf(first);
    await page.clock.install();
    let asked = 0;
    const tomorrow = new Date(Date.now() + 86_400_000).toUTCString();
    await page.route("**/api/events?*", (route) => {
      asked += 1;
      return route.fulfill({
        status: 503,
        headers: { "Retry-After": tomorrow },
        contentType: "text/html",
        body: "<h1>Service Unavailable</h1>",
      });
    });
    await open(page, first.organization, "/events");
    await page.getByRole("alert").getByText("answered 503, and not the server itself").first().waitFor();
    const after = asked;
    await page.clock.runFor(60_000);
    expect(asked).toBe(after);
    expect(await page.getByText("The analysis is starting").count()).toBe(0);
    expect(await page.getByText("Events are being taken").count()).toBe(0);
  });

  test("is waited for as long as it says, in seconds or until a date", () => {
    const nowMs = Date.parse("2026-11-22T10:00:00Z");
    expect(secondsOf("120", nowMs)).toBe(120);
    expect(secondsOf("Sun, 22 Nov 2026 10:00:30 GMT", nowMs)).toBe(30);
    expect(secondsOf("Sun, 22 Nov 2026 09:00:00 GMT", nowMs)).toBe(0);
    expect(secondsOf("soon", nowMs)).toBeUndefined();
    expect(secondsOf(null, nowMs)).toBeUndefined();
  });

  test("of too many questions is not taken for a start on a timeline", async () => {
    const { first } = world;
    const { users } = await first.json<{ users: { userId: string }[] }>("GET", at(first, "/api/users"));
    const { page } = await world.pageOf(first);
    const json = { message: "Too many requests at once.", statusCode: 429, name: "rate_limit_exceeded" };
    await page.route("**/timeline?*", (route) =>
      route.fulfill({ status: 429, headers: { "Retry-After": "1" }, json }),
    );
    const refused = page.waitForResponse((answer) => answer.status() === 429);
    await open(page, first.organization, `/users/${users[0]?.userId}`);
    await refused;
    await page.getByRole("heading", { name: "Timeline" }).waitFor();
    await page.waitForResponse((answer) => answer.status() === 429);
    expect(await page.getByText("The analysis is starting").count()).toBe(0);
    await page.getByRole("alert").getByText("Too many requests at once.").waitFor();
  });
});

test("older entries of the audit log that cannot be read are said to be missing", async () => {
  const owner = await world.founder("Audited");
  for (let count = 0; count < 51; count += 1) {
    await owner.json("PATCH", at(owner, "/api/organization"), { name: `Audited ${count}` });
  }
  const { page } = await world.settingsOf(owner, "audit");
  const json = { message: "The disk is away.", statusCode: 500, name: "application_error" };
  await page.route("**/api/audit-log?*before=*", (route) => route.fulfill({ status: 500, json }));
  await page.getByRole("button", { name: "Show older changes" }).click();
  await page.getByRole("alert").getByText("The disk is away.").waitFor();
  await page.unroute("**/api/audit-log?*before=*");
  await page.getByRole("button", { name: "Show older changes" }).click();
  await page.getByRole("button", { name: "Show older changes" }).waitFor({ state: "detached" });
  expect(await page.getByRole("alert").count()).toBe(0);
});

test("an address that no page has is answered 404, by a page that says so", async () => {
  const { first } = world;
  const { page } = await world.pageOf(first);
  for (const path of ["/nowhere", "/settings/nowhere", "/users/u1/nothing"]) {
    const response = await page.goto(`${world.server.url}/o/${first.organization}${path}`);
    expect([path, response?.status()]).toEqual([path, 404]);
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    expect(await axe(page)).toEqual([]);
  }
});
