/** Which role has which control that changes something, on every page. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import type { Role } from "../../contract/roles.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";
import { writeHistory } from "../specification/source-history.ts";
import { becomes } from "../until.ts";
import { startBrowser } from "./chromium.ts";
import { follow, openPage, settled, signInAs } from "./support.ts";

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-controls-"));
let server: Server;
let browser: Browser;
let people: Awaited<ReturnType<typeof company>>;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start({ dataDir }), startBrowser()]);
  people = await company(server, "Roles", "--timezone", quietZone);
  await fill();
  await server.kill("SIGTERM");
  await writeHistory(dataDir, "Roles", [
    { source: "posthog", fromHoursAgo: 400, toHoursAgo: 30, perHour: 20 },
    { source: "stripe", fromHoursAgo: 60, toHoursAgo: 1, perHour: 1 },
  ]);
  server = await Server.start({ dataDir });
  await server.ready();
});
afterAll(async () => {
  await browser?.close();
  await server?.kill("SIGTERM");
  rmSync(dataDir, { recursive: true });
});

/** Something of each kind that can be changed. */
async function fill(): Promise<void> {
  const { token, owner, at } = people;
  const batch = [
    {
      type: "identify",
      userId: "ada",
      email: "ada@example.com",
      properties: { plan: "pro" },
      account: { id: "acme", name: "Acme" },
    },
    ...["opened", "subscription_canceled"].map((event) => ({ type: "track", userId: "ada", event })),
  ];
  expect((await server.post("/batch", token, { batch })).status).toBe(201);
  await server.exported("events", "Roles");
  const made = (path: string, body: object) => owner.json("POST", at(path), body, 201);
  await made("/api/views", { page: "users", name: "Mine", query: "healthBand=healthy" });
  await made("/api/segments", { kind: "users", name: "Healthy", filter: { healthBand: "healthy" } });
  await made("/api/read-keys", { name: "reader", rights: [] });
  await made("/api/invitations", { email: "ida@example.com", role: "viewer" });
  await owner.json("POST", `${at("/api/exclusions")}&kind=user&value=monitor`);
  const mapping = { userId: "user.id", event: { path: "type" } };
  const condition = { kind: "riskBand", band: "high" };
  await made("/api/alert-rules", { name: "High risk", scope: { kind: "accounts" }, condition });
  await made("/api/webhooks", { name: "forms", mapping });
  await owner.json("PATCH", at("/api/settings"), {
    weekStart: 7,
    reportingCurrency: "USD",
    currencyRates: { EUR: 1.1 },
  });
}

/** Controls that change nothing but what is shown, by kind. All roles have them. */
const reading: Readonly<Record<string, readonly string[]>> = {
  button: [
    "1, Account, Active in 28 days, Attribute, Change, Churn risk, Clear, Clear filters, Close",
    "Close the set-up of PostHog, Close the set-up of Stripe, Close the set-up of Webhooks, Columns",
    "Copy, Copy link, Engagement, Event, Events, Fall, First seen, Health, Last active, Last seen, Member, Owner",
    "Members, More, Pause, Set up Chargebee, Set up Paddle, Set up RevenueCat, Set up LemonSqueezy, Set up Polar, Set up Customer.io, Set up Dittofeed, Set up Jitsu, Set up Mixpanel, Set up OpenPanel, Set up PostHog, Set up RudderStack, Set up Segment, Share of activity",
    "Set up Stripe, Set up The write API, Set up Webhooks, Show with projection, Trait, User, Users",
    "Segment, opened, subscription_canceled, History of Healthy, Show all figures, Show less",
    "What is meant: Active users, What is meant: User lifecycle, What is meant: Health of users, What is meant: Health of accounts",
    "Remove the filter Health: Healthy, No pulse …, Seats and pulse",
  ].flatMap((names) => names.split(", ")),
  combobox: [
    "A cohort begins with, Assignee, Assistant, Came back by, Churn risk, Churned within, Compare with, Counts as retained, Days",
    "Days of the history, Days shown, Event, Health, Health and churn risk of, Kind of warning",
    "Excluded users, Last seen, Outcome, Owner, Periods, Verdict, Predictions about, Rule, Segment, Source, Split, Split by, State, Time",
    "Users of a segment, Users or accounts, What is counted, Year of the calendar",
  ].flatMap((names) => names.split(", ")),
  searchbox: "Event, Search accounts, Search events, Search users, User".split(", "),
};

/** The people of a cell, in a dialog that is open at once. */
const cellOfToday = `/retention?period=day&cohort=${formatDay(todayIn(quietZone))}&at=0`;

/** The roles that have a control. */
const having = {
  viewer: ["viewer", "member", "owner"],
  member: ["member", "owner"],
  owner: ["owner"],
  // An organization keeps its last owner.
  "viewer and member": ["viewer", "member"],
} as const satisfies Record<string, readonly Role[]>;

/** The table: of each page the controls that change something, and the roles that have each of them. Behind a
 * comma stands a button of the page: then the controls are those of the dialog that it opens. */
const table: Readonly<Record<string, Readonly<Record<string, keyof typeof having>>>> = {
  "/overview": { "button No": "member", "button Yes, they have left": "member" },
  "/start": {
    "button Create a token": "member",
    "button No": "member",
    "button Yes, they have left": "member",
  },
  "/users": {},
  "/users?healthBand=healthy": { "button Save as segment": "member", "button Save view": "member" },
  "/users?saves=new&healthBand=healthy": { "button Save as segment": "member" },
  "/users?saves=1": { "button Save filter": "member" },
  "/users?view=1": { "button View options: Mine": "member" },
  "/users/ada": {
    "button Change: ada@example.com": "member",
    "button Handled: ada@example.com": "member",
    "button Not useful: ada@example.com": "member",
    "button Add task": "member",
    "button Erase …": "owner",
    "button Exclude …": "member",
    "button No owner …": "member",
  },
  "/accounts": {},
  "/accounts?healthBand=healthy": { "button Save as segment": "member", "button Save view": "member" },
  "/accounts/acme": {
    // The alerts of this test are about a user, whatever is asked for.
    "button Change: ada@example.com": "member",
    "button Handled: ada@example.com": "member",
    "button Not useful: ada@example.com": "member",
    "button Add task": "member",
    "button Erase …": "owner",
    "button No owner …": "member",
  },
  "/segments": { "button Add segment": "member", "button Change Healthy": "member" },
  "/alerts": {
    "button Change: ada@example.com": "member",
    "button Handled: ada@example.com": "member",
    "button Not useful: ada@example.com": "member",
  },
  "/tasks": {},
  "/win-back": {},
  "/retention": {},
  [cellOfToday]: { "button Save as segment": "member" },
  "/revenue": {},
  "/renewals": {},
  "/events": {},
  "/events?tab=adoption": {},
  "/events?tab=live": {},
  "/events?tab=warnings": {},
  "/events?tab=rejected-events": { "button Delete all": "member", "button Send all again": "member" },
  "/events?tab=rejected-events, button 1": { "button Delete": "member", "button Send again": "member" },
  "/sources": { "button Retire PostHog": "member" },
  "/sources?open=posthog": {
    "button Create a browser token": "member",
    "button Create a token": "member",
    "button Retire PostHog": "member",
  },
  "/sources?open=stripe": {
    "button Create a token": "member",
    "button Retire PostHog": "member",
    "button Save": "member",
    "button Show the password": "member",
    "combobox Test mode": "member",
    "combobox Unmatched Stripe customers": "member",
    "textbox Signing secret": "member",
  },
  "/sources?open=webhook": {
    "button Add webhook": "member",
    "button Change the webhook forms": "member",
    "button Create a token": "member",
    "button Delete the webhook forms": "member",
    "button Retire PostHog": "member",
  },
  "/model": {},
  "/settings/organization": {
    "button Delete …": "owner",
    "combobox Timezone": "owner",
    "spinbutton Days that raw events are kept": "owner",
    "spinbutton Requests per second of each project token": "owner",
    "textbox Name": "owner",
  },
  "/settings/scores": {
    "button Add a trait": "member",
    "button No": "member",
    "button Restore version 0": "member",
    "button Yes, they have left": "member",
    "combobox A user has churned": "member",
    "combobox Bands of accounts": "member",
    "combobox Bands of users": "member",
    "combobox An account has churned": "member",
    "combobox Weeks start on": "member",
    "radio 14 days": "member",
    "radio 28 days": "member",
    "radio 56 days": "member",
    "radio 7 days": "member",
    "radio 84 days": "member",
    "searchbox Find an event": "member",
    "spinbutton Adoption, %": "member",
    "spinbutton Engagement, %": "member",
    "spinbutton Momentum, %": "member",
    "spinbutton Outlook, %": "member",
    "checkbox opened is a key event": "member",
    "checkbox opened is passive": "member",
    "spinbutton Weight of opened": "member",
    "checkbox subscription_canceled is a key event": "member",
    "checkbox subscription_canceled is passive": "member",
    "spinbutton Weight of subscription_canceled": "member",
  },
  "/settings/currencies": {
    "button Add currency": "owner",
    "combobox Another currency": "owner",
    "combobox Reporting currency": "owner",
    "textbox 1 EUR in USD": "owner",
  },
  "/settings/exclusions": {
    "button Add rule": "member",
    "button Remove the rule: The user monitor": "member",
    "combobox Who": "member",
    "textbox Domain": "member",
  },
  "/settings/tokens": {
    "button Create token": "member",
    "button Revoke unnamed": "member",
    "combobox Scope": "member",
    "textbox Name": "member",
  },
  "/settings/keys": {
    "button Create key": "owner",
    "button Revoke reader": "owner",
    "combobox Rights": "owner",
    "textbox Name": "owner",
  },
  "/settings/assistants": {
    "button Create key": "owner",
    "combobox Rights": "owner",
    "textbox Name": "owner",
  },
  "/settings/members": {
    "button Leave": "viewer and member",
    "button Create invite link": "owner",
    "button Remove Roles member": "owner",
    "button Remove Roles viewer": "owner",
    "button Revoke the invitation for ida@example.com": "owner",
    "combobox Role": "owner",
    "combobox Role of Roles member": "owner",
    "combobox Role of Roles viewer": "owner",
    "textbox E-mail": "owner",
  },
  "/settings/alert-rules": {
    "button Add rule": "member",
    "button Change High risk": "member",
    "button Delete High risk": "member",
    "button Pause High risk": "member",
  },
  "/settings/import": { "button Choose a file, or drop it here": "owner" },
  "/settings/audit": {},
  "/settings/account": {
    "button Create organization": "owner",
    "button Show the password": "viewer",
    "button Sign out everywhere": "viewer",
    "combobox Digest": "viewer",
    "textbox E-mail": "viewer",
    "textbox Organization name": "owner",
    "textbox Timezone": "owner",
    "textbox Name": "viewer",
    "textbox New password": "viewer",
  },
};

/** A rejected event, which takes a warehouse that refuses a row. */
const rejectedEvents = {
  total: 1,
  rejectedEvents: [{ id: 1, at: "2026-01-01T00:00:00.000Z", table: "events", reason: "no", row: "[]" }],
};

/** An alert, which takes a scored day. */
const alerts = {
  total: 1,
  alerts: [
    {
      id: 1,
      rule: { id: 1, name: "High risk" },
      version: 1,
      entityKind: "user",
      entityId: "ada",
      entityLabel: "ada@example.com",
      firedDay: "2026-01-01",
      firedAt: "2026-01-01T00:00:00.000Z",
      before: 0.2,
      after: 0.7,
      reasons: [],
      risk: 0.7,
      expectedLoss: null,
      arm: null,
      isSent: false,
      closedDay: null,
      closedWhy: null,
      assignee: null,
      snoozedUntil: null,
      verdict: null,
      verdictBy: null,
      verdictAt: null,
      note: null,
    },
  ],
};

async function pageOf(role: "viewer" | "member" | "owner"): Promise<Page> {
  const { page } = await openPage(browser);
  await signInAs(page, server, people[role]);
  await page.route(/\/api\/rejected-events\?/, (route) => route.fulfill({ json: rejectedEvents }));
  await page.route(/\/api\/alerts\?/, (route) => route.fulfill({ json: alerts }));
  await page.goto(`${server.url}/o/${people.organization}/settings/account`);
  await settled(page);
  return page;
}

const kinds = "button|textbox|searchbox|spinbutton|checkbox|switch|combobox|slider|radio|menuitem";

/** The controls of an accessibility tree that change something, by kind and name. */
function controlsIn(tree: string): string[] {
  const found = tree.matchAll(new RegExp(`^\\s*- '?(${kinds}) "((?:[^"\\\\]|\\\\.)*)"`, "gm"));
  const names = [...found].map(([, kind = "", name = ""]) => ({ kind, name: steady(name) }));
  const changing = names.filter(({ kind, name }) => !reading[kind]?.includes(name));
  return [...new Set(changing.map(({ kind, name }) => `${kind} ${name}`))].toSorted();
}

/** A name without what differs from run to run: the end of a secret, a time, a share. */
function steady(name: string): string {
  return name
    .replace(/ …[A-Za-z0-9]{4}$/, "")
    .replace(/^\d\d:\d\d:\d\d /, "")
    .replace(/^(\d+ days) .*/, "$1");
}

async function open(page: Page, place: string): Promise<() => Promise<string[]>> {
  const [path = "", button] = place.split(", button ");
  await follow(page, `/o/${people.organization}${path}`);
  if (button !== undefined) await page.getByRole("button", { name: button, exact: true }).click();
  const holder = page.getByRole(button === undefined && path !== cellOfToday ? "main" : "dialog");
  return async () => controlsIn(await holder.ariaSnapshot());
}

const unlistedControls = (place: string, controls: readonly string[]) =>
  `${place} has ${controls.join(", ")}. Add names to reading if they only change what is shown, else to table with their roles.`;

test.each(["viewer", "member", "owner"] as const)(
  "a %s has the controls of the table, on every page",
  async (role) => {
    const page = await pageOf(role);
    for (const [place, controls] of Object.entries(table)) {
      const wanted = Object.keys(controls).filter((name) => {
        const roles: readonly Role[] = having[controls[name] ?? "owner"];
        return roles.includes(role);
      });
      const look = await open(page, place);
      const unlisted = (await look()).filter((control) => controls[control] === undefined);
      if (unlisted.length > 0) throw new Error(unlistedControls(place, unlisted));
      // Some lists come after the rest of the page.
      await becomes(async () => [place, await look()], [place, wanted.toSorted()]);
    }
  },
);
