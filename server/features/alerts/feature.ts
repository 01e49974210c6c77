/** Alert rules, their alerts and hold-outs, and what was said about rows of the call list. */
import type { Feature } from "../../ledger/feature.ts";
import { type AskedArms, askedArms, entryLists } from "./control-groups/asked-arms.ts";
import { type HoldOutResults, holdOutPlans, holdOutResults } from "./control-groups/results-store.ts";
import { controlsOfErasedUsers, holdOutTables } from "./control-groups/tables.ts";
import { type AboutUserStore, aboutUser, aboutUserStore } from "./store/about-user.ts";
import { deleteAlertsOf, tidyAlerts } from "./store/alert-rows.ts";
import { type AlertStore, alertStore, unassignAlertsOf } from "./store/alert-store.ts";
import { type RuleDecisions, ruleDecisions, takeOverRules } from "./store/decision-store.ts";
import { exportedAlerts } from "./store/exported-alerts.ts";
import { finishRuleDeletions } from "./store/rule-deletions.ts";
import { type RuleSteps, ruleSteps, stepTables } from "./store/rule-steps.ts";
import { type AlertRuleStore, alertRuleStore } from "./store/rule-store.ts";
import {
  alertRuleDays,
  alertsByDay,
  alertsInLists,
  alertsOfControls,
  alertsOfHeldAccounts,
  alertsOnceAVersion,
  alertTables,
  callsSetAsideTable,
  deletedRules,
} from "./store/tables.ts";
import { verdictTable } from "./store/verdicts.ts";

declare module "../../ledger/feature.ts" {
  interface FeatureStores {
    readonly alertRules: AlertRuleStore;
    readonly ruleDecisions: RuleDecisions;
    readonly ruleSteps: RuleSteps;
    readonly holdOutResults: HoldOutResults;
    readonly askedArms: AskedArms;
    readonly alerts: AlertStore;
    readonly alertsAboutUser: AboutUserStore;
  }
  interface OwnCallsOfFeatures {
    readonly alertRules: "find";
    readonly alerts: "change";
    readonly askedArms: "ask";
  }
}

export const alerts: Feature = {
  name: "alerts",
  tables: [
    { name: "calls_set_aside" },
    { name: "alert_rules", encoded: ["name"] },
    { name: "alert_rule_destinations" },
    { name: "alert_rule_versions" },
    { name: "alert_rule_days" },
    { name: "alert_states" },
    { name: "alerts", encoded: ["event_id", "reasons", "note"] },
    { name: "verdicts", encoded: ["note"] },
    { name: "alert_steps" },
    { name: "alert_rule_steps" },
    { name: "hold_out_secrets" },
    { name: "hold_out_experiments", encoded: ["deleted_rule"] },
    { name: "hold_out_entries" },
    { name: "hold_out_listed" },
  ],
  migrations: [
    alertTables,
    () => alertsOfControls,
    holdOutTables,
    alertRuleDays,
    () => alertsByDay,
    alertsInLists,
    deletedRules,
    controlsOfErasedUsers,
    () => alertsOnceAVersion,
    callsSetAsideTable,
    verdictTable,
    stepTables,
    holdOutPlans,
    entryLists,
    () => alertsOfHeldAccounts,
  ],
  stores: (engine) => ({
    alertRules: alertRuleStore(engine),
    ruleDecisions: ruleDecisions(engine),
    ruleSteps: ruleSteps(engine),
    holdOutResults: holdOutResults(engine),
    askedArms: askedArms(engine),
    alerts: alertStore(engine),
    alertsAboutUser: aboutUserStore(engine),
  }),
  erase: deleteAlertsOf,
  freeAfterMember: { alert: unassignAlertsOf },
  tidy: finishRuleDeletions,
  tidyHourly: tidyAlerts,
  *pauseElsewhere() {
    yield* takeOverRules();
    return 0;
  },
  exports: [exportedAlerts],
  aboutUser,
};
