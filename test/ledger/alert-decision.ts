/** A rule, and decisions of it, for tests of the ledger. */
import type { AlertRuleSettings } from "../../contract/alerts/rules.ts";
import { renderDeliveries } from "../../server/features/alerts/message-renderer.ts";
import {
  type DrawnAlert,
  type DrawnChunk,
  keyOfAlert,
} from "../../server/features/alerts/store/decisions.ts";
import type { SharedLedger } from "../../server/ledger/ledger.ts";
import type { RuleEntity } from "../../server/ledger/stores/entity-rows.ts";

/** A rule about users of high risk. */
export const alertRule: AlertRuleSettings = {
  name: "High risk",
  scope: { kind: "users" },
  condition: { kind: "riskBand", band: "high" },
  cooldownDays: 7,
  cap: 20,
  when: "at once",
  destinations: [],
  holdOutShare: 0,
  exemptions: {},
  steps: [],
  isPaused: false,
  includeCurrent: true,
};

/** Renders what is due, as analysis does. Nothing is known of what users and accounts are worth.
 * @param of the organization, and who is excluded at this moment */
export async function renderDue(
  ledger: Pick<SharedLedger, "ruleDecisions" | "deliveries">,
  nowMs: number,
  of: { readonly organization: number; readonly today: number; readonly excluded?: readonly RuleEntity[] },
): Promise<void> {
  const { organization, today, excluded = [] } = of;
  const due = await ledger.deliveries.toRender(0, nowMs);
  const own = due.filter((one) => one.organization === organization);
  await renderDeliveries(ledger, own, {
    pages: `https://rekindle.example.com/o/${organization}`,
    today,
    excludedAmong: async (entities) =>
      entities.filter((entity) => excluded.some((one) => Bun.deepEquals(one, entity))),
    worthOf: async () => new Map(),
  });
}

/** An alert that fires. */
export function firedAlert(entity: RuleEntity, day: number, more: Partial<DrawnAlert> = {}): DrawnAlert {
  return {
    entity,
    day,
    eventId: null,
    before: 0.2,
    after: 0.6,
    reasons: [{ text: "Silent \\0 for 9 days" }],
    risk: 0.6,
    expectedLoss: 12_000.5,
    account: null,
    isExempt: false,
    arm: null,
    controlUntil: null,
    isEntry: true,
    isSent: true,
    ...more,
  };
}

/** The first chunk of a rule: an entity fires. @param messages ids of destinations */
export function decision({
  organization,
  rule,
  entity,
  day,
  messages = [],
}: {
  readonly organization: number;
  readonly rule: number;
  readonly entity: RuleEntity;
  readonly day: number;
  readonly messages?: readonly number[];
}): DrawnChunk {
  const state = { entity, hasLeft: false, daysOut: 0, restsUntil: day + 7, firedOn: day, value: 0.6 };
  return {
    organization,
    rule,
    version: 1,
    after: 1,
    horizonDays: 28,
    closed: [],
    insideBySettings: 0,
    next: { decidedThrough: day, part: null, cursor: { of: "\\0" } },
    states: [state],
    fired: [firedAlert(entity, day)],
    earlier: [],
    messages: messages.map((destination) => ({
      destination,
      alerts: [keyOfAlert(firedAlert(entity, day))],
      total: 1,
      cap: 20,
      dueAtMs: 5,
      isGathered: false,
      message: { messageId: `msg_${day}`, type: "alert.fired" },
    })),
  };
}
