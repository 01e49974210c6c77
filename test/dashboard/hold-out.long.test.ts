/** Exemptions of a hold-out, from the rule's form on the page to arms that are stored and messages that are
 * received. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Locator, Page } from "playwright-core";
import { type Receiver, startReceiver } from "../actions/receiver.ts";
import { daysAgo, identify, sendAll, track } from "../erasure/support.ts";
import { quietZone } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";
import { becomes, until } from "../until.ts";
import { startBrowser } from "./chromium.ts";
import { axe, openPage, phone, settled, signInAs } from "./support.ts";

interface Alerts {
  readonly alerts: readonly { readonly entityId: string; readonly arm: string; readonly isSent: boolean }[];
}

let [server, browser, receiver]: [Server, Browser, Receiver] = [] as never;
let people: Awaited<ReturnType<typeof company>>;

/** 20 accounts pay 10 to 200 USD a month, and 5 pay nothing, of which one is a key account. */
const paying = Array.from({ length: 20 }, (_, n) => ({ id: `paying ${n + 1}`, amount: 1_000 * (n + 1) }));
const free = ["free 1", "free 2", "free 3", "free 4", "key"].map((id) => ({ id, amount: 0 }));
const accounts = [...paying, ...free].map(({ id }) => id);

beforeAll(async () => {
  [receiver, browser] = await Promise.all([startReceiver(), startBrowser()]);
  server = await Server.start({ env: { ALLOW_PRIVATE_DESTINATIONS: receiver.allowed } });
  await server.ready();
  people = await company(server, "Held out", "--timezone", quietZone);
  const { owner, at, token, name } = people;
  await sendAll(
    server,
    token,
    [...paying, ...free].flatMap(({ id, amount }) => [
      identify(id.replace(" ", "."), {
        account: { id, name: id, properties: { tier: id === "key" ? "gold" : "iron" } },
      }),
      ...[40, 12, 6].map((days) => track(id.replace(" ", "."), "opened", daysAgo(days))),
      ...(amount === 0
        ? []
        : [
            track(id.replace(" ", "."), "subscription_started", daysAgo(40), {
              properties: {
                subscriptionId: id,
                plan: "Team",
                amount,
                currency: "USD",
                interval: "month",
              },
            }),
          ]),
    ]),
  );
  expect(await server.exported("subscriptions", name)).not.toEqual([]);
  const filter = { traits: [{ trait: "tier", value: "gold" }] };
  await owner.json("POST", at("/api/segments"), { name: "Gold", kind: "accounts", filter }, 201);
  const webhook = { kind: "webhook", name: "hook", address: receiver.address("/alerts") };
  await owner.json("POST", at("/api/destinations"), webhook, 201);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  receiver?.stop();
});

/** Saves the rule on its page. The form fills in the MRR above which the highest tenth of those who pay
 * is. */
async function saveRule(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByLabel("Begin with").selectOption({ label: "Key event unused for 14 days" });
  await page.getByLabel("Event", { exact: true }).fill("opened");
  await page.getByLabel("Days", { exact: true }).fill("4");
  await page.getByLabel("Alerts a day in messages, at most").fill("100");
  await page.getByLabel("Control group, %").fill("90");
  const mrr = page.getByLabel("Never in the control group: an MRR above, in USD");
  await becomes(() => mrr.inputValue(), "180");
  await page.getByLabel("Never in the control group: a segment").selectOption({ label: "Gold" });
  await page.getByLabel("hook").check();
  await page.getByLabel("Also alert for accounts that meet the condition now").check();
  await settled(page);
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Save rule" }).click();
  await page.getByText("control group 90%, without Gold or an MRR above $180").waitFor();
}

test("exempt accounts get their alerts, and are never controls", async () => {
  const { owner, member, at, organization } = people;
  const { page, complaints } = await openPage(browser);
  await signInAs(page, server, member);
  await page.goto(`${server.url}/o/${organization}/settings/alert-rules`);
  await saveRule(page);
  await server.command("score", "--organization", people.name);
  const alertsOf = async () => (await owner.json<Alerts>("GET", at("/api/alerts"))).alerts;
  await until("the alerts have fired", alertsOf, ({ length }) => length > 0);
  const alerts = await alertsOf();
  const exempt = ["key", "paying 19", "paying 20"];
  const idsWith = (arm: string) => alerts.filter((one) => one.arm === arm).map(({ entityId }) => entityId);
  expect(idsWith("exempt").toSorted()).toEqual(exempt);
  expect(alerts.every(({ isSent }) => isSent)).toBe(true);
  const listed = await owner.json<{ accounts: { accountId: string; controlUntil: string | null }[] }>(
    "GET",
    `${at("/api/accounts")}&limit=100`,
  );
  const controls = listed.accounts
    .filter(({ controlUntil }) => controlUntil !== null)
    .map(({ accountId }) => accountId);
  // Each of the 22 others is drawn into one arm. All of them are treated once in 10^22 runs.
  expect(controls.length).toBeGreaterThan(0);
  expect([...controls, ...idsWith("treated"), ...exempt].toSorted()).toEqual(accounts.toSorted());
  await until(
    "the messages have arrived",
    () => receiver.got,
    ({ length }) => length >= alerts.length,
  );
  const told = receiver.got.map(({ body }) => JSON.parse(body).data.entity.id);
  expect(told.toSorted()).toEqual(alerts.map(({ entityId }) => entityId).toSorted());
  const shownAt = async (path: string) => {
    await page.goto(`${server.url}/o/${organization}${path}`);
    await settled(page);
    return page.getByText(/control until/i).count();
  };
  expect(await shownAt("/accounts/key")).toBe(0);
  // Beside the name of the account, and of its member.
  expect(await shownAt(`/accounts/${encodeURIComponent(controls[0] ?? "")}`)).toBe(2);
  expect(complaints).toEqual([]);
});

test("lists show until when somebody is a control, however long the name is", async () => {
  const { owner, at, token, organization } = people;
  const { alerts } = await owner.json<Alerts>("GET", at("/api/alerts"));
  const known = new Set(alerts.map(({ entityId }) => entityId));
  const [control = ""] = accounts.filter((id) => !known.has(id));
  await sendAll(server, token, [
    identify(control.replace(" ", "."), {
      email: `${"e".repeat(60)}@example.com`,
      properties: { name: "N".repeat(200) },
      account: { id: control, name: "A".repeat(200) },
    }),
  ]);
  for (const viewport of [{ width: 1_280, height: 900 }, phone]) {
    const { page } = await openPage(browser, { viewport });
    await signInAs(page, server, owner);
    for (const list of ["accounts", "users"]) {
      await page.goto(`${server.url}/o/${organization}/${list}`);
      const row = page.getByRole("row").filter({ hasText: list === "users" ? /N{200}/ : /A{200}/ });
      const badge = row.getByText(/control until/i);
      await badge.waitFor();
      await settled(page);
      expect([list, await isWhole(badge)]).toEqual([list, true]);
    }
  }
});

/** Whether an element is within its cell of a table. */
async function isWhole(element: Locator): Promise<boolean> {
  const [own, cell] = await Promise.all([
    element.boundingBox(),
    element.locator("xpath=ancestor::*[self::td or self::th][1]").boundingBox(),
  ]);
  return own !== null && cell !== null && own.x >= cell.x && own.x + own.width <= cell.x + cell.width;
}

test("an MRR that a team member clears stays empty, also when the rule is changed", async () => {
  const { member, at, organization } = people;
  const { page } = await openPage(browser);
  await signInAs(page, server, member);
  await page.goto(`${server.url}/o/${organization}/settings/alert-rules`);
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Without MRR");
  const holdOut = page.getByLabel("Control group, %");
  await holdOut.fill("20");
  const mrr = page.getByLabel("Never in the control group: an MRR above, in USD");
  await becomes(() => mrr.inputValue(), "180");
  await mrr.fill("");
  await holdOut.fill("0");
  await holdOut.fill("30");
  expect(await mrr.inputValue()).toBe("");
  await page.getByRole("button", { name: "Save rule" }).click();
  await page.getByRole("button", { name: "Change Without MRR" }).click();
  await settled(page);
  expect(await mrr.inputValue()).toBe("");
  await page.getByRole("button", { name: "Save rule" }).click();
  await becomes(async () => {
    const { rules } = await member.json<{ rules: { name: string; exemptions: object }[] }>(
      "GET",
      at("/api/alert-rules"),
    );
    return rules.find(({ name }) => name === "Without MRR")?.exemptions;
  }, {});
});
