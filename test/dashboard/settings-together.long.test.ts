/** Settings that several people change at the same time, and input that a slow or unlucky moment must not
 * lose. */
import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { joined } from "../people/support.ts";
import { becomes } from "../until.ts";
import { answered, at, SettingsWorld, save } from "./settings-support.ts";
import { axe, notedMessages, openPage, type Somebody, signInAs } from "./support.ts";

const world = await SettingsWorld.shared();

interface Saved {
  readonly version: number;
  readonly settings: {
    readonly keyEvents: readonly string[];
    readonly eventWeights: Record<string, number>;
    readonly healthWeights: Record<string, number>;
    readonly churnHorizonDays: number;
  };
}
const saved = (owner: Somebody) => owner.json<Saved>("GET", at(owner, "/api/settings"));
const patch = (owner: Somebody, body: object) => owner.json<Saved>("PATCH", at(owner, "/api/settings"), body);
const row = (page: Page, event: string) => page.getByRole("row", { name: new RegExp(`^${event}`) });

/** The page asks for everything again, as when one comes back to it after a while. @param path what has to be
 * answered */
async function askedAgain(page: Page, path: string): Promise<void> {
  const asked = page.waitForResponse((answer) => answer.url().includes(path));
  await page.evaluate("dispatchEvent(new Event('online'))");
  await page.evaluate(`{
    Object.defineProperty(document, "visibilityState", { configurable: true, value: "hidden" });
    dispatchEvent(new Event("visibilitychange"));
    Object.defineProperty(document, "visibilityState", { configurable: true, value: "visible" });
    const later = Date.now() + 60_000;
    Date.now = () => later;
    dispatchEvent(new Event("visibilitychange"));
  }`);
  await asked;
}

describe("settings of scores", () => {
  test("saved meanwhile by a colleague are not undone: what is typed is kept and applied to them", async () => {
    const owner = await world.founder("Together");
    await patch(owner, { keyEvents: ["report_created"], eventWeights: { login: 2, export_run: 5 } });
    const { page, complaints } = await world.settingsOf(owner, "scores");
    await row(page, "report_created").waitFor();
    await page.getByLabel("Find an event").fill("shared");
    await page.getByRole("button", { name: "Add “shared”" }).click();
    await row(page, "shared").getByRole("spinbutton").fill("4");
    await row(page, "shared").getByRole("checkbox", { name: "shared is a key event" }).check();
    await page.getByLabel("Find an event").fill("");
    await row(page, "export_run").getByRole("spinbutton").fill("");
    await patch(owner, {
      keyEvents: ["report_created", "comment_added"],
      eventWeights: { login: 7, invoice_paid: 3 },
      healthWeights: { momentum: 30, engagement: 25 },
    });
    await save(page).click();
    await page.getByText("These settings changed after you began").waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await row(page, "shared").getByRole("spinbutton").inputValue()).toBe("4");
    expect((await saved(owner)).settings.eventWeights).toEqual({ export_run: 5, invoice_paid: 3, login: 7 });
    await page.getByRole("button", { name: "Apply my changes to the newer version" }).click();
    await row(page, "comment_added").waitFor();
    expect(await row(page, "shared").getByRole("spinbutton").inputValue()).toBe("4");
    expect(await row(page, "login").getByRole("spinbutton").inputValue()).toBe("7");
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    const { settings } = await saved(owner);
    expect([...settings.keyEvents].sort()).toEqual(["comment_added", "report_created", "shared"]);
    expect(settings.eventWeights).toEqual({ invoice_paid: 3, login: 7, shared: 4 });
    expect(settings.healthWeights.momentum).toBe(30);
    expect(complaints).toEqual([]);
  });

  test("keep a colleague's weight when the page has asked again in the meantime", async () => {
    const owner = await world.founder("Asked again");
    await patch(owner, { eventWeights: { login: 2 } });
    const { page } = await world.settingsOf(owner, "scores");
    await row(page, "login").getByRole("spinbutton").fill("6");
    await patch(owner, { eventWeights: { invoice_paid: 3 } });
    await askedAgain(page, "/api/settings?");
    await save(page).click();
    const apply = page.getByRole("button", { name: "Apply my changes to the newer version" });
    await apply.click();
    // Until the newer version is there, saving would be refused once more.
    await apply.waitFor({ state: "detached" });
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    expect((await saved(owner)).settings.eventWeights).toEqual({ invoice_paid: 3, login: 6 });
  });

  test("take weights of any precision, so that the horizon can be saved beside them", async () => {
    const owner = await world.founder("Precise");
    await patch(owner, { healthWeights: { engagement: 33.33, outlook: 36.67 } });
    const { page } = await world.settingsOf(owner, "scores");
    await page.getByRole("radio", { name: /14 days/ }).check();
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    const { settings } = await saved(owner);
    expect([settings.churnHorizonDays, settings.healthWeights.engagement]).toEqual([14, 33.33]);
  });
});

/** Holds the next answer to a change until `goOn` is called. */
async function heldChange(page: Page, path: string) {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await page.route(path, async (route) => {
    if (route.request().method() !== "PATCH") return route.fallback();
    const response = await route.fetch();
    reached.resolve();
    await released.promise;
    await route.fulfill({ response });
  });
  return { reached: reached.promise, goOn: released.resolve };
}

describe("what is typed while the answer is under way", () => {
  test("stays in the fields of the organization, and is saved next", async () => {
    const owner = await world.founder("Typing on");
    const { page } = await world.settingsOf(owner, "organization");
    const held = await heldChange(page, "**/api/organization?*");
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("Typing on and");
    await save(page).click();
    await held.reached;
    await name.fill("Typing on and on");
    await page.getByLabel("Days that raw events are kept").fill("400");
    const told = await notedMessages(page);
    held.goOn();
    await told("Organization saved.");
    expect(await name.inputValue()).toBe("Typing on and on");
    expect(await page.getByLabel("Days that raw events are kept").inputValue()).toBe("400");
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    expect(await owner.json<object>("GET", at(owner, "/api/organization"))).toMatchObject({
      name: "Typing on and on",
      keepEventsDays: 400,
    });
  });

  test("stays in the fields of scores and of one's own account", async () => {
    await world.server.organization("Typists");
    const owner = await joined(world.server, "Typists", "owner", "Tess Typist");
    const { page } = await world.settingsOf(owner, "scores");
    const ofScores = await heldChange(page, "**/api/settings?*");
    await page.getByRole("radio", { name: /56 days/ }).check();
    await save(page).click();
    await ofScores.reached;
    await page.getByLabel("Momentum").fill("0");
    await page.getByLabel("Engagement").fill("55");
    const told = await notedMessages(page);
    ofScores.goOn();
    await told("Saved. Scores are computed again.");
    expect(await page.getByLabel("Momentum").inputValue()).toBe("0");
    await save(page).click();
    await save(page).waitFor({ state: "detached" });
    const { settings } = await saved(owner);
    expect([settings.churnHorizonDays, settings.healthWeights.momentum]).toEqual([56, 0]);

    await page.getByRole("link", { name: "Your account" }).click();
    const ofPerson = await heldChange(page, "**/api/person");
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("Tess T.");
    await save(page).click();
    await ofPerson.reached;
    await name.fill("Tess Typewriter");
    ofPerson.goOn();
    await page.getByRole("button", { name: "Tess T." }).first().waitFor();
    expect(await name.inputValue()).toBe("Tess Typewriter");
  });
});

describe("a role", () => {
  test("is changed by a button and never by an arrow key, and ownership only after a question", async () => {
    await world.server.organization("Arrows");
    const owner = await joined(world.server, "Arrows", "owner", "Olga Arrows");
    const grace = await joined(world.server, "Arrows", "viewer", "Grace Arrows");
    const { page, complaints } = await world.settingsOf(owner, "members");
    const changes: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "PATCH") changes.push(request.url());
    });
    const role = page.getByLabel("Role of Grace Arrows", { exact: true });
    await role.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await becomes(() => role.inputValue(), "owner");
    const ivo = await joined(world.server, "Arrows", "viewer", "Ivo Arrows");
    await askedAgain(page, "/api/members?");
    await page.getByLabel("Role of Ivo Arrows", { exact: true }).waitFor();
    expect(await role.inputValue()).toBe("owner");
    expect(ivo.id).not.toBe(grace.id);
    await page.getByRole("button", { name: "Change the role of Grace Arrows" }).click();
    await page.getByRole("alertdialog", { name: "Make Grace Arrows an owner?" }).waitFor();
    expect(await axe(page)).toEqual([]);
    await answered(page, "Cancel");
    expect(changes).toEqual([]);
    await role.selectOption("member");
    expect(changes).toEqual([]);
    const told = await notedMessages(page);
    await page.getByRole("button", { name: "Change the role of Grace Arrows" }).click();
    await told("Grace Arrows is now member.");
    expect(changes.length).toBe(1);
    const { members } = await owner.json<{ members: { id: number; role: string }[] }>(
      "GET",
      at(owner, "/api/members"),
    );
    expect(members.find(({ id }) => id === grace.id)?.role).toBe("member");
    expect(complaints).toEqual([]);
  });
});

describe("Stripe", () => {
  test("keeps its signing secret until a question is answered, and its choice until it is saved", async () => {
    const owner = await world.founder("Striped");
    const settings = () => owner.json<object>("GET", at(owner, "/api/stripe"));
    await owner.json("PATCH", at(owner, "/api/stripe"), { signingSecrets: ["whsec_0123456789abcdef"] });
    const { page } = await world.pageOf(owner);
    await page.goto(`${world.server.url}/o/${owner.organization}/sources`);
    await page.getByRole("button", { name: "Set up Stripe" }).click();
    await page.getByRole("button", { name: "Remove the signing secret" }).click();
    await answered(page, "Cancel");
    expect(await settings()).toMatchObject({ signingSecrets: [{ lastFour: "cdef" }] });
    const choice = page.getByLabel("Unmatched Stripe customers");
    await choice.focus();
    await page.keyboard.press("ArrowDown");
    await becomes(() => choice.inputValue(), "create");
    await page.getByRole("button", { name: "Remove the signing secret" }).click();
    await answered(page, "Remove the signing secret");
    await page.getByRole("button", { name: "Remove the signing secret" }).waitFor({ state: "detached" });
    expect(await settings()).toMatchObject({ signingSecrets: [], unknownCustomers: "wait" });
    await page.getByRole("button", { name: "Save choice" }).click();
    await page.getByRole("button", { name: "Save choice" }).waitFor({ state: "detached" });
    expect(await settings()).toMatchObject({ unknownCustomers: "create" });
  });
});

describe("a secret that is shown once", () => {
  test("stays through Escape, a click beside it, Ctrl+K and the way back, until it is kept", async () => {
    const owner = await world.founder("Once only");
    const { page, complaints } = await openPage(world.browser, {});
    await signInAs(page, world.server, owner);
    await page.goto(`${world.server.url}/o/${owner.organization}/settings/organization`);
    await page.getByRole("link", { name: "Project tokens" }).click();
    await page.getByRole("button", { name: "Create token" }).waitFor();
    await page.getByLabel("Name", { exact: true }).fill("backend");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Your new project token" });
    const secret = await dialog.locator("pre").textContent();
    const isKept = async () => expect(await dialog.locator("pre").textContent()).toBe(secret);
    await page.keyboard.press("Escape");
    await isKept();
    await page.mouse.click(5, 5);
    await isKept();
    await page.keyboard.press("Control+k");
    await isKept();
    expect(await page.getByRole("combobox", { name: "Find a page, a user or an account" }).count()).toBe(0);
    await page.evaluate("history.back()");
    await answered(page, "Cancel");
    await isKept();
    expect(page.url()).toEndWith("/settings/tokens");
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find a page, a user or an account" }).waitFor();
    expect(complaints).toEqual([]);
  });
});
