/** The content of a digest, and whether it says anything new. Pure. */
import { type DigestPeriod, digestLimits } from "../../../contract/digest/digest.ts";

import type { SenderName } from "../../../contract/sources.ts";
import type { CallRow } from "../../analytics/call-list.ts";
import { keyOfEntity, type NamedEntity, type RuleEntity } from "../../ledger/stores/entity-rows.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import type { Precision } from "../alerts/rules/preview-figures.ts";
import type { FiredRecord } from "../alerts/store/alerts.ts";
import type { Totals } from "../results/totals.ts";

/** A user or an account that is named. */
export interface DigestEntity extends NamedEntity {
  readonly number: number;
  readonly risk: number | null;
  readonly riskBefore: number | null;
  /** Empty when the entity has no score now. */
  readonly state: string;
  /** Churn risk × MRR a month, in minor units of the currency. Null without revenue. */
  readonly expectedLoss: number | null;
}

/** A row of the call list. Amounts are in minor units of the currency. */
export interface DigestCall
  extends NamedEntity,
    Pick<CallRow, "number" | "mrr" | "plan" | "class" | "reason" | "rankValue" | "expectedLoss"> {
  /** The name of the owner, a team member. */
  readonly owner: string | null;
}

/** Entities that moved: all are counted, and some are named. */
export interface DigestMoves {
  readonly total: number;
  readonly named: readonly DigestEntity[];
}

/** The alerts of a week. */
export interface AlertsOfWeek {
  readonly fired: number;
  readonly handled: number;
  readonly notUseful: number;
  /** Alerts without a verdict, and with a task that was added since. */
  readonly withTask: number;
  /** Alerts without a verdict or a task. */
  readonly untouched: number;
  /** Alerts that closed because the user or the account churned. */
  readonly churned: number;
}

/** The state of the data. */
export interface DigestData {
  /** The sources that are silent. */
  readonly silent: readonly { readonly source: SenderName; readonly sinceMs: number }[];
  /** The day since which scores wait for data; null when scores do not wait. */
  readonly stoppedSince: number | null;
  readonly rejectedEvents: number;
}

export interface Digest {
  readonly period: DigestPeriod;
  /** The day of the digest, in days since 1970-01-01. */
  readonly day: number;
  /** The kind of entities: accounts if any has a score, else users. */
  readonly kind: EntityKind;
  /** The day of the scores, and the earlier day that they are compared with; null without scores. */
  readonly scoredDay: number | null;
  readonly sinceDay: number | null;
  /** Whether a model gives churn risks. Without a model there is no high risk to enter. */
  readonly hasModel: boolean;
  /** Whether there is no model because there is too little data. */
  readonly lacksData: boolean;
  readonly currency: string;
  readonly entered: DigestMoves;
  readonly left: DigestMoves;
  /** Entities that entered or left high risk only by a change of the model or the settings. */
  readonly movedBySettings: number;
  /** Users, accounts and sources without an alert that match an alert rule only because the model or the
   * settings changed. */
  readonly insideBySettings: number;
  /** The first rows of the call list. */
  readonly top: readonly DigestCall[];
  readonly alerts: AlertsOfWeek;
  /** What was done in the last 7 days. */
  readonly done: Totals;
  readonly precision: Precision;
  /** Settings and models that changed since the last digest, as sentences. */
  readonly changes: readonly string[];
  readonly data: DigestData;
}

/** Whether a digest has news: a move, an alert or work of the week, a change, or missing data. The call list
 * and the precision alone are no news. */
export function hasNews(digest: Digest): boolean {
  const { entered, left, movedBySettings, insideBySettings, alerts, done, changes, data, period } = digest;
  return (
    entered.total + left.total + movedBySettings + insideBySettings + changes.length + data.silent.length >
      0 ||
    data.stoppedSince !== null ||
    (period === "weekly" && alerts.fired + done.customers > 0)
  );
}

/** Sums up the alerts of a week. */
export function alertsOfWeek(
  fired: readonly Pick<FiredRecord, "verdict" | "taskAtMs" | "closedWhy">[],
): AlertsOfWeek {
  const count = (counts: (one: (typeof fired)[number]) => boolean) => fired.filter(counts).length;
  return {
    fired: fired.length,
    handled: count(({ verdict }) => verdict === "handled"),
    notUseful: count(({ verdict }) => verdict === "notUseful"),
    withTask: count(({ verdict, taskAtMs }) => verdict === null && taskAtMs !== null),
    untouched: count(({ verdict, taskAtMs }) => verdict === null && taskAtMs === null),
    churned: count(({ closedWhy }) => closedWhy === "churned"),
  };
}

/** An entity before it has a name. */
export type UnnamedEntity = Omit<DigestEntity, keyof NamedEntity>;

/** The most important entities: by expected loss, then by risk now or before, the highest first. */
export function mostImportant<Entity extends UnnamedEntity>(
  entities: readonly Entity[],
  limit: number = digestLimits.moved,
): Entity[] {
  const riskOf = ({ risk, riskBefore }: Entity) => risk ?? riskBefore ?? -1;
  return entities
    .toSorted((a, b) => (b.expectedLoss ?? -1) - (a.expectedLoss ?? -1) || riskOf(b) - riskOf(a))
    .slice(0, limit);
}

/** The users and accounts that a digest names. */
export function entitiesOf({ entered, left, top }: Digest): readonly RuleEntity[] {
  const named = [...entered.named, ...left.named, ...top].map(
    ({ kind, number }): RuleEntity => ({ kind, number }),
  );
  return [...new Map(named.map((entity) => [keyOfEntity(entity), entity])).values()];
}
