/** MRR now of accounts, or of users who pay without an account, beside their churn risks. */
import {
  type Calibration,
  drawnRecalibrations,
  type Exposure,
  revenueAtRisk,
} from "../../revenue/revenue-at-risk.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import { type OfRun, risksOfRun } from "../../scoring/queries/lists/reading.ts";
import { uniformFrom } from "../../scoring/statistics/random.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { Sql } from "../sql.ts";
import { expectedLossSql, payersSql } from "./payers-now.ts";
import type { RevenueQuestion } from "./steps.ts";

export interface AtRiskQuestion extends RevenueQuestion {
  readonly kind: EntityKind;
  /** The newest run; undefined before the first. Then no payer has a risk. */
  readonly scored: ScoredRun | undefined;
  /** From this churn risk on, the risk is high. */
  readonly highRisk: number;
  /** Only if the churn risk is that of losing the subscription: then MRR is multiplied by it. */
  readonly loss: LossQuestion | null;
  readonly nowMs: number;
  readonly limit: number;
  /** The numbers of controls of a hold-out: they are in the sums and not in the rows. */
  readonly controls?: readonly number[];
}

export interface ScoredRun {
  readonly run: OfRun;
  /** The start of its day: payers are scored as of then. */
  readonly atMs: number;
  /** False when no model is good enough. */
  readonly hasModel: boolean;
}

export interface LossQuestion {
  /** The end of the horizon of churn risks. */
  readonly untilMs: number;
  /** Later ends count until then. */
  readonly laterMs: number;
  /** Of the back-test; null without one. Then risks count as calibrated. */
  readonly calibration: Calibration | null;
}

export interface PayerAtRisk {
  readonly id: string;
  readonly name: string;
  readonly mrr: number;
  /** 1 when all of the MRR ends within the horizon as scheduled. Null without a churn risk: then the expected
   * loss is the scheduled part. */
  readonly risk: number | null;
  /** MRR that ends within the horizon as scheduled. */
  readonly scheduled: number;
  /** Null unless the churn risk is that of losing the subscription. */
  readonly expectedLoss: number | null;
  /** MRR that ends as scheduled after the horizon, within the days of the call list. */
  readonly laterMrr: number;
}

export interface MrrAtRisk {
  readonly mrr: number;
  readonly payers: number;
  readonly mrrWithRisk: number;
  readonly payersWithRisk: number;
  readonly highRiskMrr: number;
  readonly highRiskPayers: number;
  /** The payers without a risk, by the reason. The reason with the highest MRR comes first. */
  readonly withoutRisk: readonly WithoutRisk[];
  /** Null unless the churn risk is that of losing the subscription. */
  readonly expectedLoss: {
    readonly mrr: number;
    /** Those with a churn risk or a scheduled end. */
    readonly payers: number;
    /** The part of it that is scheduled, and no prediction. */
    readonly scheduledMrr: number;
    readonly low: number;
    readonly high: number;
    /** MRR that ends as scheduled after the horizon. It is in no other figure. */
    readonly laterMrr: number;
    readonly laterPayers: number;
  } | null;
  /** With an expected loss in the order of the call list: by MRR that ends as scheduled, also after the
   * horizon, and churn risk × the other MRR. Else those with a high risk. Without controls. */
  readonly rows: readonly PayerAtRisk[];
}

/** The first that holds. `no_model`: no model is good enough, or there are no scores yet. `new`: no MRR at
 * the time of the scores. `churned`: the churn target was met. `unused`: no activity in 26 weeks. */
const withoutRiskReasons = ["no_model", "new", "churned", "unused"] as const;

export interface WithoutRisk {
  readonly reason: (typeof withoutRiskReasons)[number];
  readonly payers: number;
  readonly mrr: number;
}

/** The seed is fixed, so that the interval of equal payers is always equal. */
const seed = 90;

type Top = readonly [order: number, entity: number, mrr: number, risk: number | null, scheduled: number];

interface Totals extends Omit<MrrAtRisk, "mrr" | "expectedLoss" | "rows" | "withoutRisk"> {
  /** In the order of the rows. */
  readonly top: readonly Top[];
  readonly mrrWithout: Partial<Record<WithoutRisk["reason"], number>>;
  readonly payersWithout: Partial<Record<WithoutRisk["reason"], number>>;
  readonly total: number;
  readonly payersWithLoss: number;
  readonly scheduledTotal: number;
  /** Of payers with a risk: MRR that no schedule ends, and the risk. */
  readonly mrrs: readonly number[];
  readonly risks: readonly number[];
}

/** The sums, and the payers that they are about. @throws WarehouseError */
export async function mrrAtRisk(warehouse: Warehouse, question: AtRiskQuestion): Promise<MrrAtRisk> {
  const { loss, highRisk, limit, controls = [], kind, organization } = question;
  const { text, parameters } = riskOfPayers(question);
  const isHigh = "ifNull(risk >= {highRisk:Float64}, false)";
  const hasRisk = "isNotNull(risk)";
  const exposures =
    loss === null
      ? "[] AS mrrs, [] AS risks"
      : `groupArrayIf(mrr - scheduled, ${hasRisk}) AS mrrs, groupArrayIf(assumeNotNull(risk), ${hasRisk}) AS risks`;
  const hasLoss = "isNotNull(loss)";
  const [order, isShown] = loss === null ? ["toFloat64(mrr)", isHigh] : ["loss", hasLoss];
  const [sums = nothing] = await warehouse.rows<Totals>(
    `SELECT sum(mrr) AS total, count() AS payers, sumIf(mrr, ${hasRisk}) AS mrrWithRisk,
       countIf(${hasRisk}) AS payersWithRisk, sumIf(mrr, ${isHigh}) AS highRiskMrr,
       countIf(${isHigh}) AS highRiskPayers, sum(scheduled) AS scheduledTotal,
       countIf(${hasLoss}) AS payersWithLoss,
       sumMapIf(map(reason, mrr), isNull(risk)) AS mrrWithout,
       sumMapIf(map(reason, toUInt64(1)), isNull(risk)) AS payersWithout,
       groupArraySortedIf({limit:UInt32})(
         (-assumeNotNull(${order}), entity, mrr, risk, scheduled),
         ${isShown} AND entity NOT IN {controls:Array(UInt32)}) AS top,
       ${exposures}
     FROM (${text})`,
    { ...parameters, highRisk, limit, controls: [...controls] },
  );
  const { total: mrr, payers, mrrWithRisk, payersWithRisk, highRiskMrr, highRiskPayers } = sums;
  const { top, mrrWithout, payersWithout } = sums;
  const later = loss === null ? none : await laterEnds(warehouse, question, loss);
  const ranked = loss === null ? top : await rankedByLater(warehouse, question, { top, later });
  return {
    mrr,
    payers,
    mrrWithRisk,
    payersWithRisk,
    highRiskMrr,
    highRiskPayers,
    expectedLoss: loss && { ...lossOf(sums, loss), ...sumOfLater(later) },
    withoutRisk: withoutRiskReasons
      .map((reason) => ({ reason, payers: payersWithout[reason] ?? 0, mrr: mrrWithout[reason] ?? 0 }))
      .filter((without) => without.payers > 0)
      .sort((one, other) => other.mrr - one.mrr),
    rows: await named(warehouse, { kind, organization, top: ranked }, later, loss !== null),
  };
}

const nothing: Totals = {
  total: 0,
  payers: 0,
  mrrWithRisk: 0,
  payersWithRisk: 0,
  highRiskMrr: 0,
  highRiskPayers: 0,
  payersWithLoss: 0,
  scheduledTotal: 0,
  mrrs: [],
  risks: [],
  top: [],
  mrrWithout: {},
  payersWithout: {},
};

type LaterEnds = ReadonlyMap<number, number>;
const none: LaterEnds = new Map();

/** MRR that ends as scheduled after the horizon, by payer. */
async function laterEnds(
  warehouse: Warehouse,
  question: AtRiskQuestion,
  { untilMs, laterMs }: LossQuestion,
): Promise<LaterEnds> {
  if (laterMs <= untilMs) return none;
  const ending = async (until: number) => {
    const payers = payersSql({ ...question, untilMs: until, transitions: [] }, ["scheduled"]);
    const rows = await warehouse.rows<{ readonly entity: number; readonly scheduled: number }>(
      `SELECT entity, assumeNotNull(scheduled) AS scheduled FROM ${payers.text} WHERE ifNull(scheduled, 0) > 0`,
      payers.parameters,
    );
    return new Map(rows.map((row) => [row.entity, row.scheduled]));
  };
  const [within, all] = [await ending(untilMs), await ending(laterMs)];
  return new Map(
    [...all].flatMap(([entity, mrr]) => {
      const later = mrr - (within.get(entity) ?? 0);
      return later > 0 ? [[entity, later] as const] : [];
    }),
  );
}

function sumOfLater(later: LaterEnds) {
  const laterMrr = [...later.values()].reduce((sum, mrr) => sum + mrr, 0);
  return { laterMrr, laterPayers: later.size };
}

/** The first payers in the order of the call list. Without a later end that is the order of expected
 * losses. */
async function rankedByLater(
  warehouse: Warehouse,
  question: AtRiskQuestion,
  { top, later }: { readonly top: readonly Top[]; readonly later: LaterEnds },
): Promise<readonly Top[]> {
  const { limit, controls = [] } = question;
  const left = new Set(controls);
  const known = new Set(top.map(([, entity]) => entity));
  const others = [...later.keys()].filter((entity) => !left.has(entity) && !known.has(entity));
  if (later.size === 0) return top;
  const { text, parameters } = riskOfPayers(question);
  const rows =
    others.length === 0
      ? []
      : await warehouse.rows<{ readonly top: Top }>(
          `SELECT (-ifNull(loss, 0), entity, mrr, risk, scheduled) AS top FROM (${text}) WHERE entity IN {entities:Array(UInt32)}`,
          { ...parameters, entities: others },
        );
  const rankOf = ([loss, entity, , risk]: Top) => -loss + (1 - (risk ?? 0)) * (later.get(entity) ?? 0);
  return [...top, ...rows.map((row) => row.top)]
    .toSorted((a, b) => rankOf(b) - rankOf(a) || a[1] - b[1])
    .slice(0, limit);
}

interface Named {
  readonly entity: number;
  readonly id: string;
  readonly name: string;
}

async function named(
  warehouse: Warehouse,
  { kind, organization, top }: Pick<AtRiskQuestion, "kind" | "organization"> & Pick<Totals, "top">,
  later: LaterEnds,
  isLoss: boolean,
): Promise<PayerAtRisk[]> {
  if (top.length === 0) return [];
  const entities = top.map(([, entity]) => entity);
  const names = await namesOfPayers(warehouse, { kind, organization }, entities);
  return top.map(([order, entity, mrr, risk, scheduled]) => ({
    ...(names.get(entity) ?? { id: "", name: "" }),
    mrr,
    risk,
    scheduled,
    expectedLoss: isLoss ? -order : null,
    laterMrr: later.get(entity) ?? 0,
  }));
}

/** The ids and names of accounts or users, by their numbers: of users their e-mail addresses. */
export async function namesOfPayers(
  warehouse: Warehouse,
  { kind, organization }: Pick<AtRiskQuestion, "kind" | "organization">,
  entities: readonly number[],
): Promise<ReadonlyMap<number, Omit<Named, "entity">>> {
  const rows = await warehouse.rows<Named>(namesOf[kind], { organization, entities });
  return new Map(rows.map(({ entity, ...name }) => [entity, name]));
}

function lossOf(
  { mrrs, risks, scheduledTotal: scheduledMrr, payersWithLoss: payers }: Totals,
  { calibration }: LossQuestion,
) {
  const uniform = uniformFrom(seed);
  const recalibrations = calibration === null ? [] : drawnRecalibrations(calibration, uniform);
  const exposed = mrrs.map((mrr, index): Exposure => ({ mrr, churnRisk: risks[index] ?? 0 }));
  const certain: Exposure = { mrr: scheduledMrr, churnRisk: 1 };
  const { expectedLoss, interval } = revenueAtRisk([...exposed, certain], recalibrations, uniform);
  return { mrr: expectedLoss, payers, scheduledMrr, ...interval };
}

const namesOf: Readonly<Record<EntityKind, string>> = {
  account: `SELECT account AS entity, account_id AS id, name FROM accounts FINAL
    WHERE organization = {organization:UInt32} AND account IN {entities:Array(UInt32)}`,
  user: `SELECT user AS entity, user_id AS id, email AS name FROM users FINAL
    WHERE organization = {organization:UInt32} AND user IN {entities:Array(UInt32)}`,
};

/** Rows of `entity`, `mrr`, `scheduled`, `risk`, `loss` and `reason` of payers with MRR. Risk is null without
 * a churn risk; the reason says why. MRR and its scheduled part are those of lists. */
function riskOfPayers(question: AtRiskQuestion): Sql {
  const { scored, nowMs, loss } = question;
  const hasModel = scored?.hasModel === true;
  const payers = payersSql(
    { ...question, untilMs: loss?.untilMs ?? null, transitions: [] },
    ["mrr", ...(loss === null ? [] : (["scheduled"] as const)), ...(hasModel ? (["hadMrr"] as const) : [])],
    { earlierMs: scored?.atMs ?? nowMs },
  );
  const scores = scored === undefined ? noScores : risksOfRun(scored.run);
  const ofPayer = expectedLossSql("mrr", "scheduled", "known_risk");
  const reason = hasModel
    ? "multiIf(NOT hadMrr, 'new', known_state = 'churned', 'churned', 'unused')"
    : "'no_model'";
  return {
    text: `
      SELECT entity, assumeNotNull(payers.mrr) AS mrr, ${loss === null ? "toInt64(0)" : "assumeNotNull(payers.scheduled)"} AS scheduled,
        ${ofPayer.risk} AS risk, ${ofPayer.loss} AS loss, ${reason} AS reason
      FROM ${payers.text} AS payers
      LEFT JOIN (SELECT entity AS known, risk AS known_risk, state AS known_state FROM (${scores.sql})) AS scores
        ON scores.known = payers.entity
      WHERE ifNull(payers.mrr, 0) > 0`,
    parameters: { ...payers.parameters, ...scores.parameters },
  };
}

const noScores: Pick<ReturnType<typeof risksOfRun>, "sql" | "parameters"> = {
  sql: "SELECT toUInt32(0) AS entity, CAST(NULL AS Nullable(Float64)) AS risk, '' AS state WHERE false",
  parameters: {},
};
