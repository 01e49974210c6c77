/** The steps of rules on one scored day, from the judgements of the engine and the states in the ledger. */

import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { ScoredOrganization } from "../../../scoring/run/population.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { EntityStateRow } from "../store/decisions.ts";
import { dayQuery, type JudgedEntity, type RuleOfDay } from "./day-query.ts";
import type { Run } from "./due-days.ts";
import { rangesOf } from "./readings.ts";
import { judgements } from "./readings-query.ts";
import { type Absent, absentAccounts, excludedAmong } from "./standing.ts";
import { stateOf } from "./states.ts";
import {
  type EntityState,
  type Reading,
  type Standing,
  type Step,
  type StepRule,
  step,
  unknownEntity,
} from "./step.ts";

/** What a rule decides about an entity on the day. */
export interface EntityStep {
  readonly number: number;
  readonly before: EntityState;
  readonly reading: Reading;
  readonly step: Step;
}

/** A rule that decides the day. */
export interface SteppingRule extends RuleOfDay {
  readonly times: StepRule;
  /** The states that it keeps, by number. */
  readonly states: ReadonlyMap<number, EntityStateRow>;
  /** Entities with a number up to this one (inclusive) are decided already. */
  readonly decidedUpto: number;
  /** Whether the day is taken over without alerts. */
  readonly takesOver: boolean;
  /** Whether every entity that came inside did so by a change of settings, of the kind of model, or of the
   * past as a whole. */
  readonly isBySettings: boolean;
}

export interface DayOfRules<Rule extends SteppingRule> {
  readonly organization: Omit<ScoredOrganization, "settings">;
  readonly kind: EntityKind;
  readonly run: Run;
  readonly last: Run | undefined;
  readonly rules: readonly Rule[];
}

/** Entities of a statement: with the days that rules compare, a million rows. */
const entitiesOfStatement = 262_144;

/** The steps of each rule, by the number of the entity. An entity whose state does not change has no step.
 * @throws WarehouseError */
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
        // An entity that is outside and has no state needs none.
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

/** The reading of an entity with a score row. Without a row of the last decided day it is new, or it was
 * excluded until then: an entity that is included again is taken over. */
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

/** The standings of entities without a score row of the day. Excluded users, accounts whose members are all
 * excluded, and accounts without members close their alerts. An account can exist without a score row: its
 * active members left or were excluded. Users without a row keep their state. */
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

/** The reading of an entity without a score row: out, where the entity still exists. */
function absentOn(day: number, standing: Standing): Reading {
  return { day, isInside: false, isInsideAsBefore: false, isOut: standing === "present", standing };
}

/** Decides an entity. @returns undefined when it is decided already, or its state does not change */
function stepOf(rule: SteppingRule, number: number, reading: Reading): EntityStep | undefined {
  if (number <= rule.decidedUpto) return undefined;
  const row = rule.states.get(number);
  const before = row === undefined ? unknownEntity : stateOf(row);
  const decided = step(rule.times, before, reading);
  const state = settled(decided.state, reading);
  const isSame = (Object.keys(state) as (keyof EntityState)[]).every((name) => state[name] === before[name]);
  const isForgotten =
    row === undefined && state.isArmed && state.firedOn === null && state.restsUntil === null;
  if (decided.outcomes.length === 0 && (isSame || isForgotten)) return undefined;
  return { number, before, reading, step: { ...decided, state } };
}

/** The state as it is kept: a rest that is over by the next day is dropped, and a rule is not armed for an
 * excluded entity. When the entity is included again, it has to leave before the rule can fire. */
function settled(state: EntityState, { day, standing }: Reading): EntityState {
  const rests = state.restsUntil !== null && state.restsUntil > day + 1;
  return {
    ...state,
    restsUntil: rests ? state.restsUntil : null,
    ...(standing === "excluded" && { isArmed: false }),
  };
}

/** The step again, if the entity is inside only because the model was fitted again. */
export function bySettings(rule: SteppingRule, { number, reading }: EntityStep): EntityStep | undefined {
  return stepOf(rule, number, { ...reading, isInsideAsBefore: false });
}

/** The step again, if the state of the entity is taken over without an alert. */
export function adopted(rule: SteppingRule, { number, reading }: EntityStep): EntityStep | undefined {
  return stepOf(rule, number, { ...reading, standing: "adopted" });
}

/** Whether a step fires an alert. */
export function hasFired({ step: { outcomes } }: EntityStep): boolean {
  return outcomes.some(({ what }) => what === "fired");
}
