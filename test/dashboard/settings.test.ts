/** Settings as people of each role find them: what is saved, what is asked before, and what is not offered at all. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser as Chromium, Page } from "playwright-core";
import { auditLog, Browser, joined } from "../people/support.ts";
import { Server } from "../server.ts";
import { user } from "../specification/support.ts";
import { startBrowser } from "./chromium.ts";
import { axe, openPage, phone, sidewaysPixels, wide } from "./support.ts";

let server: Server;
let browser: Chromium;
let first: Awaited<ReturnType<typeof joined>>;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), startBrowser()]);
  await server.ready();
  await server.command("demo", "--users", "40", "--weeks", "6");
  first = await joined(server, "Demo", "owner", "Ada Lovelace");
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

type Somebody = Awaited<ReturnType<typeof joined>>;

/** A page of somebody's settings. */
async function settingsOf(somebody: Somebody, path: string, options: Parameters<typeof openPage>[1] = {}) {
  const watched = await openPage(browser, options);
  await watched.page
    .context()
    .addCookies([{ name: "rekindle_session", value: somebody.cookie ?? "", url: server.url }]);
  await watched.page.goto(`${server.url}/o/${somebody.organization}/settings/${path}`);
  await watched.page.locator("h1").waitFor();
  return watched;
}

/** The owner of a new organization: one person founds them all, which is quicker than the command line. */
async function founder(name: string, timezone = "UTC"): Promise<Somebody> {
  const { id } = await first.json<{ id: number }>("POST", "/api/organizations", { name, timezone }, 201);
  const { id: person, email, cookie } = first;
  return Object.assign(new Browser(server), { id: person, email, cookie, organization: id });
}

const at = ({ organization }: Somebody, path: string) => `${path}?organization=${organization}`;
const save = (page: Page) => page.getByRole("button", { name: "Save changes" });
const answered = (page: Page, name: string) =>
  page.getByRole("alertdialog").getByRole("button", { name, exact: true }).click();

describe("the organization", () => {
  test("keeps what is typed when the server refuses it, and says why beside the field", async () => {
    const owner = await founder("Refusing");
    const { page, complaints } = await settingsOf(owner, "organization");
    const zone = page.getByLabel("Timezone");
    await page.getByLabel("Name", { exact: true }).fill("Refusing anew");
    await zone.fill("Europe/Nowhere");
    await save(page).click();
    await page.getByText("This is not known", { exact: false }).waitFor();
    expect(await zone.getAttribute("aria-invalid")).toBe("true");
    expect(await zone.inputValue()).toBe("Europe/Nowhere");
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Refusing anew");
    expect(await axe(page)).toEqual([]);
    await zone.fill("Asia/Tokyo");
    await page.getByText("All days are computed again").waitFor();
    await save(page).click();
    await page.getByText("The organization is saved.").first().waitFor();
    await save(page).waitFor({ state: "detached" });
    // The menu knows the new name without a reload.
    await page.getByRole("complementary").getByText("Refusing anew").waitFor();
    expect(await owner.json<object>("GET", at(owner, "/api/organization"))).toMatchObject({
      name: "Refusing anew",
      timezone: "Asia/Tokyo",
    });
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("shows which day it is in the timezone, and how far days are that are computed again", async () => {
    const owner = await founder("Rebuilding", "Pacific/Kiritimati");
    const { today } = await owner.json<{ today: string }>("GET", at(owner, "/api/organization"));
    const { page } = await openPage(browser);
    await page
      .context()
      .addCookies([{ name: "rekindle_session", value: owner.cookie ?? "", url: server.url }]);
    await page.route("**/api/events?*", async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { freshness: object };
      const rebuilding = { since: new Date().toISOString(), progress: 0.4 };
      await route.fulfill({ response, json: { ...answer, freshness: { ...answer.freshness, rebuilding } } });
    });
    await page.goto(`${server.url}/o/${owner.organization}/settings/organization`);
    const long = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: "UTC" });
    // Browsers and Bun set commas at different places.
    const parts = long.format(new Date(today)).split(/[\s,]+/);
    await page.getByText(new RegExp(parts.join("[\\s,]+"))).waitFor();
    await page.getByRole("progressbar", { name: "Days computed again" }).waitFor();
    await page.getByText("40% done").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.context().close();
  });

  test("is not left with unsaved changes unasked", async () => {
    const owner = await founder("Leaving unsaved");
    const { page } = await settingsOf(owner, "organization");
    await page.getByLabel("Name", { exact: true }).fill("Not saved");
    await page.getByRole("link", { name: "Scores" }).click();
    await page.getByRole("alertdialog").waitFor();
    expect(await axe(page)).toEqual([]);
    await answered(page, "Cancel");
    expect(page.url()).toEndWith("/settings/organization");
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Not saved");
    await page.getByRole("link", { name: "Scores" }).click();
    await answered(page, "Leave without saving");
    await page.waitForURL(/settings\/scores$/);
    await page.context().close();
  });
});

describe("scores", () => {
  test("are set with advice from the data, and say what saving does", async () => {
    const owner = first;
    const { page, complaints } = await settingsOf(owner, "scores");
    const path = (name: string) => at(owner, name);
    const intervals = await owner.json<{ gaps: number; advisedChurnHorizonDays: number }>(
      ...(["GET", path("/api/usage-intervals")] as const),
    );
    const advised = intervals.advisedChurnHorizonDays;
    await page.getByText(new Intl.NumberFormat("en-GB").format(intervals.gaps)).waitFor();
    await page.getByRole("button", { name: `Take ${advised} days` }).click();
    await page.getByText("Everybody is scored again").waitFor();
    const event = page.getByRole("row", { name: /^signed_in/ });
    await event.getByRole("spinbutton").fill("3");
    await event.getByRole("checkbox", { name: "signed_in is a key event" }).check();
    expect(await axe(page)).toEqual([]);
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    type Answer = { settings: { eventWeights: object; keyEvents: string[]; churnHorizonDays: number } };
    const { settings } = await owner.json<Answer>("GET", path("/api/settings"));
    expect(settings.churnHorizonDays).toBe(advised);
    expect(settings.eventWeights).toMatchObject({ signed_in: 3 });
    expect(settings.keyEvents).toContain("signed_in");
    // What is both at once cannot be typed; a weight that is emptied is 1 again.
    await event.getByRole("checkbox", { name: "signed_in is passive" }).check();
    expect(await event.getByRole("checkbox", { name: "signed_in is a key event" }).isChecked()).toBe(false);
    await event.getByRole("checkbox", { name: "signed_in is passive" }).uncheck();
    await event.getByRole("spinbutton").fill("");
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    const after = await owner.json<Answer>("GET", path("/api/settings"));
    expect(after.settings.eventWeights).not.toHaveProperty("signed_in");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("say that there is no data yet, and take events that have not come", async () => {
    const owner = await founder("Without events");
    const { page } = await settingsOf(owner, "scores");
    await page.getByText("no data yet").first().waitFor();
    await page.getByLabel("Find an event").fill("report_created");
    await page.getByRole("button", { name: "Add “report_created”" }).click();
    await page.getByRole("checkbox", { name: "report_created is a key event" }).check();
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    expect(await owner.json<object>("GET", at(owner, "/api/settings"))).toMatchObject({
      settings: { keyEvents: ["report_created"] },
    });
    await page.context().close();
  });
});

describe("secrets", () => {
  test("a token is created, shown once, and revoked after a question", async () => {
    const owner = await founder("Secret keeping");
    const { page, complaints } = await settingsOf(owner, "tokens");
    await page.getByLabel("Name", { exact: true }).fill("backend");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Your new project token" });
    await dialog.waitFor();
    expect(await axe(page)).toEqual([]);
    const token = (await dialog.locator("pre").textContent()) ?? "";
    expect((await server.post("/identify", token, user("u1"))).status).toBe(201);
    await dialog.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("row", { name: new RegExp(`^backend …${token.slice(-4)}`) }).waitFor();
    expect(await page.content()).not.toContain(token);
    await page.getByRole("button", { name: `Revoke backend …${token.slice(-4)}` }).click();
    await page.getByRole("alertdialog").getByText("refused with 401").waitFor();
    expect(await axe(page)).toEqual([]);
    await answered(page, "Cancel");
    expect((await server.post("/identify", token, user("u1"))).status).toBe(201);
    await page.getByRole("button", { name: `Revoke backend …${token.slice(-4)}` }).click();
    await answered(page, "Revoke the token");
    await page.getByRole("row", { name: /^backend.*revoked/ }).waitFor();
    expect((await server.post("/identify", token, user("u1"))).status).toBe(401);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("a read key reads with the rights that were chosen", async () => {
    const owner = await founder("Key keeping");
    const { page } = await settingsOf(owner, "keys");
    await page.getByLabel("Name", { exact: true }).fill("sync");
    await page.getByLabel("What it may do").selectOption("manage");
    await page.getByRole("button", { name: "Create key" }).click();
    const key = (await page.getByRole("dialog").locator("pre").textContent()) ?? "";
    const asked = await fetch(`${server.url}/api/users`, { headers: { Authorization: `Bearer ${key}` } });
    expect(asked.status).toBe(200);
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("row", { name: /^sync.*read, manage/ }).waitFor();
    await page.context().close();
  });
});

describe("members", () => {
  test("are invited by a link, get another role, and are removed after a question", async () => {
    const owner = await founder("Inviting");
    const { page, complaints } = await settingsOf(owner, "members");
    await page.getByText("the only owner").waitFor();
    await page.getByLabel("E-mail").fill("grace@example.com");
    await page.getByLabel("Role", { exact: true }).selectOption("member");
    await page.getByRole("button", { name: "Make the link" }).click();
    const link = (await page.getByRole("dialog").locator("pre").textContent()) ?? "";
    expect(link).toStartWith(`${server.url}/invitation#`);
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("row", { name: /^grace@example.com member/ }).waitFor();
    const grace = new Browser(server);
    const accepting = { code: link.split("#")[1], name: "Grace", password: "correct horse battery" };
    await grace.json("POST", "/api/invitations/accept", accepting, 201);
    await page.reload();
    await page.getByLabel("Role of Grace").selectOption("viewer");
    await page.getByText("Grace is now viewer.").first().waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name: "Remove Grace" }).click();
    await answered(page, "Remove Grace");
    await page.getByRole("row", { name: /^Grace/ }).waitFor({ state: "detached" });
    expect((await grace.ask("GET", at(owner, "/api/organization"))).status).toBe(404);
    expect((await auditLog(owner)).slice(0, 2).map(({ action }) => action)).toEqual([
      ...["member.removed", "member.role_changed"],
    ]);
    await page.getByRole("link", { name: "Audit log" }).click();
    const newest = page
      .getByRole("list", { name: /^Changes/ })
      .getByRole("listitem")
      .first();
    expect(await newest.textContent()).toContain("Ada Lovelace");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("are not offered what their role may not do, and who leaves the last organization is told so", async () => {
    await server.organization("Of roles");
    await joined(server, "Of roles", "owner", "Roles owner");
    const viewer = await joined(server, "Of roles", "viewer", "Roles viewer");
    const { page, complaints } = await settingsOf(viewer, "organization");
    const pages = page.getByRole("navigation", { name: "Settings" }).getByRole("link");
    expect(await pages.allTextContents()).toEqual([
      ...["Organization", "Scores", "Exclusions", "Members", "Your account"],
    ]);
    for (const path of ["organization", "scores", "exclusions", "members"]) {
      await page.goto(page.url().replace(/[a-z]+$/, path));
      await page.locator("h1").waitFor();
      await page.waitForLoadState("networkidle");
      expect([path, await page.locator("main :is(input, select)").count()]).toEqual([path, 0]);
    }
    for (const path of ["tokens", "keys", "audit"]) {
      await page.goto(page.url().replace(/[a-z]+$/, path));
      await page.getByText(/^This is for /).waitFor();
    }
    await page.goto(page.url().replace(/[a-z]+$/, "members"));
    await page.getByRole("button", { name: "Leave" }).click();
    await answered(page, "Leave Of roles");
    await page.getByRole("heading", { name: "You are in no organization" }).waitFor();
    expect(await axe(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});

test("an exclusion is added and taken back, and figures follow", async () => {
  const token = await server.organization("Excluding");
  const owner = await joined(server, "Excluding", "owner", "Excluding owner");
  for (const id of ["a", "b"]) {
    await server.post("/identify", token, { ...user(id), email: `${id}@${id}.example` });
    await server.post("/track", token, { userId: id, event: "opened" });
  }
  await server.exported("events", "Excluding");
  const { page, complaints } = await settingsOf(owner, "exclusions");
  await page.getByText("Everybody counts").waitFor();
  await page.getByLabel("Is").fill("a.example");
  await page.getByRole("button", { name: "Leave them out" }).click();
  await page.getByRole("row", { name: /^E-mails at a\.example/ }).waitFor();
  const counted = async () => {
    const path = at(owner, "/api/events");
    return (await owner.json<{ events: { users: number }[] }>("GET", path)).events[0]?.users;
  };
  while ((await counted()) !== 1) await Bun.sleep(100);
  await page.getByRole("button", { name: /^Remove the rule/ }).click();
  await answered(page, "Remove the rule");
  await page.getByText("Everybody counts").waitFor();
  while ((await counted()) !== 2) await Bun.sleep(100);
  expect(complaints).toEqual([]);
  await page.context().close();
});

describe("your account", () => {
  test("changes the password with the present one, and signs out everywhere", async () => {
    await server.organization("Accounting");
    const owner = await joined(server, "Accounting", "owner", "Accounting owner");
    const { page } = await settingsOf(owner, "account");
    await page.getByLabel("New password").fill("another long password");
    await page.getByLabel("Present password").fill("not the password");
    await save(page).click();
    await page.getByText("This is wrong", { exact: false }).waitFor();
    expect(await page.getByLabel("New password").inputValue()).toBe("another long password");
    await page.getByLabel("Present password").fill("correct horse battery");
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    expect((await owner.ask("GET", "/api/session")).status).toBe(401);
    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    await answered(page, "Sign out everywhere");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect((await page.context().cookies()).filter(({ value }) => value !== "")).toEqual([]);
    await page.context().close();
  });

  test("founds another organization, which is shown at once", async () => {
    const owner = await founder("Founding one");
    const { page } = await settingsOf(owner, "account");
    await page.getByLabel("Its name").fill("Founded two");
    await page.getByRole("button", { name: "Found it" }).click();
    await page.getByRole("heading", { name: "Start" }).waitFor();
    await page.getByRole("button", { name: "Organization: Founded two. Switch" }).waitFor();
    await page.context().close();
  });
});

const paths = ["organization", "scores", "exclusions", "tokens", "keys", "members", "audit", "account"];

describe("every page of settings", () => {
  test("has names and contrast in both themes, and fits a phone", async () => {
    for (const options of [
      { colorScheme: "light", viewport: wide },
      { colorScheme: "dark", viewport: phone },
    ] as const) {
      const { page, complaints } = await settingsOf(first, "organization", options);
      for (const path of paths) {
        await page.goto(`${server.url}/o/${first.organization}/settings/${path}`);
        await page.locator("h1").waitFor();
        await page.waitForLoadState("networkidle");
        expect([path, await axe(page)]).toEqual([path, []]);
        expect([path, await sidewaysPixels(page)]).toEqual([path, 0]);
      }
      expect(complaints).toEqual([]);
      await page.context().close();
    }
  });

  test("of people stays while analysis is away, and what needs it says that it is starting", async () => {
    const owner = await founder("Away settings");
    const { page } = await openPage(browser);
    await page
      .context()
      .addCookies([{ name: "rekindle_session", value: owner.cookie ?? "", url: server.url }]);
    const starting = { message: "analysis is starting", statusCode: 500, name: "application_error" };
    let isAway = true;
    for (const path of ["settings", "events", "exclusions", "usage-intervals"]) {
      await page.route(`**/api/${path}?*`, (route) =>
        isAway
          ? route.fulfill({ status: 500, headers: { "Retry-After": "1" }, json: starting })
          : route.fallback(),
      );
    }
    await page.goto(`${server.url}/o/${owner.organization}/settings/organization`);
    await page.getByLabel("Name", { exact: true }).fill("Renamed meanwhile");
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Renamed meanwhile");
    await page.getByRole("link", { name: "Scores" }).click();
    await page.getByText("The analysis is starting").waitFor();
    isAway = false;
    await page.getByRole("radio", { name: /28 days/ }).waitFor();
    await page.context().close();
  });
});
