/** MRR now of accounts, or of users who pay without an account, beside their churn risks. */
import {
  type Calibration,
  drawnRecalibrations,
  type Exposure,
  revenueAtRisk,
} from "../../revenue/revenue.ts";
import { type EntityKind, type OfRun, scoresWithChange, uniformFrom } from "../../scoring/scoring.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { Sql } from "../sql/sql.ts";
import { expectedLossSql } from "./payers-now.ts";
import {
  accountPayers,
  isIncludedPayer,
  isPaying,
  type RevenueQuestion,
  stepsOf,
  unratedOf,
} from "./steps.ts";

export interface AtRiskQuestion extends RevenueQuestion {
  readonly kind: EntityKind;
  /** The newest run; undefined before the first. Then no payer has a risk. */
  readonly run: OfRun | undefined;
  /** From this churn risk on, the risk is high. */
  readonly highRisk: number;
  /** Only if the churn risk is that of losing the subscription: then MRR is multiplied by it. */
  readonly loss: LossQuestion | null;
  readonly nowMs: number;
  readonly limit: number;
}

export interface LossQuestion {
  /** The end of the horizon of churn risks. */
  readonly untilMs: number;
  /** Of the back-test; null without one. Then risks count as calibrated. */
  readonly calibration: Calibration | null;
}

export interface PayerAtRisk {
  readonly id: string;
  readonly name: string;
  readonly mrr: number;
  /** 1 when all of the MRR ends within the horizon as scheduled. */
  readonly risk: number;
  /** MRR that ends within the horizon as scheduled. */
  readonly scheduled: number;
  /** Null unless the churn risk is that of losing the subscription. */
  readonly expectedLoss: number | null;
}

export interface MrrAtRisk {
  readonly mrr: number;
  readonly payers: number;
  readonly mrrWithRisk: number;
  readonly payersWithRisk: number;
  readonly highRiskMrr: number;
  readonly highRiskPayers: number;
  /** Null unless the churn risk is that of losing the subscription. */
  readonly expectedLoss: {
    readonly mrr: number;
    /** The part of it that is scheduled, and no prediction. */
    readonly scheduledMrr: number;
    readonly low: number;
    readonly high: number;
  } | null;
  /** With an expected loss those that may lose the most, else those with a high risk. */
  readonly rows: readonly PayerAtRisk[];
}

/** The same payers have the same interval each time. */
const seed = 90;

interface Totals extends Omit<MrrAtRisk, "mrr" | "expectedLoss" | "rows"> {
  readonly total: number;
  readonly scheduledTotal: number;
  /** Of payers with a risk: MRR that no schedule ends, and the risk. */
  readonly mrrs: readonly number[];
  readonly risks: readonly number[];
}

/** The sums, and the payers that they are about. @throws WarehouseError */
export async function mrrAtRisk(warehouse: Warehouse, question: AtRiskQuestion): Promise<MrrAtRisk> {
  const { loss, highRisk, limit, kind } = question;
  const { text, parameters } = payersWithRisk(question);
  const isHigh = "ifNull(risk >= {highRisk:Float64}, false)";
  const hasRisk = "isNotNull(risk)";
  const exposures =
    loss === null
      ? "[] AS mrrs, [] AS risks"
      : `groupArrayIf(mrr - scheduled, ${hasRisk}) AS mrrs, groupArrayIf(assumeNotNull(risk), ${hasRisk}) AS risks`;
  const order = loss === null ? "mrr" : "expectedLoss";
  const [[sums = nothing], rows] = await Promise.all([
    warehouse.rows<Totals>(
      `SELECT sum(mrr) AS total, count() AS payers, sumIf(mrr, ${hasRisk}) AS mrrWithRisk,
         countIf(${hasRisk}) AS payersWithRisk, sumIf(mrr, ${isHigh}) AS highRiskMrr,
         countIf(${isHigh}) AS highRiskPayers, sum(scheduled) AS scheduledTotal, ${exposures}
       FROM (${text})`,
      { ...parameters, highRisk },
    ),
    warehouse.rows<PayerAtRisk>(
      `SELECT id, name, mrr, risk, scheduled, expectedLoss
       FROM (
         SELECT entity, mrr, risk, scheduled, ${loss === null ? "NULL" : "loss"} AS expectedLoss
         FROM (${text})
         WHERE ${loss === null ? isHigh : hasRisk}
         ORDER BY ${order} DESC, entity LIMIT {limit:UInt32}) AS payers
       LEFT JOIN (${namesOf[kind]}) AS names ON names.named = payers.entity
       ORDER BY ${order} DESC, entity`,
      { ...parameters, limit, ...(loss === null && { highRisk }) },
    ),
  ]);
  const { mrrs, risks, scheduledTotal, total: mrr, ...counts } = sums;
  const exposed = mrrs.map((one, index): Exposure => ({ mrr: one, churnRisk: risks[index] ?? 0 }));
  return { ...counts, mrr, expectedLoss: loss && lossOf(exposed, scheduledTotal, loss), rows };
}

const nothing: Totals = {
  ...{ total: 0, payers: 0, mrrWithRisk: 0, payersWithRisk: 0, highRiskMrr: 0, highRiskPayers: 0 },
  ...{ scheduledTotal: 0, mrrs: [], risks: [] },
};

function lossOf(exposed: readonly Exposure[], scheduledMrr: number, { calibration }: LossQuestion) {
  const uniform = uniformFrom(seed);
  const recalibrations = calibration === null ? [] : drawnRecalibrations(calibration, uniform);
  const certain: Exposure = { mrr: scheduledMrr, churnRisk: 1 };
  const { expectedLoss, interval } = revenueAtRisk([...exposed, certain], recalibrations, uniform);
  return { mrr: expectedLoss, scheduledMrr, ...interval };
}

const ofOrganization = "organization = {organization:UInt32}";
const namesOf: Readonly<Record<EntityKind, string>> = {
  account: `SELECT account AS named, account_id AS id, name FROM accounts FINAL WHERE ${ofOrganization} AND ${isPaying.account}`,
  user: `SELECT user AS named, user_id AS id, email AS name FROM users FINAL WHERE ${ofOrganization} AND ${isPaying.user}`,
};

/** Rows of `entity`, `mrr`, `scheduled`, `risk` and `loss`; these two are null without a score. */
function payersWithRisk(question: AtRiskQuestion): Sql {
  const { kind, run, nowMs, loss } = question;
  const ofPayer = expectedLossSql("mrr", "scheduled", "known_risk");
  const steps = stepsOf(question, false);
  const scores =
    run === undefined
      ? {
          sql: "SELECT toUInt32(0) AS entity, CAST(NULL AS Nullable(Float64)) AS risk WHERE false",
          parameters: {},
        }
      : scoresWithChange(run, undefined);
  // Changes after now are ends that are scheduled, and discounts that end.
  const scheduled =
    loss === null
      ? "toInt64(0)"
      : "-least(0, sumIf(amount_by, moment >= {nowMs:Int64} AND moment < {untilMs:Int64}))";
  return {
    text: `
      SELECT toUInt32(payer) AS entity, mrr, least(mrr, falls) AS scheduled, ${ofPayer.risk} AS risk, ${ofPayer.loss} AS loss
      FROM (
        SELECT payer, sumIf(amount_by, moment < {nowMs:Int64}) AS mrr, ${scheduled} AS falls FROM (${steps.text})
        WHERE payer ${kind === "account" ? ">=" : "<"} ${accountPayers}
        GROUP BY payer
        HAVING mrr > 0 ${unratedOf(question).length === 0 ? "" : "AND max(is_unrated) = 0"}) AS payers
      LEFT JOIN (SELECT entity AS scored, risk AS known_risk FROM (${scores.sql})) AS scores ON scores.scored = toUInt32(payers.payer)
      WHERE ${isIncludedPayer}`,
    parameters: {
      ...steps.parameters,
      ...scores.parameters,
      nowMs,
      ...(loss !== null && { untilMs: loss.untilMs }),
    },
  };
}
