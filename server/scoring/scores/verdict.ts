/**
 * The verdict: how a user or an account is doing, as one term. Lists, their filter and the pages use it. The
 * rules are written as functions and as SQL; a test compares the two for every input.
 */
import type { HealthBand } from "./health.ts";
import type { RiskLimits } from "./risk-scale.ts";
import type { State } from "./state.ts";

export type Verdict =
  | "churned"
  | "account_churned"
  | "high_risk"
  | "at_risk"
  | "new"
  | "watch"
  | "healthy"
  | "no_score";

export interface Judged {
  /** Empty without scores, as is the health band. */
  readonly state: State | "";
  readonly healthBand: HealthBand | "";
  readonly risk: number | null;
  /** Of a user: whether the account that they belong to has churned. */
  readonly isAccountChurned: boolean;
}

/** Limits of churn risks as numbers, or as expressions. */
export type RiskLimitsSql = Readonly<Record<keyof RiskLimits, number | string>>;

interface Rule {
  readonly verdict: Verdict;
  readonly holds: (judged: Judged, limits: RiskLimits) => boolean;
  readonly sql: (columns: Readonly<Record<keyof Judged, string>>, limits: RiskLimitsSql) => string;
}

/** The first that holds. */
const rules: readonly Rule[] = [
  {
    verdict: "churned",
    holds: ({ state }) => state === "churned",
    sql: ({ state }) => `${state} = 'churned'`,
  },
  {
    verdict: "account_churned",
    holds: ({ isAccountChurned }) => isAccountChurned,
    sql: ({ isAccountChurned }) => isAccountChurned,
  },
  {
    verdict: "high_risk",
    holds: ({ risk }, { high }) => risk !== null && risk >= high,
    sql: ({ risk }, { high }) => `ifNull(${risk} >= ${high}, false)`,
  },
  {
    verdict: "at_risk",
    holds: ({ healthBand }) => healthBand === "at_risk",
    sql: ({ healthBand }) => `${healthBand} = 'at_risk'`,
  },
  { verdict: "new", holds: ({ state }) => state === "new", sql: ({ state }) => `${state} = 'new'` },
  {
    verdict: "watch",
    holds: ({ healthBand, risk }, { medium }) => healthBand === "watch" || (risk !== null && risk >= medium),
    sql: ({ healthBand, risk }, { medium }) =>
      `${healthBand} = 'watch' OR ifNull(${risk} >= ${medium}, false)`,
  },
  {
    verdict: "healthy",
    holds: ({ healthBand }) => healthBand === "healthy",
    sql: ({ healthBand }) => `${healthBand} = 'healthy'`,
  },
];

/** The verdict about a user or an account. @param limits of the run of its scores */
export function verdictOf(judged: Judged, limits: RiskLimits): Verdict {
  return rules.find(({ holds }) => holds(judged, limits))?.verdict ?? "no_score";
}

/** The verdict about a user or an account as an SQL expression. @param columns an expression for each input;
 * no text is null */
export function verdictSql(columns: Readonly<Record<keyof Judged, string>>, limits: RiskLimitsSql): string {
  const cases = rules.map(({ verdict, sql }) => `${sql(columns, limits)}, '${verdict}'`);
  return `multiIf(${cases.join(", ")}, 'no_score')`;
}
