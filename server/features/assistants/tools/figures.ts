/** Tools about activity, retention, revenue, the model and what came of the work. */
import Type from "typebox";
import { RuleConditionBody, RuleScopeBody } from "../../../../contract/alerts/rule-condition.ts";
import { resultDays } from "../../../../contract/api/results.ts";
import { assistantLimits } from "../../../../contract/assistants/assistants.ts";
import { churnReasonLimits } from "../../../../contract/churn-reasons.ts";
import { answerWith, columnsOf, factColumns, factsOf, tableOf } from "../answer.ts";
import type { Asking } from "../asking.ts";
import { Input, input, tool } from "../tool.ts";
import { modelOf, moneyNote } from "./common.ts";

const periods = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 60, description }));

export const queryRetention = tool({
  name: "query_retention",
  title: "Retention",
  description:
    "Retention by period with 95 % intervals: the mean of all complete cohorts, or each cohort. trait splits it. measure in: active in the period; inOrAfter: then or later. Terms: get_workspace.",
  input: input({
    show: Type.Optional(Type.Enum(["mean", "cohorts"])),
    period: Type.Optional(Type.Enum(["day", "week", "month"])),
    measure: Type.Optional(Type.Enum(["in", "inOrAfter"])),
    trait: Input.text("Trait to split by, such as plan."),
    returnEvent: Input.text("The event that counts as coming back."),
    from: Input.day("A day of the first cohort."),
    to: Input.day("A day of the last cohort."),
    periods: periods("Periods of each cohort."),
    segment: Input.segment,
    limit: Input.limit,
  }),
  run: async (asking, { show = "mean", limit, ...query }) => {
    const { mean, cells } = await asking.ask("GET /api/retention", { query });
    const table =
      show === "mean"
        ? columnsOf(mean, [
            "kind",
            "value",
            "period",
            "cohorts",
            "cohortUsers",
            "users",
            "share",
            "low",
            "high",
          ])
        : columnsOf(cells, [
            "kind",
            "value",
            "cohortDay",
            "period",
            "cohortUsers",
            "users",
            "share",
            "low",
            "high",
            "isComplete",
          ]);
    return answerWith(asking, { ...table, untrusted: ["value"], limit, page: "retention" });
  },
});

export const queryActivity = tool({
  name: "query_activity",
  title: "Activity",
  description:
    "active_users: daily, weekly, monthly users. lifecycle: new, returning, resurrected, dormant. events_over_time: how often, by how many. adoption: the share that does each event. Terms: get_workspace.",
  input: input({
    figure: Type.Enum(["active_users", "lifecycle", "events_over_time", "adoption"]),
    event: Input.text("Of events_over_time; default all."),
    period: Type.Optional(Type.Enum(["day", "week", "month"])),
    periods: periods("Periods, or days of active_users and adoption."),
    breakdown: Type.Optional(Type.Enum(["event", "property", "trait"])),
    key: Input.text("Property or trait to break down by."),
    to: Input.day("The last day."),
    segment: Input.segment,
    limit: Input.limit,
  }),
  run: async (asking, { figure, limit, ...sent }) => {
    const rows = await activityOf(asking, figure, sent);
    // The newest periods are the last ones: those are kept where not all fit.
    const kept = figure === "adoption" ? rows : rows.slice(-(limit ?? assistantLimits.rows));
    return answerWith(asking, {
      ...tableOf(kept),
      totalRows: rows.length,
      untrusted: ["event", "label", "value"],
      limit,
      notes: [kept.length < rows.length ? "The rows are the newest ones." : null],
      page: "events",
    });
  },
});

interface ActivityQuery {
  readonly event?: string;
  readonly period?: string;
  readonly periods?: number;
  readonly breakdown?: string;
  readonly key?: string;
  readonly to?: string;
  readonly segment?: number;
}

async function activityOf(
  asking: Asking,
  figure: "active_users" | "lifecycle" | "events_over_time" | "adoption",
  { event, period, periods: many, breakdown, key, to, segment }: ActivityQuery,
): Promise<readonly object[]> {
  const byDays = { query: { days: many, to, segment } };
  switch (figure) {
    case "active_users":
      return (await asking.ask("GET /api/active-users", byDays)).days;
    case "adoption":
      return (await asking.ask("GET /api/adoption", byDays)).events;
    case "lifecycle":
      return (await asking.ask("GET /api/lifecycle", { query: { period, periods: many, to, segment } }))
        .periods;
    case "events_over_time": {
      const query = { event, period, periods: many, breakdown, key, to, segment };
      return (await asking.ask("GET /api/events-over-time", { query })).periods;
    }
  }
}

export const queryRevenue = tool({
  name: "query_revenue",
  title: "Revenue",
  description:
    "movements: MRR, NRR, GRR and logo churn by period. at_risk: payers whose MRR is at risk, without controls, and sums. cohorts: MRR that cohorts kept, with intervals. Terms: get_workspace.",
  input: input({
    figure: Type.Enum(["movements", "at_risk", "cohorts"]),
    period: Type.Optional(Type.Enum(["month", "quarter", "year"])),
    periods: periods("Periods, at most 24 cohorts."),
    split: Type.Optional(Type.Enum(["none", "plan", "trait"])),
    trait: Input.text("With split trait."),
    kind: Type.Optional(Input.kind),
    to: Input.day("The last day."),
    segment: Input.segment,
    limit: Input.limit,
  }),
  run: async (asking, { figure, kind, limit, segment, ...query }) => {
    if (figure === "at_risk") {
      const asked = { kind, segment, limit: assistantLimits.mostRows };
      const { atRisk, ...sums } = await asking.ask("GET /api/revenue/at-risk", { query: asked });
      const { mrr, payers, highRiskMrr, highRiskPayers, expectedLoss, reportingCurrency, day } = sums;
      const said = factsOf({ mrr, payers, highRiskMrr, highRiskPayers, expectedLoss }, "")
        .map(([name, value]) => `${name} ${String(value)}`)
        .join(", ");
      return answerWith(asking, {
        ...tableOf(atRisk),
        untrusted: ["id", "name"],
        limit,
        asOf: day,
        ...(await modelOf(asking, kind ?? "account")),
        notes: [`Sums: ${said}.`, moneyNote(reportingCurrency)],
        page: "revenue",
      });
    }
    const asked = { query: { ...query, segment } };
    const answer =
      figure === "movements"
        ? await asking.ask("GET /api/revenue", asked)
        : await asking.ask("GET /api/revenue/cohorts", asked);
    return answerWith(asking, {
      ...tableOf("periods" in answer ? answer.periods : answer.cells),
      untrusted: ["value"],
      limit,
      notes: [moneyNote(answer.reportingCurrency)],
      page: "revenue",
    });
  },
});

export const getChurnReasons = tool({
  name: "get_churn_reasons",
  title: "Churn reasons",
  description:
    "Why payers left. reasons: departures and MRR by reason and period, from billing, events or the team. comments: what customers said, the newest first. Terms: get_workspace.",
  input: input({
    show: Type.Optional(Type.Enum(["reasons", "comments"])),
    period: Type.Optional(Type.Enum(["month", "quarter", "year"])),
    periods: periods("Periods; default 12."),
    split: Type.Optional(Type.Enum(["none", "plan", "owner", "mrr", "ending"])),
    to: Input.day("The last day."),
    segment: Input.segment,
    limit: Input.limit,
  }),
  run: async (asking, { show = "reasons", limit = assistantLimits.rows, ...query }) => {
    const comments = Math.min(limit, churnReasonLimits.comments);
    const answer = await asking.ask("GET /api/churn-reasons", { query: { ...query, comments } });
    return answerWith(asking, {
      ...tableOf(show === "reasons" ? answer.reasons : answer.comments),
      ...(show === "comments" && { totalRows: answer.commentTotal }),
      untrusted: ["value", "reason", "id", "label", "comment"],
      limit,
      notes: [moneyNote(answer.reportingCurrency)],
      page: "revenue",
    });
  },
});

export const getModelCard = tool({
  name: "get_model_card",
  title: "Model card",
  description: "Which model of churn risk serves, why, and how well it predicted in the back-test.",
  input: input({ kind: Input.kind }),
  run: async (asking, { kind }) => {
    const { freshness: _, ...card } = {
      freshness: undefined,
      ...(await asking.ask("GET /api/model", { query: { kind } })),
    };
    return answerWith(asking, {
      columns: factColumns,
      rows: factsOf(card, ""),
      untrusted: [],
      limit: assistantLimits.mostRows,
      asOf: card.day,
      model: card.model,
      notEnoughData: card.lacksData ? card.why : undefined,
      page: "model",
    });
  },
});

export const getResults = tool({
  name: "get_results",
  title: "Results",
  description:
    "customers: what was done for whom and what came of it. summary: sums, the hint and the proof by control groups. rules: how alert rules perform. alerts: open alerts and their ids, without controls.",
  input: input({
    figure: Type.Enum(["summary", "customers", "rules", "alerts"]),
    period: Type.Optional(Type.Enum([...periodNames()])),
    rule: Type.Optional(Type.Integer({ minimum: 1, description: "Alert rule id." })),
    segment: Input.segment,
    limit: Input.limit,
  }),
  run: async (asking, { figure, period, rule, segment, limit }) => {
    if (figure === "alerts") {
      const query = { rule, segment, limit: limit ?? assistantLimits.rows };
      const { alerts, total } = await asking.ask("GET /api/alerts", { query });
      const free = alerts.filter(({ arm }) => arm !== "control");
      return answerWith(asking, {
        ...columnsOf(
          free.map((alert) => ({
            ...alert,
            alertId: alert.id,
            kind: alert.entityKind,
            id: alert.entityId,
            name: alert.entityLabel,
            rule: alert.rule.name,
            reasons: alert.reasons.join("; "),
            assignee: alert.assignee?.name ?? null,
          })),
          [
            "alertId",
            "kind",
            "id",
            "name",
            "rule",
            "firedDay",
            "reasons",
            "risk",
            "expectedLoss",
            "assignee",
            "note",
          ],
        ),
        totalRows: total - (alerts.length - free.length),
        untrusted: ["id", "name", "rule", "reasons", "assignee", "note"],
        limit,
        notes: [moneyNote(null)],
        page: "alerts",
      });
    }
    if (figure === "rules") {
      const { rules, horizonDays } = await asking.ask("GET /api/alert-rules/figures");
      return answerWith(asking, {
        columns: factColumns,
        rows: factsOf(
          rules.map(({ weeks: __, ...one }) => one),
          "rule",
        ),
        untrusted: ["value"],
        limit: assistantLimits.mostRows,
        notes: [`The churn horizon is ${horizonDays} days.`],
        page: "settings/alert-rules",
      });
    }
    const results = await asking.ask("GET /api/results", { query: { period, rule, segment } });
    const notes = [`From ${results.from} to ${results.to}.`, moneyNote(results.reportingCurrency)];
    if (figure === "summary") {
      const { totals, members, rules, hint, proof } = results;
      return answerWith(asking, {
        columns: factColumns,
        rows: factsOf({ totals, members, rules, hint, proof }, ""),
        untrusted: ["value"],
        limit: assistantLimits.mostRows,
        asOf: results.to,
        notes,
        page: "results",
      });
    }
    return answerWith(asking, {
      ...columnsOf(
        results.customers.map((customer) => ({
          ...customer,
          touches: customer.touches
            .map(({ what, at, person, by }) => `${what} ${at} by ${person?.name ?? by ?? "nobody known"}`)
            .join("; "),
          rules: customer.rules.map(({ name }) => name).join("; "),
        })),
        [
          "kind",
          "id",
          "label",
          "touches",
          "rules",
          "outcome",
          "mrrThen",
          "mrrNow",
          "useBefore",
          "useAfter",
          "state",
          "risk",
        ],
      ),
      untrusted: ["id", "label", "touches", "rules"],
      limit,
      asOf: results.to,
      notes,
      page: "results",
    });
  },
});

function periodNames() {
  return Object.keys(resultDays) as (keyof typeof resultDays)[];
}

export const previewAlertRule = tool({
  name: "preview_alert_rule",
  title: "Preview an alert rule",
  description:
    "How an alert rule would have done in the last 90 days: alerts a week, how many were followed by churn beside the base rate, how many departures it missed. Saves nothing.",
  input: input({
    scope: RuleScopeBody,
    condition: RuleConditionBody,
    cooldownDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 })),
  }),
  run: async (asking, body) => {
    const preview = await asking.ask("POST /api/alert-rules/preview", { body });
    const { note, weeks, ...figures } = preview;
    return answerWith(asking, {
      columns: factColumns,
      rows: [...factsOf(figures, ""), ...weeks.map(({ monday, fired }) => [`week of ${monday}`, fired])],
      untrusted: [],
      limit: assistantLimits.mostRows,
      asOf: preview.toDay,
      notes: [note],
      page: "settings/alert-rules",
    });
  },
});
