/**
 * Decides rules: computes the steps from a rule's watermark to today, and commits them in chunks. The watermark says what is next, so a decision
 * that was cut off between two commits goes on where it stood. See docs/decisions/0086.
 */
import { zoneOf } from "../../calendar/calendar.ts";
import type {
  DecisionChunk,
  EntityStateRow,
  Organization,
  RuleDecisions,
  RuleToDecide,
  RuleVersion,
  Watermark,
} from "../../ledger/ledger.ts";
import {
  type EntityKind,
  type RunBody,
  rulesKey,
  runsBetween,
  type ScoreRecord,
  type SourceWatch,
} from "../../scoring/scoring.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { SeenOwners } from "../moments/seen-owners.ts";
import { type BulkParts, isAfterBulkChange } from "./bulk-changes.ts";
import { chunksOf, type EntityDecision } from "./chunks.ts";
import { type DailyCondition, isOfScores, lookbackOf } from "./conditions.ts";
import { type FiringParts, factsOf, firingFigures } from "./facts.ts";
import { exitDaysOfScores } from "./preview.ts";
import { readingsOf } from "./readings.ts";
import { type DailyRuleCondition, type OfSegments, readingsByScope, segmentsOfRule } from "./segments.ts";
import { absentAccounts, excludedAmong } from "./standing.ts";
import { type EntityState, type Reading, type Standing, type Step, step, unknownEntity } from "./step.ts";

type Run = ScoreRecord<RunBody>;

/** The stores of a decision, and its clock. */
export interface DecisionParts extends FiringParts, BulkParts {
  readonly rules: Pick<RuleDecisions, "toDecide" | "states" | "openMoments">;
  /** Draws and words the alerts of a chunk, and commits it. @throws Refusal when it does not follow the watermark */
  readonly commit: (rule: RuleVersion, chunk: DecisionChunk) => Promise<Watermark>;
  /** The newest finished run as of a day or before. */
  readonly newestRun: (
    organization: number,
    kind: EntityKind,
    uptoDay: number,
  ) => Promise<ScoreRecord<RunBody> | undefined>;
  /** The churn horizon. */
  readonly horizonOf: (organization: Organization) => Promise<number>;
  readonly sources: Pick<SourceWatch, "statuses">;
  readonly seenOwners: SeenOwners;
  /** Batches of users' rows that were loaded since the start. */
  readonly loadedUserBatches: (organization: number) => number;
  readonly nowMs: () => number;
}

/** States that are read together. */
const statesOfPage = 10_000;

/** Decides one rule on all scored days after its watermark. Does nothing while no new day is scored. A new rule, and one that
 * takes the state over, begins with the newest scored day. So does each decision of a rule about a segment, which is read as of now. */
export async function decideDays(
  parts: DecisionParts,
  organization: Organization,
  { version, watermark: stored }: RuleToDecide,
  saved: DailyRuleCondition,
): Promise<Watermark> {
  const zone = zoneOf(organization.timezone);
  const today = zone.dayOf(parts.nowMs());
  const watermark = notOfFuture(stored, today);
  const kind: EntityKind = version.scope.kind === "users" ? "user" : "account";
  const decidedThrough = watermark.decidedThrough ?? today - 1;
  // A look each ten seconds reads this alone.
  const newest = await parts.newestRun(organization.id, kind, today);
  if (newest === undefined || newest.day <= decidedThrough || newest.body.awaitsTraining) return stored;
  const segments = await segmentsOfRule(parts, organization, version, saved);
  const { condition } = segments;
  const firstDay = Math.min(decidedThrough, today - 1) - lookbackOf(condition) - earlierDays;
  const runs = await runsBetween(
    parts.warehouse,
    { organization: organization.id, kind },
    { fromDay: firstDay, toDay: today },
  );
  const due = runs.filter(({ day }) => day > decidedThrough);
  const isDecidedBefore = wereDecidedBefore(watermark, newest.day, due);
  const isNewestOnly =
    watermark.takesOver ||
    isDecidedBefore ||
    watermark.decidedThrough === null ||
    condition.kind === "inSegment" ||
    version.scope.segment !== undefined;
  const days = isNewestOnly ? due.slice(-1) : due;
  const last = runs.findLast(({ day }) => day <= decidedThrough);
  // A rule that is new decides as its settings say: it compares with no day.
  const hasChanged =
    last !== undefined &&
    watermark.decidedThrough !== null &&
    (await isAfterBulkChange(parts, organization.id, { runs, last, segments }));
  let now = watermark;
  for (const [at, run] of days.entries()) {
    const takesOver = now.takesOver || (at === 0 && (hasChanged || isDecidedBefore));
    now = await decideDay(
      parts,
      organization,
      { version, watermark: { ...now, takesOver } },
      { segments, kind, run, runs, through: at === 0 ? stored.decidedThrough : now.decidedThrough },
    );
  }
  return now;
}

/** A day that another timezone began earlier. */
const aheadDays = 1;

/** A watermark of the future is not trusted, because the clock was ahead then or is set back now: the rule goes on from today, and takes
 * its state over. The cursor keeps the day that was decided. */
function notOfFuture(watermark: Watermark, today: number): Watermark {
  const { decidedThrough, part } = watermark;
  const decidedUpto = Math.max(decidedThrough ?? 0, part?.day ?? 0);
  if (decidedUpto <= today + aheadDays) return watermark;
  return { ...watermark, decidedThrough: null, part: null, takesOver: true, cursor: { decidedUpto } };
}

/** Whether the clock was set back, and has come again to the day that was decided before: days until then would fire anew. */
function wereDecidedBefore({ cursor }: Watermark, newestDay: number, due: readonly Run[]): boolean {
  const decidedUpto = cursor?.decidedUpto;
  if (typeof decidedUpto !== "number" || newestDay < decidedUpto) return false;
  return due.some(({ day }) => day < decidedUpto);
}

/** As far back as readings look for the last decided day. */
const earlierDays = 28;

interface DayQuestion {
  readonly segments: OfSegments;
  readonly kind: EntityKind;
  /** Of the day. */
  readonly run: Run;
  /** The runs before it, too. */
  readonly runs: readonly Run[];
  /** `decidedThrough` as it is stored, until the day is decided for all. */
  readonly through: number | null;
}

async function decideDay(
  parts: DecisionParts,
  organization: Organization,
  { version, watermark }: RuleToDecide,
  question: DayQuestion,
): Promise<Watermark> {
  const { segments, kind, run, runs } = question;
  const { condition } = segments;
  const { day } = run;
  const states = await statesOf(parts.rules, version, kind);
  const zoned = { id: organization.id, zone: zoneOf(organization.timezone) };
  const { entities } = await readingsOf(parts.warehouse, {
    ...{ organization: zoned, kind, condition },
    ...{ fromDay: day, toDay: day, decidedThrough: watermark.decidedThrough },
    ...{ takesOver: watermark.takesOver, followed: [...states.keys()] },
  });
  const readings = new Map(
    [...entities].flatMap(({ entity, readings: [reading] }) =>
      reading === undefined ? [] : ([[entity, reading]] as const),
    ),
  );
  const missing = [...states.keys()].filter((number) => !readings.has(number));
  for (const [number, standing] of await standingsOf(parts.warehouse, zoned, kind, missing)) {
    readings.set(number, absentOn(day, standing));
  }
  const from = watermark.part?.day === day ? watermark.part.uptoNumber : -1;
  const rule = {
    cooldownDays: version.cooldownDays ?? run.body.settings.churnHorizonDays,
    exitDays: condition.kind === "inSegment" ? 1 : exitDaysOfScores,
  };
  const last = runs.findLast((one) => one.day <= (watermark.decidedThrough ?? day - 1));
  const areRulesOther = last !== undefined && rulesKey(last) !== rulesKey(run);
  const steps = [...readingsByScope(readings, segments, { followed: states, areRulesOther })]
    .filter(([number]) => number > from)
    .sort(([a], [b]) => a - b)
    .map(([number, reading]) => stepOf(rule, number, states, reading))
    .filter((one) => one !== undefined);
  const decisions = await described(parts, organization, version, question, steps);
  let now = watermark;
  for (const { uptoNumber, ...contents } of chunksOf(decisions)) {
    const isLast = uptoNumber === null;
    now = await parts.commit(version, {
      ...{ organization: organization.id, rule: version.rule, version: version.version, after: now.sequence },
      next: {
        decidedThrough: isLast ? day : question.through,
        part: isLast ? null : { day, uptoNumber },
        cursor: now.cursor,
      },
      horizonDays: run.body.settings.churnHorizonDays,
      ...contents,
    });
  }
  return now;
}

/** The states of users or of accounts that a rule keeps, by number. */
async function statesOf(
  rules: DecisionParts["rules"],
  { organization, rule }: RuleVersion,
  kind: EntityKind,
): Promise<ReadonlyMap<number, EntityStateRow>> {
  const states = new Map<number, EntityStateRow>();
  for (let after = -1; ; ) {
    const page = await rules.states(organization, rule, after, statesOfPage);
    for (const state of page) {
      if (state.entity.kind === "source") continue;
      after = state.entity.number;
      if (state.entity.kind === kind) states.set(state.entity.number, state);
    }
    if (page.length < statesOfPage) return states;
  }
}

/** Those without a row of the day that close their alerts: excluded users, accounts whose members are all excluded, and accounts without
 * members. The state of others stands still. */
async function standingsOf(
  warehouse: Warehouse,
  organization: Parameters<typeof absentAccounts>[1],
  kind: EntityKind,
  numbers: readonly number[],
): Promise<readonly (readonly [number: number, standing: Standing])[]> {
  if (numbers.length === 0) return [];
  if (kind === "account") {
    const { excluded, goneSince } = await absentAccounts(warehouse, organization);
    return numbers.flatMap((number): (readonly [number, Standing])[] => {
      if (excluded.has(number)) return [[number, "excluded"]];
      return goneSince.has(number) ? [[number, "gone"]] : [];
    });
  }
  const excluded = await excludedAmong(warehouse, organization.id, kind, numbers);
  return excluded.map((number) => [number, "excluded"]);
}

function absentOn(day: number, standing: Standing): Reading {
  return { day, isInside: false, isInsideAsBefore: false, isOut: false, standing };
}

interface EntityStep {
  readonly number: number;
  readonly before: EntityState;
  readonly step: Step;
}

/** Undefined for an entity whose state stays. */
function stepOf(
  rule: Parameters<typeof step>[0],
  number: number,
  states: ReadonlyMap<number, EntityStateRow>,
  reading: Reading,
): EntityStep | undefined {
  const row = states.get(number);
  const before: EntityState =
    row === undefined
      ? unknownEntity
      : {
          ...{ hasLeft: row.hasLeft, daysOut: row.daysOut },
          ...{ restsUntil: row.restsUntil, firedOn: row.firedOn },
        };
  const decided = step(rule, before, reading);
  const state = settled(decided.state, reading);
  const isSame = (Object.keys(state) as (keyof EntityState)[]).every((name) => state[name] === before[name]);
  const isForgotten =
    row === undefined && state.hasLeft && state.firedOn === null && state.restsUntil === null;
  if (decided.outcomes.length === 0 && (isSame || isForgotten)) return undefined;
  return { number, before, step: { ...decided, state } };
}

/** A rest that is over by the next day is none. An excluded entity that is included again is taken over: it fires when it has left. */
function settled(state: EntityState, { day, standing }: Reading): EntityState {
  const rests = state.restsUntil !== null && state.restsUntil > day + 1;
  return {
    ...state,
    restsUntil: rests ? state.restsUntil : null,
    ...(standing === "excluded" && { hasLeft: false }),
  };
}

/** The steps with the figures of their alerts. */
async function described(
  parts: DecisionParts,
  organization: Organization,
  { exemptions }: RuleVersion,
  { segments: { condition }, kind, run, runs }: DayQuestion,
  steps: readonly EntityStep[],
): Promise<EntityDecision[]> {
  const firing = steps.filter(({ step: { outcomes } }) => outcomes.some(({ what }) => what === "fired"));
  const facts = await factsOf(parts.warehouse, {
    ...{ organization: organization.id, kind, condition, run },
    before: comparedRun(condition, run, runs),
    entities: steps.map(({ number }) => number),
  });
  const fired = firing.map(({ number }) => number);
  const figuresOfFiring = await firingFigures(parts, organization, exemptions, {
    kind,
    entities: fired,
    facts,
  });
  return steps.map(({ number, before: was, step: { state, outcomes } }) => {
    const entity = { kind, number };
    const { before = null, after = null, reasons = [] } = facts.get(number) ?? {};
    return {
      number,
      state: isKept(state) || isKept(was) ? { entity, ...state, value: after } : null,
      fired: outcomes.flatMap((outcome) =>
        outcome.what !== "fired"
          ? []
          : [
              {
                ...{ entity, day: outcome.day, eventId: null, before, after },
                ...{ reasons, ...figuresOfFiring(number) },
              },
            ],
      ),
      closed: outcomes.flatMap((outcome) => {
        if (outcome.what !== "closed") return [];
        const { day, firedOn, why } = outcome;
        return [{ entity, day, firedOn, why }];
      }),
      insideBySettings: outcomes.filter(({ what }) => what === "inside by settings").length,
    };
  });
}

/** Entities in the other states have no row. */
function isKept({ hasLeft, firedOn, restsUntil }: EntityState): boolean {
  return !hasLeft || firedOn !== null || restsUntil !== null;
}

/** The last run before, or that of the day which a change is compared with. */
function comparedRun(condition: DailyCondition, { day }: Run, runs: readonly Run[]): Run | undefined {
  const lookback = isOfScores(condition) ? lookbackOf(condition) : 0;
  return runs.findLast((run) => (lookback === 0 ? run.day < day : run.day <= day - lookback));
}
