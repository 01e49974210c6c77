/** The figures, reasons and draws of alerts. Figures are from the rows of scores of their day. */
import type { AlertReason } from "../../../../contract/alerts/rules.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../../../scoring/run/records.ts";
import { seatsUsedOf } from "../../../scoring/scores/seats.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { dayParameter } from "../../../warehouse/upkeep/keep-events.ts";
import type { FiredAlert, RuleVersion } from "../store/decisions.ts";
import type { DailyCondition } from "./conditions.ts";
import { exemptOf, type SegmentParts } from "./segments.ts";
import type { ReadWorth } from "./worth.ts";

type Run = ScoreRecord<RunBody>;

export interface AlertFacts {
  /** The value of the run that is compared with, and the value of the day. */
  readonly before: number | null;
  readonly after: number | null;
  readonly risk: number | null;
  readonly reasons: readonly AlertReason[];
}

/** The figures of an entity on a scored day. */
export interface ScoreFigures {
  readonly state: string;
  readonly risk: number | null;
  readonly health: number | null;
  readonly volume28: number;
  readonly idleDays: number;
  readonly activeDays28: number;
  readonly activeDaysPrevious28: number;
  /** Of accounts; null where it is unknown. */
  readonly activeMembers28: number | null;
  readonly seats: number | null;
  readonly pulse: number | null;
}

/** The figures of entities on the day of a run, by number. Entities without a score row are left out. @throws
 * WarehouseError */
export async function scoreFigures(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
  { day, body: { rowsVersion } }: Run,
  entities: readonly number[],
): Promise<ReadonlyMap<number, ScoreFigures>> {
  if (entities.length === 0) return new Map();
  const ofAccount = ["active_members_28 AS activeMembers28", "seats", "pulse"];
  const ofUser = ["NULL AS activeMembers28", "NULL AS seats", "NULL AS pulse"];
  const rows = await warehouse.rows<ScoreFigures & { entity: number }>(
    `SELECT ${kind} AS entity, toString(state) AS state, risk, health, volume_28 AS volume28, idle_days AS idleDays,
       active_days_28 AS activeDays28, active_days_previous_28 AS activeDaysPrevious28,
       ${(kind === "account" ? ofAccount : ofUser).join(", ")}
     FROM ${kind}_scores FINAL
     WHERE organization = {organization:UInt32} AND day = ${dayParameter("day")} AND version >= {rowsVersion:UInt64}
       AND ${kind} IN {entities:Array(UInt32)}`,
    { organization, day, rowsVersion, entities },
  );
  return new Map(rows.map(({ entity, ...figures }) => [entity, figures]));
}

/** The facts of an alert. @param before the figures of the day that is compared with; undefined without such
 * a day */
export function factsOf(
  condition: DailyCondition,
  now: ScoreFigures,
  before: ScoreFigures | undefined,
): AlertFacts {
  const values = {
    after: figureOf(condition, now),
    before: before === undefined ? null : figureOf(condition, before),
  };
  return { ...values, risk: now.risk, reasons: reasonsOf(condition, values, now) };
}

/** The figure that a condition compares; null for a condition that compares no figure. */
function figureOf(condition: DailyCondition, figures: ScoreFigures): number | null {
  const { state, risk, health, volume28, activeMembers28, seats, pulse } = figures;
  switch (condition.kind) {
    case "riskBand":
    case "riskUp":
      return risk;
    case "healthBelow":
    case "healthDown":
      return health;
    case "usageDown":
    case "usageUp":
      return volume28;
    case "seatsAbove":
    case "seatsBelow":
      return activeMembers28 === null ? null : seatsUsedOf(activeMembers28, seats);
    case "pulseAtMost":
      return pulse;
    case "state":
      return state === condition.state ? 1 : 0;
    default:
      return null;
  }
}

/** The stores that the figures of firing entities are read from. */
export interface FiringParts extends SegmentParts {
  /** MRR now by number, in minor units of the organization's currency. Null for a payer whose currency has no
   * rate. Entities without revenue are left out. */
  readonly mrrOf: (
    organization: Organization,
    kind: EntityKind,
    entities: readonly number[],
  ) => Promise<ReadonlyMap<number, number | null>>;
  readonly worthOf: ReadWorth;
}

/** The account of an entity and MRR, now. */
interface Worth {
  readonly account: number | null;
  readonly mrr: number | null | undefined;
  readonly mrrOfAccount: number | null | undefined;
  /** MRR that ends as scheduled, and the id of the owner. */
  readonly endingMrr: number;
  readonly owner: number | null;
}

/** Reads the accounts, MRR and owners of entities, as of now. @returns a function of an entity's number
 * @throws WarehouseError */
export async function worthOf(
  parts: FiringParts,
  organization: Organization,
  kind: EntityKind,
  entities: readonly number[],
): Promise<(entity: number) => Worth> {
  const accounts =
    kind === "account"
      ? new Map(entities.map((entity) => [entity, entity]))
      : await accountsOf(parts.warehouse, organization.id, entities);
  const own = await parts.mrrOf(organization, kind, entities);
  const ofAccounts =
    kind === "account" ? own : await parts.mrrOf(organization, "account", [...new Set(accounts.values())]);
  const worth = await parts.worthOf(organization, kind, entities);
  return (entity) => {
    const account = accounts.get(entity) ?? null;
    const mrrOfAccount = account === null ? undefined : ofAccounts.get(account);
    const { endingMrr = 0, owner = null } = worth.get(entity) ?? {};
    return { account, mrr: own.get(entity), mrrOfAccount, endingMrr, owner: owner?.id ?? null };
  };
}

type FiringFigures = Pick<FiredAlert, "risk" | "account" | "expectedLoss" | "isExempt" | "assignee">;

/** The unit that an alert draws in the hold-out, its importance and its assignee, for daily conditions and
 * moments alike. The MRR of a user's account counts for the exemption.
 * @param facts of the entities with a score row
 * @returns a function of an entity's number @throws WarehouseError, and ApiError when the exempt segment is
 * not there */
export async function firingFigures(
  parts: SegmentParts,
  organization: Organization,
  exemptions: RuleVersion["exemptions"],
  entities: readonly number[],
  {
    facts,
    worth,
    isEnd = false,
    isGain = false,
  }: {
    readonly facts: ReadonlyMap<number, AlertFacts>;
    readonly worth: (entity: number) => Worth;
    /** Whether the alerts are about scheduled ends: what ends as scheduled is lost for certain. */
    readonly isEnd?: boolean;
    /** Whether the alerts are about customers who could buy more: nothing is at risk. */
    readonly isGain?: boolean;
  },
): Promise<(entity: number) => FiringFigures> {
  const isExempt = await exemptOf(parts, organization, exemptions, entities);
  return (entity) => {
    const { account, mrr, mrrOfAccount, endingMrr, owner } = worth(entity);
    const risk = isEnd ? 1 : isGain ? null : (facts.get(entity)?.risk ?? null);
    // The event may be loaded before the subscription that it ends: then the whole MRR counts.
    const exposed = isEnd && endingMrr > 0 ? endingMrr : mrr;
    return {
      risk,
      account,
      expectedLoss: exposed == null || risk === null ? null : risk * exposed,
      assignee: owner,
      isExempt: isExempt(entity, mrrOfAccount === undefined ? mrr : mrrOfAccount),
    };
  };
}

/** The accounts of users, without users that have no account. */
async function accountsOf(
  warehouse: Warehouse,
  organization: number,
  users: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (users.length === 0) return new Map();
  const rows = await warehouse.rows<{ user: number; account: number }>(
    `SELECT user, account FROM users FINAL
     WHERE organization = {organization:UInt32} AND user IN {users:Array(UInt32)} AND account != 0`,
    { organization, users },
  );
  return new Map(rows.map(({ user, account }) => [user, account]));
}

type Values = Pick<AlertFacts, "before" | "after">;

/** The reasons of an alert: the figure of the condition first, then the use. */
function reasonsOf(condition: DailyCondition, values: Values, now: ScoreFigures): AlertReason[] {
  const { idleDays, activeDays28, activeDaysPrevious28 } = now;
  const activity: AlertReason = {
    text: `Active on ${days(activeDays28)} of 28, was ${activeDaysPrevious28}`,
    values: { activeDays28, activeDaysPrevious28 },
  };
  const idle: AlertReason = { text: `Silent for ${days(idleDays)}`, values: { idleDays } };
  return [...reasonOf(condition, values, now), activity, ...(idleDays > 1 ? [idle] : [])];
}

function reasonOf(
  condition: DailyCondition,
  { before, after }: Values,
  { risk, activeMembers28, seats, pulse }: ScoreFigures,
): AlertReason[] {
  switch (condition.kind) {
    case "riskBand":
    case "riskUp":
      return [
        {
          text: `Churn risk ${compared(percentText(after), percentText(before))}`,
          values: { before, after },
        },
      ];
    case "healthBelow":
    case "healthDown":
      return [{ text: `Health ${compared(scoreText(after), scoreText(before))}`, values: { before, after } }];
    case "usageDown":
      return [{ text: usageText(after, before), values: { before, after } }];
    case "usageUp":
      return [{ text: usageUpText(after, before), values: { before, after } }];
    case "seatsAbove":
    case "seatsBelow":
      return [
        {
          text: `Uses ${activeMembers28 ?? "unknown"} of ${seats ?? "unknown"} seats`,
          values: { activeMembers28, seats },
        },
      ];
    case "pulseAtMost":
      return [{ text: `Pulse ${pulse ?? "unknown"} of 5`, values: { pulse } }];
    case "keyEventUnseen":
      return [
        {
          text: `${condition.event} not done for ${days(condition.days)}`,
          values: { event: condition.event, days: condition.days },
        },
      ];
    case "inSegment":
      return [{ text: `In the segment ${condition.of.name}`, values: { segment: condition.segment } }];
    case "state":
      return [{ text: `State ${condition.state}`, values: { state: condition.state, risk } }];
    default:
      return [];
  }
}

/** 58 actions in 28 days, 188 before (−69%). A weighted event counts as more than one. */
function usageText(after: number | null, before: number | null): string {
  const actions = `${rounded(after)} ${rounded(after) === "1" ? "action" : "actions"} in 28 days`;
  if (before === null) return actions;
  if (after === null || before === 0) return `${actions}, ${rounded(before)} before`;
  const percent = Math.round((after / before - 1) * 100);
  return `${actions}, ${rounded(before)} before (${percent < 0 ? "−" : "+"}${Math.abs(percent)}%)`;
}

/** Use up 62% in 4 weeks: 305 actions, 188 before. */
function usageUpText(after: number | null, before: number | null): string {
  if (after === null || before === null || before === 0) return usageText(after, before);
  return `Use up ${wholeDown(100 * (after / before - 1))}% in 4 weeks: ${rounded(after)} actions, ${rounded(before)} before`;
}

function compared(now: string, before: string): string {
  return before === "unknown" ? now : `${now}, was ${before}`;
}

/** A share as whole per cent, rounded down as on the pages, so that a churn risk is never shown in a higher
 * band. */
export function percentText(share: number | null): string {
  return share === null ? "unknown" : `${wholeDown(100 * share)}%`;
}

/** Noise of sums of doubles is in the 16th digit. */
function wholeDown(value: number): number {
  return Math.floor(Number(value.toPrecision(14)));
}

const scoreText = (score: number | null) => (score === null ? "unknown" : String(wholeDown(score)));
const rounded = (value: number | null) => (value === null ? "unknown" : String(Math.round(value)));
const days = (count: number) => (count === 1 ? "1 day" : `${count} days`);
