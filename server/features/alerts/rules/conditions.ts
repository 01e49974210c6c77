/**
 * Conditions on scores as expressions over a row of scores. `value` is the figure that the condition
 * compares, `before` that figure on an earlier day. The engine judges all rows with them, and a test compares
 * them with plain TypeScript.
 */
import type { RuleCondition } from "../../../../contract/alerts/rules.ts";
import { boundBitmap, type EntitySet } from "../../../analytics/entities/entity-sets.ts";
import { type MembersQuestion, wasMember } from "../../../analytics/entities/recorded-days.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";

/** Conditions on the rows of scores. */
export type ScoreCondition = Extract<
  RuleCondition,
  {
    kind:
      | ("riskBand" | "healthBelow" | "riskUp" | "healthDown" | "state" | "usageDown")
      | ("usageUp" | "seatsAbove" | "seatsBelow" | "pulseAtMost");
  }
>;

/** A condition that no entity meets: readings of it only have the standings of the entities of moments. */
interface Never {
  readonly kind: "never";
}

/** A segment and its members now. */
export interface SegmentNow {
  readonly name: string;
  readonly members: EntitySet;
  /** When its filter or ids, or the filter or ids of a segment that its filter names, were changed last. */
  readonly changedAtMs: number;
  /** Whether its members follow from scores, so that another model, other bands or other settings change
   * them. */
  readonly readsScores: boolean;
  /** Whether its members follow from what was done within some days, so that days without data change
   * them. */
  readonly countsDays: boolean;
}

/** The condition `inSegment`, with the members of the segment now. */
type InSegment = Extract<RuleCondition, { kind: "inSegment" }> & { readonly of: SegmentNow };

/** The condition `inSegment` in a preview, with the recorded members of the segment. */
interface WasInSegment {
  readonly kind: "wasInSegment";
  /** At an evaluation of each of the previewed days. */
  readonly recorded: MembersQuestion;
}

/** Conditions that are decided once a scored day. */
export type DailyCondition =
  | ScoreCondition
  | InSegment
  | WasInSegment
  | Extract<RuleCondition, { kind: "keyEventUnseen" }>
  | Never;

/** Daily conditions that are judged by a row of scores. */
export type JudgedCondition = ScoreCondition | InSegment | WasInSegment | Never;

/** The expressions that a condition compares. */
export interface Compared {
  readonly value: string;
  readonly before: string;
  /** The limit of the condition, or of its exit. */
  readonly from: string;
}

export interface ConditionSql {
  /** Over `entity`, `place`, `state`, `risk`, `health`, `volume28` and `tenure_days`, `memberDigits` of
   * recorded members, and of accounts `active_members_28`, `seats` and `pulse`. */
  readonly value: string;
  /** The parameters that `value` binds, beside `fromPlace`. */
  readonly parameters: Readonly<Record<string, string | number>>;
  /** Expressions of whether the condition holds, and of whether its exit holds. Neither holds for an unknown
   * value. */
  readonly inside: (of: Compared) => string;
  readonly out: (of: Compared) => string;
  /** The limits of a day, by its run. */
  readonly limits: (run: Pick<RunBody, "riskScale">) => { readonly inFrom: number; readonly outFrom: number };
  /** `before` is the figure of the last scored day that is at least this many days earlier. 0 for a condition
   * without `before`. */
  readonly lookbackDays: number;
}

/** The margins that end an alert. Close to the end of the scale a margin is half of the rest of the scale,
 * because no value could pass a whole margin. */
const riskMargin = 0.05;
const healthMargin = 5;
const seatsMargin = 5;
/** The value of an account without a pulse: it is above every limit, so that its alert ends. */
const noPulse = 6;
/** Usage of four weeks is compared with the usage of the four weeks before. */
const usageDays = 28;

/** Whether a refit of the model can bring an entity inside, so that it is asked about. */
export function followsModel(condition: DailyCondition): condition is ScoreCondition {
  switch (condition.kind) {
    case "riskBand":
    case "riskUp":
    case "healthBelow":
    case "healthDown":
    case "state":
    case "usageDown":
      return true;
    default:
      return false;
  }
}

/** How the engine judges a condition. @param suffix of its parameters' names, for statements about several
 * conditions */
export function conditionSql(condition: JudgedCondition, suffix = ""): ConditionSql {
  switch (condition.kind) {
    case "never":
      return {
        value: "toFloat64(0)",
        inside: below,
        out: atLeast,
        ...withoutBefore,
        limits: () => ({ inFrom: 0, outFrom: 0 }),
      };
    case "riskBand":
      return {
        value: "risk",
        inside: atLeast,
        out: below,
        ...withoutBefore,
        limits: ({ riskScale }) => {
          const inFrom = riskScale[condition.band];
          return { inFrom, outFrom: inFrom - Math.min(riskMargin, inFrom / 2) };
        },
      };
    case "healthBelow": {
      const inFrom = condition.below;
      const limits = { inFrom, outFrom: inFrom + Math.min(healthMargin, (100 - inFrom) / 2) };
      return {
        value: "health",
        inside: below,
        out: atLeast,
        ...withoutBefore,
        limits: () => limits,
      };
    }
    case "state":
      return {
        value: `toFloat64(state = {ruleState${suffix}:String})`,
        parameters: { [`ruleState${suffix}`]: condition.state },
        ...holdsOrNot,
      };
    case "inSegment":
      return {
        value: `toFloat64(bitmapContains(${boundBitmap(`ruleMembers${suffix}`)}, entity))`,
        parameters: { [`ruleMembers${suffix}`]: condition.of.members.bitmap },
        ...holdsOrNot,
      };
    case "wasInSegment":
      return {
        // Days before the first previewed day are read for comparison only.
        value: `toFloat64(place >= {fromPlace:UInt8} AND ${wasMember("greatest(place - {fromPlace:UInt8}, 0)")})`,
        ...holdsOrNot,
        parameters: {},
      };
    case "riskUp":
      return {
        value: "risk",
        inside: ({ value, before, from }) => `${value} - ${before} >= ${from}`,
        out: ({ value, before, from }) => `${value} - ${before} < ${from}`,
        limits: () => halved(condition.by),
        lookbackDays: condition.days,
        parameters: {},
      };
    case "healthDown":
      return {
        value: "health",
        inside: ({ value, before, from }) => `${before} - ${value} >= ${from}`,
        out: ({ value, before, from }) => `${before} - ${value} < ${from}`,
        limits: () => halved(condition.by),
        lookbackDays: condition.days,
        parameters: {},
      };
    case "usageDown":
      return {
        value: "volume28",
        inside: ({ value, before, from }) => `(${before} > 0 AND ${value} <= ${before} * (1 - ${from}))`,
        // Without usage before there is nothing to fall.
        out: ({ value, before, from }) => `(${before} = 0 OR ${value} > ${before} * (1 - ${from}))`,
        limits: () => halved(condition.percent / 100),
        lookbackDays: usageDays,
        parameters: {},
      };
    case "usageUp":
      return {
        // Everybody's use rises at the start, so the first four weeks count as none.
        value: `if(tenure_days < ${usageDays}, 0, volume28)`,
        inside: ({ value, before, from }) => `(${before} > 0 AND ${value} >= ${before} * (1 + ${from}))`,
        out: ({ value, before, from }) => `(${before} = 0 OR ${value} < ${before} * (1 + ${from}))`,
        limits: () => halved(condition.percent / 100),
        lookbackDays: usageDays,
        parameters: {},
      };
    case "seatsAbove": {
      const { percent: inFrom } = condition;
      const limits = { inFrom, outFrom: inFrom - Math.min(seatsMargin, inFrom / 2) };
      return {
        ...ofSeats(condition.minSeats, suffix, 0),
        inside: atLeast,
        out: below,
        lookbackDays: 0,
        limits: () => limits,
      };
    }
    case "seatsBelow": {
      const { percent: inFrom } = condition;
      const limits = { inFrom, outFrom: inFrom + Math.min(seatsMargin, (100 - inFrom) / 2) };
      return {
        ...ofSeats(condition.minSeats, suffix, 100),
        inside: below,
        out: atLeast,
        lookbackDays: 0,
        limits: () => limits,
      };
    }
    case "pulseAtMost":
      return {
        value: `toFloat64(ifNull(pulse, ${noPulse}))`,
        inside: ({ value, from }) => `${value} <= ${from}`,
        out: ({ value, from }) => `${value} > ${from}`,
        ...withoutBefore,
        limits: () => ({ inFrom: condition.atMost, outFrom: condition.atMost }),
      };
  }
}

/** Seats used in percent. @param otherwise the value of an account with fewer seats, or an unknown number of
 * seats, which ends its alert */
function ofSeats(
  minSeats: number,
  suffix: string,
  otherwise: 0 | 100,
): Pick<ConditionSql, "value" | "parameters"> {
  const name = `ruleMinSeats${suffix}`;
  return {
    value: `if(ifNull(seats, 0) >= {${name}:UInt32}, 100 * active_members_28 / seats, ${otherwise})`,
    parameters: { [name]: minSeats },
  };
}

const atLeast = ({ value, from }: Compared) => `${value} >= ${from}`;
const below = ({ value, from }: Compared) => `${value} < ${from}`;
/** The exit and the entry of a condition whose value is 1 or 0. */
const holdsOrNot = {
  inside: atLeast,
  out: below,
  lookbackDays: 0,
  limits: () => ({ inFrom: 1, outFrom: 1 }),
} as const;
const withoutBefore = { lookbackDays: 0, parameters: {} } as const;
const halved = (limit: number) => ({ inFrom: limit, outFrom: limit / 2 });

/** Whether a condition compares the churn risk, which no entity has on a day without a model. */
export function isOfRisk({ kind }: DailyCondition): boolean {
  return kind === "riskBand" || kind === "riskUp";
}

/** Whether a condition is judged by rows of scores. */
export function isOfScores(condition: DailyCondition): condition is JudgedCondition {
  return condition.kind !== "keyEventUnseen";
}

/** How many days before a decided day a condition reads scores. */
export function lookbackOf(condition: DailyCondition): number {
  return isOfScores(condition) ? conditionSql(condition).lookbackDays : 0;
}
