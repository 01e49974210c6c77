/**
 * The cost of alert rules in the run of a day: how much later scores are there, and whether `/track` waits
 * longer. Organizations of the same users have all scores but those of today, and rules that are decided
 * through yesterday. About 20 users come inside of each rule today. A service starts on a copy of this folder
 * with rules and on one without, one after the other, and each goes first in every second round. It scores
 * today by its own schedule, and gets a constant load of events meanwhile. Alerts go to a webhook that never
 * answers. On a Monday the run of the day also trains models.
 *
 *   cli/with-bun bench/alert-rules.ts [rounds, 5] [users, 50,000] [events, 2,000,000] [requests a second, 200]
 *     [organizations, 5] [rules, 100]
 *
 * Users, events and rules are those of each organization. The service looks for scores to decide every ten
 * seconds. Small organizations are scored before that, so their time of scoring says nothing about rules. The
 * run `bench/alert-rules.ts 1 500 20000 100 2 20` shows in one or two minutes that all works. No day of UTC
 * may begin meanwhile.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatDay } from "../server/calendar/days.ts";
import { msPerDay } from "../server/calendar/zone.ts";
import { type Receiver, startReceiver } from "../test/actions/receiver.ts";
import { Server } from "../test/server.ts";
import { conditionsWith, type Entered } from "./alerts/conditions.ts";
import { addRules, type Decided, DecidedWatch, settleCopy } from "./alerts/rules.ts";
import { fillOrganizations } from "./alerts/scored-days.ts";
import { scoringOf, withOpened } from "./history/opened.ts";
import { median } from "./load/alternate.ts";
import type { Histogram } from "./load/histogram.ts";
import { TimedLoad } from "./load/timed-load.ts";

const [
  rounds = 5,
  users = 50_000,
  events = 2_000_000,
  requestsPerSecond = 200,
  organizations = 5,
  rules = 100,
] = process.argv.slice(2).map(Number);
const alertsOfRule = 20;
const aimRatio = 1.05;
const pollMs = 200;
const longestMs = 30 * 60_000;
/** The schedule begins with a day five minutes after midnight. */
const dayBeginsMs = 5 * 60_000;
const today = Math.floor((Date.now() - dayBeginsMs) / msPerDay);

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const count = (number: number) => number.toLocaleString("en");
/** Now, by the clock of logs. */
const nowMs = () => performance.timeOrigin + performance.now();

interface Folders {
  readonly plain: string;
  readonly withRules: string;
  readonly token: string;
}

/** Makes the two data folders that rounds are copies of. */
async function prepare(folder: string, receiver: Receiver): Promise<Folders> {
  const [plain, withRules, trial] = ["plain", "rules", "trial"].map((name) => join(folder, name));
  if (plain === undefined || withRules === undefined || trial === undefined) throw new Error("no folders");
  mkdirSync(plain);
  const startedMs = performance.now();
  const token = await fillOrganizations(plain, { organizations, users, events, today });
  const size = `${organizations} organizations of ${count(users)} users and ${count(events)} events`;
  console.log(`${size}, made and scored before today in ${seconds(performance.now() - startedMs)}`);
  cpSync(plain, trial, { recursive: true });
  const conditions = await chosenConditions(trial);
  rmSync(trial, { recursive: true });
  cpSync(plain, withRules, { recursive: true });
  const added = await addRules(withRules, conditions, { address: receiver.address("/hang"), today });
  const kinds = [...Map.groupBy(conditions, ({ condition }) => condition.kind)];
  const foreseen = conditions.reduce((sum, { users: entered }) => sum + entered, 0);
  console.log(
    `${added} rules, of each organization ${kinds.map(([kind, { length }]) => `${length} ${kind}`).join(", ")}: ` +
      `${count(organizations * foreseen)} alerts are expected`,
  );
  return { plain, withRules, token };
}

/** Scores today in one organization, which has the users of all others. */
function chosenConditions(dataDir: string): Promise<Entered[]> {
  return withOpened(dataDir, async (opened) => {
    const [organization] = await opened.ledger.organizations.list();
    if (organization === undefined) throw new Error("there is no organization");
    const scoring = scoringOf(opened, Date.now);
    await scoring.scoreAsOf(await scoring.scoredOrganization(organization), { day: today }, () => undefined);
    const wanted = { users: alertsOfRule, conditions: rules };
    return conditionsWith(opened.analysis.warehouse, organization.id, today, wanted);
  });
}

interface ScoredRun {
  readonly day: string;
  /** Of its end. */
  readonly time: number;
  readonly ms: number;
}

interface Measured {
  /** From the start of the first run of today to the end of the last one. */
  readonly scoringMs: number;
  /** From the same start to the last decision, or to the end that was asked for. */
  readonly wholeMs: number;
  readonly decided: Decided;
  /** Of the rules, those that were decided before the last organization was scored. */
  readonly decidedWhileScoring: number;
  /** Requests that the webhook got. */
  readonly attempts: number;
  /** `/track` while today is scored, and all the time. */
  readonly whileScoring: Histogram;
  readonly whole: Histogram;
  /** Of both processes, all the time. */
  readonly cpuSeconds: number;
}

/** A service on a copy of a data folder, while it scores today. */
class Side {
  readonly #server: Server;
  readonly #watch: DecidedWatch;
  readonly #load: TimedLoad;

  constructor(server: Server, token: string) {
    this.#server = server;
    this.#watch = new DecidedWatch(server.dataDir, today);
    this.#load = new TimedLoad({
      port: Number(new URL(server.url).port),
      path: "/track",
      requestsPerSecond,
      headers: { Authorization: `Basic ${token}` },
      request: (n) => `{"userId":"user-${1 + ((n * 7_919) % users)}","event":"event_${n % 60}"}`,
    });
  }

  #runs(): ScoredRun[] {
    const lines = this.#server.output().matchAll(/^\{.*"msg":"scored".*$/gm);
    return [...lines].map(([line]) => JSON.parse(line) as ScoredRun);
  }

  /** Waits until all organizations are scored and these rules are decided, and for this time from the first
   * run's start. */
  async measure(rulesToDecide: number, leastMs: number): Promise<Omit<Measured, "attempts">> {
    const cpuBefore = this.#server.cpuSeconds();
    const giveUpMs = nowMs() + longestMs;
    let [startMs, scoredMs, decidedWhileScoring] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
    for (let isDone = false; !isDone; await Bun.sleep(pollMs)) {
      const runs = this.#runs().filter(({ day }) => day === formatDay(today));
      startMs = Math.min(...runs.map(({ time, ms }) => time - ms));
      const decided = this.#watch.decided().rules;
      const isScored = runs.length >= organizations;
      if (isScored) scoredMs = Math.max(...runs.map(({ time }) => time));
      else decidedWhileScoring = decided;
      isDone = isScored && decided >= rulesToDecide && nowMs() >= startMs + leastMs;
      if (nowMs() > giveUpMs)
        throw new Error(`not done after ${seconds(longestMs)}:\n${this.#server.output()}`);
    }
    const endMs = nowMs();
    const cpuSeconds = this.#server.cpuSeconds() - cpuBefore;
    await this.#load.stop();
    const others = this.#runs().filter(({ day }) => day !== formatDay(today)).length;
    if (others > 0) console.log(`${others} RUNS OF OTHER DAYS were in between`);
    const between = (fromMs: number, untilMs: number) =>
      this.#load.between(fromMs - performance.timeOrigin, untilMs - performance.timeOrigin);
    return {
      scoringMs: scoredMs - startMs,
      wholeMs: endMs - startMs,
      cpuSeconds,
      decided: this.#watch.decided(),
      decidedWhileScoring,
      whileScoring: between(startMs, scoredMs),
      whole: between(startMs, endMs),
    };
  }

  async stop(): Promise<void> {
    this.#watch.close();
    await this.#server.kill("SIGTERM");
  }
}

/** Starts a service on a copy of a folder, and measures it. */
async function measured(
  from: string,
  { token, receiver }: { readonly token: string; readonly receiver: Receiver },
  until: { readonly rules: number; readonly leastMs: number },
): Promise<Measured> {
  const dataDir = `${from}-copy`;
  cpSync(from, dataDir, { recursive: true });
  try {
    await settleCopy(dataDir);
    const server = await Server.start({ dataDir, env: { ALLOW_PRIVATE_DESTINATIONS: receiver.allowed } });
    const side = new Side(server, token);
    try {
      const before = receiver.got.length;
      const figures = await side.measure(until.rules, until.leastMs);
      return { ...figures, attempts: receiver.got.length - before };
    } finally {
      await side.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

interface Round {
  readonly withRules: Measured;
  readonly plain: Measured;
  readonly isRulesFirst: boolean;
}

/** Each side goes first in every second round. The one without rules is measured as long as the other one, of
 * the last round if it goes first. */
async function measureRound(folders: Folders, receiver: Receiver, last: Round | undefined): Promise<Round> {
  const about = { token: folders.token, receiver };
  const measureRules = () => measured(folders.withRules, about, { rules: organizations * rules, leastMs: 0 });
  const measurePlain = ({ withRules: { wholeMs } }: Pick<Round, "withRules">) =>
    measured(folders.plain, about, { rules: 0, leastMs: wholeMs });
  if (last?.isRulesFirst !== true) {
    const withRules = await measureRules();
    return { withRules, plain: await measurePlain({ withRules }), isRulesFirst: true };
  }
  const plain = await measurePlain(last);
  return { withRules: await measureRules(), plain, isRulesFirst: false };
}

const p50 = (histogram: Histogram) => histogram.percentileMs(0.5);
const p99 = (histogram: Histogram) => histogram.percentileMs(0.99);

function printRound(number: number, { withRules, plain }: Round): void {
  const { rules: decided, alerts, messages } = withRules.decided;
  console.log(
    `round ${number}: scored in ${seconds(withRules.scoringMs)} with rules, ${seconds(plain.scoringMs)} without; ` +
      `${count(decided)} rules decided ${seconds(withRules.wholeMs)} after the first run began, ` +
      `${count(withRules.decidedWhileScoring)} of them while scoring`,
  );
  const sent = `${count(messages)} messages to webhooks, of which ${count(withRules.attempts)} were sent meanwhile`;
  console.log(`  ${count(alerts)} alerts, ${(alerts / decided).toFixed(1)} a rule; ${sent}`);
  for (const [when, of] of [
    ["while scoring", (side: Measured) => side.whileScoring],
    ["all the time", (side: Measured) => side.whole],
  ] as const) {
    const inWords = (histogram: Histogram) =>
      `p50 ${p50(histogram).toFixed(1)} ms, p99 ${p99(histogram).toFixed(1)} ms of ${count(histogram.count)}`;
    console.log(`  /track ${when}: ${inWords(of(withRules))} with rules; ${inWords(of(plain))} without`);
  }
  const more = withRules.cpuSeconds - plain.cpuSeconds;
  console.log(
    `  processor time ${withRules.cpuSeconds.toFixed(1)} s with rules, ${plain.cpuSeconds.toFixed(1)} s without: ` +
      `${((1_000 * more) / decided).toFixed(0)} ms a rule`,
  );
}

/** Prints the median of the rounds' ratios. */
function printRatio(name: string, all: readonly Round[], of: (side: Measured) => number, aim = ""): number {
  const ratios = all.map(({ withRules, plain }) => of(withRules) / of(plain));
  const [low, high] = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(3));
  console.log(`${name}, with rules to without: ${median(ratios).toFixed(3)} (${low} to ${high})${aim}`);
  return median(ratios);
}

function printSums(all: readonly Round[]): void {
  const ratio = printRatio("time of scoring", all, ({ scoringMs }) => scoringMs);
  const isMeasured = all.some(({ withRules }) => withRules.decidedWhileScoring > 0);
  const verdict = ratio <= aimRatio ? "met" : "MISSED";
  console.log(
    isMeasured
      ? `aim for the time of scoring ${aimRatio}: ${verdict}`
      : "NO RULE was decided while scoring, so the time of scoring says nothing: take more users",
  );
  for (const [name, of] of [
    ["p50", p50],
    ["p99", p99],
  ] as const) {
    printRatio(`${name} of /track while scoring`, all, ({ whileScoring }) => of(whileScoring));
    printRatio(`${name} of /track all the time`, all, ({ whole }) => of(whole));
  }
  const least = Math.min(...all.map(({ withRules: { decided } }) => decided.alerts));
  const wanted = organizations * rules * alertsOfRule;
  const isEnough = least >= 0.75 * wanted ? "enough" : "TOO FEW";
  console.log(`${count(least)} alerts at least, ${count(wanted)} wanted: ${isEnough}`);
}

const folder = mkdtempSync(join(tmpdir(), "rekindle-alert-rules-"));
const receiver = await startReceiver();
try {
  const folders = await prepare(folder, receiver);
  const all: Round[] = [];
  for (let number = 1; number <= rounds; number += 1) {
    const round = await measureRound(folders, receiver, all.at(-1));
    printRound(number, round);
    all.push(round);
  }
  printSums(all);
} finally {
  receiver.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}
process.exit();
