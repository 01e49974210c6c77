/** The part of the contract about moments: those of a day wait as one message for the morning. */
import { describe, expect, test } from "bun:test";
import { gatheredMessageId } from "../../server/features/alerts/alert-messages.ts";
import { commitChunk } from "../../server/features/alerts/commit-chunk.ts";
import type { DecisionChunk } from "../../server/features/alerts/store/decisions.ts";
import { commandLine as by } from "../../server/ledger/audit.ts";
import type { RuleEntity } from "../../server/ledger/stores/entity-rows.ts";
import { alertRule, renderDue } from "./alert-decision.ts";
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
    await commitChunk(ledger, version, chunk, { nowMs: subject.nowMs, todayMs: 0, nextMorningMs });
    subject.nowMs += minuteMs;
  };
  /** A payment of an account fails. */
  const fail = (number: number, nextMorningMs?: number) =>
    decide({ fired: [failed(number)], closed: [] }, nextMorningMs);
  const waiting = () => ledger.deliveries.list(organization, { limit: 99 });
  /** The messages in the morning, or later. @param excluded accounts that are excluded then */
  const rendered = async (...excluded: readonly number[]) => {
    subject.nowMs = Math.max(subject.nowMs, morningMs);
    const entities = excluded.map((number): RuleEntity => failed(number).entity);
    await renderDue(ledger, subject.nowMs, { organization, today: day, excluded: entities });
    return (await waiting()).map(({ state, body }) => [state, ...namesIn(body)]);
  };
  /** Why alerts closed, the oldest first. */
  const closings = async () => {
    const question = { state: "all", today: day, limit: 9, offset: 0 } as const;
    const { alerts } = await ledger.alerts.list(organization, question);
    return alerts.toSorted((a, b) => a.id - b.id).map(({ closedWhy }) => closedWhy);
  };
  const kept = { ledger, organization, rule, channel, morningMs };
  return { ...kept, decide, fail, rendered, waiting, closings };
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
const namesIn = (body: string) =>
  body === "" ? [] : (JSON.parse(body) as Body).data.rows.map(({ name }) => name);
const names = (...numbers: readonly number[]) => numbers.map((number) => `Name ${number}`);

/** Declares the tests of gathered alerts. */
export function gatheredAlertsContract(subject: LedgerUnderTest): void {
  describe("moments until the morning", () => {
    test("are one message with the 20 most important rows, which is sent once", async () => {
      const { ledger, morningMs, fail, rendered, waiting } = await ground(subject);
      for (let number = 1; number <= 25; number += 1) await fail(number);
      expect(await waiting()).toMatchObject([{ state: "pending", dueAtMs: morningMs, body: "" }]);
      const most = Array.from({ length: 20 }, (_, at) => 25 - at);
      expect(await rendered()).toEqual([["pending", ...names(...most)]]);
      const [message] = await waiting();
      expect((JSON.parse(message?.body ?? "") as Body).data.text).toBe(
        "Payment failed: 25 alerts fired. The 20 most important are below, 5 more are in the inbox.",
      );
      const room = { most: 9, perDestination: 9, failing: 9 };
      expect(await ledger.deliveries.claim(room, morningMs)).toHaveLength(1);
      // The message is under way: a moment that is committed now has another one.
      await fail(26, morningMs);
      expect(await rendered()).toEqual([
        ["pending", ...names(26)],
        ["pending", ...names(...most)],
      ]);
    });

    test("are not lost when one fires while their message is rendered", async () => {
      const { ledger, morningMs, fail, rendered } = await ground(subject);
      await fail(1);
      const [before] = await ledger.deliveries.toRender(0, morningMs);
      await fail(2);
      const { organization = 0, id = 0, about = { rule: 0, alerts: [], total: 0, cap: 0 } } = before ?? {};
      await ledger.deliveries.freeze(organization, [{ id, about, body: "{}", entities: [] }]);
      expect(await rendered()).toEqual([["pending", ...names(2, 1)]]);
    });

    test("are a message of their own after the morning, and after those of before were dropped", async () => {
      const { ledger, organization, channel, morningMs, fail, waiting, rendered } = await ground(subject);
      await fail(1);
      await fail(2, morningMs + 24 * 60 * minuteMs);
      expect((await waiting()).map(({ state }) => state)).toEqual(["pending", "pending"]);
      const change = (state: "paused" | "active") =>
        ledger.destinations.change(organization, channel.id, { state }, by, subject.nowMs);
      const settle = (held: "send" | "drop") =>
        ledger.deliveries.settleHeld(organization, channel.id, held, by, subject.nowMs);
      await change("paused");
      await settle("drop");
      await fail(3);
      await fail(4);
      await change("active");
      expect(await settle("send")).toBe(1);
      expect(await rendered()).toEqual([["pending", ...names(4, 3)], ["canceled"], ["canceled"]]);
    });

    test("are gathered anew when those of before are sent early", async () => {
      const { ledger, organization, channel, fail, rendered } = await ground(subject);
      await fail(1);
      for (const state of ["paused", "active"] as const) {
        await ledger.destinations.change(organization, channel.id, { state }, by, subject.nowMs);
      }
      await ledger.deliveries.settleHeld(organization, channel.id, "send", by, subject.nowMs);
      await fail(2);
      await fail(3);
      expect(await rendered()).toEqual([
        ["pending", ...names(3, 2)],
        ["pending", ...names(1)],
      ]);
    });

    test("have a message beside the one that an earlier version stored with its body", async () => {
      const { ledger, organization, rule, channel, morningMs, fail, waiting } = await ground(subject);
      const messageId = gatheredMessageId({ rule: rule.id, version: 1 }, morningMs);
      const old = { messageId, type: "alert.fired", body: "{}" } as const;
      await ledger.deliveries.add(organization, channel.id, old, subject.nowMs);
      await fail(1);
      const sent = await waiting();
      expect(sent.map(({ body }) => body)).toEqual(["", "{}"]);
      expect(sent[0]?.messageId).toStartWith(`${messageId}_`);
    });

    test("name the next account when one is erased or excluded before the morning", async () => {
      const { ledger, organization, fail, waiting, rendered } = await ground(subject, { cap: 1 });
      for (const number of [1, 2, 3, 4]) await fail(number);
      await ledger.erasures.beginAccount(organization, "a4", { by });
      expect(await rendered(3)).toEqual([["pending", ...names(2)]]);
      const [message] = await waiting();
      expect((JSON.parse(message?.body ?? "") as Body).data.text).toBe(
        "Payment failed: 2 alerts fired. The most important is below, 1 more is in the inbox.",
      );
    });

    test("leave out an account that is excluded, and close its alert alone", async () => {
      const { ledger, organization, rule, decide, fail, rendered, closings } = await ground(subject);
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
      expect(await rendered()).toEqual([["pending", ...names(3, 1)]]);
    });
  });
}
