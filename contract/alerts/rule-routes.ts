/** The routes about alert rules and alerts. Intake keeps them, and analysis lists alerts and previews
 * rules. */
import { analysisRoute, keyRoute } from "../api/route.ts";
import { RuleFiguresAnswer } from "./rule-figures.ts";
import { RulePreviewAnswer, RulePreviewBody } from "./rule-preview.ts";
import * as rules from "./rule-schemas.ts";

const changeCall = { body: rules.CallChangeBody, status: 204 } as const;

/** Answered by intake. */
export const ruleRoutes = {
  "GET /api/alert-rules": keyRoute.read({ summary: "Alert rules", answer: rules.AlertRulesAnswer }),
  "POST /api/alert-rules": keyRoute.manage({
    summary: "Add an alert rule",
    body: rules.AlertRuleBody,
    status: 201,
    answer: rules.AlertRuleAnswer,
  }),
  "PUT /api/alert-rules/:id": keyRoute.manage({
    summary: "Change an alert rule; a change of condition or scope makes a new version",
    body: rules.AlertRuleBody,
    answer: rules.AlertRuleAnswer,
  }),
  "DELETE /api/alert-rules/:id": keyRoute.manage({
    summary: "Delete an alert rule with its alerts",
    status: 204,
  }),
  "POST /api/alert-rules/:id/pause": keyRoute.manage({
    summary: "Pause an alert rule: it makes no alerts until it is resumed",
    answer: rules.AlertRuleAnswer,
  }),
  "POST /api/alert-rules/:id/resume": keyRoute.manage({
    summary: "Resume an alert rule: users and accounts that match now get no alert; only new matches do",
    answer: rules.AlertRuleAnswer,
  }),
  "PATCH /api/alerts/:id": keyRoute.manage({
    summary: "Assign or snooze an alert, mark it as handled or not useful, or write a note",
    body: rules.AlertChangeBody,
    answer: rules.AlertAnswer,
  }),
  "PATCH /api/users/:userId/call": keyRoute.manage({
    summary: "Snooze a user on the call list, or mark the call as handled or not useful",
    ...changeCall,
  }),
  "PATCH /api/accounts/:accountId/call": keyRoute.manage({
    summary: "Snooze an account on the call list, or mark the call as handled or not useful",
    ...changeCall,
  }),
} as const;

/** Answered by analysis. */
export const alertFigures = {
  "GET /api/alerts": analysisRoute.read({
    summary: "Alerts of rules: open, snoozed, handled or closed",
    query: rules.AlertsParameters,
    answer: rules.AlertsAnswer,
    table: "alerts",
  }),
  "GET /api/alert-rules/figures": analysisRoute.read({
    summary: "How alert rules perform: alerts by week, and the share of alerts that were followed by churn",
    answer: RuleFiguresAnswer,
  }),
  "GET /api/alert-rules/default-exemption": analysisRoute.read({
    summary:
      "The MRR above which accounts are exempt from a control group by default: at most a tenth of paying accounts exceed it",
    answer: rules.DefaultExemptionAnswer,
  }),
  "POST /api/alert-rules/preview": analysisRoute.read({
    summary:
      "How an alert rule would have performed in the last 90 days: alerts by week, and the share of alerts that were followed by churn. Segments are evaluated as of each past day. Nothing is saved",
    body: RulePreviewBody,
    answer: RulePreviewAnswer,
  }),
} as const;
