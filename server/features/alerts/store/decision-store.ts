/** Stores the decisions of alert rules: watermarks, states, alerts and their messages, a chunk in one
 * commit. */

import type { JsonObject } from "../../../../contract/json.ts";
import type { SenderName } from "../../../../contract/sources.ts";
import { forUpdate, ids } from "../../../ledger/dialect.ts";
import type { Engine } from "../../../ledger/engine.ts";
import {
  flag,
  integer,
  Json,
  json,
  nullable,
  part,
  RowOf,
  real,
  run,
  select,
  type Work,
  word,
} from "../../../ledger/sql.ts";
import {
  type EntitiesByNumber,
  type EntityInMessages,
  existing,
  findNamed,
  type RuleEntity,
} from "../../../ledger/stores/entity-rows.ts";
import { lockOrganization } from "../../../ledger/stores/organization-rows.ts";
import { addDeliveries, gather, type NewDelivery } from "../../../sending/delivery-store.ts";
import { addEntries, findKnownArms, holdOutOf } from "../control-groups/entries-store.ts";
import type { ArmsQuestion, HoldOut, KnownArms } from "../control-groups/experiments.ts";
import {
  addAlerts,
  closeAlerts,
  countSent,
  findIds,
  findInMessages,
  findOpenMoments,
  findToldOpen,
  findUnsent,
} from "./alert-rows.ts";
import { deleteStates, entityOfNumbers, isForgotten, keepStates } from "./alert-states.ts";
import {
  type AlertsInMessages,
  type AlertsOfCap,
  chunkAlerts,
  chunkRefused,
  type DecisionChunk,
  type DrawnChunk,
  type EntityStateRow,
  keyOfAlert,
  type OpenMoment,
  type RuleToDecide,
  type UnsentAlert,
  type Watermark,
} from "./decisions.ts";
import { bit, destinationsOf, type RuleRow, ruleColumns } from "./rule-store.ts";
import { isKept } from "./which-alerts.ts";

interface DecidedRow extends RuleRow {
  readonly sequence: number;
  readonly takesOver: boolean;
  readonly partDay: number | null;
  readonly partNumber: number | null;
  readonly cursor: JsonObject | null;
}
const decidedRow = new RowOf<DecidedRow>({
  ...ruleColumns,
  sequence: integer(),
  takesOver: flag(),
  partDay: nullable(integer()),
  partNumber: nullable(integer()),
  cursor: nullable(json()),
});

interface EntityRow {
  readonly userNumber: number;
  readonly accountNumber: number;
  readonly source: SenderName | "";
}
const entityFields = { userNumber: integer(), accountNumber: integer(), source: word<EntityRow["source"]>() };
const stateRow = new RowOf<Omit<EntityStateRow, "entity"> & EntityRow>({
  ...entityFields,
  hasLeft: flag(),
  daysOut: integer(),
  restsUntil: nullable(integer()),
  firedOn: nullable(integer()),
  value: nullable(real()),
});
const organizationRow = new RowOf<{ readonly organization: number }>({ organization: integer() });

const insideRow = new RowOf<{ readonly entities: number }>({
  entities: integer("CAST(coalesce(sum(inside_by_settings), 0) AS bigint)"),
});

/** The store of decisions. */
export function ruleDecisions(engine: Engine) {
  return {
    /** The organizations with rules that are not paused. */
    deciding: (): Promise<readonly number[]> =>
      engine.alone(
        (function* () {
          const rows = yield* select(organizationRow)`
            FROM alert_rules WHERE is_paused = 0 AND ${isKept} GROUP BY organization ORDER BY organization`;
          return rows.map(({ organization }) => organization);
        })(),
      ),

    /** The rules of an organization that are not paused. */
    toDecide: (organization: number): Promise<readonly RuleToDecide[]> =>
      engine.snapshot(toDecide(organization)),

    /** The states of a rule, in the order of the entities' numbers. @param afterNumber only of higher
     * numbers; -1 for all */
    states: (
      organization: number,
      rule: number,
      afterNumber: number,
      limit: number,
    ): Promise<readonly EntityStateRow[]> =>
      engine.alone(
        (function* () {
          const rows = yield* select(stateRow)`
            FROM alert_states WHERE organization = ${organization} AND rule = ${rule}
              AND user_number + account_number > ${afterNumber}
            ORDER BY user_number, account_number, source LIMIT ${limit}`;
          return rows.map(({ userNumber, accountNumber, source, ...state }) => ({
            ...state,
            entity: entityOfNumbers(userNumber, accountNumber, source),
          }));
        })(),
      ),

    /** The parts of the draw of entries. Another churn horizon than that of the rule's experiment begins the
     * next one.
     * @throws Refusal when the rule or its share is gone, or another node leads */
    holdOut: (organization: number, rule: number, horizonDays: number, nowMs: number): Promise<HoldOut> =>
      engine.leadingTransaction(function* () {
        const found = yield* holdOutOf(organization, rule, horizonDays, nowMs);
        if (found === undefined) throw chunkRefused();
        return found;
      }),

    /** The controls of a rule on a day and later, and the entries of an experiment, among these users and
     * accounts. */
    knownArms: (organization: number, of: ArmsQuestion, among: EntitiesByNumber): Promise<KnownArms> =>
      engine.snapshot(findKnownArms(organization, of, among)),

    /** How many of these alerts of a rule were in messages. */
    sentOn: (organization: number, rule: number, of: AlertsOfCap): Promise<number> =>
      engine.alone(countSent(organization, rule, of)),

    /** The alerts that a cap counts together, open and in no message yet, without controls. */
    unsent: (organization: number, rule: number, of: AlertsOfCap): Promise<readonly UnsentAlert[]> =>
      engine.alone(findUnsent(organization, rule, of)),

    /** The alerts of a rule with these ids, without controls, and without those that closed because of an
     * exclusion. Undefined without the rule.
     * @param today in the organization's timezone */
    inMessages: (
      organization: number,
      rule: number,
      alerts: readonly number[],
      today: number,
    ): Promise<AlertsInMessages | undefined> =>
      engine.snapshot(findInMessages(organization, rule, alerts, today)),

    /** Alerts of moments of a rule that are not closed, in the order of their ids. @param after only of
     * higher ids; 0 for all */
    openMoments: (
      organization: number,
      rule: number,
      after: number,
      limit: number,
    ): Promise<readonly OpenMoment[]> => engine.alone(findOpenMoments(organization, rule, after, limit)),

    /** Keys of the open alerts of a rule about these entities that were in a message, by `keyOfOpenAlert`:
     * only their ends are told. */
    toldOpen: (
      organization: number,
      rule: number,
      entities: readonly RuleEntity[],
    ): Promise<readonly string[]> => engine.alone(findToldOpen(organization, rule, entities)),

    /** Names of entities, by `keyOfEntity`. Those that are not there have none. */
    named: (
      organization: number,
      entities: readonly RuleEntity[],
    ): Promise<Readonly<Record<string, EntityInMessages>>> => engine.alone(findNamed(organization, entities)),

    /** How many entities came inside a rule only by other settings or another model, in decisions that were
     * committed from one instant to another, without it. */
    insideBySettings: (organization: number, fromMs: number, toMs: number): Promise<number> =>
      engine.alone(
        (function* () {
          const [found] = yield* select(insideRow)`
            FROM alert_rule_days WHERE organization = ${organization} AND decided_at_ms >= ${fromMs} AND decided_at_ms < ${toMs}`;
          return found?.entities ?? 0;
        })(),
      ),

    /**
     * Commits a chunk: the states, the alerts, the messages and the watermark, in one transaction.
     * @returns the watermark afterwards
     * @throws Refusal when the watermark is at another sequence, the rule is paused or gone, or another node
     * leads
     */
    commitDecision: async (chunk: DrawnChunk, atMs: number): Promise<Watermark> => {
      const nowMs = await engine.sharedNowMs(atMs);
      return engine.leadingTransaction(() => commit(chunk, nowMs));
    },
  };
}

export type RuleDecisions = ReturnType<typeof ruleDecisions>;

/** The next decision of all rules takes the present state over. */
export function takeOverRules() {
  return run`
    UPDATE alert_rules SET takes_over = 1, sequence = sequence + 1, part_day = NULL, part_number = NULL`;
}

function* toDecide(organization: number): Work<readonly RuleToDecide[]> {
  const rows = yield* select(decidedRow)`
    FROM alert_rules WHERE organization = ${organization} AND is_paused = 0 AND ${isKept} ORDER BY id`;
  const pairs = Map.groupBy(yield* destinationsOf(organization), ({ rule }) => rule);
  return rows.map((row) => {
    const { id: rule, name, version, experiment, createdAtMs, updatedAtMs, settings } = row;
    const { includeCurrent: _, steps: __, ...kept } = settings;
    const destinations = (pairs.get(rule) ?? []).map(({ destination }) => destination);
    return {
      version: {
        ...kept,
        organization,
        rule,
        name,
        version,
        experiment,
        createdAtMs,
        updatedAtMs,
        destinations,
      },
      watermark: watermarkOf(row),
    };
  });
}

function watermarkOf(row: DecidedRow): Watermark {
  const { sequence, version, decidedThrough, takesOver, cursor, partDay: day, partNumber } = row;
  const inPart = day === null || partNumber === null ? null : { day, uptoNumber: partNumber };
  return { sequence, version, decidedThrough, takesOver, cursor, part: inPart };
}

function* commit(chunk: DrawnChunk, nowMs: number): Work<Watermark> {
  const { organization, rule, next, fired, closed } = chunk;
  if (fired.length > chunkAlerts || closed.length > chunkAlerts) {
    throw new Error(`A chunk has more than ${chunkAlerts} alerts.`);
  }
  yield* lockOrganization(organization);
  const which = part`FROM alert_rules WHERE organization = ${organization} AND id = ${rule} AND ${isKept}`;
  const [before] = yield* select(decidedRow)`${which} ${forUpdate}`;
  const follows = before?.sequence === chunk.after && before.version === chunk.version && !before.isPaused;
  if (before === undefined || !follows) throw chunkRefused();
  yield* keepChunk(chunk, before.experiment, nowMs);
  yield* run`
    UPDATE alert_rules SET sequence = sequence + 1, decided_through = ${next.decidedThrough},
      part_day = ${next.part?.day ?? null}, part_number = ${next.part?.uptoNumber ?? null},
      takes_over = ${bit(before.takesOver && next.part !== null)},
      cursor = ${next.cursor === null ? null : Json.of(next.cursor)}
    WHERE id = ${rule}`;
  const [after] = yield* select(decidedRow)`${which}`;
  if (after === undefined) throw new Error("The rule of a chunk is not there.");
  return watermarkOf(after);
}

/** Entities that an erasure deleted meanwhile get neither states nor alerts. */
function* keepChunk(chunk: DrawnChunk, experiment: number, nowMs: number): Work<void> {
  const { organization, rule, version, states, closed } = chunk;
  const named = [...states, ...chunk.fired].map(({ entity }) => entity);
  const isThere = yield* existing(organization, named);
  const kept = states.filter(({ entity }) => isThere(entity));
  const [forgotten, changed] = [
    kept.filter((state) => isForgotten(state, dayOf(chunk))),
    kept.filter((state) => !isForgotten(state, dayOf(chunk))),
  ];
  yield* deleteStates(rule, forgotten);
  yield* keepStates(organization, rule, changed);
  const fired = chunk.fired.filter(({ entity }) => isThere(entity));
  yield* addAlerts({ organization, rule, version, experiment }, fired, nowMs);
  yield* addEntries({ organization, rule, experiment }, fired);
  yield* countInside(chunk, nowMs);
  yield* addMessages(chunk, nowMs);
  yield* closeAlerts(rule, closed, nowMs);
}

/** Adds the messages of a chunk, or its alerts to a message that waits. */
function* addMessages(
  { organization, rule, messages, earlier, after }: DrawnChunk,
  nowMs: number,
): Work<void> {
  if (messages.length === 0) return;
  const sent = earlier.map(keyOfAlert);
  const idOf = yield* findIds(rule, [...sent, ...messages.flatMap(({ alerts }) => alerts)]);
  const marked = ids(sent.flatMap((alert) => idOf(alert) ?? []));
  yield* run`UPDATE alerts SET is_sent = 1 WHERE id IN (SELECT id FROM ${marked}) AND closed_day IS NULL`;
  const added: NewDelivery[] = [];
  for (const { destination, message, alerts: all, total, cap, dueAtMs, isGathered } of messages) {
    const alerts = all.flatMap((alert) => idOf(alert) ?? []);
    const about = { rule, alerts, total: total - (all.length - alerts.length), cap };
    if (about.total === 0) continue;
    const delivery = { destination, message: { ...message, body: "" }, about, dueAtMs };
    if (!isGathered) added.push(delivery);
    else if (!(yield* gather(delivery, about))) {
      const [gathering] = yield* addDeliveries(organization, [delivery], nowMs);
      // It is being sent, or was: these alerts have a message of their own.
      const messageId = `${message.messageId}_${after}`;
      if (gathering === undefined) added.push({ ...delivery, message: { ...delivery.message, messageId } });
    }
  }
  yield* addDeliveries(organization, added, nowMs);
}

/** Counts entities that came inside only by settings. The chunks of a day are counted together. */
function* countInside(chunk: DrawnChunk, nowMs: number): Work<void> {
  const { organization, rule, insideBySettings } = chunk;
  if (insideBySettings === 0) return;
  yield* run`
    INSERT INTO alert_rule_days (organization, rule, day, inside_by_settings, decided_at_ms)
    VALUES (${organization}, ${rule}, ${dayOf(chunk)}, ${insideBySettings}, ${nowMs})
    ON CONFLICT (rule, day) DO UPDATE SET
      inside_by_settings = alert_rule_days.inside_by_settings + excluded.inside_by_settings`;
}

/** The day that a chunk decides. */
function dayOf({ next }: Pick<DecisionChunk, "next">): number {
  return next.part?.day ?? next.decidedThrough ?? 0;
}
