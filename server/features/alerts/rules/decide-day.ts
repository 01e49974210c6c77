/** Decides one scored day for several rules, reads the figures of their alerts together, and commits each
 * rule in chunks. */

import { isOpportunity } from "../../../../contract/alerts/rules.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { Watermark } from "../store/decisions.ts";
import { crossedByWeights } from "./by-weights.ts";
import { type MemberParts, type RuleOfMembers, withoutChangedMembers } from "./changed-members.ts";
import { chunksOf, type EntityDecision } from "./chunks.ts";
import { followsModel } from "./conditions.ts";
import { bySettings, type DayOfRules, type EntityStep, hasFired, stepsOfDay } from "./day-steps.ts";
import { cursorAfter } from "./decided-by.ts";
import type { DecisionParts } from "./decision-parts.ts";
import type { DueRule, Run } from "./due-days.ts";
import { type AlertFacts, type FiringParts, factsOf, firingFigures, scoreFigures, worthOf } from "./facts.ts";
import { rowOf } from "./states.ts";
import type { EntityState } from "./step.ts";

/** A rule that decides a day. */
export interface RuleOnDay extends RuleOfMembers {
  readonly due: DueRule;
  /** The run whose rows are scored again by the model of the day for entities that would fire, to tell a
   * change of the entity from a refit of the model. Undefined where no refit lies between them. */
  readonly reference: Run | undefined;
  readonly watermark: Watermark;
  /** The stored `decidedThrough`, which stays until all entities of the day are decided. */
  readonly through: number | null;
}

export type Day = DayOfRules<RuleOnDay>;

/** The decisions of each rule about one day, in the order of numbers. Nothing is stored.
 * @throws WarehouseError, and ApiError when an exempt segment is not there */
export async function decisionsOfDay(
  parts: FiringParts & MemberParts,
  organization: Organization,
  day: Day,
): Promise<ReadonlyMap<RuleOnDay, EntityDecision[]>> {
  const all = await withoutChangedMembers(parts, day, await stepsOfDay(parts.warehouse, day));
  const steps = await withoutWeights(parts, day, all);
  const facts = await factsOfSteps(parts, day, steps);
  const fired = [...steps].flatMap(([, own]) => own.filter(hasFired).map(({ number }) => number));
  const worth = await worthOf(parts, organization, day.kind, [...new Set(fired)]);
  const decisions = new Map<RuleOnDay, EntityDecision[]>();
  for (const [rule, own] of steps) {
    const firing = own.filter(hasFired).map(({ number }) => number);
    const ofRule = facts.get(rule) ?? new Map<number, AlertFacts>();
    const { exemptions, condition } = rule.due.version;
    const about = { facts: ofRule, worth, isGain: isOpportunity(condition) };
    const figures = await firingFigures(parts, organization, exemptions, firing, about);
    decisions.set(
      rule,
      own.map((one) => decisionOf(day, rule, one, ofRule.get(one.number), figures)),
    );
  }
  return decisions;
}

/** Marks users and accounts that match only because the model was fitted again. All rules with one reference
 * are judged in one statement. */
async function withoutWeights(
  { warehouse }: FiringParts,
  { organization, kind, run }: Day,
  steps: ReadonlyMap<RuleOnDay, EntityStep[]>,
): Promise<ReadonlyMap<RuleOnDay, EntityStep[]>> {
  const judged = new Map(steps);
  const changed = [...steps].flatMap(([rule, own]) => {
    const { condition, takesOver, reference } = rule;
    const firing = own.filter(hasFired).map(({ number }) => number);
    if (!followsModel(condition)) return [];
    if (takesOver || reference === undefined || firing.length === 0) return [];
    return [{ rule, own, condition, reference, firing }];
  });
  for (const some of Map.groupBy(changed, ({ reference }) => reference.day).values()) {
    const [{ reference }] = some as [(typeof some)[number]];
    const entities = [...new Set(some.flatMap(({ firing }) => firing))];
    const conditions = some.map(({ condition }) => condition);
    const crossing = { organization, kind, run, reference, entities };
    const byWeights = await crossedByWeights(warehouse, conditions, crossing);
    for (const [at, { rule, own }] of some.entries()) {
      const isByWeights = (one: EntityStep) => hasFired(one) && byWeights[at]?.has(one.number) === true;
      judged.set(
        rule,
        own.flatMap((one) => (isByWeights(one) ? (bySettings(rule, one) ?? []) : [one])),
      );
    }
  }
  return judged;
}

/** The run whose values the day is compared with. */
function comparedRun({ before }: RuleOnDay, last: Run | undefined): Run | undefined {
  return before ?? last;
}

/** The facts of entities with a score row of the day. */
async function factsOfSteps(
  { warehouse }: FiringParts,
  { organization: { id }, kind, run, last }: Day,
  steps: ReadonlyMap<RuleOnDay, EntityStep[]>,
): Promise<ReadonlyMap<RuleOnDay, ReadonlyMap<number, AlertFacts>>> {
  const numbersOf = (all: Iterable<readonly EntityStep[]>) => [
    ...new Set([...all].flatMap((own) => own.map(({ number }) => number))),
  ];
  const figures = (of: Run, numbers: readonly number[]) => scoreFigures(warehouse, id, kind, of, numbers);
  const now = await figures(run, numbersOf(steps.values()));
  const facts = new Map<RuleOnDay, ReadonlyMap<number, AlertFacts>>();
  for (const some of Map.groupBy(steps, ([rule]) => comparedRun(rule, last)?.day).values()) {
    const [[first]] = some as [(typeof some)[number]];
    const of = comparedRun(first, last);
    const before = of === undefined ? undefined : await figures(of, numbersOf(some.map(([, own]) => own)));
    for (const [rule, own] of some) {
      const ofRule = own.flatMap(({ number }): [number, AlertFacts][] => {
        const figuresNow = now.get(number);
        if (figuresNow === undefined) return [];
        return [[number, factsOf(rule.condition, figuresNow, before?.get(number))]];
      });
      facts.set(rule, new Map(ofRule));
    }
  }
  return facts;
}

function decisionOf(
  { kind }: Day,
  { takesOver }: RuleOnDay,
  { number, before: was, reading, step: { state, outcomes } }: EntityStep,
  facts: AlertFacts | undefined,
  figuresOfFiring: Awaited<ReturnType<typeof firingFigures>>,
): EntityDecision {
  const entity = { kind, number };
  const { before = null, after = null, reasons = [] } = facts ?? {};
  return {
    number,
    state: isKept(state) || isKept(was) ? rowOf(entity, state, after) : null,
    fired: outcomes.flatMap((outcome) => {
      if (outcome.what !== "fired") return [];
      const values = { before, after, reasons, ...figuresOfFiring(number) };
      return [{ entity, day: outcome.day, eventId: null, ...values }];
    }),
    closed: outcomes.flatMap((outcome) => {
      if (outcome.what !== "closed") return [];
      const { day, firedOn, why } = outcome;
      return [{ entity, day, firedOn, why }];
    }),
    insideBySettings:
      takesOver && reading.isInside && was.isArmed
        ? 1
        : outcomes.filter(({ what }) => what === "inside by settings").length,
  };
}

/** Whether a state needs a row: without one, an entity counts as `unknownEntity`. */
function isKept({ isArmed, firedOn, restsUntil }: EntityState): boolean {
  return !isArmed || firedOn !== null || restsUntil !== null;
}

/** Commits the decisions of a rule about a day. @returns its watermark afterwards @throws Refusal when it was
 * decided or changed meanwhile */
export async function commitDay(
  parts: Pick<DecisionParts, "commit">,
  { due: { version }, watermark, through }: RuleOnDay,
  { run, timezone }: { readonly run: Run; readonly timezone: string },
  decisions: readonly EntityDecision[],
): Promise<Watermark> {
  const { day, body } = run;
  let now = watermark;
  for (const { uptoNumber, ...contents } of chunksOf(decisions)) {
    const isLast = uptoNumber === null;
    now = await parts.commit(version, {
      organization: version.organization,
      rule: version.rule,
      version: version.version,
      after: now.sequence,
      next: {
        decidedThrough: isLast ? day : through,
        part: isLast ? null : { day, uptoNumber },
        cursor: isLast ? cursorAfter(now.cursor, run, timezone) : now.cursor,
      },
      horizonDays: body.settings.churnHorizonDays,
      ...contents,
    });
  }
  return now;
}
