/** The part of the contract about moments: those of a day wait as one message for the morning. */
import { describe, expect, test } from "bun:test";
import { commitChunk, gatherWithout } from "../../server/features/alerts/commit-chunk.ts";
import { commandLine as by } from "../../server/ledger/audit.ts";
import type { RuleEntity } from "../../server/ledger/ports/actions/rule-entities.ts";
import type { DecisionChunk } from "../../server/ledger/ports/actions/rules.ts";
import { alertRule, noWorth } from "./alert-decision.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { account, writePeople } from "./writes.ts";

const day = 20_000;
const minuteMs = 60_000;
const accounts = 30;

/** An organization with accounts and a rule about failed payments that tells a Slack channel in the
 * morning. */
async function ground(subject: LedgerUnderTest, more: { readonly cap?: number } = {}) {
  const { ledger } = subject;
  const { id: organization } = await subject.organization();
  const numbers = Array.from({ length: accounts }, (_, index) => index + 1);
  await writePeople(ledger, {
    accounts: numbers.map((number) =>
      account(organization, `a${number}`, { number, name: `Name ${number}` }),
    ),
  });
  const slack = {
    kind: "slack",
    name: "channel",
    address: "https://example.com/",
    secrets: [],
    notices: [],
  } as const;
  const channel = await ledger.destinations.add(organization, slack, by, subject.nowMs);
  const settings = {
    ...alertRule,
    name: "Payment failed",
    destinations: [channel.id],
    scope: { kind: "accounts" as const },
    condition: { kind: "paymentFailed" as const },
    when: "08:00" as const,
    ...more,
  };
  const rule = await ledger.alertRules.add(organization, settings, by, subject.nowMs);
  const morningMs = subject.nowMs + 8 * 60 * minuteMs;
  /** Entities that are excluded since the last scored day, which have open alerts. */
  const excludedNow: RuleEntity[] = [];
  const decide = async (changes: Pick<DecisionChunk, "fired" | "closed">, nextMorningMs = morningMs) => {
    const [toDecide] = await ledger.ruleDecisions.toDecide(organization);
    if (toDecide === undefined) throw new Error("The rule is not decided.");
    const { version, watermark } = toDecide;
    const chunk: DecisionChunk = {
      organization,
      rule: rule.id,
      version: 1,
      after: watermark.sequence,
      horizonDays: 28,
      next: { decidedThrough: day, part: null, cursor: null },
      states: [],
      insideBySettings: 0,
      ...changes,
    };
    await commitChunk(ledger, version, chunk, at(nextMorningMs));
    subject.nowMs += minuteMs;
  };
  const at = (nextMorningMs: number) => ({
    address: "",
    nowMs: subject.nowMs,
    todayMs: 0,
    nextMorningMs,
    worthOf: noWorth,
    excludedAmong: async (entities: readonly RuleEntity[]) =>
      entities.filter((entity) => excludedNow.some((one) => Bun.deepEquals(one, entity))),
  });
  /** An account is excluded shortly before the morning, as the looks of analysis find it. */
  const exclude = async (number: number) => {
    const [rule] = await ledger.ruleDecisions.toDecide(organization);
    if (rule === undefined) throw new Error("The rule is not decided.");
    const { entity } = failed(number);
    excludedNow.push(entity);
    await gatherWithout(ledger, rule, [entity], at(morningMs));
    await ledger.ruleDecisions.leaveOut(organization, [entity]);
    return rule.watermark.sequence;
  };
  /** A payment of an account fails. */
  const fail = (number: number, nextMorningMs?: number) =>
    decide({ fired: [failed(number)], closed: [] }, nextMorningMs);
  const waiting = () => ledger.deliveries.list(organization, { limit: 99 });
  /** Why alerts closed, the oldest first. */
  const closings = async () => {
    const question = { state: "all", today: day, limit: 9, offset: 0 } as const;
    const { alerts } = await ledger.alerts.list(organization, question);
    return alerts.toSorted((a, b) => a.id - b.id).map(({ closedWhy }) => closedWhy);
  };
  const kept = { ledger, organization, rule, channel, morningMs, excludedNow };
  return { ...kept, decide, fail, exclude, waiting, closings };
}

function failed(number: number) {
  return {
    entity: { kind: "account", number } as const,
    day,
    eventId: `event ${number}`,
    before: null,
    after: null,
    reasons: [{ text: "A payment failed" }],
    risk: 0.5,
    expectedLoss: number,
    account: number,
    isExempt: false,
  };
}

interface Body {
  readonly data: { readonly text: string; readonly rows: readonly { readonly name: string }[] };
}
const namesIn = (body: string) => (JSON.parse(body) as Body).data.rows.map(({ name }) => name);
const names = (...numbers: readonly number[]) => numbers.map((number) => `Name ${number}`);

/** Declares the tests of gathered alerts. */
export function gatheredAlertsContract(subject: LedgerUnderTest): void {
  describe("moments until the morning", () => {
    test("are one message with the 20 most important rows, which is sent once", async () => {
      const { ledger, morningMs, fail, waiting } = await ground(subject);
      for (let number = 1; number <= 25; number += 1) await fail(number);
      const messages = await waiting();
      expect(messages).toMatchObject([{ state: "pending", dueAtMs: morningMs }]);
      const { data } = JSON.parse(messages[0]?.body ?? "") as Body;
      expect(data.text).toBe(
        "Payment failed: 25 alerts fired. The 20 most important are below, 5 more are in the inbox.",
      );
      expect(namesIn(messages[0]?.body ?? "")).toEqual(
        names(...Array.from({ length: 20 }, (_, at) => 25 - at)),
      );
      subject.nowMs = morningMs;
      const room = { most: 9, perDestination: 9, failing: 9 };
      expect(await ledger.deliveries.claim(room, morningMs)).toHaveLength(1);
      // The message is under way: a moment that is committed now has another one.
      await fail(26);
      expect((await waiting()).map(({ body }) => namesIn(body)[0])).toEqual(names(26, 25));
    });

    test("are a message of their own after the morning, and after those of before were dropped", async () => {
      const { ledger, organization, channel, morningMs, fail, waiting } = await ground(subject);
      await fail(1);
      await fail(2, morningMs + 24 * 60 * minuteMs);
      expect((await waiting()).map(({ body }) => namesIn(body))).toEqual([names(2), names(1)]);
      const change = { state: "paused" } as const;
      await ledger.destinations.change(organization, channel.id, change, by, subject.nowMs);
      await ledger.deliveries.settleHeld(organization, channel.id, "drop", by, subject.nowMs);
      await fail(3);
      await fail(4);
      const left = (await waiting()).filter(({ state }) => state !== "canceled");
      expect(left.map(({ state, body }) => [state, namesIn(body)])).toEqual([["held", names(4, 3)]]);
    });

    test("are gathered anew when those of before are sent early", async () => {
      const { ledger, organization, channel, fail, waiting } = await ground(subject);
      await fail(1);
      for (const state of ["paused", "active"] as const) {
        await ledger.destinations.change(organization, channel.id, { state }, by, subject.nowMs);
      }
      await ledger.deliveries.settleHeld(organization, channel.id, "send", by, subject.nowMs);
      await fail(2);
      await fail(3);
      expect((await waiting()).map(({ body }) => namesIn(body))).toEqual([names(3, 2), names(1)]);
    });

    erasedOnes(subject);
    excludedOnes(subject);
  });
}

function erasedOnes(subject: LedgerUnderTest): void {
  test("say how many the cap left out when the only one with a row is erased, and name the next one with the next moment", async () => {
    const { ledger, organization, fail, waiting } = await ground(subject, { cap: 1 });
    for (const number of [1, 2, 4]) await fail(number);
    const message = async () => {
      const [only] = await waiting();
      return [only?.state, (JSON.parse(only?.body ?? "") as Body).data.text, namesIn(only?.body ?? "")];
    };
    expect((await message())[2]).toEqual(names(4));
    await ledger.erasures.beginAccount(organization, "a4", { by });
    expect(await message()).toEqual(["pending", "Payment failed: 2 alerts fired. All are in the inbox.", []]);
    await fail(3);
    expect(await message()).toEqual([
      "pending",
      "Payment failed: 3 alerts fired. The most important is below, 2 more are in the inbox.",
      names(3),
    ]);
  });
}

function excludedOnes(subject: LedgerUnderTest): void {
  test("leave out an account that is excluded while its alert is still open, and name the next one", async () => {
    const { excludedNow, fail, waiting } = await ground(subject, { cap: 2 });
    for (const number of [1, 2, 4]) await fail(number);
    excludedNow.push(failed(4).entity);
    await fail(3);
    const [message] = await waiting();
    expect(namesIn(message?.body ?? "")).toEqual(names(3, 2));
    expect((JSON.parse(message?.body ?? "") as Body).data.text).toContain("3 alerts fired.");
  });

  test("leave out an account that is excluded, and close its alert alone", async () => {
    const { ledger, organization, rule, decide, fail, waiting, closings } = await ground(subject);
    for (const number of [1, 2, 3]) await fail(number);
    const closed = (number: number, why: "excluded" | "churned") => {
      const { entity, eventId } = failed(number);
      return { entity, eventId, firedOn: day, day: day + 1, why };
    };
    expect(await ledger.ruleDecisions.openMoments(organization, rule.id, 0, 9)).toMatchObject(
      [1, 2, 3].map((number) => ({ entity: { number }, firedOn: day, eventId: `event ${number}` })),
    );
    await decide({ fired: [], closed: [closed(2, "excluded"), closed(3, "churned")] });
    expect(await closings()).toEqual([null, "excluded", "churned"]);
    expect((await waiting()).map(({ state, body }) => [state, namesIn(body)])).toEqual([
      ["pending", names(3, 1)],
    ]);
    await decide({ fired: [], closed: [closed(1, "excluded")] });
    expect((await waiting()).map(({ state, body }) => [state, namesIn(body)])).toEqual([
      ["pending", names(3)],
    ]);
  });

  test("name the next one when the only one with a row is excluded before the morning", async () => {
    const { ledger, organization, fail, exclude, waiting } = await ground(subject, { cap: 1 });
    for (const number of [1, 2, 4]) await fail(number);
    const message = async () => {
      const [only] = await waiting();
      return [only?.state, (JSON.parse(only?.body ?? "") as Body).data.text, namesIn(only?.body ?? "")];
    };
    const next = [
      "pending",
      "Payment failed: 2 alerts fired. The most important is below, 1 more is in the inbox.",
    ];
    const before = await exclude(4);
    expect(await message()).toEqual([...next, names(2)]);
    const sequence = async () => (await ledger.ruleDecisions.toDecide(organization))[0]?.watermark.sequence;
    expect(await sequence()).toBe(before + 1);
    await exclude(2);
    await exclude(1);
    expect((await waiting()).map(({ state }) => state)).toEqual(["canceled"]);
    // The rule decides as before.
    await fail(3);
    expect((await message())[2]).toEqual(names(3));
  });

  test("leave out an excluded account without others while a rule takes over its state, which goes on", async () => {
    const { ledger, organization, rule, fail, exclude, waiting } = await ground(subject, { cap: 1 });
    for (const number of [1, 2]) await fail(number);
    for (const isPaused of [true, false]) {
      await ledger.alertRules.change(organization, rule.id, { isPaused }, by, subject.nowMs);
    }
    await exclude(2);
    expect((await waiting()).map(({ body }) => namesIn(body))).toEqual([[]]);
    expect((await ledger.ruleDecisions.toDecide(organization))[0]?.watermark.takesOver).toBe(true);
  });
}
