/** The draw of the hold-out, and the messages of a run: which alerts they have, and what they say. */
import { describe, expect, test } from "bun:test";
import { destinationLimits } from "../../contract/destinations/destinations.ts";
import { zoneOf } from "../../server/calendar/zone.ts";
import { commitChunk } from "../../server/features/alerts/commit-chunk.ts";
import { armOf, drawOf } from "../../server/features/alerts/control-groups/draw.ts";
import { renderDeliveries } from "../../server/features/alerts/message-renderer.ts";
import { nextMorningMs } from "../../server/features/alerts/next-morning.ts";
import {
  type DecisionChunk,
  type DrawnChunk,
  type FiredAlert,
  keyOfAlert,
  type RuleVersion,
} from "../../server/features/alerts/store/decisions.ts";
import type { RenderedDelivery } from "../../server/sending/deliveries.ts";
import type { DestinationWithCounts } from "../../server/sending/destinations.ts";

const secret = "00".repeat(32);
const version: RuleVersion = {
  organization: 3,
  rule: 1,
  version: 2,
  name: "High risk",
  scope: { kind: "accounts" },
  condition: { kind: "riskBand", band: "high" },
  exemptions: {},
  cooldownDays: null,
  cap: 3,
  when: "08:00",
  destinations: [1, 2],
  holdOutShare: 0,
  experiment: 1,
  createdAtMs: 0,
  updatedAtMs: 0,
};

function fired(number: number, more: Partial<FiredAlert> = {}): FiredAlert {
  return {
    entity: { kind: "account", number },
    day: 20_000,
    eventId: null,
    before: 0.1,
    after: 0.5,
    reasons: [{ text: `reason ${number}` }],
    risk: 0.5,
    expectedLoss: number,
    account: number,
    isExempt: false,
    ...more,
  };
}

function chunk(more: Partial<DecisionChunk>): DecisionChunk {
  return {
    organization: 3,
    rule: 1,
    version: 2,
    after: 7,
    horizonDays: 28,
    states: [],
    fired: [],
    closed: [],
    next: { decidedThrough: 20_000, part: null, cursor: null },
    insideBySettings: 0,
    ...more,
  };
}

/** Commits a run to a ledger that keeps what it gets. */
async function committed(
  chunks: readonly DecisionChunk[],
  settings: Partial<RuleVersion> = {},
  told: string[] = [],
) {
  const kept: DrawnChunk[] = [];
  const destination = (id: number, kind: "webhook" | "slack") => ({ id, kind }) as DestinationWithCounts;
  const mark = { version: 2, decidedThrough: 19_999, part: null, takesOver: false, cursor: null };
  const ledger = {
    ruleDecisions: {
      deciding: async () => [],
      toDecide: async () => [],
      states: async () => [],
      named: async () => names,
      inMessages: async () => undefined,
      holdOut: async (_: number, __: number, horizonDays: number) => ({
        secret,
        experiment: horizonDays === 28 ? 1 : 2,
      }),
      knownArms: async () => ({ controls: [], entries: [] }),
      sentOn: async () => 0,
      openMoments: async () => [],
      insideBySettings: async () => 0,
      toldOpen: async () => told,
      unsent: async () =>
        kept.flatMap(({ fired: all }) => all.filter(({ arm, isSent }) => arm !== "control" && !isSent)),
      commitDecision: async (one: DrawnChunk) => {
        kept.push(one);
        return { ...mark, sequence: one.after + 1 };
      },
    },
    destinations: {
      list: async () => [destination(1, "webhook"), destination(2, "slack"), destination(9, "webhook")],
      asking: async () => [],
    },
  };
  const ground = {
    nowMs: 1_000,
    todayMs: 0,
    nextMorningMs: 9_000,
  };
  for (const one of chunks) await commitChunk(ledger, { ...version, ...settings }, one, ground);
  const messages = kept.flatMap(({ messages }) => messages);
  return { kept, messages, bodies: await bodiesOf(kept, settings.name ?? version.name) };
}

const names = { "account 1": { kind: "account", id: "a/1", label: "Engines", email: null } } as const;

/** The bodies of the messages of chunks. The destination 1 is a webhook. */
async function bodiesOf(kept: readonly DrawnChunk[], name: string): Promise<readonly string[]> {
  const alerts = kept
    .flatMap(({ fired: all }) => all)
    .map((alert, id) => ({ ...alert, id, version: 2, closedDay: null, closedWhy: null }));
  const idOf = (key: unknown) => alerts.findIndex((alert) => Bun.deepEquals(keyOfAlert(alert), key));
  const due = kept
    .flatMap(({ messages }) => messages)
    .map(({ destination, message: { type }, alerts: keys, total, cap }, id) => ({
      id,
      organization: 3,
      type: type === "alert.resolved" ? type : ("alert.fired" as const),
      createdAtMs: 1_000,
      kind: destination === 1 ? ("webhook" as const) : ("slack" as const),
      sendsEmails: false,
      about: { rule: 1, alerts: keys.map(idOf), total, cap },
    }));
  const rendered: RenderedDelivery[] = [];
  const ledger = {
    ruleDecisions: {
      inMessages: async () => ({ rule: { id: 1, name }, alerts }),
      named: async () => names,
    },
    deliveries: { freeze: async (_: number, all: readonly RenderedDelivery[]) => void rendered.push(...all) },
  };
  await renderDeliveries(ledger, due, {
    pages: "https://rekindle.example.com/o/3",
    today: 20_000,
    excludedAmong: async () => [],
    worthOf: async () => new Map(),
  });
  return rendered.flatMap(({ body }) => body ?? []);
}

describe("the draw", () => {
  test("is the first 48 bits of an HMAC-SHA256, computed here by another program", () => {
    expect(drawOf(secret, "rule 1, 1", "account 7")).toBe(0.6466971254322011);
    expect(drawOf(secret, "rule 1, 1", "user 7")).toBe(0.5149700825476486);
    expect(drawOf(secret, "rule 1, 2", "account 7")).toBe(0.10640166071181412);
  });

  test("is of the account where there is one, and exempts before", () => {
    const share = { rule: 1, experiment: 1, holdOutShare: 0.6 };
    const user = { kind: "user", number: 7 } as const;
    expect(armOf(share, { entity: user, account: null, isExempt: false }, secret)).toBe("control");
    expect(armOf(share, { entity: user, account: 7, isExempt: false }, secret)).toBe("treated");
    expect(armOf(share, { entity: user, account: null, isExempt: true }, secret)).toBe("exempt");
    expect(
      armOf({ ...share, holdOutShare: 0 }, { entity: user, account: 7, isExempt: true }, secret),
    ).toBeNull();
  });

  test("takes the share that it shall", () => {
    const share = { rule: 1, experiment: 1, holdOutShare: 0.2 };
    const arms = Array.from({ length: 5_000 }, (_, number) => armOf(share, fired(number), secret));
    const controls = arms.filter((arm) => arm === "control").length;
    expect(controls).toBeGreaterThan(880);
    expect(controls).toBeLessThan(1_120);
  });
});

describe("a run", () => {
  test("sends one message an alert to webhooks, and one in the morning to Slack, up to the cap", async () => {
    const all = [1, 5, 3, 4, 2].map((number) => fired(number));
    const part = { day: 20_000, uptoNumber: 5 };
    const { kept, messages, bodies } = await committed([
      chunk({ fired: all.slice(0, 2), next: { decidedThrough: null, part, cursor: null } }),
      chunk({ fired: all.slice(2) }),
    ]);
    // The chunk that ends the run chooses among all of its alerts.
    expect(kept.map((one) => one.fired.map(({ isSent }) => isSent))).toEqual([
      [false, false],
      [true, true, false],
    ]);
    expect(kept.map(({ earlier }) => earlier.map(({ expectedLoss }) => expectedLoss))).toEqual([[], [5]]);
    expect(messages.map(({ destination, dueAtMs }) => [destination, dueAtMs])).toEqual([
      ...[1, 1, 1].map((id) => [id, 1_000]),
      [2, 9_000],
    ]);
    const body = JSON.parse(bodies[3] ?? "") as {
      data: { text: string; link: string; rows: { text: string }[] };
    };
    expect(body.data.text).toBe(
      "High risk: 5 alerts fired. The 3 most important are below, 2 more are in the inbox.",
    );
    expect(body.data.rows.map(({ text }) => text)).toEqual(["reason 5", "reason 4", "reason 3"]);
    expect(body.data.link).toBe("https://rekindle.example.com/o/3/alerts?rule=1");
  });

  test("says which rule fired, for which account, by which values, with a link, and with the same id again", async () => {
    const [first, again] = [
      await committed([chunk({ fired: [fired(1)] })]),
      await committed([chunk({ fired: [fired(1)] })]),
    ];
    const [message] = first.messages;
    expect(JSON.parse(first.bodies[0] ?? "")).toEqual({
      type: "alert.fired",
      timestamp: "1970-01-01T00:00:01.000Z",
      data: {
        text: "High risk: Engines: reason 1",
        rule: { id: 1, name: "High risk", version: 2 },
        entity: { kind: "account", id: "a/1", name: "Engines" },
        day: "2024-10-04",
        before: 0.1,
        after: 0.5,
        risk: 0.5,
        expectedLoss: 1,
        reasons: ["reason 1"],
        link: "https://rekindle.example.com/o/3/accounts/a%2F1",
      },
    });
    expect(again.messages[0]?.message.messageId).toBe(message?.message.messageId ?? "");
    const other = await committed([chunk({ fired: [fired(1, { day: 20_001 })] })]);
    expect(other.messages[0]?.message.messageId).not.toBe(message?.message.messageId ?? "");
    const entity = { kind: "account", number: 1 } as const;
    expect(message?.alerts).toEqual([{ entity, firedOn: 20_000, eventId: "" }]);
  });

  test("names no control, and tells only the ends of alerts that it told", async () => {
    const all = Array.from({ length: 40 }, (_, index) => fired(index + 1));
    const settings = { holdOutShare: 0.5, cap: 100 };
    const ends = [1, 2, 3].map((number) => ({
      entity: { kind: "account", number } as const,
      firedOn: 19_990,
      day: 20_000,
      why: number === 2 ? ("excluded" as const) : ("resolved" as const),
    }));
    const { kept, messages } = await committed([chunk({ fired: all, closed: ends })], settings, [
      "account 1",
      "account 2",
    ]);
    const controls = kept.flatMap((one) => one.fired.filter(({ arm }) => arm === "control"));
    expect(controls.length).toBeGreaterThan(8);
    expect(controls.every(({ isSent, controlUntil }) => !isSent && controlUntil === 20_027)).toBe(true);
    const named = messages
      .filter(({ message }) => message.type === "alert.fired")
      .flatMap(({ alerts }) => alerts);
    const isControl = (number: number) =>
      controls.some(({ entity }) => entity.kind === "account" && entity.number === number);
    expect(named.filter(({ entity }) => entity.kind === "account" && isControl(entity.number))).toEqual([]);
    const resolved = messages.filter(({ message }) => message.type === "alert.resolved");
    expect(resolved.map(({ alerts }) => alerts.map(({ entity }) => entity))).toEqual([
      [{ kind: "account", number: 1 }],
    ]);
  });

  test("draws the entries of another churn horizon anew", async () => {
    const all = Array.from({ length: 40 }, (_, index) => fired(index + 1));
    const armsOf = async (horizonDays: number) => {
      const { kept } = await committed([chunk({ fired: all, horizonDays })], { holdOutShare: 0.5 });
      return kept.flatMap((one) => one.fired.map(({ arm }) => arm));
    };
    const expected = (experiment: number) =>
      all.map((alert) => armOf({ rule: 1, experiment, holdOutShare: 0.5 }, alert, secret));
    expect(await armsOf(28)).toEqual(expected(1));
    expect(await armsOf(60)).toEqual(expected(2));
  });

  test("has bodies below their limit, whatever texts there are", async () => {
    const long = "\u0001😀".repeat(400);
    const all = Array.from({ length: 30 }, (_, index) =>
      fired(index + 1, { reasons: Array.from({ length: 5 }, () => ({ text: long })) }),
    );
    const { bodies } = await committed([chunk({ fired: all })], { cap: 30, name: "😀".repeat(40) });
    const bytes = bodies.map((body) => Buffer.byteLength(body));
    expect(bytes).toHaveLength(31);
    expect(Math.max(...bytes)).toBeLessThanOrEqual(destinationLimits.bodyBytes);
  });
});

describe("the morning", () => {
  test.each([
    ["Europe/Paris", "2026-11-26T06:59:00Z", "2026-11-26T07:00:00Z"],
    ["Europe/Paris", "2026-11-26T07:00:01Z", "2026-11-27T07:00:00Z"],
    ["Europe/Paris", "2026-10-25T00:30:00+02:00", "2026-10-25T08:00:00+01:00"],
    ["Europe/Paris", "2026-03-29T00:30:00+01:00", "2026-03-29T08:00:00+02:00"],
    ["Asia/Tokyo", "2026-11-26T00:00:00Z", "2026-11-26T23:00:00Z"],
  ])("in %s after %s is %s", (zone, now, expected) => {
    expect(nextMorningMs(zoneOf(zone), Date.parse(now))).toBe(Date.parse(expected));
  });
});
