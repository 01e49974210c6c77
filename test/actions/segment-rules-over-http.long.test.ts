/** Alert rules about segments, from events and a rule that is saved to alerts that fire and end. */

import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { remoteLedger } from "../../server/between/remote/shared-ledger.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { commitChunk } from "../../server/features/alerts/commit-chunk.ts";
import { daysAgo, identify, sendAll, track } from "../erasure/support.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { decision, firedAlert } from "../ledger/alert-decision.ts";
import { ownServer } from "../own-server.ts";
import { joined } from "../people/support.ts";
import { quick } from "../served-as.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";

interface Alert {
  readonly entityId: string;
  readonly reasons: readonly string[];
  readonly arm: string | null;
  readonly closedWhy: string | null;
}

const organization = "Segmented";
const server: Server = await ownServer(() => server, { time: quick });
const today = todayIn(quietZone);
let olga: Awaited<ReturnType<typeof joined>>;
let token = "";
let segment = 0;
/** The ids of the rules. */
let [ofMembers, ofSilentMembers, withExempt] = [0, 0, 0];

const at = (path: string) => `${path}${path.includes("?") ? "&" : "?"}organization=${olga.organization}`;
const ofPlan = (userId: string, plan: string) => identify(userId, { properties: { plan } });
const silent = { condition: { kind: "keyEventUnseen", event: "opened", days: 4 } } as const;

async function saved(path: string, body: object): Promise<number> {
  return (await olga.json<{ id: number }>("POST", at(path), body, 201)).id;
}

/** The alerts of a rule, with those that ended, sorted by user. */
async function alertsOf(rule: number): Promise<readonly Alert[]> {
  const { alerts } = await olga.json<{ alerts: readonly Alert[] }>(
    "GET",
    at(`/api/alerts?state=all&rule=${rule}`),
  );
  return alerts.toSorted((a, b) => (a.entityId < b.entityId ? -1 : 1));
}

const ends = async (rule: number) =>
  (await alertsOf(rule)).map(({ entityId, closedWhy }) => [entityId, closedWhy]);

async function decided(): Promise<void> {
  await until("all rules have decided today", async () => {
    const { rules } = await olga.json<{ rules: readonly { decidedThrough: string | null }[] }>(
      "GET",
      at("/api/alert-rules"),
    );
    return rules.every(({ decidedThrough }) => decidedThrough === formatDay(today));
  });
}

function ledgerOfServer() {
  const absent = () => Promise.reject(new Error("is not asked for here"));
  return remoteLedger(join(server.dataDir, "control.sock"), { read: absent, snapshot: absent });
}

/** Decides today as if it were the next day: all rules count as decided through yesterday. */
async function decidedAgain(): Promise<void> {
  const ledger = ledgerOfServer();
  for (const { version, watermark } of await ledger.ruleDecisions.toDecide(olga.organization)) {
    const chunk = {
      organization: olga.organization,
      rule: version.rule,
      version: version.version,
      horizonDays: 28,
      after: watermark.sequence,
      next: { decidedThrough: today - 1, part: null, cursor: null },
      states: [],
      fired: [],
      closed: [],
      insideBySettings: 0,
    };
    const ground = {
      nowMs: Date.now(),
      todayMs: 0,
      nextMorningMs: Date.now(),
    };
    await commitChunk(ledger, version, chunk, ground);
  }
  await decided();
}

async function members(): Promise<readonly string[]> {
  const { users } = await olga.json<{ users: readonly { userId: string }[] }>(
    "GET",
    at(`/api/users?segment=${segment}`),
  );
  return users.map(({ userId }) => userId).toSorted();
}

beforeAll(async () => {
  token = await server.organization(organization, "--timezone", quietZone);
  olga = await joined(server, organization, "owner", "Olga Owner");
  // Ada and Cal do nothing for eight days, Bob and Dee come daily.
  const days = (who: string) => (who === "ada" || who === "cal" ? [40, 12, 8] : [40, 12, 4, 3, 2, 1, 0.1]);
  await sendAll(server, token, [
    ofPlan("ada", "pro"),
    ofPlan("bob", "pro"),
    ofPlan("cal", "free"),
    ofPlan("dee", "free"),
    ...["ada", "bob", "cal", "dee"].flatMap((who) =>
      days(who).map((ago) => track(who, "opened", daysAgo(ago))),
    ),
  ]);
  await server.exported("events", organization);
  for (const day of [today - 1, today]) {
    const asOf = ["--as-of", formatDay(day), "--even-if-stopped"];
    await server.command("score", "--organization", organization, ...asOf);
  }
  const filter = { traits: [{ trait: "plan", value: "pro" }] };
  segment = await saved("/api/segments", { kind: "users", name: "Pro", filter });
  const rule = { scope: { kind: "users" }, includeCurrent: true, cooldownDays: 1 };
  ofMembers = await saved("/api/alert-rules", {
    ...rule,
    name: "Is pro",
    condition: { kind: "inSegment", segment },
  });
  ofSilentMembers = await saved("/api/alert-rules", {
    ...rule,
    ...silent,
    name: "Silent and pro",
    scope: { kind: "users", segment },
  });
  withExempt = await saved("/api/alert-rules", {
    ...rule,
    ...silent,
    name: "Silent",
    holdOutShare: 0.5,
    exemptions: { segment },
  });
  await decided();
});

test("a rule fires for members of its segment, looks at members alone, and draws no exempt ones", async () => {
  expect(await ends(ofMembers)).toEqual([
    ["ada", null],
    ["bob", null],
  ]);
  expect((await alertsOf(ofMembers))[0]?.reasons[0]).toBe("In the segment Pro");
  expect(await ends(ofSilentMembers)).toEqual([["ada", null]]);
  const [ada, cal] = await alertsOf(withExempt);
  expect([ada?.entityId, ada?.arm]).toEqual(["ada", "exempt"]);
  // A control is in no list.
  expect(cal?.arm ?? "control").not.toBe("exempt");
});

test("the inbox has the alerts of a segment's members, and so have its file and the command line", async () => {
  const listed = async (of: number) => {
    const path = at(`/api/alerts?state=all&segment=${of}`);
    const { alerts, total } = await olga.json<{ alerts: readonly Alert[]; total: number }>("GET", path);
    expect(alerts).toHaveLength(total);
    return alerts.map(({ entityId }) => entityId).toSorted();
  };
  expect(await listed(segment)).toEqual(["ada", "ada", "ada", "bob"]);
  const file = await olga.ask("GET", at(`/api/alerts?state=all&segment=${segment}&format=csv`));
  expect((await file.text()).trim().split(/\r?\n/)).toHaveLength(5);
  const only = ["--organization", organization, "--state", "all", "--json"];
  const printed = await server.command("alert", "list", ...only, "--segment", "Pro");
  expect((JSON.parse(printed) as { total: number }).total).toBe(4);
  const bob = await saved("/api/segments", { kind: "users", name: "Bob", ids: ["bob"] });
  const dees = await saved("/api/segments", { kind: "users", name: "Dee", ids: ["dee"] });
  expect([await listed(bob), await listed(dees)]).toEqual([["bob"], []]);
  const wrong = await server.run({}, "alert", "list", ...only, "--segment", "Nobody");
  expect([wrong.exitCode, wrong.stderr]).toEqual([
    1,
    expect.stringContaining('there is no segment "Nobody"'),
  ]);
  const unknown = await olga.ask("GET", at("/api/alerts?segment=99999"));
  expect([unknown.status, await unknown.text()]).toEqual([400, expect.stringContaining("with the id 99999")]);
});

test("an alert ends when its user leaves the segment, and a user who enters fires", async () => {
  await sendAll(server, token, [ofPlan("ada", "free"), ofPlan("cal", "pro")]);
  await until(
    "the segment has other members",
    async () => (await members()).join(),
    (seen) => seen === "bob,cal",
  );
  await decidedAgain();
  expect(await ends(ofMembers)).toEqual([
    ["ada", "resolved"],
    ["bob", null],
    ["cal", null],
  ]);
  expect(await ends(ofSilentMembers)).toEqual([
    ["ada", null],
    ["cal", null],
  ]);
});

test("an edit of the segment fires nothing", async () => {
  const filter = { traits: [{ trait: "plan", match: "isNotEmpty" }] };
  await olga.json("PATCH", at(`/api/segments/${segment}`), { filter });
  await until(
    "the segment has other members",
    async () => (await members()).join(),
    (seen) => seen === "ada,bob,cal,dee",
  );
  await decidedAgain();
  expect((await ends(ofMembers)).map(([who]) => who)).toEqual(["ada", "bob", "cal"]);
});

test("a segment of a rule is checked when the rule is saved, and is not deleted while the rule uses it", async () => {
  const rule = (scope: object, more = {}) => ({ ...silent, name: "Another", scope, ...more });
  const refused = async (body: object) => (await olga.ask("POST", at("/api/alert-rules"), body)).status;
  expect(await refused(rule({ kind: "users", segment: 9_999 }))).toBe(400);
  expect(await refused(rule({ kind: "accounts", segment }))).toBe(400);
  expect(await refused(rule({ kind: "users" }, { exemptions: { segment: 9_999 } }))).toBe(400);
  expect(await refused(rule({ kind: "users", segment }, { condition: { kind: "sourceSilent" } }))).toBe(400);
  const filter = { segments: [{ segment }] };
  const inside = await saved("/api/segments", { kind: "users", name: "Inside", filter });
  const remove = (path: string) => olga.ask("DELETE", at(path));
  const refusal = async () => {
    const response = await remove(`/api/segments/${segment}`);
    return [response.status, await response.json()];
  };
  const uses = (by: string) => [409, { message: by, statusCode: 409, name: "conflict" }];
  const rules = "the alert rules Is pro, Silent, and Silent and pro";
  expect(await refusal()).toEqual(
    uses(`This segment is used by the segment Inside and by ${rules}: change or delete them first.`),
  );
  for (const id of [ofMembers, ofSilentMembers]) {
    expect((await remove(`/api/alert-rules/${id}`)).status).toBe(204);
  }
  expect((await remove(`/api/segments/${inside}`)).status).toBe(204);
  expect(await refusal()).toEqual(
    uses("This segment is used by the alert rule Silent: change or delete that rule first."),
  );
  expect((await remove(`/api/alert-rules/${withExempt}`)).status).toBe(204);
  expect((await remove(`/api/segments/${segment}`)).status).toBe(204);
});

test("many alerts of a segment are read in parts, and each is on one page", async () => {
  const { organization: id } = olga;
  const rule = await saved("/api/alert-rules", {
    name: "Payment failed",
    scope: { kind: "users" },
    condition: { kind: "paymentFailed" },
  });
  const bobs = await saved("/api/segments", { kind: "users", name: "Only Bob", ids: ["bob"] });
  const ledger = ledgerOfServer();
  const numbers = await Promise.all(
    ["bob", "dee"].map(async (who) => (await ledger.findUser(id, who))?.user.number ?? 0),
  );
  const [bob = 0, dee = 0] = numbers.map((number) => ({ kind: "user", number }) as const);
  if (bob === 0 || dee === 0) throw new Error("There is no such user.");
  // Each chunk has 80 alerts about Bob and 20 about Dee.
  for (let chunk = 0; chunk < 26; chunk += 1) {
    const fired = Array.from({ length: 100 }, (_, index) =>
      firedAlert(index % 5 === 0 ? dee : bob, today, { eventId: `failed ${chunk} ${index}` }),
    );
    await until("the decision is stored", async () => {
      const decided = await ledger.ruleDecisions.toDecide(id);
      const watermark = decided.find(({ version }) => version.rule === rule)?.watermark;
      const next = { decidedThrough: today, part: null, cursor: watermark?.cursor ?? null };
      const first = decision({ organization: id, rule, entity: bob, day: today });
      const whole = { ...first, after: watermark?.sequence ?? 0, states: [], fired, next };
      // A decision of the service may come first.
      return ledger.ruleDecisions.commitDecision(whole, Date.now()).then(
        () => true,
        () => false,
      );
    });
  }
  const page = async (offset: number) => {
    const path = at(`/api/alerts?segment=${bobs}&limit=1000&offset=${offset}`);
    return olga.json<{ total: number; alerts: readonly { id: number; entityId: string }[] }>("GET", path);
  };
  const pages = [await page(0), await page(1_000), await page(2_000)];
  expect(pages.map(({ total, alerts }) => [total, alerts.length])).toEqual([
    [2_080, 1_000],
    [2_080, 1_000],
    [2_080, 80],
  ]);
  const alerts = pages.flatMap((one) => one.alerts);
  expect(new Set(alerts.map(({ entityId }) => entityId))).toEqual(new Set(["bob"]));
  const ids = alerts.map((one) => one.id);
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => b - a));
  const file = await olga.ask("GET", at(`/api/alerts?segment=${bobs}&format=csv`));
  expect((await file.text()).trim().split(/\r?\n/)).toHaveLength(2_081);
});
