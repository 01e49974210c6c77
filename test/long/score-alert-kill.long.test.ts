/**
 * Kills the service, or one of its two processes, at each step from the scores of a day to the messages about them. In the end the alerts are
 * those of the preview, each once, and each message arrived at least once under one id. SCORE_ALERT_KILLS makes more rounds.
 */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Zone } from "../../server/calendar/zone.ts";
import { type Receiver, startReceiver } from "../actions/receiver.ts";
import { killed, victims } from "../durability/holds.ts";
import { quietZone } from "../far-from-midnight.ts";
import { until } from "../people/watching.ts";
import type { Server } from "../server.ts";
import { randomOfThisRun } from "../warehouse/support.ts";
import { idsOf, msPerDay, RuleLedger, serviceWithRules } from "./score-kills.ts";

export const runsOn = { disk: true };

const rounds = Number(process.env.SCORE_ALERT_KILLS ?? 50);
const name = "Killed scores";
const beganMs = Date.now();
const zone = new Zone(quietZone);
const dataDir = mkdtempSync(join(tmpdir(), "rekindle-score-alert-kill-"));
const historyDays = 40;
const accounts = Array.from({ length: 60 }, (_, at) => `account-${at}`);
/** The first accounts are silent together, so a day may have two chunks of a rule. chunk-kill.test.ts kills between them each time. */
const together = 36;
const members = ["ada", "bob", "eve"];
const rules = [
  { name: "Users", scope: { kind: "users" } },
  { name: "Accounts", scope: { kind: "accounts" } },
].map((rule) => ({
  ...{ ...rule, condition: { kind: "healthBelow", below: 80 }, cooldownDays: 3 },
  ...{ cap: 1_000, when: "at once" },
}));

/** The steps of a round, in order. On a day without alerts those of messages do not come. */
const steps = ["scoring", "one rule decided", "both decided", "claimed", "arrived", "recorded"] as const;
type Step = (typeof steps)[number];

/** Sets the clock of the service a number of days ahead. */
function setDay(day: number, moreMs = 0): void {
  writeFileSync(join(dataDir, "clock-skew-ms"), String(day * msPerDay + moreMs));
}

/** Whether an account does something on a day: the first ones have the same long silences, the others have their own. */
function isActive(account: number, day: number): boolean {
  const at = day + historyDays;
  if (account < together) return at % 37 < 22;
  const length = 9 + (account % 11);
  return (at + 5 * account) % length < length / 2;
}

/** The items of a day, at its noon. */
function itemsOf(day: number): object[] {
  const timestamp = new Date(beganMs + day * msPerDay).toISOString();
  return accounts.flatMap((account, at) =>
    isActive(at, day)
      ? members.map((one) => ({ type: "track", userId: `${one}-${account}`, event: "opened", timestamp }))
      : [],
  );
}

function everybody(): object[] {
  const timestamp = new Date(beganMs - (historyDays + 1) * msPerDay).toISOString();
  return accounts.flatMap((id) =>
    members.map((one) => ({
      ...{ type: "identify", userId: `${one}-${id}`, email: `${one}@${id}.example.com`, timestamp },
      account: { id, name: id },
    })),
  );
}

/** Days since 1970-01-01. */
const dayNumber = (day: number) => zone.dayOf(beganMs + day * msPerDay);

/** Waits until a round is at a step, or between two chunks. @returns where it is then */
async function waitFor(step: Step, day: number, receiver: Receiver, scoringMs: number): Promise<string> {
  if (step === "scoring") {
    await Bun.sleep(scoringMs);
    return step;
  }
  const ledger = new RuleLedger(dataDir);
  const [arrived, recorded] = [receiver.got.length, ledger.recorded()];
  const reached: Record<Exclude<Step, "scoring">, () => boolean> = {
    "one rule decided": () => ledger.decided(dayNumber(day)) >= 1,
    "both decided": () => ledger.decided(dayNumber(day)) >= rules.length,
    claimed: () => ledger.claimed(beganMs + day * msPerDay) > 0,
    arrived: () => receiver.got.length > arrived,
    recorded: () => ledger.recorded() > recorded,
  };
  const isOver = () => ledger.decided(dayNumber(day)) >= rules.length && ledger.pending() === 0;
  let isBetween = false;
  while (!reached[step]() && !isBetween && !isOver()) {
    await Bun.sleep(1);
    isBetween = ledger.betweenChunks() > 0;
  }
  const where = isBetween ? "between chunks" : reached[step]() ? step : "nothing to send";
  ledger.close();
  return where;
}

/** Scores a day, as often as it takes, until all rules are decided. A process that was killed leaves commands without an answer. */
async function decided(server: Server, day: number): Promise<void> {
  const ledger = new RuleLedger(dataDir);
  await server.ready();
  if (ledger.decided(dayNumber(day)) < rules.length) await server.command("score", "--organization", name);
  await until(() => ledger.decided(dayNumber(day)) === rules.length);
  ledger.close();
}

test("a kill between the scores of a day and their messages loses no alert, decides none twice, and keeps its id", async () => {
  const random = randomOfThisRun("kills of alerts about scores");
  const receiver = await startReceiver();
  const {
    server: first,
    start,
    send,
    preview,
    ids,
  } = await serviceWithRules(receiver, { name, dataDir, rules });
  let server = first;
  await send(server, everybody());
  for (let day = -historyDays; day < 0; day++) await send(server, itemsOf(day));
  const reached = new Map<string, number>();
  let scoringMs = performance.now();
  await decided(server, 0);
  scoringMs = performance.now() - scoringMs;
  for (let round = 0; round < rounds; round++) {
    const day = round + 1;
    setDay(day);
    await send(server, itemsOf(round));
    const step = steps[Math.floor(round / victims.length) % steps.length] ?? "scoring";
    const victim = victims[round % victims.length] ?? "both";
    const scoring = server.command("score", "--organization", name).catch(() => undefined);
    const at = await waitFor(step, day, receiver, random.within(0, scoringMs));
    reached.set(at, (reached.get(at) ?? 0) + 1);
    server = await killed(server, victim, start);
    await scoring;
    await decided(server, day);
  }
  // Messages that were under way are claimed for a minute.
  setDay(rounds, 120_000);
  const ledger = new RuleLedger(dataDir);
  await until(() => ledger.pending() === 0);
  const alerts = ledger.alerts();
  ledger.close();
  const keys = alerts.map(({ rule, user, account, firedDay }) => [rule, user, account, firedDay].join(" "));
  expect(new Set(keys).size).toBe(keys.length);
  for (const [at, rule] of rules.entries()) {
    const own = alerts.filter((alert) => alert.rule === ids[at]);
    const expected = { fired: own.length, open: own.filter(({ isClosed }) => isClosed === 0).length };
    expect(await preview(server, rule)).toMatchObject(expected);
    expect(own.length).toBeGreaterThan(rounds);
  }
  const arrived = idsOf(receiver);
  expect([...arrived].filter(([, own]) => own.size !== 1)).toEqual([]);
  const ends = alerts.filter(({ isClosed }) => isClosed === 1).length;
  expect(arrived.size).toBe(alerts.length + ends);
  expect(new Set([...arrived.values()].flatMap((own) => [...own])).size).toBe(arrived.size);
  const again = receiver.got.length - arrived.size;
  const days = Map.groupBy(alerts, ({ firedDay }) => firedDay);
  const most = Math.max(...[...days.values()].map(({ length }) => length));
  console.log(`${rounds} kills: ${[...reached].map(([at, count]) => `${count} ${at}`).join(", ")}`);
  console.log(
    `${alerts.length} alerts on ${days.size} days, at most ${most} a day; ${again} messages arrived again`,
  );
  await server.stop();
  receiver.stop();
  rmSync(dataDir, { recursive: true, force: true });
}, 1_500_000);
