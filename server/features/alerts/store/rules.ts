/** Alert rules, as team members keep them. */
import {
  type AlertRuleSettings,
  isMoment,
  type RuleCondition,
  ruleLimits,
} from "../../../../contract/alerts/rules.ts";
import { Refusal } from "../../../../contract/refusal.ts";
import type { AuditNote } from "../../../ledger/audit.ts";

export interface AlertRule extends AlertRuleSettings {
  readonly id: number;
  /** Grows with each change of condition or scope. */
  readonly version: number;
  readonly experiment: number;
  /** The last day that is decided for all entities. Null: none yet. */
  readonly decidedThrough: number | null;
  /** Alerts that are open, without those of controls that are not named yet. */
  readonly openAlerts: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The effects of a change beside the fields themselves. */
export interface RuleEffects {
  readonly fields: readonly (keyof AlertRuleSettings)[];
  readonly isNewVersion: boolean;
  /** Another churn horizon begins one as well, at the first entry under it (`RuleDecisions.holdOut`). */
  readonly isNewExperiment: boolean;
  /** Whether the rule begins anew: the next decision is of the newest day again. */
  readonly beginsAnew: boolean;
  /** Whether that decision fires nothing. */
  readonly takesOver: boolean;
  /** Whether it knows nothing of the decisions before: of a moment, it reads the events from now on. */
  readonly losesCursor: boolean;
  /** Whether the rule looks at other things: its states mean nothing now, and its open alerts, except those
   * of moments, cannot end. */
  readonly looksElsewhere: boolean;
}

/** The effects of a change of a rule. */
export function effectsOf(before: AlertRuleSettings, after: AlertRuleSettings): RuleEffects {
  const names = Object.keys(after) as (keyof AlertRuleSettings)[];
  const fields = names.filter((name) => !Bun.deepEquals(before[name], after[name], true));
  const isNewVersion = fields.includes("condition") || fields.includes("scope");
  const looksElsewhere =
    before.scope.kind !== after.scope.kind || lookOf(before.condition) !== lookOf(after.condition);
  const isResumed = before.isPaused && !after.isPaused;
  return {
    fields,
    isNewVersion,
    isNewExperiment: isNewVersion || fields.includes("holdOutShare"),
    beginsAnew: isNewVersion || isResumed,
    takesOver: isNewVersion ? !after.includeCurrent : isResumed,
    losesCursor: isNewVersion || (isResumed && isMoment(after.condition)),
    looksElsewhere,
  };
}

/** Names what a condition is decided from: daily scores, the events of a moment, or a source. */
function lookOf(condition: RuleCondition): string {
  if (condition.kind === "event") return `event ${condition.event}`;
  if (isMoment(condition)) return condition.kind;
  return condition.kind === "sourceSilent" ? `source ${condition.source ?? ""}` : "days";
}

type Named = Pick<AlertRule, "id" | "name">;

/** The entry of a rule that was added or deleted. */
export function ruleNote(
  action: "alert_rule.created" | "alert_rule.deleted",
  { id, name }: Named,
): AuditNote {
  const verb = action === "alert_rule.created" ? "Added" : "Deleted";
  return { action, summary: `${verb} the alert rule ${name}`, detail: { id, name } };
}

/** The entry of a changed rule. */
export function ruleChangedNote(
  { id, name }: Named,
  after: AlertRuleSettings,
  fields: readonly string[],
): AuditNote {
  const paused = after.isPaused ? "Paused" : "Resumed";
  const isSwitch = fields.length === 1 && fields[0] === "isPaused";
  return {
    action: "alert_rule.changed",
    summary: isSwitch
      ? `${paused} the alert rule ${after.name}`
      : `Changed ${fields.join(", ")} of the alert rule ${after.name}`,
    detail: { id, from: name, to: after.name, fields: [...fields] },
  };
}

/** The error when another rule has the name. */
export function ruleNameTaken(name: string): Refusal {
  return new Refusal(`name is taken: there is an alert rule called ${name} already.`);
}

/** The error when a rule names a destination that is not there. */
export function noSuchDestinations(ids: readonly number[]): Refusal {
  return new Refusal(`destinations is not valid: there is no destination ${ids.join(", ")}.`);
}

/** @throws Refusal when the organization has as many rules as it may have */
export function refuseTooManyRules(rules: number): void {
  const { perOrganization } = ruleLimits;
  if (rules < perOrganization) return;
  throw new Refusal(`There are ${perOrganization} alert rules already: delete one before you add another.`);
}
