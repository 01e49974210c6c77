/** Alert rules in the settings: added from a template with its preview, changed, paused, resumed and
 * deleted. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { quietZone } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";
import { becomes } from "../until.ts";
import { startBrowser } from "./chromium.ts";
import {
  axe,
  notedMessages,
  openPage,
  phone,
  settled,
  sidewaysPixels,
  signInAs,
  type WatchedPage,
} from "./support.ts";

type People = Awaited<ReturnType<typeof company>>;
interface Rules {
  readonly rules: readonly Record<string, unknown>[];
}

const keySegment = "Key accounts";
const longName = "Key event unused ".repeat(5).slice(0, 80).trim();
let [server, browser, people]: [Server, Browser, People] = [] as never;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), startBrowser()]);
  await server.ready();
  people = await company(server, "Ruled", "--timezone", quietZone);
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const batch = ["ada", "eve"].flatMap((userId) => [
    {
      type: "identify",
      userId,
      email: `${userId}@example.com`,
      timestamp: daysAgo(40),
      account: { id: "acme", name: "Acme" },
    },
    ...[40, 12, 6].map((days) => ({
      type: "track",
      userId,
      event: "opened",
      timestamp: daysAgo(days),
    })),
  ]);
  expect((await server.post("/batch", people.token, { batch })).status).toBe(201);
  await server.command("score", "--organization", people.name);
  const segment = { name: keySegment, kind: "accounts", filter: { healthBand: "healthy" } };
  await people.owner.json("POST", people.at("/api/segments"), segment, 201);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function openRules(somebody: People["owner"]): Promise<WatchedPage> {
  const watched = await openPage(browser);
  await signInAs(watched.page, server, somebody);
  await watched.page.goto(`${server.url}/o/${people.organization}/settings/alert-rules`);
  await watched.page.getByRole("heading", { name: "Alert rules", exact: true }).waitFor();
  await settled(watched.page);
  return watched;
}

const savedRules = async () => (await people.owner.json<Rules>("GET", people.at("/api/alert-rules"))).rules;

async function isRightOnPhones(page: Page): Promise<void> {
  await settled(page);
  expect(await axe(page)).toEqual([]);
  await page.setViewportSize(phone);
  expect(await sidewaysPixels(page)).toBe(0);
}

test("a rule is added from a template, after its preview says how it would have done", async () => {
  const { page, complaints } = await openRules(people.member);
  await page.getByText("No rule yet").waitFor();
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByLabel("Begin with").selectOption({ label: "Key event unused for 14 days" });
  await page.getByLabel("Event", { exact: true }).fill("opened");
  await page.getByLabel("Days", { exact: true }).fill("5");
  await page.getByLabel("Name", { exact: true }).fill(longName);
  await page.getByLabel("Alerts a day in messages, at most").fill("7");
  expect(await page.getByLabel(/^Never in the control group/).count()).toBe(0);
  await page.getByLabel("Control group, %").fill("20");
  await page.getByLabel("Never in the control group: a segment").selectOption({ label: keySegment });
  await page.getByLabel("Never in the control group: an MRR above, in USD").fill("512.5");
  const preview = page.getByRole("region", { name: "Preview" });
  await preview.getByRole("button", { name: "Preview" }).click();
  await preview.getByText(/^Would have fired [\d.]+ times a week: /).waitFor();
  await preview.getByText("1 account matches now.").waitFor();
  await isRightOnPhones(page);
  await page.getByRole("button", { name: "Save rule" }).click();
  const rules = page.getByRole("list", { name: "Alert rules" });
  await rules.getByText("opened not done for 5 days").waitFor();
  await rules.getByText("Inbox only", { exact: true }).waitFor();
  await rules.getByText(`control group 20%, without ${keySegment} or an MRR above $512.50`).waitFor();
  expect(await savedRules()).toMatchObject([
    {
      name: longName,
      scope: { kind: "accounts" },
      cap: 7,
      when: "08:00",
      holdOutShare: 0.2,
      exemptions: { segment: expect.any(Number), mrrAbove: 51_250 },
      condition: { kind: "keyEventUnseen", event: "opened", days: 5 },
      cooldownDays: null,
      includeCurrent: false,
    },
  ]);
  await isRightOnPhones(page);
  expect(complaints).toEqual([]);
});

/** Figures of the only rule, which take alerts of months. */
async function withFigures(
  page: Page,
  given: { perWeek: number | null; result?: object; followUp?: object },
): Promise<void> {
  const [rule] = await savedRules();
  const outcomes = { interval: { low: 0.24, high: 0.58 }, medianLeadDays: 9.5 };
  const figures = {
    id: rule?.id,
    name: rule?.name,
    fired: 32,
    since: "2026-05-03",
    perWeek: given.perWeek,
    baseRate: { count: 100, churned: 12, rate: 0.12 },
    untouched: { ...outcomes, mature: 25, churned: 10, rate: 0.4 },
    touched: { ...outcomes, mature: 3, churned: 1, rate: 1 / 3 },
    weeks: [
      { monday: "2026-04-20", fired: 0 },
      { monday: "2026-04-27", fired: 0 },
      { monday: "2026-05-04", fired: 7 },
    ],
    holdOut: {
      share: 0.2,
      horizonDays: 28,
      since: "2026-05-03",
      treated: 12,
      controls: 3,
      result: given.result ?? null,
      followUp: given.followUp ?? null,
    },
  };
  await page.unroute(figuresPath);
  await page.route(figuresPath, (route) => route.fulfill({ json: { horizonDays: 28, rules: [figures] } }));
  await page.reload();
}

const figuresPath = /\/api\/alert-rules\/figures\?/;

test("a rule has its precision, with touched alerts beside it, and its weeks beside those of the preview", async () => {
  const { page, complaints } = await openRules(people.member);
  const figures = page.getByRole("list", { name: `Figures of ${longName}` });
  await figures.getByText("No alert yet.").waitFor();
  await figures.getByText("No untouched alert is older than the churn horizon of 28 days").waitFor();
  const group = page.getByRole("list", { name: `Control group of ${longName}` });
  await group.getByText(": 0 controls, 0 others.").waitFor();
  await page.getByText("Alerts by week").click();
  await page.getByRole("button", { name: `Compare with the preview of ${longName}` }).click();
  await page.getByRole("columnheader", { name: "Preview" }).waitFor();
  await isRightOnPhones(page);
  await withFigures(page, { perWeek: null });
  await figures.getByText("32 alerts since 3 May 2026.", { exact: true }).waitFor();
  await withFigures(page, { perWeek: 2.5 });
  for (const sentence of [
    "Fired 2.5 times a week: 32 alerts since 3 May 2026.",
    "40% of 25 untouched alerts churned (24% to 58%). Of all: 12%. Median lead time to churn: 9.5 days.",
    "Touched (a contact, a task or “handled”), not in the precision: 33% of 3 alerts were followed by churn.",
  ]) {
    await figures.getByText(sentence).waitFor();
  }
  await page.getByText("Alerts by week").click();
  // Before the rule there is no figure.
  for (const name of ["20 Apr 2026 –", "27 Apr 2026 0", "4 May 2026 7"]) {
    await page.getByRole("row", { name, exact: true }).waitFor();
  }
  await isRightOnPhones(page);
  expect(complaints).toEqual([]);
});

test("a control group says what it shows, and a rule that harms is paused beside it", async () => {
  const { page, complaints } = await openRules(people.member);
  const group = page.getByRole("list", { name: `Control group of ${longName}` });
  const stop = page.getByRole("button", { name: "Pause the rule" });
  const result = { verdict: "keeps", isRatioOff: false, contaminated: 1, sentence: "It keeps." };
  const sentences = () => group.getByRole("listitem").allInnerTexts();
  await withFigures(page, { perWeek: null });
  const drawn = "Control group since 3 May 2026: 3 controls, 12 others.";
  await group.getByText(drawn).waitFor();
  expect(await sentences()).toEqual([drawn]);
  const pays = (entries: number, paying: number) => ({
    entries,
    paying,
    mrrAtEntry: 10_000 * entries,
    mrrKept: 8_000 * paying,
  });
  const followUp = { days: 56, currency: "USD", arms: { treated: pays(10, 9), control: pays(2, 1) } };
  await withFigures(page, { perWeek: null, result, followUp });
  await group.getByText("It keeps.").waitFor();
  expect(await sentences()).toEqual([
    drawn,
    "It keeps.",
    "After 56 days 1 of 2 pay without the rule, 9 of 10 with it. MRR per customer after discounts: $40.00 (was $100.00) without, $72.00 (was $100.00) with it.",
    "1 control had a contact or an alert of another rule all the same.",
  ]);
  expect(await stop.count()).toBe(0);
  await page.getByRole("button", { name: `What is meant: Control group of ${longName}` }).click();
  await page.getByText("before their churn horizon of 28 days is over").waitFor();
  await page.keyboard.press("Escape");
  await withFigures(page, { perWeek: null, result: { ...result, isRatioOff: true, sentence: "Look." } });
  await stop.waitFor();
  await withFigures(page, { perWeek: null, result: { ...result, verdict: "harms", sentence: "It harms." } });
  await group.getByText("It harms.").waitFor();
  await isRightOnPhones(page);
  await stop.click();
  await page.getByText("paused", { exact: true }).waitFor();
  await stop.waitFor({ state: "detached" });
  expect(await savedRules()).toMatchObject([{ isPaused: true }]);
  await page.getByRole("button", { name: `Resume ${longName}` }).click();
  await page.getByRole("button", { name: `Pause ${longName}` }).waitFor();
  expect(complaints).toEqual([]);
});

test("steps are added up to their limits, removed, saved and read again", async () => {
  const { page, complaints } = await openRules(people.member);
  await page.getByRole("button", { name: `Change ${longName}` }).click();
  const [task, message] = ["Add task", "Add message"].map((name) => page.getByRole("button", { name }));
  for (let n = 0; n < 5; n++) await task?.click();
  expect(await task?.isDisabled()).toBe(true);
  for (let n = 0; n < 5; n++) await message?.click();
  expect(await message?.isDisabled()).toBe(true);
  for (let n = 10; n > 1; n--)
    if (n !== 6) await page.getByRole("button", { name: `Remove step ${n}`, exact: true }).click();
  const [first, second] = [1, 2].map((n) => page.getByRole("group", { name: new RegExp(`^Step ${n}`) }));
  await first?.getByLabel("Title").fill("Call them");
  await first?.getByLabel("Days until it is due").fill("2");
  const mine = await first?.getByLabel("Assignee").locator("option", { hasText: "(you)" }).textContent();
  await first?.getByLabel("Assignee").selectOption({ label: mine ?? "" });
  await second?.getByLabel("Days after the alert").fill("9");
  await isRightOnPhones(page);
  await page.getByRole("button", { name: "Save rule" }).click();
  await page.getByText("1 task, 1 later message").waitFor();
  const steps = [
    { kind: "task", afterDays: 0, title: "Call them", dueDays: 2, assignee: people.member.id },
    { kind: "message", afterDays: 9, title: null, dueDays: null, assignee: null },
  ];
  expect(await savedRules()).toMatchObject([{ version: 1, steps }]);
  await page.getByRole("button", { name: `Change ${longName}` }).click();
  expect(await first?.getByLabel("Title").inputValue()).toBe("Call them");
  expect(await second?.getByLabel("Days after the alert").inputValue()).toBe("9");
  await page.getByRole("button", { name: "Cancel" }).click();
  expect(complaints).toEqual([]);
});

test("another condition makes a version, another name does not", async () => {
  const { page, complaints } = await openRules(people.owner);
  const open = () => page.getByRole("button", { name: `Change ${longName}` }).click();
  await open();
  await page.getByLabel("Cooldown, days").fill("9");
  expect(await page.getByText("Saving makes version 2").count()).toBe(0);
  await page.getByLabel("Condition").selectOption({ label: "Churn risk rose" });
  await page.getByLabel("By at least, percentage points").fill("15");
  await page.getByText("Saving makes version 2").waitFor();
  await page.getByRole("button", { name: "Save rule" }).click();
  await page.getByText("Churn risk rose by 15 percentage points within 5 days").waitFor();
  const condition = { kind: "riskUp", by: 0.15, days: 5 };
  expect(await savedRules()).toMatchObject([{ version: 2, cooldownDays: 9, condition }]);
  await open();
  await page.getByLabel("Condition").selectOption({ label: "The last owner of an account was removed" });
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  expect(complaints).toEqual([]);
});

test("a rule is paused, resumed and deleted, and viewers only read", async () => {
  const viewing = await openRules(people.viewer);
  await viewing.page.getByText("Only members and owners can change them.").waitFor();
  await viewing.page.getByRole("list", { name: `Control group of ${longName}` }).waitFor();
  const buttons = viewing.page.getByRole("main").getByRole("button");
  const names = await buttons.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
  expect(names).toEqual([`What is meant: Control group of ${longName}`]);
  const { page, complaints } = await openRules(people.member);
  const noted = await notedMessages(page);
  await page.getByRole("button", { name: `Pause ${longName}` }).click();
  await page.getByText("paused", { exact: true }).waitFor();
  expect(await savedRules()).toMatchObject([{ isPaused: true }]);
  await page.getByRole("button", { name: `Resume ${longName}` }).click();
  await noted(`${longName} is on. Its next decision fires nothing.`);
  await page.getByRole("link", { name: "0 open alerts" }).click();
  await page.getByText("No alert matches").waitFor();
  await page.goBack();
  await page.getByRole("button", { name: `Delete ${longName}` }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete rule" }).click();
  await page.getByText("No rule yet").waitFor();
  expect(await savedRules()).toEqual([]);
  expect(complaints).toEqual([]);
});

test("a rule is about the accounts of a segment, and stays so when its name is changed", async () => {
  const filter = { seenWithinDays: 90 };
  const { id } = await people.owner.json<{ id: number }>(
    "POST",
    people.at("/api/segments"),
    { kind: "accounts", name: "Seen", filter },
    201,
  );
  const { page, complaints } = await openRules(people.member);
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Of a segment");
  await page.getByLabel("Limit to a segment").selectOption({ label: "Seen" });
  await page.getByLabel("Condition", { exact: true }).selectOption({ label: "Is in a segment" });
  await page.getByLabel("Segment", { exact: true }).selectOption({ label: "Seen" });
  await page.getByRole("button", { name: "Preview" }).click();
  const preview = page.getByRole("region", { name: "Preview" });
  const note =
    "The segment Seen has no recorded members of past days yet, so the preview is for all accounts.";
  await preview.getByText(note).waitFor();
  await isRightOnPhones(page);
  await page.getByRole("button", { name: "Save rule" }).click();
  await page.getByText("Is in Seen").waitFor();
  await page.getByText("Accounts of Seen").waitFor();
  await page.getByRole("button", { name: "Change Of a segment" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Of the same segment");
  await page.getByRole("button", { name: "Save rule" }).click();
  await page.getByRole("heading", { name: "Of the same segment" }).waitFor();
  expect(await savedRules()).toMatchObject([
    { version: 1, scope: { kind: "accounts", segment: id }, condition: { kind: "inSegment", segment: id } },
  ]);
  expect(complaints).toEqual([]);
});

test("a rule says to which destinations it sends, and when", async () => {
  const { owner, at } = people;
  const added = async (kind: string, name: string) => {
    const body = { kind, name, address: `https://hooks.example.com/${kind}` };
    type Added = { readonly destination: { readonly id: number } };
    return (await owner.json<Added>("POST", at("/api/destinations"), body, 201)).destination.id;
  };
  const wide = "W".repeat(80);
  const destinations = [await added("webhook", "CRM"), await added("slack", wide)];
  destinations.push(await added("slack", "Channel"));
  await owner.json("PATCH", at(`/api/destinations/${destinations[2]}`), { state: "paused" });
  const rule = { scope: { kind: "accounts" }, condition: { kind: "paymentFailed" }, destinations };
  const rules = [{ name: "Morning" }, { name: "Now", when: "at once" }, { name: "Silent", cap: 0 }];
  for (const one of rules) await owner.json("POST", at("/api/alert-rules"), { ...rule, ...one }, 201);
  const { page, complaints } = await openRules(people.member);
  for (const [name, text] of [
    ["Morning", `Sends to CRM at once, and to Channel (paused) and ${wide} at 08:00`],
    ["Now", `Sends to CRM, Channel (paused) and ${wide} at once`],
    ["Silent", "Inbox only: at most 0 alerts a day in messages"],
  ] as const) {
    const row = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name }) });
    await row.getByText(text, { exact: true }).waitFor();
  }
  await isRightOnPhones(page);
  await page.route(/\/api\/destinations\?/, async (route) => {
    const answer = (await (await route.fetch()).json()) as { destinations: readonly object[] };
    const own = { ...answer.destinations[0], id: 9_999, kind: "email", name: "Digest of member 3" };
    await route.fulfill({ json: { destinations: [...answer.destinations, own] } });
  });
  await page.reload();
  await page.getByRole("button", { name: "Change Morning" }).click();
  const offered = page.getByRole("group", { name: "Destinations" }).getByRole("checkbox");
  await becomes(
    () => offered.evaluateAll((all) => all.map((one) => one.parentElement?.textContent)),
    ["CRM", "Channel", wide],
  );
  await isRightOnPhones(page);
  expect(complaints).toEqual([]);
});
