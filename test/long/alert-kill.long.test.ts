/**
 * Kills the service, or one of its two processes, at each commit from an event or the scores of a day to the
 * messages about them: a process is held there (durability/holds.ts). In the end each event has one alert,
 * the alerts about scores are those of the preview, and each message arrived at least once under one id.
 *
 * The commits are: of loaded events, of a day's scores (`test/scoring/kill.long.test.ts` kills at each of
 * their writes), of a chunk of a rule's decision with its messages, of the claim of a message, and of the
 * outcome of an attempt. chunk-kill.long.test.ts kills between the chunks of a day's decision.
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Zone } from "../../server/calendar/zone.ts";
import { type Receiver, startReceiver } from "../actions/receiver.ts";
import type { HoldPoint, Step } from "../durability/hold-points.ts";
import { type Hold, Holds, killed, type Victim, victims } from "../durability/holds.ts";
import { quietZone } from "../far-from-midnight.ts";
import { until } from "../until.ts";
import { idsOf, msPerDay, RuleLedger, serviceWithRules } from "./alert-kills.ts";

interface KillPoint extends HoldPoint {
  readonly victim: Victim;
}

/** The claim of a message that a killed process had under way ends after a minute. */
const claimMs = 61_000;

const commit = "ruleDecisions.commitDecision";
const ofCommit = (step: Step) => victims.map((victim): KillPoint => ({ step, of: commit, victim }));

let receiver: Receiver;
let dataDir: string;
beforeEach(async () => {
  receiver = await startReceiver();
  dataDir = mkdtempSync(join(tmpdir(), "rekindle-alert-kill-"));
});
afterEach(() => {
  receiver.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Each message has one id, and one text whenever it arrives. @returns the ids by what they are about */
function arrivedMessages(): Map<string, Set<string>> {
  const arrived = idsOf(receiver);
  expect([...arrived].filter(([, own]) => own.size !== 1)).toEqual([]);
  expect(new Set([...arrived.values()].flatMap((own) => [...own])).size).toBe(arrived.size);
  const byId = Map.groupBy(receiver.got, ({ headers }) => headers["webhook-id"]);
  for (const same of byId.values()) expect(new Set(same.map(({ body }) => body)).size).toBe(1);
  return arrived;
}

/** The items of a batch: a new user, and a payment that failed. */
function failedPayment(userId: string): object[] {
  const properties = { subscription: userId, amount: 900, currency: "USD" };
  return [
    { type: "identify", userId, email: `${userId}@example.com` },
    { type: "track", userId, event: "payment_failed", properties },
  ];
}

/** From an event to its message: the points at which a service is killed, and with how many failed payments
 * before. */
const ofMoments: readonly (KillPoint & { readonly payments?: number })[] = [
  // The events are in the warehouse, and the ledger does not know it.
  { step: "after", of: "INSERT INTO events", victim: "both" },
  { step: "arrived", of: "inbox.finish", victim: "both" },
  // No chunk is committed, and one is committed of which analysis has not heard.
  ...ofCommit("before"),
  ...ofCommit("arrived"),
  ...ofCommit("after"),
  // More than a chunk holds: the first is committed, and the second is not.
  { step: "before", of: commit, count: 2, victim: "both", payments: 105 },
  // Messages are claimed, under way, and arrived without a recorded outcome. Four are under way at most, so
  // that the ninth follows outcomes that are recorded.
  { step: "before", of: "post", victim: "both", payments: 8 },
  { step: "within", of: "post", victim: "intake", payments: 8 },
  { step: "after", of: "post", victim: "both", payments: 8 },
  { step: "before", of: "post", victim: "intake", payments: 12, count: 9 },
];

test("a kill at any commit from an event to its message loses no alert, decides none twice, and keeps its id", async () => {
  const rule = {
    name: "Payments",
    scope: { kind: "users" },
    condition: { kind: "paymentFailed" },
    cap: 1_000,
    when: "at once",
  };
  const service = await serviceWithRules(receiver, {
    name: "Killed moments",
    dataDir,
    rules: [rule],
  });
  const { start, send } = service;
  let { server } = service;
  const ledger = new RuleLedger(server.dataDir);
  const holds = new Holds(server.dataDir);
  await until("the rule has taken over what was", () => ledger.takenOver() === 1);
  const failed: string[] = [];
  let aheadMs = 0;
  for (const [at, { payments = 2, victim, ...point }] of ofMoments.entries()) {
    const hold = holds.next(point);
    const users = Array.from({ length: payments }, (_, n) => `user-${at}-${n}`);
    await send(server, users.flatMap(failedPayment));
    failed.push(...users);
    await hold.reached();
    server = await killed(server, victim, start, hold);
    aheadMs += claimMs;
    server.putClockAhead(aheadMs);
  }
  await until("each payment has an alert", () => ledger.alerts().length >= failed.length);
  await until("no message waits", () => ledger.pending() === 0);
  expect(ledger.alerts()).toHaveLength(failed.length);
  const arrived = [...arrivedMessages().keys()];
  expect(arrived.toSorted().map((key) => key.split(" ")[2])).toEqual(failed.toSorted());
  expect(receiver.got.length).toBeGreaterThan(failed.length);
  ledger.close();
  await server.stop();
});

const beganMs = Date.now();
const zone = new Zone(quietZone);
const historyDays = 40;
const accounts = Array.from({ length: 24 }, (_, at) => `account-${at}`);
const members = ["ada", "bob", "eve"];
const scored = (kind: "users" | "accounts", below: number) => ({
  name: `${kind} below ${below}`,
  scope: { kind },
  condition: { kind: "healthBelow", below },
  cooldownDays: 3,
  cap: 1_000,
  when: "at once",
});
const rules = [...[80, 75, 70, 60].map((below) => scored("users", below)), scored("accounts", 80)];

/** The first accounts are silent from today on, for nine days. */
const silent = 10;
const silentDays = 9;
const isActive = (account: number, day: number) => account >= silent || day < 0 || day >= silentDays;

const at = (day: number) => new Date(beganMs + day * msPerDay).toISOString();

/** They left before the first day is scored, so that the model knows from then on what silence means. */
const gone = Array.from({ length: 16 }, (_, at) => `gone-${at}`);
const lastDayOfGone = (account: number) => (account % 8) - historyDays;

/** What is sent on a day. */
const itemsOf = (day: number) =>
  [
    ...accounts.filter((_, account) => isActive(account, day)),
    ...gone.filter((_, account) => day <= lastDayOfGone(account)),
  ]
    .flatMap((account) => members.map((one) => `${one}-${account}`))
    .map((userId) => ({ type: "track", userId, event: "opened", timestamp: at(day) }));

const everybody = [...accounts, ...gone].flatMap((id) =>
  members.map((one) => ({
    type: "identify",
    userId: `${one}-${id}`,
    email: `${one}@${id}.example.com`,
    timestamp: at(-historyDays - 1),
    account: { id, name: id },
  })),
);

/** The scores of users are there without their record, those of users alone, and those of accounts as well,
 * which ends the run. */
const ofScores = (victim: Victim): KillPoint[] =>
  ["INSERT INTO user_scores", "record: run of user", "record: run of account"].map((of) => ({
    step: "after",
    of,
    victim,
  }));

/**
 * From the scores of a day to the alerts: the points of each day, in the order in which the work comes to
 * them, also when it goes on after a kill. Rules about users are decided as soon as users are scored. Four of
 * these commit: when analysis alone is killed after the call has arrived, and when the commit is done.
 */
const ofDays: ReadonlyMap<number, readonly KillPoint[]> = new Map([
  // Alerts about users begin.
  [
    silentDays,
    [
      ...ofScores("both").slice(0, 2),
      ...ofCommit("before"),
      ...ofCommit("arrived").toReversed(),
      ...ofCommit("after"),
    ],
  ],
  // Alerts about accounts begin. On the second of two days without the condition the alerts about users end.
  [16, ofScores("analysis")],
  [17, ofScores("intake")],
]);

test("a kill at any commit from the scores of a day to its alerts loses none, and decides none twice", async () => {
  const name = "Killed scores";
  const service = await serviceWithRules(receiver, { name, dataDir, rules });
  const { start, send, preview, ids } = service;
  let { server } = service;
  const ledger = new RuleLedger(server.dataDir);
  const holds = new Holds(server.dataDir);
  const isDecided = (day: number) => ledger.decided(zone.dayOf(beganMs + day * msPerDay)) === rules.length;
  // A process that is killed leaves the command without an answer.
  const score = () => server.command("score", "--organization", name).catch(() => undefined);
  await send(server, everybody);
  for (let day = -historyDays; day < 0; day++) await send(server, itemsOf(day));
  await score();
  await until("the first day is decided", () => isDecided(0));
  let sentUpto = 0;
  for (const [day, points] of ofDays) {
    for (; sentUpto < day; sentUpto++) await send(server, itemsOf(sentUpto));
    server.putClockAhead(day * msPerDay);
    let hold: Hold | undefined;
    let scoring = Promise.resolve<unknown>(undefined);
    for (const [number, point] of points.entries()) {
      const { victim, of } = point;
      hold ??= holds.next(point);
      // A run that is not over when it is killed is asked for again.
      if (of !== commit) {
        await server.ready();
        scoring = score();
      }
      const isHeld = await hold.reached(() => isDecided(day));
      expect([point, isHeld]).toEqual([point, true]);
      const next = points[number + 1];
      const reached = hold;
      hold = undefined;
      // Wanted before the process starts that comes to it.
      const want = () => {
        hold = next && holds.next(next);
      };
      if (victim === "analysis") want();
      const restart = () => {
        want();
        return start();
      };
      server = await killed(server, victim, restart, reached);
      await scoring;
    }
    await server.ready();
    if (!isDecided(day)) await score();
    await until(`day ${day} is decided`, () => isDecided(day));
  }
  server.putClockAhead(Math.max(...ofDays.keys()) * msPerDay + claimMs);
  await until("no message waits", () => ledger.pending() === 0);
  await server.ready();
  const alerts = ledger.alerts();
  ledger.close();
  const keys = alerts.map(({ rule, user, account, firedDay }) => [rule, user, account, firedDay].join(" "));
  expect(new Set(keys).size).toBe(keys.length);
  for (const [index, rule] of rules.entries()) {
    const own = alerts.filter((alert) => alert.rule === ids[index]);
    const expected = { fired: own.length, open: own.filter(({ isClosed }) => isClosed === 0).length };
    expect(await preview(server, rule)).toMatchObject(expected);
    expect(expected.fired).toBeGreaterThan(0);
  }
  const ends = alerts.filter(({ isClosed }) => isClosed === 1).length;
  expect(ends).toBeGreaterThan(0);
  expect(arrivedMessages().size).toBe(alerts.length + ends);
  await server.stop();
});
