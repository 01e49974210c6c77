/** Payers whose subscription renews within so many days, as of past days: what `renewsWithinDays` reads of
 * now. */
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { renewsDayOf } from "../../entities/list-billing.ts";
import { type PayersQuestion, payersOfPast } from "../../revenue/payers-now.ts";
import { type Sql, zoneParameters } from "../../sql.ts";
import { DaySets } from "./day-sets.ts";
import {
  bitsBelow,
  bitsBetween,
  bitsByDay,
  daySetsOf,
  type PastDays,
  placeAfter,
  placeParameters,
} from "./past-days.ts";
import { historiesOf, type PastPayers } from "./past-payers.ts";

/** Payers whose next renewal was at most `withinDays` after a day. A renewal date that is over does not
 * count: the next date is then unknown. */
export function renewingInPast(warehouse: Warehouse, past: PastPayers, withinDays: number): Promise<DaySets> {
  const { payers, entities } = past;
  if (payers === undefined) return Promise.resolve(new DaySets(entities));
  const periods = ofPeriods(past, payers);
  const { kind } = payers;
  const renewing = renewingOn(past, withinDays);
  const attributes = kind === "account" ? [ofAttributes(past)] : [];
  // A renewal that the attribute says counts, whatever the periods of subscriptions are.
  return daySetsOf(warehouse, entities, {
    text: `
      SELECT entity, bitOr(bitAnd(groupBitOr(if(isAttribute, toUInt128(0), renewing)), bitNot(groupBitOr(if(isAttribute, held, toUInt128(0))))),
        groupBitOr(if(isAttribute, renewing, toUInt128(0)))) AS bits
      FROM (
        SELECT entity, isAttribute, held,
          bitAnd(held, arrayReduce('groupBitOr', arrayMap(day -> ${renewing.text}, days))) AS renewing
        FROM (${[periods, ...attributes].map(({ text }) => text).join(" UNION ALL ")}))
      GROUP BY entity`,
    parameters: {
      ...periods.parameters,
      ...renewing.parameters,
      ...placeParameters(past),
      ...bitsBelow(past),
      ...zoneParameters(payers.transitions),
    },
  });
}

/** The bits of the days on which a renewal on `day` is the next one and at most so many days away. */
function renewingOn(past: PastDays, withinDays: number): Sql {
  const [fromDay = 0, lastDay = 0] = [past.days[0], past.days.at(-1)];
  const toDay = lastDay + withinDays;
  const isWithin = (renewsDay: number, day: number) => renewsDay >= day && renewsDay <= day + withinDays;
  const bits = bitsByDay(past, { fromDay, toDay }, isWithin)("day", "renewals");
  return {
    text: `if(day BETWEEN {renewalsFrom:Int32} AND {renewalsTo:Int32}, ${bits.text}, toUInt128(0))`,
    parameters: { ...bits.parameters, renewalsTo: toDay },
  };
}

/** Rows (entity, isAttribute, held, days): the ends of periods of a payer in a span. Of those that are still
 * to come the first one counts. It is within so many days when any of them is. */
function ofPeriods(past: PastDays, payers: PayersQuestion): Sql {
  const { text, parameters } = payersOfPast(payers, ["renewalDays"], historiesOf(past, payers));
  return {
    text: `
      SELECT payer.entity AS entity, false AS isAttribute, ${bitsBetween("payer.span.1", "payer.span.2")} AS held,
        payer.renewalDays AS days
      FROM ${text} AS payer`,
    parameters,
  };
}

/** Rows (entity, isAttribute, held, days): the renewals by the attribute `renewsAt`, from one version that
 * has it to the next. Lists read the attribute once any account has a subscription. */
function ofAttributes({ days }: PastDays): Pick<Sql, "text"> {
  const place = (time: string) => `toUInt8(${placeAfter(`toUnixTimestamp64Milli(${time})`)})`;
  const firstPaid = `(
    SELECT min(${place("start")}) FROM subscriptions FINAL ARRAY JOIN "from" AS start, payer_account AS payer
    WHERE organization = {organization:UInt32} AND payer != 0)`;
  return {
    text: `
      SELECT account AS entity, true AS isAttribute,
        ${bitsBetween("greatest(place, firstPaid)", "greatest(nextPlace, firstPaid)")} AS held, [assumeNotNull(day)] AS days
      FROM (
        SELECT account, place, day, assumeNotNull(${firstPaid}) AS firstPaid,
          leadInFrame(place, 1, toUInt8(${days.length})) OVER (
            PARTITION BY account ORDER BY at, version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS nextPlace
        FROM (
          SELECT account, at, version, ${place("at")} AS place, ${renewsDayOf("traits")} AS day
          FROM account_versions
          WHERE organization = {organization:UInt32} AND position(traits, 'renewsAt') > 0 AND JSONHas(traits, 'renewsAt')))
      WHERE isNotNull(day)`,
  };
}
