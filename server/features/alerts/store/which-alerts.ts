/** Conditions on alert rules and alerts. Rules that are deleted, and their alerts, are left out until their
 * rows are gone. */
import { type Fragment, part } from "../../../ledger/sql.ts";

/** Rules that are not deleted. */
export const isKept = part`alert_rules.deleted_at_ms IS NULL`;

/** Rules of an organization that are deleted, and have rows yet. */
export const deletedRules = (organization: number): Fragment => part`
  FROM alert_rules WHERE organization = ${organization} AND deleted_at_ms IS NOT NULL`;

/** Alerts of rules that are not deleted. */
export const ofKeptRule = (organization: number): Fragment => part`
  alerts.rule NOT IN (SELECT id ${deletedRules(organization)})`;

/** Alerts without those of controls whose horizon is not over. @param today in the organization's timezone */
export const isNoControl = (today: number): Fragment =>
  part`(control_until IS NULL OR control_until < ${today})`;

/** Alerts of the inbox. Controls are not among them before their horizon is over. @param today in the
 * organization's timezone */
export const isNamed = (organization: number, today: number): Fragment => part`
  ${isNoControl(today)} AND ${ofKeptRule(organization)}`;

/** Alerts that are not closed, have no verdict and are not snoozed. */
export const isOpen = (today: number): Fragment => part`
  closed_day IS NULL AND verdict IS NULL AND (snoozed_until IS NULL OR snoozed_until <= ${today})`;
