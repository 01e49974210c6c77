/** The part of the contract about settings: every version is kept, and none is wrong in itself. */
import { describe, expect, test } from "bun:test";
import { Refusal } from "../../contract/refusal.ts";
import type { Settings } from "../../contract/settings.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import { SettingsConflict } from "../../server/ledger/stores/settings.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

const initially: Settings = {
  churnHorizonDays: 28,
  healthWeights: { engagement: 35, outlook: 35, momentum: 20, adoption: 10 },
  healthTraits: [],
  riskBands: { user: null, account: null },
  eventWeights: {},
  passiveEvents: [],
  keyEvents: [],
  churnTargets: { user: { by: "silence" }, account: { by: "silence" } },
  ordinaryEvents: [],
  weekStart: 1,
  reportingCurrency: null,
  currencyRates: {},
};

const hourMs = 3_600_000;

/** Declares the tests of settings. */
export function settingsContract(subject: LedgerUnderTest): void {
  describe("settings", () => {
    changes(subject);
    rates(subject);
    versions(subject);
    refusals(subject);
  });
}

/** Changes settings through the ledger that is under test now, and asks it for two versions of the
 * history. */
function callsOn(subject: LedgerUnderTest) {
  return {
    change: (organization: number, sent: object, atMs = subject.nowMs, by = "command line") =>
      subject.ledger.settings.change(organization, sent, { person: null, by }, atMs),
    history: (organization: number, beforeVersion?: number) =>
      subject.ledger.settings.history(organization, {
        limit: 2,
        ...(beforeVersion !== undefined && { beforeVersion }),
      }),
  };
}

function changes(subject: LedgerUnderTest): void {
  const { change, history } = callsOn(subject);

  test("an organization starts with version 0 and no history", async () => {
    const { id } = await subject.organization();
    const never = { changedAtMs: null, changedBy: null };
    expect(await subject.ledger.settings.get(id)).toEqual({ version: 0, settings: initially, ...never });
    expect(await history(id)).toEqual([]);
  });

  test("a change changes what is given, and is there after a restart", async () => {
    const { id } = await subject.organization();
    await change(
      id,
      { eventWeights: { b: 2, a: 0.5 }, healthWeights: { outlook: 33.3, engagement: 33.3, momentum: 23.4 } },
      5,
      "read key 3",
    );
    const after = await change(id, { eventWeights: { b: null, c: 0 }, passiveEvents: ["y", "x"] }, 6);
    expect(after).toEqual({
      version: 2,
      changedAtMs: 6,
      changedBy: "command line",
      settings: {
        ...initially,
        healthWeights: { engagement: 33.3, outlook: 33.3, momentum: 23.4, adoption: 10 },
        eventWeights: { a: 0.5, c: 0 },
        passiveEvents: ["x", "y"],
      },
    });
    await subject.reopen();
    expect(await subject.ledger.settings.get(id)).toEqual(after);
  });

  test("null puts back what an organization starts with", async () => {
    const { id } = await subject.organization();
    const everything = {
      churnHorizonDays: 7,
      healthWeights: { engagement: 15, adoption: 0 },
      healthTraits: [
        { trait: "nps", zeroAt: 0, hundredAt: 10, weight: 20 },
        { trait: "tickets", zeroAt: 9, hundredAt: 0, weight: 10 },
      ],
      riskBands: { user: { medium: 0.05, high: 0.2 }, account: null },
      eventWeights: { a: 3 },
      passiveEvents: ["p"],
      keyEvents: ["k"],
      churnTargets: {
        user: { by: "event", event: "gone", undoneBy: "returned" },
        account: { by: "trait", trait: "status", values: ["canceled", "lost"] },
      },
      ordinaryEvents: ["order_canceled"],
      weekStart: 7,
      reportingCurrency: "USD",
      currencyRates: { EUR: 1.08, JPY: 0.0067 },
    };
    const { settings } = await change(id, everything);
    const healthWeights = { ...initially.healthWeights, engagement: 15, adoption: 0 };
    expect(settings).toEqual({ ...everything, healthWeights } as typeof settings);
    const nothing = Object.fromEntries(Object.keys(everything).map((name) => [name, null]));
    expect((await change(id, nothing)).settings).toEqual(initially);
  });

  test("organizations have settings and a history of their own", async () => {
    const first = await subject.organization("first");
    const second = await subject.organization("second");
    await change(first.id, { churnHorizonDays: 14 });
    await change(first.id, { churnHorizonDays: 7 });
    expect(await change(second.id, { weekStart: 7 })).toMatchObject({ version: 1 });
    expect((await subject.ledger.settings.get(first.id)).settings).toMatchObject({ weekStart: 1 });
    expect(await history(second.id)).toHaveLength(1);
    await expect(change(99, { weekStart: 7 })).rejects.toBeInstanceOf(Refusal);
  });
}

function rates(subject: LedgerUnderTest): void {
  const { change, history } = callsOn(subject);

  test("rates that are not sent stay, and null takes one away", async () => {
    const { id } = await subject.organization();
    await change(id, { reportingCurrency: "USD", currencyRates: { JPY: 0.0067, EUR: 1.08 } });
    const { settings } = await change(id, { currencyRates: { CHF: 1.1, JPY: null } });
    expect(settings).toMatchObject({ reportingCurrency: "USD", currencyRates: { CHF: 1.1, EUR: 1.08 } });
    expect((await history(id))[0]?.changes).toEqual([
      { setting: "currencyRates.JPY", from: 0.0067, to: null },
      { setting: "currencyRates.CHF", from: null, to: 1.1 },
    ]);
    await expect(change(id, { reportingCurrency: null })).rejects.toThrow("currencyRates need");
    await expect(change(id, { reportingCurrency: "EUR" })).rejects.toThrow("whose rate is 1");
  });
}

function versions(subject: LedgerUnderTest): void {
  const { change, history } = callsOn(subject);

  test("the history tells every version's time, author and differences, page by page", async () => {
    const { id } = await subject.organization();
    await change(id, { churnHorizonDays: 14 }, 5, "read key 3");
    await change(id, { eventWeights: { a: 2 }, churnTargets: { user: { by: "event", event: "gone" } } }, 7);
    await change(id, { eventWeights: { a: 4 } }, 9);
    const [third, second] = await history(id);
    expect(third).toMatchObject({ version: 3, changedAtMs: 9, settings: { churnHorizonDays: 14 } });
    expect(third?.changes).toEqual([{ setting: "eventWeights.a", from: 2, to: 4 }]);
    expect(second?.changes).toEqual([
      {
        setting: "churnTargets.user",
        from: { by: "silence" },
        to: { by: "event", event: "gone", undoneBy: null },
      },
      { setting: "eventWeights.a", from: null, to: 2 },
    ]);
    const older = await history(id, 2);
    expect(older).toHaveLength(1);
    expect(older[0]).toMatchObject({ version: 1, changedAtMs: 5, changedBy: "read key 3" });
    expect(older[0]?.changes).toEqual([{ setting: "churnHorizonDays", from: 28, to: 14 }]);
    expect(older[0]?.settings).toEqual({ ...initially, churnHorizonDays: 14 });
  });

  test("a change that changes nothing makes no version, in whatever order it names events", async () => {
    const { id } = await subject.organization();
    const before = await change(id, { keyEvents: ["a", "b"], eventWeights: { a: 1, b: 2 } });
    const again = { keyEvents: ["b", "a"], eventWeights: { b: 2, a: 1 }, churnHorizonDays: null };
    expect(await change(id, again, subject.nowMs + 1)).toEqual(before);
    expect(await history(id)).toHaveLength(1);
  });

  test("an older version is restored as a new one, and nothing else is changed", async () => {
    const { id } = await subject.organization();
    const first = await change(id, { churnHorizonDays: 14, eventWeights: { a: 2 } }, 5);
    await change(id, { churnHorizonDays: 7, eventWeights: { a: null, b: 3 } }, 6);
    const { settings } = subject.ledger;
    const by = { person: null, by: "Ada (person 7)" };
    const back = await settings.restore(id, { to: 1, version: 2 }, by, 7);
    expect(back).toEqual({ ...first, version: 3, changedAtMs: 7, changedBy: "Ada (person 7)" });
    expect(await settings.restore(id, { to: 1 }, by, 8)).toEqual(back);
    const initial = await settings.restore(id, { to: 0 }, by, 9);
    expect(initial).toMatchObject({ version: 4, settings: initially });
    expect(await settings.restore(id, { to: 9 }, by, 10)).toBeUndefined();
    const error: unknown = await settings
      .restore(id, { to: 1, version: 3 }, by, 11)
      .catch((reason) => reason);
    expect(error instanceof SettingsConflict && error.currentVersion).toBe(4);
    expect(await settings.get(id)).toEqual(initial as typeof initial & object);
  });

  test("a clock that is put back does not put a change before an earlier one", async () => {
    const { id } = await subject.organization();
    await change(id, { churnHorizonDays: 14 }, 9);
    expect(await change(id, { churnHorizonDays: 7 }, 5)).toMatchObject({ version: 2, changedAtMs: 9 });
  });

  test("after a hundred changes there is no other one until a day has passed", async () => {
    const { id } = await subject.organization();
    for (let at = 0; at < 100; at++) await change(id, { eventWeights: { a: at } }, at);
    const refused = change(id, { eventWeights: { a: 500 } }, 23 * hourMs);
    await expect(refused).rejects.toThrow("100 times within 24 hours");
    expect(await change(id, { eventWeights: { a: 500 } }, 24 * hourMs)).toMatchObject({ version: 101 });
  });
}

const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const weights = (count: number, prefix: string) =>
  Object.fromEntries(names(count, prefix).map((name) => [name, 2]));
const nps = (weight: number) => ({ trait: "nps", zeroAt: 0, hundredAt: 10, weight });
/** Names of a thousand bytes each. */
const longNames = (count: number, letter: string) => names(count, letter + "😀".repeat(250));

/** Changes that are refused after the first of them was made, and what the refusal begins with. */
const refused: readonly (readonly [string, object, object, string])[] = [
  [
    "weights that do not add up to 100",
    { healthWeights: { engagement: 40, adoption: 5 } },
    { healthWeights: { outlook: 40, momentum: 15.01 } },
    "healthWeights add up to 100.01: send percentages that add up to 100.",
  ],
  [
    "traits in health whose weights do not add up to 100 with the others",
    { healthWeights: { adoption: 5 }, healthTraits: [nps(5)] },
    { healthTraits: [nps(10)] },
    "healthWeights and healthTraits add up to 105: send percentages that add up to 100.",
  ],
  [
    "a trait in health twice",
    { healthWeights: { adoption: 0 }, healthTraits: [nps(10)] },
    { healthTraits: [nps(5), nps(5)] },
    "healthTraits has the trait nps twice: send each once.",
  ],
  [
    "a trait in health whose values mean the same",
    { weekStart: 7 },
    { healthWeights: { adoption: 0 }, healthTraits: [{ ...nps(10), hundredAt: 0 }] },
    "healthTraits has nps with the same zeroAt and hundredAt: send two different values.",
  ],
  [
    "risk bands whose high is not above medium",
    { riskBands: { account: { medium: 0.1, high: 0.2 } } },
    { riskBands: { user: { medium: 0.2, high: 0.2 } } },
    "riskBands.user.high is not above medium: send a larger churn risk.",
  ],
  [
    "more than 500 event weights in all",
    { eventWeights: weights(500, "a") },
    { eventWeights: weights(1, "b") },
    "eventWeights ",
  ],
  ["a key event that is passive", { passiveEvents: ["a"] }, { keyEvents: ["b", "a"] }, "keyEvents has a,"],
  [
    "settings of more than 256 KiB in all",
    { passiveEvents: longNames(200, "a") },
    { keyEvents: longNames(100, "b") },
    "body makes the settings larger than 262144 bytes",
  ],
  ["an unknown setting", { weekStart: 7 }, { weekstart: 1 }, "weekstart is not known: leave it out."],
  [
    "nothing",
    { weekStart: 7 },
    {},
    "body is empty: send a JSON object with at least one of churnHorizonDays,",
  ],
  ["no object", { weekStart: 7 }, [], "body is not valid: send a JSON object"],
];

function refusals(subject: LedgerUnderTest): void {
  test("are refused when they are based on another version than the current one", async () => {
    const { id } = await subject.organization();
    const { settings } = subject.ledger;
    const current = await settings.change(id, { version: 0, weekStart: 7 }, commandLine, 1);
    const late = settings.change(id, { version: 0, churnHorizonDays: 7 }, commandLine, 2);
    const error: unknown = await late.catch((reason: unknown) => reason);
    expect(error instanceof SettingsConflict && error.currentVersion).toBe(1);
    expect(await settings.get(id)).toEqual(current);
  });

  test.each(refused)("are refused with %s, and stay", async (_what, first, second, message) => {
    const { id } = await subject.organization();
    const { settings } = subject.ledger;
    const before = await settings.change(id, first, commandLine, 1);
    const attempt = settings.change(id, second, commandLine, 2);
    await expect(attempt).rejects.toBeInstanceOf(Refusal);
    const error: unknown = await attempt.catch((reason: unknown) => reason);
    expect(error instanceof Refusal && error.message.slice(0, message.length)).toBe(message);
    expect(await settings.get(id)).toEqual(before);
  });
}
