/** How many of the alerts that fired were followed by churn, as far as it was left to itself. */
import { contactEvent } from "../../../contract/api/contacts.ts";
import type { Zone } from "../../calendar/calendar.ts";
import type { FiredRecord } from "../../ledger/ledger.ts";
import { daysWithin, type EntityKind, type Outages, runsBetween } from "../../scoring/scoring.ts";
import { dayParameter, type Warehouse } from "../../warehouse/warehouse.ts";
import { oneByHorizon, type Precision, precisionOf } from "../rules/preview-figures.ts";

export interface PrecisionQuestion {
  readonly organization: { readonly id: number; readonly zone: Zone };
  readonly today: number;
  readonly horizonDays: number;
  readonly outages: Outages;
}

interface Judged {
  readonly number: number;
  readonly day: number;
}

/**
 * Of alerts without a verdict, a task or a contact: worked on ones would make a rule look worse the more customers it saves. One alert of a rule,
 * an entity and a horizon counts. An outage within the horizon leaves the alert out. @throws WarehouseError
 */
export async function livePrecision(
  warehouse: Warehouse,
  question: PrecisionQuestion,
  fired: readonly FiredRecord[],
): Promise<Precision> {
  let [mature, churned] = [0, 0];
  for (const kind of ["user", "account"] as const) {
    const judged = countedAlerts(question, kind, fired);
    if (judged.length === 0) continue;
    const states = await statesLater(warehouse, question, kind, judged);
    const contacts = await contactsOf(warehouse, question, kind, judged);
    for (const { number, day } of judged) {
      const state = states.get(`${number} ${day}`);
      const wasContacted = contacts
        .get(number)
        ?.some((contact) => contact >= day && contact < day + question.horizonDays);
      if (state === undefined || wasContacted === true) continue;
      mature += 1;
      if (state === "churned") churned += 1;
    }
  }
  return precisionOf(mature, churned);
}

/** The alerts of a kind whose horizon is over, and that nobody judged or added a task to. */
export function countedAlerts(
  { today, horizonDays, outages }: Pick<PrecisionQuestion, "today" | "horizonDays" | "outages">,
  kind: EntityKind,
  fired: readonly FiredRecord[],
): Judged[] {
  const ofKind = fired.flatMap(({ entity, rule, firedDay: day, verdict, tasks }) =>
    entity.kind === kind
      ? [{ rule, number: entity.number, day, isUntouched: verdict === null && !tasks }]
      : [],
  );
  const byEntity = Map.groupBy(ofKind, ({ rule, number }) => `${rule} ${number}`).values();
  return [...byEntity].flatMap((alerts) =>
    oneByHorizon(
      alerts.toSorted((a, b) => a.day - b.day),
      horizonDays,
    ).flatMap(({ number, day, isUntouched }) => {
      const isOver = day + horizonDays <= today && daysWithin(outages, day, day + horizonDays) === 0;
      return isUntouched && isOver ? [{ number, day }] : [];
    }),
  );
}

/** The states a horizon later, by number and day of the alert. Days without scores have none. */
async function statesLater(
  warehouse: Warehouse,
  { organization: { id: organization }, horizonDays }: PrecisionQuestion,
  kind: EntityKind,
  judged: readonly Judged[],
): Promise<ReadonlyMap<string, string>> {
  const days = judged.map(({ day }) => day + horizonDays);
  const [fromDay, toDay] = [Math.min(...days), Math.max(...days)];
  const runs = await runsBetween(warehouse, { organization, kind }, { fromDay, toDay });
  const rows = await warehouse.rows<{ number: number; later: number; state: string }>(
    `SELECT number, later, state
     FROM (
       SELECT ${kind} AS number, toInt32(day) AS later, toString(state) AS state FROM ${kind}_scores FINAL
       WHERE organization = {organization:UInt32} AND day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}
         AND ${kind} IN {numbers:Array(UInt32)}
         AND version >= transform(toInt32(day), {runDays:Array(Int32)}, {versions:Array(UInt64)}, 0)) AS scores
     INNER JOIN (
       SELECT pair.1 AS number, pair.2 AS later
       FROM (SELECT DISTINCT arrayJoin(arrayZip({numbers:Array(UInt32)}, {days:Array(Int32)})) AS pair)) AS asked
     USING (number, later)`,
    {
      ...{ organization, fromDay, toDay, days, numbers: judged.map(({ number }) => number) },
      runDays: runs.map(({ day }) => day),
      versions: runs.map(({ body }) => body.rowsVersion),
    },
  );
  return new Map(rows.map(({ number, later, state }) => [`${number} ${later - horizonDays}`, state]));
}

/** The days on which users, or users of accounts, were contacted. */
async function contactsOf(
  warehouse: Warehouse,
  { organization: { id: organization, zone } }: PrecisionQuestion,
  kind: EntityKind,
  judged: readonly Judged[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const rows = await warehouse.rows<{ number: number; atMs: number }>(
    `SELECT ifNull(${kind}, 0) AS number, toUnixTimestamp64Milli(time) AS atMs FROM events
     WHERE organization = {organization:UInt32} AND event = {event:String} AND number IN {numbers:Array(UInt32)}`,
    { organization, event: contactEvent, numbers: judged.map(({ number }) => number) },
  );
  const byNumber = Map.groupBy(rows, ({ number }) => number);
  return new Map(
    [...byNumber].map(([number, contacts]) => [number, contacts.map(({ atMs }) => zone.dayOf(atMs))]),
  );
}
