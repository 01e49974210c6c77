/**
 * Kills the service, or one of its two processes, between two chunks of one rule's day: before analysis hears
 * that the first is committed, before it sends the next, and when the next has arrived at intake. A process
 * is held there, so no kill depends on the speed of the machine. In the end the alerts are those of the
 * preview, each once. The messages are those of the cap over the whole day, and each arrived at least once
 * under one id.
 */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Zone } from "../../server/calendar/zone.ts";
import { chunkRefused } from "../../server/features/alerts/store/decisions.ts";
import { type Receiver, startReceiver } from "../actions/receiver.ts";
import { type Hold, Holds, killed, victims } from "../durability/holds.ts";
import { quietZone } from "../far-from-midnight.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";
import { idsOf, msPerDay, RuleLedger, serviceWithRules } from "./alert-kills.ts";

const name = "Killed chunks";
const beganMs = Date.now();
const zone = new Zone(quietZone);
const dataDir = mkdtempSync(join(tmpdir(), "rekindle-chunk-kill-"));
const historyDays = 45;
/** Users who are silent together: three chunks of alerts, and three of ends. */
const silent = Array.from({ length: 250 }, (_, at) => `silent-${at}`);
const others = Array.from({ length: 100 }, (_, at) => `other-${at}`);
/** They left before the first day is scored, so that the model knows from then on what silence means. */
const gone = Array.from({ length: 100 }, (_, at) => `gone-${at}`);
const lastDayOfGone = (at: number) => (at % 15) - historyDays;
/** Those of the silent users with the lowest numbers have the shortest history, and so the lowest risk. */
const laterPerUser = 20 / silent.length;
const [silentFrom, silentUpto] = [0, 8];
/** On the first of these days all fire, and on the second one of two days without the condition all end. */
const [firingDay, outDay, endingDay] = [9, 16, 17];
const [condition, scope] = [{ kind: "healthBelow", below: 60 }, { kind: "users" }];
const rules = [150, 20, 1_000].map((cap) => ({
  name: `At most ${cap}`,
  scope,
  condition,
  cooldownDays: 3,
  cap,
  when: "at once",
}));

const refused = { error: chunkRefused().message, isRefusal: true };

/** Days since 1970-01-01. */
const dayNumber = (day: number) => zone.dayOf(beganMs + day * msPerDay);

function setDay(day: number, moreMs = 0): void {
  writeFileSync(join(dataDir, "clock-skew-ms"), String(day * msPerDay + moreMs));
}

function itemsOf(day: number): object[] {
  const timestamp = new Date(beganMs + day * msPerDay).toISOString();
  const active = silent.filter(
    (_, at) => !(day >= silentFrom && day <= silentUpto) && day + historyDays >= 20 - at * laterPerUser,
  );
  const leaving = gone.filter((_, at) => day <= lastDayOfGone(at));
  return [...active, ...others, ...leaving].map((userId) => ({
    type: "track",
    userId,
    event: "opened",
    timestamp,
  }));
}

function everybody(): object[] {
  const timestamp = new Date(beganMs - (historyDays + 1) * msPerDay).toISOString();
  return [...silent, ...others, ...gone].map((userId) => ({
    type: "identify",
    userId,
    email: `${userId}@example.com`,
    timestamp,
  }));
}

/** Between two chunks: the first is committed and analysis has no answer yet, the next is not sent yet, or
 * has arrived at intake. */
const steps = ["after", "before", "arrived"] as const;

/** The service, which is killed again and again. */
class KilledService {
  readonly #start: () => Promise<Server>;
  readonly #ledger = new RuleLedger(dataDir);
  readonly #holds = new Holds(dataDir);
  server: Server;
  /** The kills by victim and step. */
  readonly kills: string[] = [];
  /** The answers to chunks of a killed analysis process, which intake took up after the next process had gone
   * on. */
  readonly late: string[] = [];

  constructor(server: Server, start: () => Promise<Server>) {
    this.server = server;
    this.#start = start;
  }

  /** Decides a day, with a kill at each place between two chunks. */
  async decide(day: number): Promise<void> {
    let hold = this.#next();
    await this.server.command("score", "--organization", name);
    const isDecided = () => this.#ledger.decided(dayNumber(day)) === rules.length;
    while (await hold.reached(isDecided)) {
      expect(this.#ledger.betweenChunks()).toBe(1);
      hold = await this.#kill(hold);
    }
  }

  /** Each step comes with each victim in nine rounds, and never twice in a row. */
  #round() {
    const round = this.kills.length;
    const step = steps[round % steps.length] ?? "before";
    const victim = victims[(round + Math.floor(round / victims.length)) % victims.length] ?? "both";
    return { step, victim };
  }

  /** The next process that comes to the next step is held there. */
  #next(): Hold {
    return this.#holds.next({ step: this.#round().step, of: "next chunk" });
  }

  /** @returns the next hold */
  async #kill(held: Hold): Promise<Hold> {
    const { step, victim } = this.#round();
    const sequences = this.#ledger.sequences();
    this.kills.push(`${victim}, ${step}`);
    const isLate = victim === "analysis" && step === "arrived";
    let next: Hold | undefined;
    const start = () => {
      next = this.#next();
      return this.#start();
    };
    if (victim === "analysis") next = this.#next();
    this.server = await killed(this.server, victim, start, isLate ? undefined : held);
    if (isLate) {
      await until("a chunk is committed", () => this.#ledger.sequences() > sequences);
      held.release();
      this.late.push(await held.answer());
    }
    return next ?? this.#next();
  }

  close(): void {
    this.#ledger.close();
  }
}

/** The alerts are those of the preview, and the sent ones those with the highest risk of the whole day. */
async function expectAlerts(
  ids: readonly number[],
  preview: (rule: (typeof rules)[number]) => Promise<unknown>,
) {
  const ledger = new RuleLedger(dataDir);
  const alerts = ledger.alerts();
  ledger.close();
  expect(new Set(alerts.map(({ rule, user }) => `${rule} ${user}`)).size).toBe(alerts.length);
  for (const [at, rule] of rules.entries()) {
    const own = alerts.filter((alert) => alert.rule === ids[at]);
    expect(await preview(rule)).toMatchObject({ fired: silent.length, open: 0 });
    expect(own.map(({ firedDay, isClosed }) => [firedDay, isClosed])).toEqual(
      silent.map(() => [dayNumber(firingDay), 1]),
    );
    const [sent, unsent] = [
      own.filter(({ isSent }) => isSent === 1),
      own.filter(({ isSent }) => isSent === 0),
    ];
    expect(sent).toHaveLength(Math.min(rule.cap, silent.length));
    const risks = (of: typeof own) => of.map(({ risk }) => risk ?? Number.NaN);
    expect(Math.min(...risks(sent))).toBeGreaterThanOrEqual(Math.max(0, ...risks(unsent)));
    expect(Math.max(...risks(own))).toBeGreaterThan(Math.min(...risks(own)));
  }
}

/** Each alert that was sent has a message about its beginning and one about its end, under one id each. */
function expectMessages(receiver: Receiver, ids: readonly number[]): void {
  const arrived = idsOf(receiver);
  expect([...arrived].filter(([, own]) => own.size !== 1)).toEqual([]);
  expect(new Set([...arrived.values()].flatMap((own) => [...own])).size).toBe(arrived.size);
  for (const [at, { cap }] of rules.entries()) {
    for (const type of ["alert.fired", "alert.resolved"]) {
      const own = [...arrived.keys()].filter((key) => key.startsWith(`${type} ${ids[at]} `));
      expect([type, own.length]).toEqual([type, Math.min(cap, silent.length)]);
    }
  }
}

test("a kill between two chunks of a rule's day loses no alert, decides none twice, and keeps ids and the cap", async () => {
  const receiver = await startReceiver();
  const { server, start, send, preview, ids } = await serviceWithRules(receiver, {
    name,
    dataDir,
    rules,
  });
  const service = new KilledService(server, start);
  await send(server, everybody());
  for (let day = -historyDays; day < 0; day++) await send(server, itemsOf(day));
  let sentUpto = 0;
  for (const day of [0, firingDay, outDay, endingDay]) {
    for (; sentUpto < day; sentUpto++) await send(service.server, itemsOf(sentUpto));
    setDay(day);
    await service.server.ready();
    await service.decide(day);
  }
  expect(new Set(service.kills).size).toBe(steps.length * victims.length);
  // Each was the next chunk when it was sent, and came after the one that took its place.
  expect(service.late.length).toBeGreaterThan(0);
  for (const answer of service.late) expect(JSON.parse(answer)).toMatchObject(refused);
  // Messages that were under way are claimed for a minute.
  setDay(endingDay, 120_000);
  const ledger = new RuleLedger(dataDir);
  await until("no delivery is pending", () => ledger.pending() === 0);
  ledger.close();
  await service.server.ready();
  await expectAlerts(ids, (rule) => preview(service.server, rule));
  expectMessages(receiver, ids);
  console.log(
    `${service.kills.length} kills between chunks; ${receiver.got.length - idsOf(receiver).size} messages arrived again; ${service.late.length} late chunks were refused`,
  );
  service.close();
  await service.server.stop();
  receiver.stop();
  rmSync(dataDir, { recursive: true, force: true });
});
