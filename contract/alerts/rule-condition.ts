/** The scope and the condition of an alert rule, as they are sent. */
import Type, { type Static } from "typebox";
import { closedObject } from "../api/schema.ts";
import { senderNames } from "../sources.ts";
import { EventName } from "../write-api.ts";
import { fieldsOfCondition, moments, type RuleCondition, ruleLimits, ruleStates } from "./rules.ts";

const stateConditions = [
  "riskBand",
  "healthBelow",
  "riskUp",
  "healthDown",
  "state",
  "inSegment",
  "keyEventUnseen",
  "usageDown",
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
        "What the rule waits for. `riskBand`: the risk band is `band` or higher. `healthBelow`: health is below `below`. `riskUp`: the churn risk rose by `by` within `days`. `healthDown`: health fell by `by` within `days`. `state`: the state is `state`. `inSegment`: a member of `segment`. `keyEventUnseen`: `event` happened before, but not in the last `days`. `usageDown`: use in 28 days is at least `percent` % lower than in the 28 days before. `sourceSilent`: `source` is silent, or any source. `event`: an alert each time `event` happens. `paymentFailed`, `cancellationScheduled`, `lastOwnerRemoved`: an alert each time it happens.",
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
      Type.Number({ exclusiveMinimum: 0, maximum: 100, "x-send": "a percentage above 0 and up to 100" }),
    ),
    source: Type.Optional(Type.Enum([...senderNames], { "x-send": `one of ${senderNames.join(", ")}` })),
  },
  { "x-send": "an object with kind and the fields that the kind needs" },
);

export type SentCondition = Static<typeof RuleConditionBody>;

/** The first problem of a condition that fits the schema, as a sentence; undefined without one. */
export function whyNotCondition(sent: SentCondition): string | undefined {
  const { kind, by, days } = sent;
  const needed = fieldsOfCondition[kind];
  const given = Object.keys(sent).filter((name) => name !== "kind");
  const unknown = given.find((name) => !needed.some((each) => each === name));
  if (unknown !== undefined) return `condition.${unknown} does not belong to ${kind}: leave it out.`;
  const missing = needed.find((name) => name !== "source" && sent[name] === undefined);
  if (missing !== undefined) return `condition.${missing} is missing: ${kind} needs it.`;
  if (kind === "riskUp" && (by ?? 0) > 1) return "condition.by is not valid: send a rise of up to 1.";
  const isChange = kind === "riskUp" || kind === "healthDown";
  if (isChange && (days ?? 0) > ruleLimits.changeDays) {
    return `condition.days is not valid: send 1 to ${ruleLimits.changeDays} days for a change.`;
  }
  return undefined;
}

/** A condition that `whyNotCondition` has nothing against. */
export function conditionOf(sent: SentCondition): RuleCondition {
  return sent as RuleCondition;
}
