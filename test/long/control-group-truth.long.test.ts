/**
 * Control groups from the front door: companies whose customers open a cancel flow, of whom three in four
 * leave. Their server asks `POST /arm`, and where the offer helps it keeps three in ten of those. After the
 * period is over, the figures of the rule are those of the pure function on the books of the simulation, and
 * their words match. A month later it says what is left of the MRR.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import type { ArmAnswer } from "../../contract/arm.ts";
import { defaultSettings } from "../../contract/settings.ts";
import { holdOutFigures } from "../../server/features/alerts/control-groups/figures.ts";
import type { ArmCount } from "../../server/features/alerts/control-groups/results-store.ts";
import { uniformFrom } from "../../server/scoring/statistics/random.ts";
import { quietZone } from "../far-from-midnight.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";

const msPerDay = 86_400_000;
const base = 0.75;
const share = 0.5;
/** A month, in cents. */
const price = 4_900;
/** Entries, the part of those who would leave that the offer saves, and the seed. */
const companies = [60, 400].flatMap((entries) =>
  [0, 0.3].flatMap((saved) => [1, 2, 3, 4, 5].map((seed) => ({ entries, saved, seed }))),
);

/** A customer of the books. */
interface Customer {
  readonly userId: string;
  readonly arm: ArmAnswer["arm"];
  readonly left: boolean;
}

type HoldOut = NonNullable<RouteAnswer<"GET /api/alert-rules/figures">["rules"][number]["holdOut"]>;

let server: Server;
beforeAll(async () => {
  // With quick intervals most processor time would go into looks at 20 organizations.
  server = await Server.start({ time: { scheduleMs: null, actionsMs: 2_000 } });
  await server.ready();
});
afterAll(() => server.stop());

/** A company whose customers pay for a month from now on. */
class Company {
  readonly #entries: number;
  readonly #saved: number;
  /** Of each arm, because its customers are drawn by a secret that differs from run to run: with outcomes of
   * their own the verdicts do not. */
  readonly #uniform: Readonly<Record<ArmAnswer["arm"], () => number>>;
  readonly #name: string;
  #token = "";
  #armToken = "";
  #key = "";
  #rule = 0;
  readonly customers: Customer[] = [];

  constructor({ entries, saved, seed }: (typeof companies)[number]) {
    this.#entries = entries;
    this.#saved = saved;
    const first = 40_000_000 + 1_000 * entries + 100 * saved + seed;
    this.#uniform = { control: uniformFrom(first), treated: uniformFrom(first + 500) };
    this.#name = `Saves ${100 * saved} of ${entries}, ${seed}`;
  }

  async found(): Promise<void> {
    const name = this.#name;
    const created = async (...command: string[]) =>
      (await server.command(...command, "--organization", name)).trim();
    this.#token = await server.organization(name, "--timezone", quietZone);
    await server.command("organization", "set", name, "--rate-limit", "100000");
    this.#armToken = await created("token", "create", "--scope", "arm");
    this.#key = await created("key", "create", "--right", "manage");
    await this.#send((userId) => [
      { type: "identify", userId, email: `${userId}@example.com` },
      this.#billing(userId, "subscription_started", -1, 30),
    ]);
  }

  /** All that was sent is loaded. */
  async loaded(): Promise<void> {
    await server.exported("subscriptions", this.#name);
  }

  /** Begins the experiment. */
  async hold(): Promise<void> {
    const rule = await this.#api<{ id: number }>("POST", "/api/alert-rules", {
      name: "Cancel flow",
      scope: { kind: "users" },
      condition: { kind: "event", event: "cancel_flow_opened" },
      holdOutShare: share,
      exemptions: { mrrAbove: 1_000_000 },
    });
    this.#rule = rule.id;
  }

  /** Each customer opens the cancel flow, and decides. */
  async enter(): Promise<void> {
    const [first] = this.#userIds();
    await until("who may enter is listed", async () => (await this.#arm(first ?? "")).counted);
    for (const userId of this.#userIds()) {
      const { arm } = await this.#arm(userId);
      const uniform = this.#uniform[arm];
      const wouldLeave = uniform() < base;
      const isSaved = uniform() < this.#saved;
      this.customers.push({ userId, arm, left: wouldLeave && !(arm === "treated" && isSaved) });
    }
    await this.#send((userId) => [{ type: "track", userId, event: "cancel_flow_opened" }]);
  }

  /** The period ends: who stays pays for the next, and who leaves does not. */
  async renew(): Promise<void> {
    const left = new Set(this.customers.flatMap((one) => (one.left ? [one.userId] : [])));
    await this.#send((userId) => [
      left.has(userId)
        ? this.#billing(userId, "subscription_canceled", 30, 30)
        : this.#billing(userId, "payment_succeeded", 30, 60),
    ]);
  }

  async holdOut(): Promise<HoldOut> {
    const path = "/api/alert-rules/figures";
    const { rules } = await this.#api<RouteAnswer<"GET /api/alert-rules/figures">>("GET", path);
    const found = rules.find(({ id }) => id === this.#rule)?.holdOut;
    if (found == null) throw new Error("The rule has no control group.");
    return found;
  }

  /** What is left of the MRR by the books. */
  followUp(): HoldOut["followUp"] {
    const arm = (wanted: ArmAnswer["arm"]) => {
      const own = this.customers.filter((one) => one.arm === wanted);
      const paying = own.filter(({ left }) => !left).length;
      return { entries: own.length, paying, mrrAtEntry: price * own.length, mrrKept: price * paying };
    };
    const arms = { treated: arm("treated"), control: arm("control") };
    return { days: 2 * defaultSettings.churnHorizonDays, currency: "USD", arms };
  }

  /** The arms by the books, in the order in which customers entered. */
  counts(planned: number): readonly ArmCount[] {
    return (["control", "treated"] as const).map((arm) => {
      const places = [...this.customers.entries()].filter(([, one]) => one.arm === arm);
      const first = places.filter(([place]) => place < planned);
      const leftOf = (some: typeof places) => some.filter(([, one]) => one.left).length;
      return {
        rule: this.#rule,
        experiment: 1,
        arm,
        entries: places.length,
        mature: places.length,
        left: leftOf(places),
        firstMature: first.length,
        firstLeft: leftOf(first),
        firstOpen: 0,
        contaminated: 0,
      };
    });
  }

  #userIds(): readonly string[] {
    return Array.from({ length: this.#entries }, (_, index) => `c${index}`);
  }

  #billing(userId: string, event: string, atDays: number, untilDays: number): object {
    const day = (days: number) => new Date(startMs + days * msPerDay).toISOString();
    return {
      type: "track",
      userId,
      event,
      timestamp: day(atDays),
      properties: {
        subscriptionId: `s-${userId}`,
        amount: price,
        currency: "USD",
        interval: "month",
        ...(event !== "subscription_canceled" && { currentPeriodEnd: day(untilDays) }),
      },
    };
  }

  async #send(itemsOf: (userId: string) => readonly object[]): Promise<void> {
    const response = await server.post("/batch", this.#token, { batch: this.#userIds().flatMap(itemsOf) });
    expect(await response.json()).toMatchObject({ rejected: [] });
  }

  async #arm(userId: string): Promise<ArmAnswer> {
    const response = await server.post("/arm", this.#armToken, { rule: this.#rule, userId });
    expect(response.status).toBe(200);
    return (await response.json()) as ArmAnswer;
  }

  async #api<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(server.url + path, {
      method,
      headers: { Authorization: `Bearer ${this.#key}`, "Content-Type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect([response.ok, text]).toEqual([true, text]);
    return JSON.parse(text) as Answer;
  }
}

let startMs = 0;

test("what is said of a control group is what its books show, with and without an effect", async () => {
  startMs = Date.now();
  const all = companies.map((one) => new Company(one));
  for (const company of all) await company.found();
  for (const company of all) await company.loaded();
  for (const company of all) await company.hold();
  await Promise.all(all.map((company) => company.enter()));
  server.putClockAhead(31 * msPerDay);
  for (const company of all) await company.renew();
  for (const company of all) await company.loaded();
  server.putClockAhead(39 * msPerDay);
  const verdicts: string[] = [];
  for (const [index, company] of all.entries()) {
    const { entries, saved } = companies[index] ?? { entries: 0, saved: 0 };
    const { result } = await until(
      "all outcomes are known",
      () => company.holdOut(),
      ({ result: found }) =>
        (found?.arms.treated.mature ?? 0) + (found?.arms.control.mature ?? 0) === entries,
      { everyMs: 1_000 },
    );
    if (result === null) throw new Error("There is no result.");
    expect(result).toMatchObject({ primary: "unpaid", base, planned: 135, isFinal: entries >= 135 });
    const plan = { primary: "unpaid", base, planned: 135 } as const;
    const running = { share, runningMs: 39 * msPerDay };
    const { treated, control, sentence, kept, verdict, isRatioOff } = holdOutFigures(
      company.counts(135),
      plan,
      running,
    );
    expect(result.arms).toEqual({ treated, control });
    expect([result.verdict, result.kept, result.isRatioOff]).toEqual([verdict, kept, isRatioOff]);
    // The pace is of another length of time, so the sentence is compared where it has none.
    if (result.isFinal) expect(result.sentence).toBe(sentence);
    if (saved === 0) expect(result.verdict).not.toBe("harms");
    verdicts.push(result.verdict);
  }
  const keeps = (entries: number, saved: number) =>
    companies.filter(
      (one, index) => one.entries === entries && one.saved === saved && verdicts[index] === "keeps",
    ).length;
  expect(keeps(400, 0.3)).toBeGreaterThanOrEqual(3);
  expect(keeps(400, 0)).toBeLessThanOrEqual(1);
  server.putClockAhead((2 * defaultSettings.churnHorizonDays + 1) * msPerDay);
  for (const company of all) expect((await company.holdOut()).followUp).toEqual(company.followUp());
});
