/**
 * Kills the service, or one of its two processes, at each step from the scores of a day to the messages about them. In the end the alerts are
 * those of the preview, each once, and each message arrived at least once under one id. SCORE_ALERT_KILLS makes more rounds.
 */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Zone } from "../../server/calendar/zone.ts";
import { type Receiver, startReceiver } from "../actions/receiver.ts";
import { ownPort } from "../durability/killing.ts";
import { quietZone } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { until } from "../people/watching.ts";
import { Server } from "../server.ts";
import { newKey } from "../specification/operation-support.ts";
import { randomOfThisRun } from "../warehouse/support.ts";

const rounds = Number(process.env.SCORE_ALERT_KILLS ?? 50);
const name = "Killed scores";
const msPerDay = 86_400_000;
const beganMs = Date.now();
const zone = new Zone(quietZone);
const entry = join(import.meta.dir, "../actions/quick-unscheduled-looks.ts");
const dataDir = mkdtempSync(join(tmpdir(), "rekindle-score-alert-kill-"));
const historyDays = 40;
const accounts = Array.from({ length: 60 }, (_, at) => `account-${at}`);
/** The first accounts are silent together. Their users are more than a chunk holds, so a kill can come between two. */
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

interface AlertRow {
  readonly rule: number;
  readonly user: number;
  readonly account: number;
  readonly firedDay: number;
  readonly isClosed: number;
}

/** Reads the ledger beside the service. */
class Ledger {
  readonly #database = new Database(join(dataDir, "ledger.sqlite"), { readonly: true });

  constructor() {
    this.#database.run("PRAGMA busy_timeout = 1000");
  }

  #count(from: string, ...values: readonly number[]): number {
    const query = this.#database.query<{ count: number }, number[]>(`SELECT count(*) AS count FROM ${from}`);
    return query.get(...values)?.count ?? 0;
  }

  decided(day: number): number {
    return this.#count("alert_rules WHERE decided_through >= ?", day);
  }

  /** Rules of which a chunk of a day is committed, and another one is to follow. */
  betweenChunks(): number {
    return this.#count("alert_rules WHERE part_day IS NOT NULL");
  }

  pending(): number {
    return this.#count("deliveries WHERE state = 'pending'");
  }

  /** Messages that are claimed since a time. A killed process leaves older claims. */
  claimed(sinceMs: number): number {
    return this.#count("deliveries WHERE state = 'pending' AND claimed_until_ms > ?", sinceMs);
  }

  recorded(): number {
    return this.#count("deliveries WHERE state = 'delivered'");
  }

  alerts(): AlertRow[] {
    return this.#database
      .query<AlertRow, []>(
        `SELECT rule, user_number AS user, account_number AS account, fired_day AS firedDay, closed_day IS NOT NULL AS isClosed
         FROM alerts`,
      )
      .all();
  }

  close(): void {
    this.#database.close();
  }
}

/** Days since 1970-01-01. */
const dayNumber = (day: number) => zone.dayOf(beganMs + day * msPerDay);

/** Waits until a round is at a step, or between two chunks. @returns where it is then */
async function waitFor(step: Step, day: number, receiver: Receiver, scoringMs: number): Promise<string> {
  if (step === "scoring") {
    await Bun.sleep(scoringMs);
    return step;
  }
  const ledger = new Ledger();
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

/** The ids of the messages that arrived, by type, rule, entity and the day on which the alert fired. */
function idsOf({ got }: Receiver): Map<string, Set<string>> {
  const ids = new Map<string, Set<string>>();
  for (const { body, headers } of got) {
    const { type, data } = JSON.parse(body) as {
      readonly type: string;
      readonly data: Record<"day" | "firedDay", string> & {
        readonly rule: { id: number };
        readonly entity: { id: string };
      };
    };
    const key = [type, data.rule.id, data.entity.id, data.firedDay ?? data.day].join(" ");
    ids.set(key, (ids.get(key) ?? new Set()).add(headers["webhook-id"] ?? ""));
  }
  return ids;
}

/** A service with the rules, and their ids. */
async function installation(receiver: Receiver) {
  const env = { ...(await ownPort()), ALLOW_PRIVATE_DESTINATIONS: receiver.allowed };
  const start = () => Server.start({ entry, dataDir, env });
  const server = await start();
  await server.ready();
  const { owner, at, token } = await company(server, name, "--timezone", quietZone);
  await server.command("organization", "set", name, "--item-rate-limit", "1000000");
  // A session would end before the last day.
  const key = await newKey(server, name, "manage");
  const hook = { kind: "webhook", name: "hook", address: receiver.address("/200") };
  const { destination } = await owner.json<{ destination: { id: number } }>(
    ...(["POST", at("/api/destinations"), hook, 201] as const),
  );
  const ids: number[] = [];
  for (const rule of rules) {
    const body = { ...rule, destinations: [destination.id] };
    ids.push((await owner.json<{ id: number }>("POST", at("/api/alert-rules"), body, 201)).id);
  }
  const preview = (after: Server, rule: (typeof rules)[number]) => {
    const { scope, condition, cooldownDays } = rule;
    return after.post("/api/alert-rules/preview", key, { scope, condition, cooldownDays });
  };
  const send = async (to: Server, items: readonly object[]) => {
    for (let first = 0; first < items.length; first += 500) {
      const response = await to.post("/batch", token, { batch: items.slice(first, first + 500) });
      expect(response.status).toBe(201);
    }
  };
  return { server, start, send, preview, ids };
}

/** Scores a day, as often as it takes, until all rules are decided. A process that was killed leaves commands without an answer. */
async function decided(server: Server, day: number): Promise<void> {
  const ledger = new Ledger();
  await server.ready();
  if (ledger.decided(dayNumber(day)) < rules.length) await server.command("score", "--organization", name);
  await until(() => ledger.decided(dayNumber(day)) === rules.length);
  ledger.close();
}

/** Kills one process or both. @returns the service that runs then */
async function killed(server: Server, process_: Victim, start: () => Promise<Server>): Promise<Server> {
  const analysis = server.analysisPid();
  if (process_ === "analysis" && analysis !== undefined) {
    process.kill(analysis, "SIGKILL");
    return server;
  }
  if (process_ === "intake") await server.kill("SIGKILL");
  else await server.crash();
  return start();
}

const victims = ["analysis", "intake", "both"] as const;
type Victim = (typeof victims)[number];

test("a kill between the scores of a day and their messages loses no alert, decides none twice, and keeps its id", async () => {
  const random = randomOfThisRun("kills of alerts about scores");
  const receiver = await startReceiver();
  const { server: first, start, send, preview, ids } = await installation(receiver);
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
  const ledger = new Ledger();
  await until(() => ledger.pending() === 0);
  const alerts = ledger.alerts();
  ledger.close();
  const keys = alerts.map(({ rule, user, account, firedDay }) => [rule, user, account, firedDay].join(" "));
  expect(new Set(keys).size).toBe(keys.length);
  for (const [at, rule] of rules.entries()) {
    const own = alerts.filter((alert) => alert.rule === ids[at]);
    const expected = { fired: own.length, open: own.filter(({ isClosed }) => isClosed === 0).length };
    expect(await (await preview(server, rule)).json()).toMatchObject(expected);
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
