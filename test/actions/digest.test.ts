/** The digest: when it is due, which destinations get it, and what it says. */
import { describe, expect, test } from "bun:test";
import type { NoticeType } from "../../contract/destinations/destinations.ts";
import type { DigestPeriod } from "../../contract/digest/digest.ts";
import { formatDay, parseDay } from "../../server/calendar/days.ts";
import { msPerDay, msPerHour, Zone, zoneOf } from "../../server/calendar/zone.ts";
import { matureAlerts } from "../../server/features/alerts/outcomes.ts";
import {
  alertsOfWeek,
  type Digest,
  entitiesOf,
  hasNews,
  mostImportant,
} from "../../server/features/digest/digest.ts";
import { digestMessage } from "../../server/features/digest/digest-message.ts";
import { digestSpan, dueDigest } from "../../server/features/digest/digest-times.ts";
import { Digester } from "../../server/features/digest/digester.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import type { Logger } from "../../server/process/log.ts";
import type { DestinationWithCounts } from "../../server/sending/destinations.ts";
import type { MessageBody } from "../../server/sending/message-body.ts";
import { slackBody } from "../../server/sending/slack-body.ts";
import { ada, adaToCall, monday, quiet } from "./sample-digest.ts";

describe("a digest is due", () => {
  /** Each minute of these days: the days whose digest is due, in the order of their first minutes. */
  function daysDue(period: DigestPeriod, zoneName: string, from: string, days: number) {
    const zone = new Zone(zoneName);
    const found = new Map<number, number>();
    for (let ms = Date.parse(from); ms < Date.parse(from) + days * msPerDay; ms += 60_000) {
      const due = dueDigest(period, zone, ms);
      if (due !== undefined && !found.has(due.day)) found.set(due.day, ms);
    }
    const clock = new Intl.DateTimeFormat("en-GB", { timeZone: zoneName, timeStyle: "short" });
    return [...found].map(([day, ms]) => `${formatDay(day)} ${clock.format(ms)}`);
  }

  test("once on each day at 07:00, also when clocks change, midnight is skipped, or a day is shorter", () => {
    for (const [zone, from] of [
      ["Europe/Paris", "2026-03-27T06:30:00Z"],
      ["Europe/Paris", "2026-10-23T06:30:00Z"],
      ["America/Sao_Paulo", "2018-11-02T12:30:00Z"],
      ["Australia/Lord_Howe", "2026-04-02T00:30:00Z"],
      ["Asia/Kathmandu", "2026-05-01T05:30:00Z"],
    ] as const) {
      const due = daysDue("daily", zone, from, 4);
      // The first is the one that was due before the first minute.
      expect(due.slice(1).map((one) => one.slice(11))).toEqual(Array(4).fill("07:00"));
      expect(new Set(due.map((one) => one.slice(0, 10))).size).toBe(5);
    }
  });

  test("on Mondays if it is weekly, and up to 24 hours late", () => {
    const zone = new Zone("Europe/Paris");
    expect(daysDue("weekly", zone.name, "2026-10-21T00:00:00Z", 14)).toEqual([
      "2026-10-26 07:00",
      "2026-11-02 07:00",
    ]);
    const at = (text: string) => dueDigest("weekly", zone, Date.parse(text));
    expect(at("2026-10-26T08:59:00Z")).toMatchObject({ isLate: false });
    expect(at("2026-10-27T05:59:00Z")).toMatchObject({ isLate: true });
    expect(at("2026-10-27T06:00:00Z")).toBeUndefined();
  });

  test("and tells what was decided since the 07:00 of the one before, also when clocks change", () => {
    const span = (period: DigestPeriod, day: string) => {
      const { fromMs, toMs } = digestSpan(period, new Zone("Europe/Paris"), parseDay(day) ?? 0);
      return [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(0, 16));
    };
    expect(span("daily", "2026-10-25")).toEqual(["2026-10-24T05:00", "2026-10-25T06:00"]);
    expect(span("weekly", "2026-10-26")).toEqual(["2026-10-19T05:00", "2026-10-26T06:00"]);
  });
});

/** A digester, its ledger, and a clock that is at 07:01 of a Monday. */
function ground(notices: readonly NoticeType[], digest: Partial<Digest> = {}) {
  const state = { nowMs: monday * msPerDay + 7 * msPerHour + 60_000, reads: 0, digest };
  const added: { to: number; messageId: string; entities: unknown }[] = [];
  const destinations = [3, 4].map(
    (id) => ({ id, organization: 1, notices }) as object as DestinationWithCounts,
  );
  const ledger = {
    destinations: { asking: async () => destinations },
    organizations: { find: async () => ({ id: 1, name: "Acme", timezone: "UTC" }) as Organization },
    deliveries: {
      list: async (_: number, { destination, messageId }: { destination?: number; messageId?: string }) =>
        added.filter(({ to, messageId: id }) => to === destination && id === messageId),
      add: async (
        _: number,
        to: number,
        { messageId }: { messageId: string },
        __: number,
        entities: unknown,
      ) => {
        added.push({ to, messageId, entities });
      },
    },
  };
  const start = () =>
    new Digester({
      ledger: ledger as object as ConstructorParameters<typeof Digester>[0]["ledger"],
      read: async (_, period, day) => {
        state.reads += 1;
        return {
          ...quiet,
          scoredDay: day,
          entered: { total: 1, named: [ada] },
          period,
          day,
          ...state.digest,
        };
      },
      address: "https://rekindle.example.com",
      nowMs: () => state.nowMs,
      log: {} as Logger,
    });
  return { state, added, start };
}

describe("a digester", () => {
  test("sends each destination one digest a day, also after a restart, and names its entities", async () => {
    const { state, added, start } = ground(["digest.daily"]);
    const first = start();
    await first.run();
    await first.run();
    await start().run();
    expect(added.map(({ to }) => to)).toEqual([3, 4]);
    expect(added[0]?.entities).toEqual([{ kind: "account", number: 7 }]);
    expect(state.reads).toBe(1);
    state.nowMs += msPerDay;
    await first.run();
    expect(new Set(added.map(({ messageId }) => messageId)).size).toBe(2);
    expect(added).toHaveLength(4);
  });

  test("sends a weekly one on a Monday, beside the daily one, and none to others", async () => {
    const both = ground(["digest.daily", "digest.weekly", "scores.completed"]);
    await both.start().run();
    expect(both.added).toHaveLength(4);
    const none = ground(["scores.completed"]);
    await none.start().run();
    expect([none.added, none.state.reads]).toEqual([[], 0]);
  });

  test("waits three hours for the scores of the day", async () => {
    const { state, added, start } = ground(["digest.daily"], { scoredDay: monday - 1 });
    const digester = start();
    await digester.run();
    expect(added).toEqual([]);
    state.nowMs += 3 * msPerHour;
    await digester.run();
    expect(added).toHaveLength(2);
  });

  test("sends nothing when there is nothing to say, and reads that once", async () => {
    const { state, added, start } = ground(["digest.daily"], { entered: quiet.entered });
    const digester = start();
    await digester.run();
    await digester.run();
    expect([added, state.reads]).toEqual([[], 1]);
  });
});

describe("the content", () => {
  test("is news when something moved, changed or is missing, and not by the top alone", () => {
    expect(hasNews({ ...quiet, top: [adaToCall] })).toBe(false);
    expect(hasNews({ ...quiet, left: { total: 1, named: [] } })).toBe(true);
    expect(hasNews({ ...quiet, movedBySettings: 1 })).toBe(true);
    expect(hasNews({ ...quiet, insideBySettings: 1 })).toBe(true);
    expect(hasNews({ ...quiet, changes: ["Settings changed."] })).toBe(true);
    expect(hasNews({ ...quiet, data: { ...quiet.data, stoppedSince: 1 } })).toBe(true);
    const alerts = alertsOfWeek([{ verdict: null, taskAtMs: 1, closedWhy: "churned" }]);
    expect(alerts).toEqual({ fired: 1, handled: 0, notUseful: 0, withTask: 1, untouched: 0, churned: 1 });
    expect([hasNews({ ...quiet, alerts }), hasNews({ ...quiet, alerts, period: "weekly" })]).toEqual([
      false,
      true,
    ]);
  });

  test("says why no move into high risk is known, and then counts none", () => {
    const about = { organization: { id: 3, name: "Acme" }, address: "https://r.example", nowMs: 0 };
    const said = (more: Partial<Digest>) => {
      const { text, entered, left } = JSON.parse(digestMessage({ ...quiet, ...more }, about).body).data;
      return [text.replace("Acme: daily digest of 2026-11-30. ", ""), entered, left];
    };
    const without = { hasModel: false, lacksData: false };
    expect([
      said({ ...without, lacksData: true }),
      said(without),
      said({ sinceDay: null }),
      said({ ...without, scoredDay: null, sinceDay: null, lacksData: true }),
      said({}),
    ]).toEqual([
      ["No churn risk is known: there is too little data for a model.", null, null],
      ["No churn risk is known: no model passed the back-test.", null, null],
      ["There are no earlier scores to compare with.", null, null],
      ["There are no scores yet.", null, null],
      ["0 accounts entered high risk, 0 left it.", 0, 0],
    ]);
  });

  test("puts the highest expected loss first, then the highest risk", () => {
    const rows = [
      { ...ada, number: 1, expectedLoss: null, risk: 0.9 },
      { ...ada, number: 2, expectedLoss: 5, risk: 0.1 },
      { ...ada, number: 3, expectedLoss: null, risk: null, riskBefore: 0.95 },
    ];
    expect(mostImportant(rows).map(({ number }) => number)).toEqual([2, 3, 1]);
    expect(mostImportant(rows, 1)).toHaveLength(1);
  });

  test("counts one alert of a rule, an entity and a horizon, and touched ones apart", () => {
    const fired = (number: number, firedDay: number, more: object = {}) => ({
      rule: 1,
      entity: { kind: "user" as const, number },
      closedWhy: null,
      verdict: null,
      verdictAtMs: null,
      taskAtMs: null,
      firedDay,
      ...more,
    });
    // In Tokyo a day begins nine hours earlier.
    const organization = { zone: zoneOf("Asia/Tokyo") };
    const question = { organization, today: 100, horizonDays: 28, outages: [{ from: 50, to: 52 }] };
    const [lastMs, overMs] = [88 * 86_400_000 - 32_400_001, 88 * 86_400_000 - 32_400_000];
    const handled = (verdictAtMs: number) => ({ verdict: "handled" as const, verdictAtMs });
    const alerts = [
      fired(1, 60),
      fired(1, 55),
      fired(2, 90),
      fired(3, 60, handled(lastMs)),
      fired(4, 60, { taskAtMs: lastMs }),
      fired(5, 40),
      fired(6, 60, { rule: 2 }),
      fired(7, 60, { verdict: "notUseful" as const, verdictAtMs: 0 }),
      fired(8, 60, handled(overMs)),
      fired(9, 60, { taskAtMs: overMs }),
    ];
    // Nothing was done about an alert that was not useful, and nothing in time about the last two.
    expect(matureAlerts(question, "user", alerts)).toEqual([
      { rule: 1, number: 1, day: 55, isTouched: false },
      { rule: 1, number: 3, day: 60, isTouched: true },
      { rule: 1, number: 4, day: 60, isTouched: true },
      { rule: 2, number: 6, day: 60, isTouched: false },
      { rule: 1, number: 7, day: 60, isTouched: false },
      { rule: 1, number: 8, day: 60, isTouched: false },
      { rule: 1, number: 9, day: 60, isTouched: false },
    ]);
    expect(matureAlerts(question, "account", alerts)).toEqual([]);
  });

  test("is a message with names, lines and links, within its limit", () => {
    const digest: Digest = {
      ...quiet,
      entered: { total: 3, named: [ada] },
      left: { total: 1, named: [{ ...ada, state: "churned" }] },
      top: [adaToCall],
      movedBySettings: 2,
      changes: ["Settings changed on 2026-11-29: riskBands."],
      insideBySettings: 3,
      alerts: alertsOfWeek([{ verdict: "handled", taskAtMs: null, closedWhy: null }]),
      precision: { mature: 10, churned: 4, rate: 0.4, interval: { low: 0.168, high: 0.687 } },
      data: { silent: [{ source: "segment", sinceMs: 0 }], stoppedSince: null, rejectedEvents: 1 },
    };
    const about = { organization: { id: 3, name: "Acme" }, address: "https://r.example", nowMs: 0 };
    const message = digestMessage(digest, about);
    const { type, data } = JSON.parse(message.body) as MessageBody;
    expect(type).toBe("digest");
    expect(data.text).toBe("Acme: daily digest of 2026-11-30. 3 accounts entered high risk, 1 left it.");
    expect(data.rows?.map(({ name, text }) => `${name}: ${text}`)).toEqual([
      "Ada & Co: entered high risk: 62%, was 30%, expected loss 1,201 EUR a month",
      "Entered high risk: 2 more.",
      "Ada & Co: churned, expected loss 1,201 EUR a month",
      "By settings: 2 accounts moved only by other settings or another model.",
      "Taken over: 3 users or accounts have no alert: rules took them over, because a rule is new, or settings, the model or the past changed.",
      "Ada & Co: number 1 to call: Use fell 69%. 1,936 EUR a month, Team, owner Olga",
      "Alerts: 1 alert in the last 7 days: 1 handled, 0 not useful, 0 with a task, 0 untouched. 0 churned.",
      "Alerts: Precision so far: 40% of 10 untouched alerts churned (16% to 68%).",
      "Changed: Settings changed on 2026-11-29: riskBands.",
      "Data: Segment has sent no data since 1 Jan 1970, 00:00 UTC.",
      "Data: 1 rejected event to look at.",
    ]);
    expect(data.rows?.[0]?.link).toBe("https://r.example/o/3/accounts/ada%20%26%20co");
    expect(slackBody({ type, data, timestamp: "" })).toContain("Ada &amp; Co");
    expect(digestMessage({ ...digest, top: [] }, about).messageId).toBe(message.messageId);
    expect(entitiesOf(digest)).toEqual([{ kind: "account", number: 7 }]);
    const long = { ...ada, id: "\u{1F600}".repeat(60), label: "\u{1F600}".repeat(300) };
    const huge = digestMessage({ ...digest, entered: { total: 90, named: Array(90).fill(long) } }, about);
    expect(Buffer.byteLength(huge.body)).toBeLessThan(20_000);
  });
});
