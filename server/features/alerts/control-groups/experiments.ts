/** Hold-outs of alert rules: their experiments, and the entries that a later result counts. */
import type { AlertArm, AlertRuleSettings } from "../../../../contract/alerts/rules.ts";
import type { EntityNumbers } from "../../../ledger/stores/entity-rows.ts";

/** The parts of a draw that the ledger has. */
export interface HoldOut {
  /** Of the organization. It is made once, and never changes. */
  readonly secret: string;
  /** The experiment of the rule that the entry belongs to. */
  readonly experiment: number;
}

/** Units whose arm is known before a draw. A user has the account that was drawn for it, else 0. Of an
 * account the user is 0. */
export interface KnownArms {
  /** Controls of the rule in any of its experiments, with the last day on which they are some. */
  readonly controls: readonly (EntityNumbers & { readonly untilDay: number })[];
  /** Entries of one experiment. */
  readonly entries: readonly (EntityNumbers & { readonly arm: EntryArm })[];
}

/** Which of them are asked for: the controls on a day and later, and the entries of an experiment. */
export interface ArmsQuestion {
  readonly rule: number;
  readonly experiment: number;
  readonly day: number;
}

export type EntryArm = Exclude<AlertArm, "exempt">;

/** Entries of an experiment with the same arm, month and outcome. */
export interface EntryCount {
  readonly arm: EntryArm;
  /** The first day of the month of entry. */
  readonly month: number;
  /** Null: not known. Until results are computed, `churned` is known of entities that are forgotten. */
  readonly outcome: EntryOutcome | null;
  /** Whether their users or accounts are forgotten: erased, or their alerts are deleted. */
  readonly isForgotten: boolean;
  readonly entries: number;
}

export type EntryOutcome = "churned" | "retained";

/** An experiment of a rule: all of its entries have the same condition, share and churn horizon. */
export interface HoldOutExperiment {
  readonly rule: number;
  readonly experiment: number;
  readonly version: number;
  readonly scope: AlertRuleSettings["scope"] | null;
  readonly condition: AlertRuleSettings["condition"] | null;
  /** Null of experiments that ended before shares were stored. */
  readonly share: number | null;
  /** Null before the first entry. */
  readonly horizonDays: number | null;
  readonly beganAtMs: number;
  /** The name of the rule when it was deleted. Null while it is there. */
  readonly deletedRule: string | null;
  /** By month, then arm. An account, or a user without one, is counted once. */
  readonly entries: readonly EntryCount[];
}
