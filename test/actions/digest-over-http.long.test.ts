/** The digest from the front door: a member switches it on, agrees, gets it once by e-mail and unsubscribes;
 * a channel gets it, too. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { remoteLedger } from "../../server/between/remote/shared-ledger.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { msPerDay, msPerHour, Zone } from "../../server/calendar/zone.ts";
import { commitChunk } from "../../server/features/alerts/commit-chunk.ts";
import type { DecisionChunk } from "../../server/features/alerts/store/decisions.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { SharedLedger } from "../../server/ledger/ledger.ts";
import { todayIn } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { quick } from "../served-as.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { type MailServer, startMailServer } from "./mail-server.ts";
import { logsRuns, twoMoreRuns } from "./polled.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

let [server, receiver, mails]: [Server, Receiver, MailServer] = [] as never;
beforeAll(async () => {
  receiver = await startReceiver();
  mails = await startMailServer();
  server = await Server.start({
    time: quick,
    env: {
      ...logsRuns,
      ALLOW_PRIVATE_DESTINATIONS: receiver.allowed,
      SMTP_URL: mails.url(),
      MAIL_FROM: "Rekindle <rekindle@example.com>",
      PUBLIC_URL: "https://rekindle.example.com",
    },
  });
  await server.ready();
});
afterAll(async () => {
  await server.stop();
  receiver.stop();
  await mails.stop();
});

/** Here it is between 08:00 and 22:00. */
const zone =
  ["UTC", "Etc/GMT-8", "Etc/GMT+8"].find((name) => {
    const hour = (Date.now() - new Zone(name).startOfDay(todayIn(name))) / msPerHour;
    return hour >= 8 && hour < 22;
  }) ?? "UTC";
const today = todayIn(zone);

type Company = Awaited<ReturnType<typeof company>>;

/** A company with two scored users: too little data for a model. */
async function scoredCompany(name: string): Promise<Company> {
  const ours = await company(server, name, "--timezone", zone);
  const items = ["ada", "bob"].flatMap((userId) => [
    { type: "identify", userId, email: `${userId}@example.com`, properties: { name: `Name of ${userId}` } },
    ...[40, 12, 3].map((days) => ({
      type: "track",
      userId,
      event: "opened",
      timestamp: new Date(Date.now() - days * msPerDay).toISOString(),
    })),
  ]);
  expect((await server.post("/batch", ours.token, { batch: items })).status).toBe(201);
  await server.command("score", "--organization", ours.name);
  return ours;
}

/** Changes the settings of a company as if it were yesterday. */
async function changedYesterday(ours: Company): Promise<SharedLedger> {
  const absent = () => Promise.reject(new Error("is not asked for here"));
  const ledger = remoteLedger(join(server.dataDir, "control.sock"), { read: absent, snapshot: absent });
  const { organization } = ours.owner;
  await ledger.settings.change(organization, { churnHorizonDays: 56 }, commandLine, Date.now() - msPerDay);
  return ledger;
}

/** A rule whose hold-out has drawn an alert of yesterday: of bob, who is a control, and of ada, who is
 * none. */
async function ruleThatFired({ owner, at }: Company, ledger: SharedLedger): Promise<void> {
  const { organization } = owner;
  const rule = {
    name: "High risk",
    scope: { kind: "users" },
    condition: { kind: "riskBand", band: "high" },
    holdOutShare: 0.5,
    exemptions: {},
  };
  await owner.json("POST", at("/api/alert-rules"), rule, 201);
  const [toDecide] = await ledger.ruleDecisions.toDecide(organization);
  if (toDecide === undefined) throw new Error("The rule is not decided.");
  const { version, watermark } = toDecide;
  const firedOf = async (userId: string, isExempt: boolean) => {
    const number = (await ledger.findUser(organization, userId))?.user.number ?? 0;
    const entity = { kind: "user", number } as const;
    return {
      entity,
      day: today - 1,
      eventId: null,
      before: 0.2,
      after: 0.7,
      reasons: [],
      risk: 0.7,
      expectedLoss: null,
      account: null,
      isExempt,
    };
  };
  const chunk: DecisionChunk = {
    organization,
    rule: version.rule,
    version: version.version,
    after: watermark.sequence,
    horizonDays: 28,
    next: { decidedThrough: today, part: null, cursor: null },
    states: [],
    closed: [],
    insideBySettings: 2,
    fired: [await firedOf("ada", true), await firedOf("bob", false)],
  };
  const ground = {
    nowMs: Date.now(),
    todayMs: 0,
    nextMorningMs: Date.now(),
  };
  // The draw of bob is by a secret: with a share of 1 he is a control.
  await commitChunk(ledger, { ...version, holdOutShare: 1 }, chunk, ground);
}

/** A member's own digest, switched on by the member and agreed to by the link. */
async function agreedDigest({ viewer, at }: Company): Promise<Own> {
  expect(await viewer.json<Own>("GET", at("/api/own-digest"))).toMatchObject({ period: "off", state: null });
  const wanted = await viewer.json<Own>("PUT", at("/api/own-digest"), { period: "daily" });
  expect(wanted).toMatchObject({ period: "daily", state: "unconfirmed" });
  const [asking] = mailsTo(wanted);
  const [, id, code] = /\/agree#(\d+)\/([A-Za-z0-9_-]{43})/.exec(plain(asking?.text)) ?? [];
  await viewer.json("POST", "/api/destinations/agree", { destination: Number(id), code });
  return wanted;
}

test("the digest comes once, to those who want it and agreed, and names no control", async () => {
  // It is looked at before the other one, so its digest would be sent before.
  const silent = await withoutNews(await scoredCompany("Without news"));
  const ours = await scoredCompany("Digested");
  const ledger = await changedYesterday(ours);
  const { owner, viewer, at } = ours;
  await ruleThatFired(ours, ledger);
  const digest = await viewer.json<Digest>("GET", `${at("/api/digest")}&period=daily`);
  expect(digest).toMatchObject({
    period: "daily",
    day: formatDay(today),
    kind: "user",
    scoredDay: formatDay(today),
    hasNews: true,
    hasModel: false,
    lacksData: true,
    entered: { total: 0, named: [] },
    left: { total: 0 },
    top: [],
    alerts: { fired: 1, untouched: 1 },
    precision: { mature: 0, rate: null },
    // The rule was decided after 07:00: the next digest tells it.
    insideBySettings: 0,
    changes: [`Settings changed on ${formatDay(today - 1)}: churnHorizonDays.`],
  });
  expect((await owner.ask("GET", `${at("/api/digest")}&period=hourly`)).status).toBe(400);

  const own = await agreedDigest(ours);
  const address = receiver.address("/slack");
  const slack = { kind: "slack", name: "team", address, notices: ["digest.daily"] };
  await owner.json("POST", at("/api/destinations"), slack, 201);
  await until("both digests have arrived", () => mailsTo(own).length === 2 && receiver.got.length === 1);
  const [text, said] = [plain(mailsTo(own)[1]?.text), receiver.got[0]?.body ?? ""];
  const { day, alerts, changes } = digest;
  for (const line of [
    `daily digest of ${day}. No churn risk is known: there is too little data for a model.`,
    `${alerts.fired} alert in the last 7 days: ${alerts.handled} handled, 0 not useful, 0 with a task, ${alerts.untouched} untouched.`,
    ...changes,
  ]) {
    expect([text.includes(line), said.includes(line), line]).toEqual([true, true, line]);
  }
  expect(text).toContain("Auto-Submitted: auto-generated");
  expect(text).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
  expect([text, said, JSON.stringify(digest)].join()).not.toContain("Name of bob");
  expect([text, said].join()).not.toMatch(/high risk|number 1|unknown|Precision/);
  await twoMoreRuns(server, "digest");
  await until("no delivery waits", async () => {
    const { deliveries } = await owner.json<{ deliveries: readonly { readonly state: string }[] }>(
      "GET",
      at("/api/deliveries"),
    );
    return deliveries.every(({ state }) => state === "delivered");
  });
  expect([mailsTo(own).length, receiver.got.length]).toEqual([2, 1]);
  // Its mail asked the member to agree. No digest followed, neither by e-mail nor to the channel.
  expect([mailsTo(silent).length, receiver.got.map(({ path }) => path)]).toEqual([1, ["/slack"]]);
  await unsubscribes(ours, text);
});

/** Asks for digests of a company of which there is nothing to say today. */
async function withoutNews(ours: Company): Promise<Own> {
  const { owner, viewer, at } = ours;
  const digest = await viewer.json<Digest>("GET", `${at("/api/digest")}&period=daily`);
  expect(digest).toMatchObject({ scoredDay: formatDay(today), hasModel: false, hasNews: false, changes: [] });
  const own = await agreedDigest(ours);
  const address = receiver.address("/without-news");
  const slack = { kind: "slack", name: "team", address, notices: ["digest.daily"] };
  await owner.json("POST", at("/api/destinations"), slack, 201);
  return own;
}

/** The mail's own link ends the digest, by POST only. Wanted again, it needs the other link again. */
async function unsubscribes({ viewer, at }: Company, mail: string): Promise<void> {
  const [, path] = /List-Unsubscribe: <https?:\/\/[^/]+(\/[^>]+)>/.exec(mail) ?? [];
  const state = async () => (await viewer.json<Own>("GET", at("/api/own-digest"))).state;
  const follow = (method: string) =>
    fetch(server.url + path, {
      method,
      headers: { Host: "rekindle.example.com", "Content-Type": "application/x-www-form-urlencoded" },
      ...(method === "POST" && { body: "List-Unsubscribe=One-Click" }),
    });
  expect((await follow("GET")).ok).toBe(false);
  expect(await state()).toBe("active");
  expect((await follow("POST")).ok).toBe(true);
  expect(await state()).toBe("disabled");
  const choose = (period: string) => viewer.json<Own>("PUT", at("/api/own-digest"), { period });
  expect(await choose("weekly")).toMatchObject({ period: "weekly", state: "unconfirmed" });
  expect(await choose("off")).toMatchObject({ period: "off", state: null });
}

/** Without the invitation to the company. */
function mailsTo({ address }: Own) {
  return mails.received.filter(
    ({ to, text }) => to.includes(address) && !text.includes("Subject: Invitation"),
  );
}

interface Own {
  readonly period: string;
  readonly address: string;
  readonly state: string | null;
}
interface Digest {
  readonly day: string;
  readonly alerts: { readonly fired: number; readonly handled: number; readonly untouched: number };
  readonly changes: readonly string[];
}

/** A mail with its long lines joined. */
function plain(text = ""): string {
  return text.replaceAll("=\r\n", "").replaceAll("=3D", "=").replaceAll("\r\n ", " ");
}
