/** The scope and the condition of an alert rule, as they are sent. */
import Type, { type Static } from "typebox";
import { closedObject } from "../api/schema.ts";
import { senderNames } from "../sources.ts";
import { EventName } from "../write-api.ts";
import {
  fieldsOfCondition,
  isOfAccountsOnly,
  moments,
  type RuleCondition,
  type RuleScope,
  ruleLimits,
  ruleStates,
} from "./rules.ts";

const stateConditions = [
  "riskBand",
  "healthBelow",
  "riskUp",
  "healthDown",
  "state",
  "inSegment",
  "keyEventUnseen",
  "usageDown",
  "usageUp",
  "seatsAbove",
  "seatsBelow",
  "pulseAtMost",
  "sourceSilent",
] as const;

const id = Type.Integer({ minimum: 1, "x-send": "the id of a segment" });

export const RuleScopeBody = closedObject(
  {
    kind: Type.Enum(["users", "accounts"], { "x-send": "users or accounts" }),
    segment: Type.Optional(id),
  },
  { "x-send": "an object with kind, which is users or accounts" },
);

/** Fields that the kind does not have are refused by `conditionOf`. */
export const RuleConditionBody = closedObject(
  {
    kind: Type.Enum([...stateConditions, ...moments], {
      description:
        "What the rule waits for. `riskBand`: the risk band is `band` or higher. `healthBelow`: health is below `below`. `riskUp`: the churn risk rose by `by` within `days`. `healthDown`: health fell by `by` within `days`. `state`: the state is `state`. `inSegment`: a member of `segment`. `keyEventUnseen`: `event` happened before, but not in the last `days`. `usageDown`: use in 28 days is at least `percent` % lower than in the 28 days before. `usageUp`: at least `percent` % higher; the first 28 days of a user or an account are not compared with. `seatsAbove`, `seatsBelow`: an account with at least `minSeats` seats uses at least, or less than, `percent` % of them. `pulseAtMost`: the pulse of an account is `atMost` or lower. `sourceSilent`: `source` is silent, or any source. `event`: an alert each time `event` happens. `paymentFailed`, `cancellationScheduled`, `lastOwnerRemoved`: an alert each time it happens. `cardExpires`: an alert when the card on file ends before the renewal, at most 30 days before that, once for each end of a card.",
      "x-send": `one of ${[...stateConditions, ...moments].join(", ")}`,
    }),
    band: Type.Optional(Type.Enum(["medium", "high"], { "x-send": "medium or high" })),
    below: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 100, "x-send": "a health score above 0 and up to 100" }),
    ),
    by: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 100,
        description:
          "For riskUp a part of 1: 0.1 means ten percentage points. For healthDown points of health.",
        "x-send": "a number above 0: up to 1 for riskUp, up to 100 for healthDown",
      }),
    ),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: ruleLimits.days, "x-send": `1 to ${ruleLimits.days} days` }),
    ),
    state: Type.Optional(Type.Enum([...ruleStates], { "x-send": `one of ${ruleStates.join(", ")}` })),
    segment: Type.Optional(id),
    event: Type.Optional(EventName),
    percent: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: ruleLimits.usageUpPercent,
        "x-send": `a percentage above 0: up to ${ruleLimits.usageUpPercent} for usageUp, up to 100 for others`,
      }),
    ),
    minSeats: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: ruleLimits.minSeats,
        description: `Accounts with fewer seats never match. Default: ${ruleLimits.defaultMinSeats}.`,
        "x-send": `a whole number from 1 to ${ruleLimits.minSeats}`,
      }),
    ),
    atMost: Type.Optional(Type.Integer({ minimum: 1, maximum: 4, "x-send": "a pulse from 1 to 4" })),
    source: Type.Optional(Type.Enum([...senderNames], { "x-send": `one of ${senderNames.join(", ")}` })),
  },
  { "x-send": "an object with kind and the fields that the kind needs" },
);

export type SentCondition = Static<typeof RuleConditionBody>;

const mayBeLeftOut: ReadonlySet<string> = new Set(["source", "minSeats"]);

/** The first problem of a condition that fits the schema, as a sentence; undefined without one.
 * @param scope of the rule */
export function whyNotCondition(sent: SentCondition, scope: Pick<RuleScope, "kind">): string | undefined {
  const { kind, by, days, percent } = sent;
  const needed = fieldsOfCondition[kind];
  const given = Object.keys(sent).filter((name) => name !== "kind");
  const unknown = given.find((name) => !needed.some((each) => each === name));
  if (unknown !== undefined) return `condition.${unknown} does not belong to ${kind}: leave it out.`;
  const missing = needed.find((name) => !mayBeLeftOut.has(name) && sent[name] === undefined);
  if (missing !== undefined) return `condition.${missing} is missing: ${kind} needs it.`;
  if (kind === "riskUp" && (by ?? 0) > 1) return "condition.by is not valid: send a rise of up to 1.";
  if (kind !== "usageUp" && (percent ?? 0) > 100) {
    return "condition.percent is not valid: send a percentage above 0 and up to 100.";
  }
  if (scope.kind === "users" && isOfAccountsOnly(sent)) {
    return `condition.kind ${kind} is about accounts: send a scope with the kind accounts.`;
  }
  const isChange = kind === "riskUp" || kind === "healthDown";
  if (isChange && (days ?? 0) > ruleLimits.changeDays) {
    return `condition.days is not valid: send 1 to ${ruleLimits.changeDays} days for a change.`;
  }
  return undefined;
}

/** A condition that `whyNotCondition` has nothing against. */
export function conditionOf(sent: SentCondition): RuleCondition {
  const isOfSeats = sent.kind === "seatsAbove" || sent.kind === "seatsBelow";
  const { minSeats = ruleLimits.defaultMinSeats } = sent;
  return (isOfSeats ? { ...sent, minSeats } : sent) as RuleCondition;
}
