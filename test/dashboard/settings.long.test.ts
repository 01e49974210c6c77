/** Settings of the organization and of scores: the saved values, the announced effect, and the kept input
 * after an error. */
import { describe, expect, test } from "bun:test";
import { joined } from "../people/support.ts";
import { answered, at, SettingsWorld, save } from "./settings-support.ts";
import { axe, follow, notedMessages, phone, sidewaysPixels, whileStarting, wide } from "./support.ts";

const world = await SettingsWorld.shared();

describe("the organization", () => {
  test("keeps what is typed when the server refuses it, and says why beside the field", async () => {
    const owner = await world.founder("Refusing");
    const { page, complaints } = await world.settingsOf(owner, "organization");
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
    const told = await notedMessages(page);
    await save(page).click();
    await told("Organization saved.");
    await save(page).waitFor({ state: "detached" });
    // The menu knows the new name without a reload.
    await page.getByRole("complementary").getByText("Refusing anew").waitFor();
    expect(await owner.json<object>("GET", at(owner, "/api/organization"))).toMatchObject({
      name: "Refusing anew",
      timezone: "Asia/Tokyo",
    });
    expect(complaints).toEqual([]);
  });

  test("shows which day it is in the timezone, and how far days are that are computed again", async () => {
    const owner = await world.founder("Rebuilding", "Pacific/Kiritimati");
    const { today } = await owner.json<{ today: string }>("GET", at(owner, "/api/organization"));
    const { page } = await world.pageOf(owner);
    await page.route("**/api/events?*", async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { freshness: object };
      const rebuilding = { since: new Date().toISOString(), progress: 0.4 };
      await route.fulfill({ response, json: { ...answer, freshness: { ...answer.freshness, rebuilding } } });
    });
    await page.goto(`${world.server.url}/o/${owner.organization}/settings/organization`);
    const long = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: "UTC" });
    // Browsers and Bun set commas at different places.
    const parts = long.format(new Date(today)).split(/[\s,]+/);
    await page.getByText(new RegExp(parts.join("[\\s,]+"))).waitFor();
    await page.getByRole("progressbar", { name: "Days computed again" }).waitFor();
    await page.getByText("40% done").waitFor();
    expect(await axe(page)).toEqual([]);
  });

  test("is not left with unsaved changes unasked", async () => {
    const owner = await world.founder("Leaving unsaved");
    const { page } = await world.settingsOf(owner, "organization");
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
  });
});

describe("deleting the organization", () => {
  test("takes typing its name; its owner, in no other, is told so", async () => {
    await world.server.organization("Short-lived");
    const owner = await joined(world.server, "Short-lived", "owner", "Otto Owner");
    const { page, complaints } = await world.settingsOf(owner, "organization");
    await page.getByRole("button", { name: "Delete …" }).click();
    const button = page.getByRole("button", { name: "Delete for good" });
    expect(await button.isDisabled()).toBe(true);
    expect(await axe(page)).toEqual([]);
    await page.getByLabel("Type the organization's name to confirm").fill("Short-lived");
    await button.click();
    await page.getByRole("heading", { name: "You are in no organization" }).waitFor();
    expect(await axe(page)).toEqual([]);
    expect((await owner.ask("GET", at(owner, "/api/organization"))).status).toBe(404);
    expect(complaints).toEqual([]);
  });

  test("is not offered to a member", async () => {
    const member = await joined(world.server, "Demo", "member", "Mona Member");
    const { page } = await world.settingsOf(member, "organization");
    await page.getByText("Only owners can change these settings.").waitFor();
    expect(await page.getByRole("button", { name: "Delete …" }).count()).toBe(0);
  });
});

/** Ten users sign in on each of 30 days: more return visits than a suggestion needs. */
async function signInDaily(organization: string): Promise<void> {
  const token = (await world.server.command("token", "create", "--organization", organization)).trim();
  const users = Array.from({ length: 10 }, (_, index) => `u${index}`);
  const batch = users.flatMap((userId) => [
    { type: "identify", userId, email: `${userId}@example.com` },
    ...Array.from({ length: 30 }, (_, day) => ({
      type: "track",
      userId,
      event: "signed_in",
      timestamp: new Date(world.server.nowMs() - (day + 1) * 86_400_000).toISOString(),
    })),
  ]);
  expect((await world.server.post("/batch", token, { batch })).status).toBe(201);
  await world.server.exported("events", organization);
}

describe("scores", () => {
  test("are set with advice from the data, and say what saving does", async () => {
    const owner = await world.founder("Advised");
    await signInDaily("Advised");
    const { page, complaints } = await world.settingsOf(owner, "scores");
    const path = (name: string) => at(owner, name);
    const intervals = await owner.json<{ gaps: number; advisedChurnHorizonDays: number }>(
      "GET",
      path("/api/usage-intervals"),
    );
    const advised = intervals.advisedChurnHorizonDays;
    await page.getByText(new Intl.NumberFormat("en-GB").format(intervals.gaps)).waitFor();
    await page.getByRole("button", { name: `Use ${advised} days` }).click();
    await page.getByText("All users and accounts are scored again").waitFor();
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
    // An event cannot be passive and a key event at once. A weight with an emptied field is 1 again.
    await event.getByRole("checkbox", { name: "signed_in is passive" }).check();
    expect(await event.getByRole("checkbox", { name: "signed_in is a key event" }).isChecked()).toBe(false);
    await event.getByRole("checkbox", { name: "signed_in is passive" }).uncheck();
    await event.getByRole("spinbutton").fill("");
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    const after = await owner.json<Answer>("GET", path("/api/settings"));
    expect(after.settings.eventWeights).not.toHaveProperty("signed_in");
    expect(complaints).toEqual([]);
  });

  test("have versions, and a way back to each", async () => {
    const owner = await world.founder("Back again");
    const patch = (body: object) => owner.json("PATCH", at(owner, "/api/settings"), body);
    await patch({ churnHorizonDays: 14, healthWeights: { engagement: 45, outlook: 25 } });
    await patch({ churnHorizonDays: 7, riskBands: { user: { medium: 0.1, high: 0.4 } } });
    const { page, complaints } = await world.settingsOf(owner, "scores");
    const list = page.getByRole("list", { name: "Versions of the settings, the newest first" });
    await list.getByText("Risk bands of users").waitFor();
    expect(
      await list
        .getByRole("listitem")
        .filter({ hasText: /^Version/ })
        .count(),
    ).toBe(3);
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByText("Churn horizon, in days: from 7 to 14").waitFor();
    const told = await notedMessages(page);
    await answered(page, "Restore");
    await told("Version 1 is restored.");
    await list.getByText("Version 3").waitFor();
    expect(await page.getByRole("radio", { name: /14 days/ }).isChecked()).toBe(true);
    type Answer = { version: number; settings: { healthWeights: object; riskBands: object } };
    const { version, settings } = await owner.json<Answer>("GET", at(owner, "/api/settings"));
    expect(version).toBe(3);
    expect(settings).toMatchObject({
      healthWeights: { engagement: 45, outlook: 25 },
      riskBands: { user: null },
    });
    await page.getByRole("link", { name: "Audit log" }).click();
    await page.getByText(/Restored version 1 of the settings: Churn horizon/).waitFor();
    expect(complaints).toEqual([]);
  });

  test("have a churn target for users and one for accounts, each with its fields", async () => {
    const owner = await world.founder("Targeted");
    const { page, complaints } = await world.settingsOf(owner, "scores");
    const targets = async () => {
      type Answer = { settings: { churnTargets: unknown } };
      return (await owner.json<Answer>("GET", at(owner, "/api/settings"))).settings.churnTargets;
    };
    await page.getByLabel("A user has churned").selectOption({ label: "when a trait has a value" });
    await page.getByLabel("Trait", { exact: true }).fill("status");
    await page.getByLabel("Values", { exact: true }).fill("lost, canceled");
    await page.getByLabel("An account has churned").selectOption({ label: "when an event came" });
    await page.getByLabel("Event", { exact: true }).fill("subscription_canceled");
    await page.getByLabel("Undone by").fill("subscription_canceled");
    expect(await axe(page)).toEqual([]);
    await save(page).click();
    await page.getByText(/event that undoes it is the event itself/).waitFor();
    expect(await targets()).toEqual({ user: { by: "silence" }, account: { by: "silence" } });
    await page.getByLabel("Undone by").fill("subscription_resumed");
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    expect(await targets()).toEqual({
      user: { by: "trait", trait: "status", values: ["canceled", "lost"] },
      account: { by: "event", event: "subscription_canceled", undoneBy: "subscription_resumed" },
    });
    expect(complaints).toEqual([]);
  });

  test("are said to be computed again where they are, and to stay where only the week's start changes", async () => {
    const owner = await world.founder("Week's start");
    const { page } = await world.settingsOf(owner, "scores");
    const told = await notedMessages(page);
    await page.getByLabel("Weeks start on").selectOption("7");
    await page.getByText("Scores stay as they are.").waitFor();
    await save(page).click();
    await told("Saved. Scores stay as they are.");
    await save(page).waitFor({ state: "detached" });
    await page.getByLabel("Weeks start on").selectOption("1");
    await page.getByRole("radio").first().check();
    await save(page).click();
    await told("Saved. Scores are computed again.");
  });

  test("say that there is no data yet, and take events that have not come", async () => {
    const owner = await world.founder("Without events");
    const { page } = await world.settingsOf(owner, "scores");
    await page.getByText("no data yet").first().waitFor();
    await page.getByLabel("Find an event").fill("report_created");
    await page.getByRole("button", { name: "Add “report_created”" }).click();
    await page.getByRole("checkbox", { name: "report_created is a key event" }).check();
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    expect(await owner.json<object>("GET", at(owner, "/api/settings"))).toMatchObject({
      settings: { keyEvents: ["report_created"] },
    });
  });
});

const paths = [
  "organization",
  "scores",
  "currencies",
  "exclusions",
  "tokens",
  "keys",
  "members",
  "audit",
  "account",
];

describe("every page of settings", () => {
  test("has names and contrast in both themes, and fits a phone", async () => {
    for (const options of [
      { colorScheme: "light", viewport: wide },
      { colorScheme: "dark", viewport: phone },
    ] as const) {
      const { page, complaints } = await world.settingsOf(world.first, "organization", options);
      for (const path of paths) {
        await follow(page, `/o/${world.first.organization}/settings/${path}`);
        expect([path, await axe(page)]).toEqual([path, []]);
        expect([path, await sidewaysPixels(page)]).toEqual([path, 0]);
      }
      expect(complaints).toEqual([]);
      await page.context().close();
    }
  });

  test("of people stays while analysis is away, and what needs it says that it is starting", async () => {
    const owner = await world.founder("Away settings");
    const { page } = await world.pageOf(owner);
    const asked = ["settings", "events", "exclusions", "usage-intervals"].map((path) => `**/api/${path}?*`);
    const starting = await whileStarting(page, ...asked);
    await page.goto(`${world.server.url}/o/${owner.organization}/settings/organization`);
    await page.getByLabel("Name", { exact: true }).fill("Renamed meanwhile");
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Renamed meanwhile");
    await page.getByRole("link", { name: "Scores" }).click();
    await page.getByText("The analysis is starting").waitFor();
    starting.ends();
    await page.getByRole("radio", { name: /28 days/ }).waitFor();
  });
});
