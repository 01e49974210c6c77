/** Alert rules and alerts from the front door: a rule that is saved, a decision, a message that its receiver
 * verifies, the inbox, an erasure. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { remoteLedger } from "../../server/between/remote/shared-ledger.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { commitChunk } from "../../server/features/alerts/commit-chunk.ts";
import type { DecisionChunk } from "../../server/features/alerts/store/decisions.ts";
import type { SharedLedger } from "../../server/ledger/ledger.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { quick } from "../served-as.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { documentOf, notDescribed } from "./described.ts";
import { logsRuns, twoMoreRuns } from "./polled.ts";
import { type Got, type Receiver, startReceiver } from "./receiver.ts";

interface Rule {
  readonly id: number;
  readonly version: number;
  readonly isPaused: boolean;
  readonly openAlerts: number;
}
interface Alerts {
  readonly total: number;
  readonly alerts: readonly { readonly id: number; readonly entityId: string; readonly verdict: string }[];
}
interface Timeline {
  readonly events: readonly { readonly id: string; readonly kind: string }[];
  readonly next: string | null;
}

let [server, receiver]: [Server, Receiver] = [] as never;
let ours: Awaited<ReturnType<typeof company>>;
let ledger: SharedLedger;
let secret = "";
let rule: Rule;
const today = todayIn(quietZone);
const body = {
  name: "High risk",
  scope: { kind: "users" },
  condition: { kind: "riskBand", band: "high" },
  cap: 2,
  includeCurrent: true,
};

beforeAll(async () => {
  receiver = await startReceiver();
  server = await Server.start({
    time: quick,
    env: { ...logsRuns, ALLOW_PRIVATE_DESTINATIONS: receiver.allowed },
  });
  await server.ready();
  ours = await company(server, "Alerted", "--timezone", quietZone);
  const absent = () => Promise.reject(new Error("is not asked for here"));
  ledger = remoteLedger(join(server.dataDir, "control.sock"), { read: absent, snapshot: absent });
  for (const userId of ["ada", "bob", "eve"]) {
    const identify = { userId, email: `${userId}@example.com`, properties: { name: `Name of ${userId}` } };
    expect((await server.post("/identify", ours.token, identify)).status).toBe(201);
  }
  const webhook = { kind: "webhook", name: "hook", address: receiver.address("/alerts") };
  const { owner, at } = ours;
  const added = await owner.json<{ secret: string; destination: { id: number } }>(
    "POST",
    at("/api/destinations"),
    webhook,
    201,
  );
  secret = added.secret;
  const crm = { ...webhook, name: "crm", address: receiver.address("/crm"), sendsEmails: true };
  const asking = await owner.json<typeof added>("POST", at("/api/destinations"), crm, 201);
  const wanted = { ...body, destinations: [added.destination.id, asking.destination.id] };
  rule = await owner.json<Rule>("POST", at("/api/alert-rules"), wanted, 201);
});
afterAll(async () => {
  await server.stop();
  receiver.stop();
});

/** Decides a day: these users come into high risk. */
async function decide(day: number, users: readonly string[]): Promise<void> {
  const organization = ours.owner.organization;
  const [toDecide] = await ledger.ruleDecisions.toDecide(organization);
  if (toDecide === undefined) throw new Error("The rule is not decided.");
  const numbers = await Promise.all(
    users.map(async (id) => (await ledger.findUser(organization, id))?.user.number ?? 0),
  );
  const entities = numbers.map((number) => ({ kind: "user", number }) as const);
  const chunk: DecisionChunk = {
    organization,
    rule: rule.id,
    version: toDecide.version.version,
    after: toDecide.watermark.sequence,
    horizonDays: 28,
    next: { decidedThrough: day, part: null, cursor: null },
    states: entities.map((entity) => ({
      entity,
      hasLeft: false,
      daysOut: 0,
      restsUntil: day + 28,
      firedOn: day,
      value: 0.7,
    })),
    fired: entities.map((entity, index) => ({
      entity,
      day,
      eventId: null,
      before: 0.2,
      after: 0.7,
      reasons: [{ text: "silent for 9 days" }],
      risk: 0.7 - index / 10,
      expectedLoss: null,
      account: null,
      isExempt: false,
    })),
    closed: [],
    insideBySettings: 0,
  };
  const nowMs = Date.now();
  await commitChunk(ledger, toDecide.version, chunk, {
    nowMs,
    todayMs: nowMs,
    nextMorningMs: nowMs,
  });
}

/** The id of the user whom a message names. */
const idIn = ({ body: text }: Got): string => JSON.parse(text).data.entity.id;

describe("an alert", () => {
  test("reaches its receiver once, signed, up to the cap, and is in the list and its CSV", async () => {
    await decide(today, ["ada", "bob", "eve"]);
    await until(
      "all four messages have arrived",
      () => receiver.got,
      ({ length }) => length === 4,
    );
    const to = (path: string) => receiver.got.filter((one) => one.path === path);
    // Messages to one receiver are under way together, and arrive in any order.
    const inOrder = to("/alerts").toSorted((a, b) => (idIn(a) < idIn(b) ? -1 : 1));
    const messages = inOrder.map(({ body: text, headers }) => new Webhook(secret).verify(text, headers));
    expect(messages).toMatchObject(
      ["ada", "bob"].map((id) => ({
        type: "alert.fired",
        data: {
          text: `High risk: Name of ${id}: silent for 9 days`,
          entity: { kind: "user", id, name: `Name of ${id}` },
          day: formatDay(today),
          before: 0.2,
          after: 0.7,
          reasons: ["silent for 9 days"],
        },
      })),
    );
    expect(JSON.stringify(to("/alerts"))).not.toContain("@example.com");
    expect(
      to("/crm")
        .map(({ body: text }) => JSON.parse(text).data.entity.email)
        .toSorted(),
    ).toEqual(["ada@example.com", "bob@example.com"]);
    const { owner, at } = ours;
    const { total, alerts } = await owner.json<Alerts>("GET", at("/api/alerts"));
    expect([total, alerts.map(({ entityId }) => entityId)]).toEqual([3, ["ada", "bob", "eve"]]);
    const csv = await (await owner.ask("GET", `${at("/api/alerts")}&format=csv`)).text();
    expect(csv.trim().split("\n")).toHaveLength(4);
    const timeline = await owner.json<Timeline>("GET", at("/api/users/ada/timeline"));
    expect(timeline.events.filter(({ kind }) => kind === "alert")).toMatchObject([
      { properties: { rule: "High risk", before: 0.2, after: 0.7, reasons: ["silent for 9 days"] } },
    ]);
    // Read on behind each entry, also behind the alert.
    const ids: unknown[] = [];
    let next: string | null = null;
    do {
      const path = `${at("/api/users/ada/timeline")}&limit=1${next === null ? "" : `&before=${next}`}`;
      const page: Timeline = await owner.json<Timeline>("GET", path);
      ids.push(...page.events.map(({ id }) => id));
      ({ next } = page);
    } while (next !== null);
    expect(ids).toEqual(timeline.events.map(({ id }) => id));
    const [listed] = (await owner.json<{ rules: Rule[] }>("GET", at("/api/alert-rules"))).rules;
    expect(listed).toMatchObject({ openAlerts: 3, decidedThrough: formatDay(today) });
    const figures = await owner.json<{ rules: readonly { weeks: readonly object[] }[] }>(
      "GET",
      at("/api/alert-rules/figures"),
    );
    expect(figures).toMatchObject({
      rules: [
        {
          id: rule.id,
          name: "High risk",
          fired: 3,
          since: formatDay(today),
          perWeek: null,
          holdOut: null,
          untouched: { mature: 0, churned: 0, rate: null, interval: null, medianLeadDays: null },
          touched: { mature: 0 },
          baseRate: { count: 0, rate: null },
        },
      ],
    });
    expect(figures.rules[0]?.weeks.at(-1)).toMatchObject({ fired: 3 });
  });

  test("is assigned, snoozed and judged by members, and viewers only read", async () => {
    const { owner, viewer, at } = ours;
    const [first] = (await owner.json<Alerts>("GET", at("/api/alerts"))).alerts;
    const path = `/api/alerts/${first?.id}`;
    expect((await viewer.ask("PATCH", at(path), { verdict: "handled" })).status).toBe(403);
    expect((await viewer.ask("GET", at("/api/alerts"))).status).toBe(200);
    const tomorrow = formatDay(today + 1);
    await owner.json("PATCH", at(path), { snoozedUntil: tomorrow });
    const snoozed = await owner.json<Alerts>("GET", `${at("/api/alerts")}&state=snoozed`);
    expect(snoozed.alerts).toMatchObject([{ entityId: "ada", snoozedUntil: tomorrow }]);
    const judged = { snoozedUntil: null, verdict: "handled", note: "called", assignee: owner.id };
    expect(await owner.json("PATCH", at(path), judged)).toMatchObject({ verdict: "handled", note: "called" });
    expect(await owner.json<Alerts>("GET", `${at("/api/alerts")}&state=handled&assignee=me`)).toMatchObject({
      total: 1,
    });
    expect(await owner.json<Alerts>("GET", `${at("/api/alerts")}&user=bob`)).toMatchObject({ total: 1 });
    expect((await owner.ask("PATCH", at(path), { snoozedUntil: "soon" })).status).toBe(400);
    expect((await owner.ask("PATCH", at("/api/alerts/99999"), { verdict: null })).status).toBe(404);
  });

  test("of an erased user is gone, with what its messages said", async () => {
    const { owner, at } = ours;
    await server.command("erase", "user", "bob", "--organization", "Alerted");
    const { alerts } = await owner.json<Alerts>("GET", `${at("/api/alerts")}&state=all`);
    expect(alerts.map(({ entityId }) => entityId)).toEqual(["ada", "eve"]);
    const deliveries = await owner.json<{ deliveries: { messageId: string; said: string | null }[] }>(
      "GET",
      at("/api/deliveries"),
    );
    expect(deliveries.deliveries.map(({ said }) => said === null).toSorted()).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});

describe("a rule", () => {
  test("is changed, paused, resumed and deleted, also by the command line", async () => {
    const { owner, viewer, at } = ours;
    const path = `/api/alert-rules/${rule.id}`;
    expect((await viewer.ask("PUT", at(path), body)).status).toBe(403);
    const same = await owner.json<Rule>("PUT", at(path), { ...body, name: "Renamed" });
    expect(same).toMatchObject({ version: 1, name: "Renamed", destinations: [] });
    const condition = { kind: "healthBelow", below: 40 };
    expect(await owner.json<Rule>("PUT", at(path), { ...body, condition })).toMatchObject({ version: 2 });
    expect(await owner.json<Rule>("POST", at(`${path}/pause`))).toMatchObject({ isPaused: true });
    const of = ["--organization", "Alerted"];
    expect(await server.command("alert-rule", "list", ...of)).toMatch(/High risk .*healthBelow.* true /);
    await server.command("alert-rule", "resume", String(rule.id), ...of);
    await server.command(
      "alert-rule",
      "create",
      ...of,
      "--template",
      "payment-failed",
      "--destination",
      "hook",
    );
    expect(await server.command("alert-rule", "list", ...of)).toMatch(/Payment failed .*paymentFailed/);
    expect(await server.command("alert", "list", ...of)).toMatch(
      /High risk .* eve +Name of eve .*silent for 9 days +0.5 /,
    );
    const refused = { ...body, name: "b", condition: { kind: "riskUp", by: 2, days: 7 } };
    expect((await owner.ask("POST", at("/api/alert-rules"), refused)).status).toBe(400);
    await server.command("alert-rule", "delete", String(rule.id), ...of);
    expect((await owner.json<{ rules: Rule[] }>("GET", at("/api/alert-rules"))).rules).toHaveLength(1);
  });

  test("has its messages described in the OpenAPI document", async () => {
    const document = await documentOf(server);
    expect(receiver.got.flatMap(({ body: text }) => notDescribed(document, text))).toEqual([]);
  });
});

describe("from events", () => {
  test("to scores, a rule that fires, and a message that its receiver verifies", async () => {
    const { name, owner, at, token } = await company(server, "Silent", "--timezone", quietZone);
    const webhook = { kind: "webhook", name: "hook", address: receiver.address("/silent") };
    const added = await owner.json<{ secret: string; destination: { id: number } }>(
      "POST",
      at("/api/destinations"),
      webhook,
      201,
    );
    const items = ["ada", "eve"].flatMap((userId, index) => [
      { type: "identify", userId, email: `${userId}@example.com` },
      ...[40, 12, index === 0 ? 6 : 1].map((days) => ({
        type: "track",
        userId,
        event: "opened",
        timestamp: new Date(Date.now() - days * 86_400_000).toISOString(),
      })),
    ]);
    expect((await server.post("/batch", token, { batch: items })).status).toBe(201);
    await owner.json<Rule>(
      "POST",
      at("/api/alert-rules"),
      {
        name: "Opened nothing",
        scope: { kind: "users" },
        includeCurrent: true,
        condition: { kind: "keyEventUnseen", event: "opened", days: 4 },
        destinations: [added.destination.id],
      },
      201,
    );
    await server.command("score", "--organization", name);
    const messages = () => receiver.got.filter(({ path }) => path === "/silent");
    await until(
      "the message has arrived",
      () => messages(),
      ({ length }) => length > 0,
    );
    const [message] = messages();
    expect(new Webhook(added.secret).verify(message?.body ?? "", message?.headers ?? {})).toMatchObject({
      type: "alert.fired",
      data: { rule: { name: "Opened nothing", version: 1 }, entity: { kind: "user", id: "ada" } },
    });
    const { alerts } = await owner.json<Alerts>("GET", at("/api/alerts"));
    expect(alerts.map(({ entityId }) => entityId)).toEqual(["ada"]);
    const { rules } = await owner.json<{ rules: Rule[] }>("GET", at("/api/alert-rules"));
    expect(rules).toMatchObject([{ decidedThrough: formatDay(today), openAlerts: 1 }]);
    await twoMoreRuns(server, "nightly decision");
    const list = `${at("/api/deliveries")}&destination=${added.destination.id}`;
    const { deliveries } = await owner.json<{ deliveries: readonly object[] }>("GET", list);
    expect([deliveries.length, messages().length]).toEqual([1, 1]);
  });
});
