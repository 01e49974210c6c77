/** `rekindle demo` beside a running server, and without one. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Static } from "typebox";
import { withApi } from "../../cli/api/ask.ts";
import { addRules, addWork } from "../../cli/demo-team.ts";
import type { AlertRulesAnswer } from "../../contract/alerts/rule-schemas.ts";
import { contactEvent } from "../../contract/api/contacts.ts";
import type { ContactsAnswer, NotesAnswer, TasksAnswer } from "../../contract/api/notes-and-tasks.ts";
import type { ViewsAnswer } from "../../contract/api/saved-views.ts";
import { isBillingEvent } from "../../contract/billing/events.ts";
import type { RevenueAnswer } from "../../contract/billing/revenue.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { SegmentsAnswer } from "../../contract/segments/schemas.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { Attributes, Tracked } from "../../simulation/items.ts";
import { Simulation } from "../../simulation/simulation.ts";
import { withEnvironment } from "../command-in-process.ts";
import { environment, rekindle, run, Server } from "../server.ts";
import { becomes, until } from "../until.ts";

let server: Server;

beforeAll(async () => {
  server = await Server.start();
});
afterAll(() => server.stop());

/** A timezone in which it is about noon, so that no test runs across midnight. */
function zoneAtNoon(): string {
  const hours = 12 - new Date().getUTCHours();
  return hours === 0 ? "UTC" : `Etc/GMT${hours > 0 ? "-" : "+"}${Math.abs(hours)}`;
}

/** The cells of an organization's line in the list. */
async function settingsOf(name: string): Promise<string[]> {
  const lines = (await server.command("organization", "list")).split("\n");
  return lines.map((line) => line.split(/ {2,}/)).find((cells) => cells[1] === name) ?? [];
}

async function revokedAt(organization: string): Promise<(string | undefined)[]> {
  const lines = (await server.command("token", "list", "--organization", organization)).trim().split("\n");
  return lines.slice(1).map((line) => line.split(/ {2,}/)[5]);
}

/** `100 users in 9 accounts and 5,210 events` */
function printedCounts(text: string): number[] {
  const match = /: ([\d,]+) users in ([\d,]+) accounts and ([\d,]+) events/.exec(text);
  return (match?.slice(1) ?? []).map((digits) => Number(digits.replaceAll(",", "")));
}

/** Events of the simulation. The contacts that its team made are events, too. */
async function sentEvents(organization: string): Promise<number> {
  const events = await server.exported("events", organization);
  return events.filter(({ event }) => event !== contactEvent).length;
}

test("everything is loaded once, whether the demonstration runs once or twice", async () => {
  const timezone = zoneAtNoon();
  await server.command("organization", "create", "Twice", "--timezone", timezone);
  await server.command("organization", "set", "Twice", "--rate-limit", "7", "--item-rate-limit", "2000");
  const options = ["--organization", "Twice", "--users", "100", "--weeks", "8", "--seed", "5"];
  const first = await server.command("demo", ...options);

  const [users = 0, accounts = 0, events = 0] = printedCounts(first);
  expect(users).toBe(100);
  expect(await server.exported("users", "Twice")).toHaveLength(users);
  expect(await server.exported("accounts", "Twice")).toHaveLength(accounts);
  expect(await sentEvents("Twice")).toBe(events);
  expect(first).toContain("rekindle export events --organization Twice");
  const [, , , requestsPerSecond, , itemsPerSecond] = await settingsOf("Twice");
  expect([requestsPerSecond, itemsPerSecond]).toEqual(["7", "2000"]);
  expect(await revokedAt("Twice")).toEqual([expect.stringMatching(/^\d{4}-/)]);

  const refusal = await rekindle(server.dataDir, "demo", ...options);
  expect([refusal.exitCode, refusal.stdout]).toEqual([1, ""]);
  expect(refusal.stderr).toContain("100 users");
  expect(refusal.stderr).toContain("--force");

  const second = await server.command("demo", ...options, "--force");
  expect(first).toContain("4 alert rules");
  expect(second).not.toContain("4 alert rules");
  const again = printedCounts(second);
  expect(again.slice(0, 2)).toEqual([users, accounts]);
  expect(again[2]).toBeGreaterThanOrEqual(events);
  expect(await sentEvents("Twice")).toBe(again[2] ?? 0);
  expect(await server.exported("users", "Twice")).toHaveLength(users);
  expect(await server.command("doctor")).toContain("Twice: ledger, events and rollups agree");
});

/** What its team has, each thing as often as it is there. Figures of the call list are not in it. */
async function teamContent(organization: string) {
  const key = (await server.command("key", "create", "--organization", organization)).trim();
  const ask = async (path: string) => {
    const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
    expect([path, response.status]).toEqual([path, 200]);
    return response.json();
  };
  const { segments } = (await ask("/api/segments")) as Static<typeof SegmentsAnswer>;
  const { rules } = (await ask("/api/alert-rules")) as Static<typeof AlertRulesAnswer>;
  const { views } = (await ask("/api/views")) as Static<typeof ViewsAnswer>;
  const { tasks } = (await ask("/api/tasks")) as Static<typeof TasksAnswer>;
  const accounts = [...new Set(tasks.map(({ entity }) => entity.id))];
  const work = await Promise.all(
    accounts.map(async (id) => {
      const path = `/api/accounts/${encodeURIComponent(id)}`;
      const { notes } = (await ask(`${path}/notes`)) as Static<typeof NotesAnswer>;
      const { contacts } = (await ask(`${path}/contacts`)) as Static<typeof ContactsAnswer>;
      const ofTeam = contacts.filter(({ text }) => text !== null);
      const { pulses } = (await ask(`${path}/pulses`)) as { pulses: { value: number }[] };
      return [
        tasks.filter(({ entity }) => entity.id === id).map(({ title }) => title),
        notes.map(({ text }) => text),
        ofTeam.map(({ kind }) => kind),
        pulses.map(({ value }) => value),
      ];
    }),
  );
  return {
    segments: segments.map(({ name }) => name).sort(),
    rules: rules.map(({ name, scope: { segment } }) => [name, typeof segment]).sort(),
    decided: rules.every(({ decidedThrough }) => decidedThrough !== null),
    views: views.map(({ name }) => name),
    work: work.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
  };
}

const wholeContent = {
  segments: ["Enterprise", "Larger renewals in 60 days"],
  rules: [
    ["High churn risk", "undefined"],
    ["No report in three weeks", "number"],
    ["Seats near the limit", "undefined"],
    ["Weak before a renewal", "number"],
  ],
  decided: true,
  views: ["Largest first"],
  work: [
    [["Ask what would make them stay"], [expect.stringContaining("head of operations")], [], [2]],
    [["Find out who uses it now"], [], ["email"], []],
    [["Offer a yearly plan before they renew"], [], ["call"], [3]],
    [["Tell them when single sign-on comes"], [expect.stringContaining("single sign-on")], ["meeting"], []],
  ],
};

test("what a team has done is completed wherever the command was cut off, and nothing is done twice", async () => {
  const options = ["--organization", "Cut", "--users", "100", "--weeks", "8", "--seed", "5"];
  await server.command("demo", ...options, "--no-team");
  await withEnvironment(environment(server.dataDir), () =>
    withApi("Cut", async (api) => {
      let made = 0;
      const { accounts } = await api.ask("GET /api/accounts", { query: { limit: 4 } });
      /** Takes one step that makes something, and dies at the next. Each time the call list has another
       * order. @returns whether it came to the end */
      const goesOn = async () => {
        await server.exported("events", "Cut");
        const rows = accounts.map((_, at) => accounts[(at + made) % accounts.length]);
        let steps = 0;
        const ask = ((route, sent) => {
          if (route === "GET /api/call-list") return Promise.resolve({ rows });
          if (!route.startsWith("POST ")) return api.ask(route, sent);
          steps += 1;
          if (steps > 1) throw new Error("killed");
          made += 1;
          return api.ask(route, sent);
        }) as typeof api.ask;
        const run = async () => {
          await addRules({ ...api, ask });
          await addWork({ ...api, ask }, undefined, Date.now());
        };
        return run().then(
          () => steps === 0,
          (error: Error) => {
            expect(error.message).toBe("killed");
            return false;
          },
        );
      };
      while (!(await goesOn()));
      // Two segments, four rules, a view, four tasks, two notes, two pulses and three contacts.
      expect(made).toBe(18);
    }),
  );
  const second = await server.command("demo", ...options, "--force");
  expect(await teamContent("Cut")).toEqual(wholeContent);
  expect(second).not.toContain("4 alert rules");
});

test("a load that is killed at its first segments is completed by --force", async () => {
  const options = ["--organization", "Killed", "--users", "100", "--weeks", "8", "--seed", "5"];
  await server.organization("Killed");
  const key = (await server.command("key", "create", "--organization", "Killed")).trim();
  const loading = rekindleInBackground("demo", ...options);
  const segments = async () => {
    const response = await fetch(`${server.url}/api/segments`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    // It is asked often, and the rate limit may refuse.
    return response.ok ? ((await response.json()) as Static<typeof SegmentsAnswer>).segments.length : 0;
  };
  await until("the first segment is there", segments, (count) => count > 0, { everyMs: 20 });
  loading.kill("SIGKILL");
  await loading.exited;
  await server.command("demo", ...options, "--force");
  // Of so few users it depends on the hour who is to be called: the work is that of the test before.
  const withoutWork = ({ work: _, ...rest }: { readonly work: unknown; readonly decided: boolean }) => rest;
  await becomes(async () => withoutWork(await teamContent("Killed")), withoutWork(wholeContent));
});

test("the stored data equals the simulated: times, traits, owners and accounts as they are in the end", async () => {
  await server.command("organization", "create", "Same", "--timezone", zoneAtNoon());
  const beganMs = Date.now();
  await server.command("demo", "--organization", "Same", "--users", "60", "--weeks", "10", "--seed", "8");
  const zone = new Zone((await settingsOf("Same"))[2] ?? "");
  const simulation = new Simulation({ seed: 8, users: 60, weeks: 10, zone, endMs: Date.now() });
  const items = [...simulation.days()].flatMap((day) => day.items).concat(simulation.billing());

  const stored = await server.exported("events", "Same");
  const known = new Set(
    items
      .filter((item) => item.type === "track")
      .map(({ person, event, timeMs }) => `${person.userId} ${event} ${new Date(timeMs).toISOString()}`),
  );
  expect(stored.length).toBeGreaterThan(1_000);
  // Contacts are the work of the team.
  const strange = stored.filter(
    ({ userId, event, timestamp }) => event !== contactEvent && !known.has(`${userId} ${event} ${timestamp}`),
  );
  expect(strange).toEqual([]);

  const byId = new Map((await server.exported("users", "Same")).map((row) => [row.userId, row]));
  for (const { userId, accountId, signedUpMs } of simulation.truth.users) {
    // This user signed up while the demonstration was loaded.
    if (signedUpMs > beganMs) continue;
    expect(byId.get(userId)).toMatchObject({
      account: { id: accountId },
      properties: { createdAt: new Date(signedUpMs).toISOString() },
    });
  }
});

/** Who owns its accounts. */
const vendor = "ada@vendor.example";
let loaded: Promise<Awaited<ReturnType<typeof loadPaying>>> | undefined;

/** The organization Paying, whose accounts pay. The first test that asks loads it. */
function paying() {
  loaded ??= loadPaying();
  return loaded;
}

async function loadPaying() {
  const timezone = zoneAtNoon();
  await server.command("organization", "create", "Paying", "--timezone", timezone);
  const rate = ["--reporting-currency", "USD", "--currency-rate", "EUR=1.1"];
  await server.command("settings", "set", "--organization", "Paying", ...rate);
  const options = { seed: 3, users: 300, weeks: 30 };
  const endMs = Date.now();
  const parameters = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const summary = await server.command("demo", "--organization", "Paying", "--owner", vendor, ...parameters);
  const simulation = new Simulation({ ...options, zone: new Zone(timezone), endMs });
  for (const _ of simulation.days());
  return { summary, billing: simulation.billing([vendor]) };
}

test("subscriptions and attributes of accounts are those of the simulation", async () => {
  const { summary, billing } = await paying();
  expect(summary).toContain("The dashboard is at ");
  expect(summary).not.toContain("member invite");
  const events = billing.filter((item) => item.type === "track");

  const changes = await server.exported("subscriptions", "Paying");
  const changesOf = Map.groupBy(changes, ({ subscriptionId }) => String(subscriptionId));
  const eventsOf = Map.groupBy(events, ({ properties }) => String(properties?.subscriptionId));
  expect([...changesOf.keys()].sort()).toEqual([...eventsOf.keys()].sort());
  expect(changesOf.size).toBeGreaterThan(10);
  for (const [id, [first]] of changesOf) {
    const [start] = eventsOf.get(id) ?? [];
    expect(first).toMatchObject({
      accountId: start?.person.account.facts.accountId,
      from: new Date(start?.timeMs ?? 0).toISOString(),
      plan: start?.properties?.plan,
      status: start?.event === "trial_started" ? "trialing" : "active",
    });
  }
  const stored = await server.exported("events", "Paying");
  const ofBilling = stored.filter(({ event, properties }) =>
    isBillingEvent(String(event), properties as JsonObject),
  );
  expect(ofBilling).toHaveLength(events.length);
  expect(ofBilling.filter(({ isActivity }) => isActivity !== false)).toEqual([]);

  const expected = new Map<string, Attributes>();
  for (const { person, ...item } of billing) {
    if (item.type !== "identify") continue;
    const { accountId } = person.account.facts;
    expected.set(accountId, { ...expected.get(accountId), ...item.attributes });
  }
  const accounts = (await server.exported("accounts", "Paying")).filter(({ id }) => id !== "vendor");
  expect(new Map(accounts.map(({ id, properties }) => [id, properties]))).toEqual(expected);
  expect(accounts.some(({ properties }) => (properties as Attributes).owner === vendor)).toBe(true);
});

test("revenue is what the simulated accounts pay, in dollars", async () => {
  const events = (await paying()).billing.filter((item) => item.type === "track");
  const paid = [...Map.groupBy(events, ({ properties }) => properties?.subscriptionId).values()]
    .map(centsAMonth)
    .filter((cents) => cents > 0);

  const key = (await server.command("key", "create", "--organization", "Paying")).trim();
  const ask = async () => {
    const response = await fetch(`${server.url}/api/revenue`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    return (await response.json()) as Static<typeof RevenueAnswer>;
  };
  // Subscriptions follow a moment after their events.
  await becomes(async () => (await ask()).periods.at(-1)?.endPayers, paid.length);
  const { periods, reportingCurrency, rates, unrated } = await ask();
  expect([reportingCurrency, rates, unrated]).toEqual(["USD", [{ currency: "EUR", rate: 1.1 }], []]);
  // Each payer's MRR is rounded.
  expect(Math.abs((periods.at(-1)?.endMrr ?? 0) - sumOf(paid))).toBeLessThan(paid.length);
  expect(sumOf(periods.map(({ newMrr }) => newMrr))).toBeGreaterThan(0);
});

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0);

/** The MRR of a subscription after its events, in cents of USD. */
function centsAMonth(events: readonly Tracked[]): number {
  const last = (...names: string[]) => events.findLast(({ event }) => names.includes(event));
  const isOn = last("subscription_canceled") === undefined && last("payment_succeeded") !== undefined;
  if (!isOn || last("subscription_paused", "subscription_resumed")?.event === "subscription_paused") return 0;
  const price = events.findLast(({ properties }) => properties?.interval !== undefined)?.properties;
  const amount = Number(price?.amount) * (price?.currency === "EUR" ? 1.1 : 1);
  return price?.interval === "year" ? amount / 12 : amount;
}

test("the commands that it prints work as they stand", async () => {
  const printed = await server.command("demo", "--organization", "Acme Ltd", "--users", "20", "--weeks", "3");
  const script = printed.split("\n").filter((line) => line.startsWith("  "));
  expect(script).toHaveLength(6);
  const { exitCode, stdout, stderr } = await run(["sh", "-e", "-c", script.join("\n")], {
    cwd: join(import.meta.dir, "..", ".."),
    env: environment(server.dataDir),
  });
  expect([exitCode, stderr.includes("rekindle:")]).toEqual([0, false]);
  expect(stdout).toContain('"Vendor (internal)"');
  expect(stdout).toContain("/invitation#");
  expect(stdout).toContain('"event":"signed_in"');
  const daily = [...stdout.matchAll(/^\d{4}-\d{2}-\d{2},(\d+)/gm)].map(([, users]) => Number(users));
  expect(daily.length).toBeGreaterThanOrEqual(28);
  expect(Math.max(...daily)).toBeWithin(5, 21);
  expect(stdout).not.toContain("validation_error");
});

/** A load that has raised the limits. */
async function loadUnderWay(name: string) {
  const loading = rekindleInBackground("demo", "--organization", name, "--users", "30000");
  let isRaised = false;
  await until(
    "the limit is raised",
    async () => {
      isRaised = (await settingsOf(name))[5] === "1000000";
      if (!isRaised && loading.exitCode !== null) throw new Error(await new Response(loading.stderr).text());
      return isRaised;
    },
    (raised) => raised,
    { everyMs: 20 },
  );
  return loading;
}

test("an organization is created when there is none, and an interruption leaves no open door", async () => {
  const loading = await loadUnderWay("Demo");
  loading.kill("SIGINT");
  expect(await loading.exited).toBe(1);
  expect(await new Response(loading.stderr).text()).toContain("--force");
  expect((await settingsOf("Demo")).slice(2, 4)).toEqual(["UTC", "1000"]);
  expect((await settingsOf("Demo"))[5]).toBe("10000");
  expect(await revokedAt("Demo")).toEqual([expect.stringMatching(/^\d{4}-/)]);
});

test("a closed terminal leaves no open door, and the next load closes that of one that was killed", async () => {
  const closed = await loadUnderWay("Terminal");
  closed.kill("SIGHUP");
  expect(await closed.exited).toBe(1);
  expect((await settingsOf("Terminal"))[5]).toBe("10000");

  const killed = await loadUnderWay("Door");
  killed.kill("SIGKILL");
  await killed.exited;
  expect((await settingsOf("Door"))[5]).toBe("1000000");
  await server.command(
    "demo",
    "--organization",
    "Door",
    "--users",
    "20",
    "--weeks",
    "3",
    "--force",
    "--no-team",
  );
  expect((await settingsOf("Door")).slice(3, 6)).toEqual(["1000", expect.anything(), "10000"]);
  const day = expect.stringMatching(/^\d{4}-/);
  expect(await revokedAt("Door")).toEqual([day, day]);
});

function rekindleInBackground(...parameters: string[]) {
  const entry = join(import.meta.dir, "..", "..", "cli", "main.ts");
  return Bun.spawn([process.execPath, entry, ...parameters], {
    env: environment(server.dataDir),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
}

test("an organization of its own has settings: passive events, key events, churn targets, rates, and exclusions", async () => {
  const printed = await server.command("demo", "--organization", "Counting", "--users", "40", "--weeks", "4");
  expect(printed).toContain("Users at vendor.example are excluded from all figures");
  const settings = await server.command("settings", "show", "--organization", "Counting");
  expect(settings).toContain("email_opened");
  expect(settings).toContain("report_created");
  expect(settings).toMatch(/reportingCurrency +USD/);
  expect(settings).toMatch(/currencyRates\.EUR +1\.1\n/);
  expect(settings).toMatch(/churnTargets\.user\.by +silence\n/);
  expect(settings).toMatch(/churnTargets\.account\.by +subscription\n/);
  expect(await server.command("exclude", "list", "--organization", "Counting")).toContain("vendor.example");
  const key = (await server.command("key", "create", "--organization", "Counting")).trim();
  const excluded = async () => {
    const response = await fetch(`${server.url}/api/exclusions`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    return ((await response.json()) as { readonly excludedUsers: number }).excludedUsers;
  };
  // Excluded users are counted a moment after they are loaded.
  await becomes(async () => (await excluded()) > 0, true);
  expect(await excluded()).toBeWithin(1, 10);
});

test("an address at which no rekindle answers is named, before anything is changed", async () => {
  const { exitCode, stderr } = await rekindle(
    server.dataDir,
    "demo",
    "--organization",
    "Nowhere",
    "--url",
    "http://127.0.0.1:9",
  );
  expect(exitCode).toBe(1);
  expect(stderr).toContain("http://127.0.0.1:9");
  expect(stderr).toContain("--url");
  expect(await settingsOf("Nowhere")).toEqual([]);
});

test("without a server it says how to start one", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "rekindle-demo-"));
  const { exitCode, stdout, stderr } = await rekindle(dataDir, "demo");
  rmSync(dataDir, { recursive: true });
  expect([exitCode, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("npm start");
});
