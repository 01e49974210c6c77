/** The routes of the JSON API that are about scores. */

import { NoParameters } from "../../../contract/api/api.ts";
import { MoversAnswer, MoversParameters } from "../../../contract/api/movers.ts";
import {
  HistoryAnswer,
  HistoryParameters,
  ModelAnswer,
  ModelParameters,
  ScoreAnswer,
  ScoreListAnswer,
  ScoreListParameters,
  ScoreNowAnswer,
  ScoreParameters,
  SummaryAnswer,
  SummaryParameters,
} from "../../../contract/api/scores.ts";
import { figure } from "../api/freshness.ts";
import { type ApiRoute, route } from "../api/route.ts";
import { modelCard } from "./model.ts";
import { movers, scoreSummary, scoresOfAccounts, scoresOfUsers } from "./score-lists.ts";
import { scoreNow } from "./score-now.ts";
import { historyOfAccount, historyOfUser, scoreOfAccount, scoreOfUser } from "./scores.ts";

export const scoreRoutes: readonly ApiRoute[] = [
  route({
    method: "POST",
    path: "/api/scores",
    right: "manage",
    summary: "Score all users and accounts now, at most once a minute; every night they are scored anyway",
    query: NoParameters,
    answer: ScoreNowAnswer,
    handler: scoreNow,
  }),
  figure({
    method: "GET",
    path: "/api/users/:userId/score",
    right: "read",
    summary: "A user's scores, and why",
    query: ScoreParameters,
    answer: ScoreAnswer,
    handler: scoreOfUser,
  }),
  figure({
    method: "GET",
    path: "/api/users/:userId/score/history",
    right: "read",
    summary: "A user's scores, day by day",
    query: HistoryParameters,
    answer: HistoryAnswer,
    table: "days",
    handler: historyOfUser,
  }),
  figure({
    method: "GET",
    path: "/api/accounts/:accountId/score",
    right: "read",
    summary: "An account's scores, and why",
    query: ScoreParameters,
    answer: ScoreAnswer,
    handler: scoreOfAccount,
  }),
  figure({
    method: "GET",
    path: "/api/accounts/:accountId/score/history",
    right: "read",
    summary: "An account's scores, day by day",
    query: HistoryParameters,
    answer: HistoryAnswer,
    table: "days",
    handler: historyOfAccount,
  }),
  figure({
    method: "GET",
    path: "/api/scores/users",
    right: "read",
    summary: "Scores of all users",
    query: ScoreListParameters,
    answer: ScoreListAnswer,
    table: "scores",
    handler: scoresOfUsers,
  }),
  figure({
    method: "GET",
    path: "/api/scores/accounts",
    right: "read",
    summary: "Scores of all accounts",
    query: ScoreListParameters,
    answer: ScoreListAnswer,
    table: "scores",
    handler: scoresOfAccounts,
  }),
  figure({
    method: "GET",
    path: "/api/score-summary",
    right: "read",
    summary: "How many have which health, and how that moved",
    query: SummaryParameters,
    answer: SummaryAnswer,
    table: "counts",
    handler: scoreSummary,
  }),
  figure({
    method: "GET",
    path: "/api/movers",
    right: "read",
    summary: "Whose health rose and fell most",
    query: MoversParameters,
    answer: MoversAnswer,
    table: "movers",
    handler: movers,
  }),
  figure({
    method: "GET",
    path: "/api/model",
    right: "read",
    summary: "The model of churn risk: which, why, and how good it was",
    query: ModelParameters,
    answer: ModelAnswer,
    table: "models",
    handler: modelCard,
  }),
];
