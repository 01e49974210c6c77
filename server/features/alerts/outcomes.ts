/** Alerts whose churn horizon is over, and whether their users or accounts had churned at its end. */
import { contactEvent } from "../../../contract/api/contacts.ts";
import type { Zone } from "../../calendar/zone.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import { runsBetween } from "../../scoring/run/records.ts";
import { daysWithin, type Outages } from "../../scoring/scores/observed-days.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { oneByHorizon } from "./rules/preview-figures.ts";
import type { FiredRecord } from "./store/alerts.ts";

export interface OutcomeQuestion {
  readonly organization: { readonly id: number; readonly zone: Zone };
  readonly today: number;
  readonly horizonDays: number;
  readonly outages: Outages;
}

interface MatureQuestion extends Pick<OutcomeQuestion, "today" | "horizonDays" | "outages"> {
  readonly organization: Pick<OutcomeQuestion["organization"], "zone">;
}

interface MatureAlert {
  readonly rule: number;
  readonly number: number;
  readonly day: number;
  /** Whether a team member said `handled`, or a task was added, before its horizon was over. */
  readonly isTouched: boolean;
}

export interface AlertOutcome extends MatureAlert {
  /** Also true after a contact within the horizon. Touched alerts are counted apart: a rule would look worse
   * the more customers it saves. */
  readonly isTouched: boolean;
  readonly hasChurned: boolean;
  /** Days from the alert to the first scored day on which the entity had churned; null unless it churned. */
  readonly leadDays: number | null;
}

/** The outcomes of alerts whose horizon is over. An alert whose entity has no score at the end of the horizon
 * is left out. @throws WarehouseError */
export async function outcomesOf(
  warehouse: Warehouse,
  question: OutcomeQuestion,
  fired: readonly FiredRecord[],
): Promise<readonly AlertOutcome[]> {
  const outcomes: AlertOutcome[] = [];
  for (const kind of ["user", "account"] as const) {
    const mature = matureAlerts(question, kind, fired);
    if (mature.length === 0) continue;
    const ends = await endsOf(warehouse, question, kind, mature);
    const contacts = await contactsOf(warehouse, question, kind, mature);
    for (const alert of mature) {
      const { number, day } = alert;
      const end = ends.get(`${number} ${day}`);
      if (end === undefined) continue;
      const wasContacted = contacts
        .get(number)
        ?.some((contact) => contact >= day && contact < day + question.horizonDays);
      outcomes.push({ ...alert, isTouched: alert.isTouched || wasContacted === true, ...end });
    }
  }
  return outcomes;
}

/** The alerts of a kind whose horizon is over. Of a rule and an entity at most one alert a horizon counts,
 * and no alert with an outage in its horizon. */
export function matureAlerts(
  { organization: { zone }, today, horizonDays, outages }: MatureQuestion,
  kind: EntityKind,
  fired: readonly FiredRecord[],
): MatureAlert[] {
  // What team members do after the horizon changes no outcome.
  const isWork = (atMs: number | null, day: number) => atMs !== null && zone.dayOf(atMs) < day + horizonDays;
  const ofKind = fired.flatMap(({ entity, rule, firedDay: day, verdict, verdictAtMs, taskAtMs }) => {
    if (entity.kind !== kind) return [];
    const isHandled = verdict === "handled" && isWork(verdictAtMs, day);
    return [{ rule, number: entity.number, day, isTouched: isHandled || isWork(taskAtMs, day) }];
  });
  const byEntity = Map.groupBy(ofKind, ({ rule, number }) => `${rule} ${number}`).values();
  return [...byEntity].flatMap((alerts) =>
    oneByHorizon(
      alerts.toSorted((a, b) => a.day - b.day),
      horizonDays,
    ).filter(({ day }) => day + horizonDays <= today && daysWithin(outages, day, day + horizonDays) === 0),
  );
}

interface EndRow {
  readonly number: number;
  readonly fired: number;
  readonly endState: string;
  readonly churnDay: number;
}

/** Whether entities had churned a horizon after a day, by `${number} ${day}`. Those without a score on the
 * last day of it are left out. @throws WarehouseError */
export async function endsOf(
  warehouse: Warehouse,
  { organization: { id: organization }, horizonDays }: OutcomeQuestion,
  kind: EntityKind,
  mature: readonly Pick<MatureAlert, "number" | "day">[],
): Promise<ReadonlyMap<string, Pick<AlertOutcome, "hasChurned" | "leadDays">>> {
  const days = mature.map(({ day }) => day);
  const [fromDay, toDay] = [Math.min(...days), Math.max(...days) + horizonDays];
  const runs = await runsBetween(warehouse, { organization, kind }, { fromDay, toDay });
  const rows = await warehouse.rows<EndRow>(
    `SELECT number, fired, anyIf(state, scored = fired + {horizonDays:Int32}) AS endState,
       minIf(scored, state = 'churned') AS churnDay
     FROM (
       SELECT ${kind} AS number, toInt32(day) AS scored, toString(state) AS state FROM ${kind}_scores FINAL
       WHERE organization = {organization:UInt32} AND day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}
         AND ${kind} IN {numbers:Array(UInt32)}
         AND version >= transform(toInt32(day), {runDays:Array(Int32)}, {versions:Array(UInt64)}, 0)) AS scores
     INNER JOIN (
       SELECT pair.1 AS number, pair.2 AS fired
       FROM (SELECT DISTINCT arrayJoin(arrayZip({numbers:Array(UInt32)}, {days:Array(Int32)})) AS pair)) AS asked
     USING (number)
     WHERE scored > fired AND scored <= fired + {horizonDays:Int32}
     GROUP BY number, fired HAVING countIf(scored = fired + {horizonDays:Int32}) > 0`,
    {
      organization,
      fromDay,
      toDay,
      days,
      horizonDays,
      numbers: mature.map(({ number }) => number),
      runDays: runs.map(({ day }) => day),
      versions: runs.map(({ body }) => body.rowsVersion),
    },
  );
  return new Map(
    rows.map(({ number, fired, endState, churnDay }) => {
      const hasChurned = endState === "churned";
      return [`${number} ${fired}`, { hasChurned, leadDays: hasChurned ? churnDay - fired : null }];
    }),
  );
}

/** The days on which users, or users of accounts, were contacted. */
async function contactsOf(
  warehouse: Warehouse,
  { organization: { id: organization, zone } }: OutcomeQuestion,
  kind: EntityKind,
  mature: readonly MatureAlert[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const rows = await warehouse.rows<{ number: number; atMs: number }>(
    `SELECT ifNull(${kind}, 0) AS number, toUnixTimestamp64Milli(time) AS atMs FROM events
     WHERE organization = {organization:UInt32} AND event = {event:String} AND number IN {numbers:Array(UInt32)}`,
    { organization, event: contactEvent, numbers: mature.map(({ number }) => number) },
  );
  const byNumber = Map.groupBy(rows, ({ number }) => number);
  return new Map(
    [...byNumber].map(([number, contacts]) => [number, contacts.map(({ atMs }) => zone.dayOf(atMs))]),
  );
}
