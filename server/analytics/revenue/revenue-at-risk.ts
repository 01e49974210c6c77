/** MRR now of accounts, or of users who pay without an account, beside their churn risks. */
import { type Exposure, revenueAtRisk } from "../../revenue/revenue.ts";
import { type EntityKind, type OfRun, scoresWithChange, uniformFrom } from "../../scoring/scoring.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { Sql } from "../sql/sql.ts";
import { accountPayers, isIncludedPayer, type RevenueQuestion, stepsOf, unratedOf } from "./steps.ts";

export interface AtRiskQuestion extends RevenueQuestion {
  readonly kind: EntityKind;
  /** The newest run; undefined before the first. Then no payer has a risk. */
  readonly run: OfRun | undefined;
  /** From this churn risk on, the risk is high. */
  readonly highRisk: number;
  /** Whether the churn risk is that of losing the subscription: then MRR is multiplied by it. */
  readonly isOfSubscription: boolean;
  readonly nowMs: number;
  readonly limit: number;
}

export interface PayerAtRisk {
  readonly id: string;
  readonly name: string;
  readonly mrr: number;
  readonly risk: number;
}

export interface MrrAtRisk {
  readonly mrr: number;
  readonly payers: number;
  readonly mrrWithRisk: number;
  readonly payersWithRisk: number;
  readonly highRiskMrr: number;
  readonly highRiskPayers: number;
  /** Null unless the churn risk is that of losing the subscription. */
  readonly expectedLoss: { readonly mrr: number; readonly low: number; readonly high: number } | null;
  /** With an expected loss those that may lose the most, else those with a high risk. */
  readonly rows: readonly PayerAtRisk[];
}

/** The same payers have the same interval each time. */
const seed = 90;

interface Totals extends Omit<MrrAtRisk, "mrr" | "expectedLoss" | "rows"> {
  readonly total: number;
  readonly mrrs: readonly number[];
  readonly risks: readonly number[];
}

/** The sums, and the payers that they are about. @throws WarehouseError */
export async function mrrAtRisk(warehouse: Warehouse, question: AtRiskQuestion): Promise<MrrAtRisk> {
  const { isOfSubscription, highRisk, limit, kind } = question;
  const { text, parameters } = payersWithRisk(question);
  const isHigh = "ifNull(risk >= {highRisk:Float64}, false)";
  const exposures = isOfSubscription
    ? "groupArrayIf(mrr, isNotNull(risk)) AS mrrs, groupArrayIf(assumeNotNull(risk), isNotNull(risk)) AS risks"
    : "[] AS mrrs, [] AS risks";
  const order = isOfSubscription ? "mrr * risk" : "mrr";
  const [[sums = nothing], rows] = await Promise.all([
    warehouse.rows<Totals>(
      `SELECT sum(mrr) AS total, count() AS payers, sumIf(mrr, isNotNull(risk)) AS mrrWithRisk,
         countIf(isNotNull(risk)) AS payersWithRisk, sumIf(mrr, ${isHigh}) AS highRiskMrr,
         countIf(${isHigh}) AS highRiskPayers, ${exposures}
       FROM (${text})`,
      { ...parameters, highRisk },
    ),
    warehouse.rows<PayerAtRisk>(
      `SELECT id, name, mrr, risk
       FROM (
         SELECT entity, mrr, risk FROM (${text})
         WHERE ${isOfSubscription ? "isNotNull(risk)" : isHigh}
         ORDER BY ${order} DESC, entity LIMIT {limit:UInt32}) AS payers
       LEFT JOIN (${namesOf[kind]}) AS names ON names.named = payers.entity
       ORDER BY ${order} DESC, entity`,
      { ...parameters, limit, ...(!isOfSubscription && { highRisk }) },
    ),
  ]);
  const { mrrs, risks, total: mrr, ...counts } = sums;
  return { ...counts, mrr, expectedLoss: isOfSubscription ? lossOf(mrrs, risks) : null, rows };
}

const nothing: Totals = {
  ...{ total: 0, payers: 0, mrrWithRisk: 0, payersWithRisk: 0, highRiskMrr: 0, highRiskPayers: 0 },
  ...{ mrrs: [], risks: [] },
};

function lossOf(mrrs: readonly number[], risks: readonly number[]): NonNullable<MrrAtRisk["expectedLoss"]> {
  const exposures = mrrs.map((mrr, index): Exposure => ({ mrr, churnRisk: risks[index] ?? 0 }));
  const { expectedLoss, interval } = revenueAtRisk(exposures, [], uniformFrom(seed));
  return { mrr: expectedLoss, ...interval };
}

const ofOrganization = "organization = {organization:UInt32}";
const namesOf: Readonly<Record<EntityKind, string>> = {
  account: `SELECT account AS named, account_id AS id, name FROM accounts FINAL WHERE ${ofOrganization}`,
  user: `SELECT user AS named, user_id AS id, email AS name FROM users FINAL WHERE ${ofOrganization}`,
};

/** Rows of `entity`, `mrr` and `risk`, which is null without a score. */
function payersWithRisk(question: AtRiskQuestion): Sql {
  const { kind, run, nowMs } = question;
  const steps = stepsOf(question, false);
  const scores =
    run === undefined
      ? {
          sql: "SELECT toUInt32(0) AS entity, CAST(NULL AS Nullable(Float64)) AS risk WHERE false",
          parameters: {},
        }
      : scoresWithChange(run, undefined);
  return {
    text: `
      SELECT toUInt32(payer) AS entity, mrr, risk
      FROM (
        SELECT payer, sumIf(amount_by, moment < {nowMs:Int64}) AS mrr FROM (${steps.text})
        WHERE payer ${kind === "account" ? ">=" : "<"} ${accountPayers}
        GROUP BY payer
        HAVING mrr > 0 ${unratedOf(question).length === 0 ? "" : "AND max(is_unrated) = 0"}) AS payers
      LEFT JOIN (SELECT entity AS scored, risk FROM (${scores.sql})) AS scores ON scores.scored = toUInt32(payers.payer)
      WHERE ${isIncludedPayer}`,
    parameters: { ...steps.parameters, ...scores.parameters, nowMs },
  };
}
