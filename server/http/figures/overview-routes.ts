/** The routes of the JSON API that a morning begins with. */
import { NoParameters } from "../../../contract/api/api.ts";
import {
  AccountsAtRiskAnswer,
  AccountsAtRiskParameters,
  HealthByWeekAnswer,
  HealthByWeekParameters,
  WeekSummaryAnswer,
} from "../../../contract/api/overview.ts";
import { figure } from "../api/freshness.ts";
import type { ApiRoute } from "../api/route.ts";
import { healthOfWeeks, largestAccountsAtRisk, weekInSentences } from "./overview.ts";

export const overviewRoutes: readonly ApiRoute[] = [
  figure({
    method: "GET",
    path: "/api/week-summary",
    right: "read",
    summary: "The last seven days in sentences, and whom to call first",
    query: NoParameters,
    answer: WeekSummaryAnswer,
    table: "callFirst",
    handler: weekInSentences,
  }),
  figure({
    method: "GET",
    path: "/api/health-by-week",
    right: "read",
    summary: "How many had which health, and how many were expected to churn, week by week",
    query: HealthByWeekParameters,
    answer: HealthByWeekAnswer,
    table: "weeks",
    handler: healthOfWeeks,
  }),
  figure({
    method: "GET",
    path: "/api/accounts-at-risk",
    right: "read",
    summary: "Accounts whose health is at risk, below 40, the largest first",
    query: AccountsAtRiskParameters,
    answer: AccountsAtRiskAnswer,
    table: "accounts",
    handler: largestAccountsAtRisk,
  }),
];
