/** The routes of the JSON API that analysis answers: figures, and changes of what figures depend on. */

import { alertFigures } from "../alerts/rule-routes.ts";
import { ChurnReasonsAnswer, ChurnReasonsParameters } from "../billing/churn-reasons.ts";
import * as payers from "../billing/payers.ts";
import * as revenue from "../billing/revenue.ts";
import { CallListAnswer, CallListParameters } from "../call-list-schemas.ts";
import { digestFigures } from "../digest/routes.ts";
import { segmentFigures } from "../segments/routes.ts";
import * as settings from "../settings.ts";
import * as sources from "../sources.ts";
import * as common from "./api.ts";
import * as entities from "./entities.ts";
import * as figures from "./figures.ts";
import * as lists from "./lists.ts";
import { ContactsAnswer, ContactsParameters } from "./notes-and-tasks.ts";
import * as overview from "./overview.ts";
import { EverythingAnswer } from "./person.ts";
import { ResultsAnswer, ResultsParameters } from "./results.ts";
import * as retention from "./retention.ts";
import { analysisRoute, figure } from "./route.ts";
import * as scores from "./scores.ts";
import { SettingsPreviewAnswer } from "./settings-preview.ts";
import { WinBackAnswer, WinBackParameters } from "./win-back.ts";

export const analysisRoutes = {
  ...segmentFigures,
  ...alertFigures,
  ...digestFigures,
  "GET /api/results": figure({
    summary:
      "Customers that were worked on in a period: what was done, by whom, what was at stake, how they stand now",
    query: ResultsParameters,
    answer: ResultsAnswer,
    table: "customers",
  }),
  "GET /api/freshness": figure({
    summary:
      "How fresh figures are: what is loaded, what is still being computed, and which sources are silent",
    answer: common.FreshnessOnlyAnswer,
  }),
  "GET /api/users": figure({
    summary: "Users with their traits and scores, searched, filtered and sorted, a page at a time",
    query: lists.UserListParameters,
    answer: lists.UserListAnswer,
    table: "users",
  }),
  "GET /api/users/:userId": analysisRoute.read({ summary: "A user", answer: common.UserAnswer }),
  "DELETE /api/users/:userId": analysisRoute.erase({
    summary: "Erase a user",
    command: "user erase",
    query: common.EraseParameters,
    answer: common.ErasureAnswer,
  }),
  "GET /api/users/:userId/timeline": analysisRoute.read({
    summary: "Latest events of a user",
    query: lists.TimelineParameters,
    answer: lists.TimelineAnswer,
    table: "events",
  }),
  "GET /api/users/:userId/everything": analysisRoute.own({
    summary:
      "Everything that is stored about a person, as a file for an access request; the audit log records the request",
    answer: EverythingAnswer,
    isDocument: true,
  }),
  "GET /api/users/:userId/contacts": analysisRoute.read({
    summary: "When a user was contacted, how and by whom",
    query: ContactsParameters,
    answer: ContactsAnswer,
    table: "contacts",
  }),
  "GET /api/accounts/:accountId/contacts": analysisRoute.read({
    summary: "When users of an account were contacted, how and by whom",
    query: ContactsParameters,
    answer: ContactsAnswer,
    table: "contacts",
  }),
  "GET /api/latest-event": figure({
    summary: "The latest event of any user",
    answer: lists.LatestEventAnswer,
  }),
  "GET /api/traits": figure({
    summary: "Traits of users, or attributes of accounts, with their most frequent values",
    query: figures.TraitsParameters,
    answer: figures.TraitsAnswer,
    table: "traits",
  }),
  "GET /api/accounts": figure({
    summary: "Accounts with their attributes and scores, searched, filtered and sorted, a page at a time",
    query: lists.AccountListParameters,
    answer: lists.AccountListAnswer,
    table: "accounts",
  }),
  "GET /api/accounts/:accountId": figure({
    summary: "An account with its account members",
    query: lists.AccountParameters,
    answer: lists.AccountAnswer,
    table: "users",
  }),
  "DELETE /api/accounts/:accountId": analysisRoute.erase({
    summary: "Erase an account; its users stay, without an account",
    command: "account erase",
    answer: common.AccountErasureAnswer,
  }),
  "GET /api/accounts/:accountId/timeline": analysisRoute.read({
    summary: "Latest events of an account's users",
    query: lists.TimelineParameters,
    answer: lists.AccountTimelineAnswer,
    table: "events",
  }),
  "GET /api/active-users": figure({
    summary: "Users who did anything (DAU, WAU, MAU) and stickiness, by day",
    query: figures.ActiveUsersParameters,
    answer: figures.ActiveUsersAnswer,
    table: "days",
  }),
  "GET /api/active-days": figure({
    summary: "On how many of 28 days users are active (L28)",
    query: figures.ActiveDaysParameters,
    answer: figures.ActiveDaysAnswer,
    table: "activeDays",
  }),
  "GET /api/lifecycle": figure({
    summary: "New, returning, resurrected and dormant users, by day, week or month",
    query: figures.LifecycleParameters,
    answer: figures.LifecycleAnswer,
    table: "periods",
  }),
  "GET /api/events": figure({
    summary: "Names of events, with how often and by how many users each event was done",
    query: figures.EventNamesParameters,
    answer: figures.EventNamesAnswer,
    table: "events",
  }),
  "GET /api/properties": figure({
    summary: "Names of the properties of events",
    query: figures.PropertyNamesParameters,
    answer: figures.PropertyNamesAnswer,
    table: "properties",
  }),
  "GET /api/events-over-time": figure({
    summary: "How often events were done, and by how many users, by day, week or month",
    query: figures.EventsOverTimeParameters,
    answer: figures.EventsOverTimeAnswer,
    table: "periods",
  }),
  "GET /api/adoption": figure({
    summary: "How many users do each event, and how soon after their first activity",
    query: figures.AdoptionParameters,
    answer: figures.AdoptionAnswer,
    table: "events",
  }),
  "GET /api/usage-intervals": figure({
    summary: "Gaps between active days of users, and the recommended churn horizon",
    query: figures.UsageIntervalsParameters,
    answer: figures.UsageIntervalsAnswer,
    table: "intervals",
  }),
  "GET /api/users/:userId/activity": figure({
    summary: "How many events a user did on each day",
    query: entities.ActivityParameters,
    answer: entities.UserActivityAnswer,
    table: "days",
  }),
  "GET /api/users/:userId/events": figure({
    summary: "Which events a user has, and how often",
    query: entities.OwnEventsParameters,
    answer: entities.UserEventsAnswer,
    table: "events",
  }),
  "GET /api/accounts/:accountId/activity": figure({
    summary: "How many events an account had on each day",
    query: entities.ActivityParameters,
    answer: entities.AccountActivityAnswer,
    table: "days",
  }),
  "GET /api/accounts/:accountId/events": figure({
    summary: "Which events an account has, and how often",
    query: entities.OwnEventsParameters,
    answer: entities.AccountEventsAnswer,
    table: "events",
  }),
  "GET /api/accounts/:accountId/members": figure({
    summary: "The account members of an account, and each member's share of its use",
    query: entities.AccountMembersParameters,
    answer: entities.AccountMembersAnswer,
    table: "members",
  }),
  "GET /api/users/:userId/subscriptions": figure({
    summary: "The subscriptions that a user pays for without an account, and their history",
    query: payers.SubscriptionsParameters,
    answer: payers.SubscriptionsAnswer,
    table: "subscriptions",
  }),
  "GET /api/accounts/:accountId/subscriptions": figure({
    summary: "The subscriptions that an account pays for, and their history",
    query: payers.SubscriptionsParameters,
    answer: payers.SubscriptionsAnswer,
    table: "subscriptions",
  }),
  "GET /api/plans": figure({
    summary: "The plans of current subscriptions",
    query: payers.PlansParameters,
    answer: payers.PlansAnswer,
    table: "plans",
  }),
  "GET /api/model/changes": figure({
    summary: "On which days another model of churn risk began to serve",
    query: entities.ModelChangesParameters,
    answer: entities.ModelChangesAnswer,
    table: "changes",
  }),
  "GET /api/ingestion-warnings": analysisRoute.read({
    summary: "Ingestion warnings about senders",
    command: "warnings list",
    query: common.WarningsParameters,
    answer: common.WarningsAnswer,
    table: "warnings",
  }),
  "GET /api/rejected-events": analysisRoute.read({
    summary: "Events and users that the warehouse rejected",
    query: common.RejectedEventsParameters,
    answer: common.RejectedEventsAnswer,
    table: "rejectedEvents",
  }),
  "POST /api/rejected-events/retry": analysisRoute.manage({
    summary: "Send rejected events to the warehouse again",
    query: common.SelectionParameters,
    answer: common.SelectedAnswer,
  }),
  "DELETE /api/rejected-events": analysisRoute.manage({
    summary: "Delete rejected events for good",
    query: common.SelectionParameters,
    answer: common.SelectedAnswer,
  }),
  "GET /api/exclusions": analysisRoute.read({
    summary: "Exclusion rules: which users are excluded from figures",
    answer: common.ExclusionsAnswer,
    table: "rules",
  }),
  "GET /api/exclusions/preview": analysisRoute.read({
    summary: "Which users an exclusion rule would match",
    query: common.ExclusionParameters,
    answer: common.ExclusionPreviewAnswer,
  }),
  "POST /api/exclusions": analysisRoute.manage({
    summary: "Add a rule that excludes users from figures",
    query: common.ExclusionParameters,
    answer: common.ExclusionAnswer,
  }),
  "DELETE /api/exclusions/:id": analysisRoute.manage({
    summary: "Remove an exclusion rule",
    answer: common.DoneAnswer,
  }),
  "GET /api/health-check": analysisRoute.read({
    summary: "The last nightly comparison of ledger, events and rollups",
    answer: common.HealthCheckAnswer,
  }),
  "GET /api/call-list": figure({
    summary: "Whom to call first, and why: the ranking of pages, digest and messages",
    query: CallListParameters,
    answer: CallListAnswer,
    table: "rows",
  }),
  "GET /api/week-summary": figure({
    summary: "The last seven days in sentences",
    query: overview.WeekSummaryParameters,
    answer: overview.WeekSummaryAnswer,
    table: "sentences",
  }),
  "GET /api/health-by-week": figure({
    summary: "Users or accounts in each health band, and how many were expected to churn, week by week",
    query: overview.HealthByWeekParameters,
    answer: overview.HealthByWeekAnswer,
    table: "weeks",
  }),
  "GET /api/accounts-at-risk": figure({
    summary: "Accounts whose health is at risk, below 40, the largest first",
    query: overview.AccountsAtRiskParameters,
    answer: overview.AccountsAtRiskAnswer,
    table: "accounts",
  }),
  "GET /api/retention": figure({
    summary: "Retention cohorts",
    query: retention.RetentionParameters,
    answer: retention.RetentionAnswer,
    table: "cells",
  }),
  "GET /api/retention/comparison": figure({
    summary: "Whether groups of users are retained differently",
    query: retention.RetentionComparisonParameters,
    answer: retention.RetentionComparisonAnswer,
    table: "groups",
  }),
  "GET /api/retention/people": figure({
    summary: "The users behind a cell of the retention cohorts",
    query: retention.RetentionPeopleParameters,
    answer: retention.RetentionPeopleAnswer,
    table: "people",
  }),
  "GET /api/revenue": figure({
    summary: "MRR, its movements, NRR, GRR and logo churn, by month, quarter or year",
    query: revenue.RevenueParameters,
    answer: revenue.RevenueAnswer,
    table: "periods",
  }),
  "GET /api/revenue/cohorts": figure({
    summary: "MRR that cohorts of payers kept, with 95 % intervals",
    query: revenue.RevenueCohortsParameters,
    answer: revenue.RevenueCohortsAnswer,
    table: "cells",
  }),
  "GET /api/revenue/at-risk": figure({
    summary: "MRR at high risk, and with the churn target `subscription` the expected loss",
    query: revenue.RevenueAtRiskParameters,
    answer: revenue.RevenueAtRiskAnswer,
    table: "atRisk",
  }),
  "GET /api/churn-reasons": figure({
    summary: "Departures of payers and the MRR that left, by reason and period, with comments",
    query: ChurnReasonsParameters,
    answer: ChurnReasonsAnswer,
    table: "reasons",
  }),
  "GET /api/win-back": figure({
    summary: "Users or accounts that churned lately, the highest last MRR first, with churn reasons",
    query: WinBackParameters,
    answer: WinBackAnswer,
    table: "churned",
  }),
  "POST /api/scores": analysisRoute.manage({
    summary: "Score all users and accounts now, at most once a minute; they are also scored every night",
    answer: scores.ScoreNowAnswer,
  }),
  "GET /api/users/:userId/score": figure({
    summary: "A user's scores, and the reasons for them",
    query: scores.ScoreParameters,
    answer: scores.ScoreAnswer,
  }),
  "GET /api/users/:userId/score/history": figure({
    summary: "A user's scores, day by day",
    query: scores.HistoryParameters,
    answer: scores.HistoryAnswer,
    table: "days",
  }),
  "GET /api/accounts/:accountId/score": figure({
    summary: "An account's scores, and the reasons for them",
    query: scores.ScoreParameters,
    answer: scores.ScoreAnswer,
  }),
  "GET /api/accounts/:accountId/score/history": figure({
    summary: "An account's scores, day by day",
    query: scores.HistoryParameters,
    answer: scores.HistoryAnswer,
    table: "days",
  }),
  "GET /api/scores/users": figure({
    summary: "Scores of all users",
    query: scores.ScoreListParameters,
    answer: scores.ScoreListAnswer,
    table: "scores",
  }),
  "GET /api/scores/accounts": figure({
    summary: "Scores of all accounts",
    query: scores.ScoreListParameters,
    answer: scores.ScoreListAnswer,
    table: "scores",
  }),
  "GET /api/score-summary": figure({
    summary: "Users or accounts in each health band and risk band, and moves between health bands",
    query: scores.SummaryParameters,
    answer: scores.SummaryAnswer,
    table: "counts",
  }),
  "GET /api/movers": figure({
    summary: "Biggest gains and drops of health",
    query: scores.MoversParameters,
    answer: scores.MoversAnswer,
    table: "movers",
  }),
  "GET /api/model": figure({
    summary: "The model of churn risk that serves, why, and how well it predicted in the back-test",
    query: scores.ModelParameters,
    answer: scores.ModelAnswer,
    table: "models",
  }),
  "GET /api/settings": analysisRoute.read({
    summary: "The organization's settings",
    answer: settings.SettingsAnswer,
  }),
  "PATCH /api/settings": analysisRoute.manage({
    summary: "Change settings",
    body: settings.SettingsChangeBody,
    answer: settings.SettingsAnswer,
  }),
  "GET /api/departures": analysisRoute.read({
    summary: "Questions about what churn means: events that may mean that users have left, and subscriptions",
    answer: figures.DeparturesAnswer,
    table: "events",
  }),
  "GET /api/settings/history": analysisRoute.read({
    summary: "Changes of settings, with author and time",
    query: settings.SettingsHistoryParameters,
    answer: settings.SettingsHistoryAnswer,
    table: "versions",
  }),
  "POST /api/settings/preview": analysisRoute.manage({
    summary:
      "The effect of a change of settings: moves between bands, and whether scores would have predicted better. Nothing is saved",
    body: settings.SettingsChangeBody,
    answer: SettingsPreviewAnswer,
  }),
  "POST /api/settings/restore": analysisRoute.manage({
    summary: "Go back to an older version of the settings: its settings become a new version",
    body: settings.SettingsRestoreBody,
    answer: settings.SettingsAnswer,
  }),
  "GET /api/sources": analysisRoute.read({
    summary: "Sources: items, latest item, and whether the source has fallen silent",
    answer: sources.SourcesAnswer,
  }),
  "POST /api/sources/:source/retire": analysisRoute.manage({
    summary:
      "Mark a source as removed: scores no longer wait for it. The next item of the source undoes this",
    answer: sources.SourceRetiredAnswer,
  }),
} as const;
