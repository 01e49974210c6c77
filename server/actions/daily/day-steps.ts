/** The steps of rules on one scored day: the judgements of the engine, one after another, with the states
 * that the ledger keeps. */
import type { EntityStateRow } from "../../ledger/ledger.ts";
import type { EntityKind, ScoredOrganization } from "../../scoring/scoring.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { rangesOf } from "../rules/readings.ts";
import { judgements } from "../rules/readings-query.ts";
import { type Absent, absentAccounts, excludedAmong } from "../rules/standing.ts";
import {
  type EntityState,
  type Reading,
  type Standing,
  type Step,
  type StepRule,
  step,
  unknownEntity,
} from "../rules/step.ts";
import { dayQuery, type JudgedEntity, type RuleOfDay } from "./day-query.ts";
import type { Run } from "./due-days.ts";

/** The step of an entity on the day. */
export interface EntityStep {
  readonly number: number;
  readonly before: EntityState;
  readonly reading: Reading;
  readonly step: Step;
}

/** A rule on the day. */
export interface SteppingRule extends RuleOfDay {
  readonly times: StepRule;
  /** The states that it keeps, by number. */
  readonly states: ReadonlyMap<number, EntityStateRow>;
  /** Up to this number, included, entities are decided already. */
  readonly decidedUpto: number;
  /** Whether the day is taken over without alerts. */
  readonly takesOver: boolean;
  /** Whether an entity that came inside is there by settings. */
  readonly isBySettings: boolean;
}

export interface DayOfRules<Rule extends SteppingRule> {
  readonly organization: Omit<ScoredOrganization, "settings">;
  readonly kind: EntityKind;
  readonly run: Run;
  readonly last: Run | undefined;
  readonly rules: readonly Rule[];
}

/** Entities of a statement. Of four days these are a million rows. */
const entitiesOfStatement = 262_144;

/** The steps of each rule, in the order of numbers. Entities whose state stays have none. @throws
 * WarehouseError */
export async function stepsOfDay<Rule extends SteppingRule>(
  warehouse: Warehouse,
  { organization, kind, run, last, rules }: DayOfRules<Rule>,
): Promise<ReadonlyMap<Rule, EntityStep[]>> {
  const steps = new Map(rules.map((rule): [Rule, EntityStep[]] => [rule, []]));
  const followed = [...new Set(rules.flatMap(({ states }) => [...states.keys()]))];
  const absent = kind === "account" ? await absentAccounts(warehouse, organization) : undefined;
  const withRow = new Set<number>();
  const days = { firstDay: run.day, lastDay: run.day };
  const question = { organization: organization.id, kind, run, last, rules, followed };
  for (const from of await rangesOf(warehouse, { ...question, ...days }, entitiesOfStatement)) {
    const { sql, parameters } = dayQuery({
      ...question,
      numbers: { from, below: from + entitiesOfStatement },
    });
    for (const judged of await warehouse.rows<JudgedEntity>(sql, parameters)) {
      withRow.add(judged.entity);
      for (const [at, rule] of rules.entries()) {
        const code = judged.codes[at];
        // An entity without a state that is not inside stays without one.
        if (code !== judgements.inside && !rule.states.has(judged.entity)) continue;
        const reading = readingOf(rule, code, { day: run.day, judged, last, absent });
        const one = stepOf(rule, judged.entity, reading);
        if (one !== undefined) steps.get(rule)?.push(one);
      }
    }
  }
  const missing = followed.filter((number) => !withRow.has(number));
  const standings = await standingsOf(warehouse, organization.id, kind, missing, absent);
  for (const [rule, own] of steps) {
    for (const [number, standing] of standings) {
      const one = rule.states.has(number) ? stepOf(rule, number, absentOn(run.day, standing)) : undefined;
      if (one !== undefined) own.push(one);
    }
    own.sort((a, b) => a.number - b.number);
  }
  return steps;
}

interface Ground {
  readonly day: number;
  readonly judged: JudgedEntity;
  readonly last: Run | undefined;
  readonly absent: Absent | undefined;
}

/** Without a row of the last decided day, an entity is new, or it was excluded until then: it is included
 * again, and taken over. */
function readingOf(
  { takesOver, isBySettings }: SteppingRule,
  code: string | undefined,
  { day, judged: { entity, hadRow, isNew }, last, absent }: Ground,
): Reading {
  const standing = standingOf(entity, day, absent, code === judgements.churned);
  const isPresent = standing === "present";
  const isInside = isPresent && code === judgements.inside;
  const isBack = isInside && last !== undefined && !hadRow && !isNew;
  return {
    day,
    isInside,
    isInsideAsBefore: isInside && !isBySettings,
    isOut: isPresent && code === judgements.out,
    standing: isPresent && (takesOver || isBack) ? "adopted" : standing,
  };
}

function standingOf(entity: number, day: number, absent: Absent | undefined, hasChurned: boolean): Standing {
  if (absent?.excluded.has(entity) === true) return "excluded";
  if (hasChurned) return "churned";
  return day >= (absent?.goneSince.get(entity) ?? Number.POSITIVE_INFINITY) ? "gone" : "present";
}

/** The standings of those without a row of the day: excluded users, accounts whose members are all excluded,
 * and accounts without members close their alerts. Another account is there, and has a row no more because
 * the members who used it are excluded or have left. The state of other users stands still. */
async function standingsOf(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
  numbers: readonly number[],
  absent: Absent | undefined,
): Promise<readonly (readonly [number: number, standing: Standing])[]> {
  if (absent !== undefined) {
    return numbers.map((number): readonly [number, Standing] => {
      if (absent.excluded.has(number)) return [number, "excluded"];
      return [number, absent.goneSince.has(number) ? "gone" : "present"];
    });
  }
  const excluded = await excludedAmong(warehouse, organization, kind, numbers);
  return excluded.map((number) => [number, "excluded"]);
}

/** The reading of an entity without a row. One that is there is out. */
function absentOn(day: number, standing: Standing): Reading {
  return { day, isInside: false, isInsideAsBefore: false, isOut: standing === "present", standing };
}

/** Undefined for an entity that is decided already, or whose state stays. */
function stepOf(rule: SteppingRule, number: number, reading: Reading): EntityStep | undefined {
  if (number <= rule.decidedUpto) return undefined;
  const row = rule.states.get(number);
  const before: EntityState =
    row === undefined
      ? unknownEntity
      : {
          hasLeft: row.hasLeft,
          daysOut: row.daysOut,
          restsUntil: row.restsUntil,
          firedOn: row.firedOn,
        };
  const decided = step(rule.times, before, reading);
  const state = settled(decided.state, reading);
  const isSame = (Object.keys(state) as (keyof EntityState)[]).every((name) => state[name] === before[name]);
  const isForgotten =
    row === undefined && state.hasLeft && state.firedOn === null && state.restsUntil === null;
  if (decided.outcomes.length === 0 && (isSame || isForgotten)) return undefined;
  return { number, before, reading, step: { ...decided, state } };
}

/** A rest that is over by the next day is none. An excluded entity that is included again is taken over: it
 * fires when it has left. */
function settled(state: EntityState, { day, standing }: Reading): EntityState {
  const rests = state.restsUntil !== null && state.restsUntil > day + 1;
  return {
    ...state,
    restsUntil: rests ? state.restsUntil : null,
    ...(standing === "excluded" && { hasLeft: false }),
  };
}

/** The same step of an entity that is inside by settings. */
export function bySettings(rule: SteppingRule, { number, reading }: EntityStep): EntityStep | undefined {
  return stepOf(rule, number, { ...reading, isInsideAsBefore: false });
}

/** The same step of an entity whose state is taken over. */
export function adopted(rule: SteppingRule, { number, reading }: EntityStep): EntityStep | undefined {
  return stepOf(rule, number, { ...reading, standing: "adopted" });
}

/** Whether a step fires an alert. */
export function hasFired({ step: { outcomes } }: EntityStep): boolean {
  return outcomes.some(({ what }) => what === "fired");
}
