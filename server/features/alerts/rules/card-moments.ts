/** Cards that end before the renewal, from billing events about cards and the periods of subscriptions. The
 * card on file is the one that was said last; a removal takes it away, and a removal of another card says
 * nothing. */
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { isOfCards } from "../../../warehouse/schema/billing-tables.ts";

/** How long before a renewal a card is warned about, at the earliest. */
const noticeMs = 30 * 86_400_000;
/** An instant after all others. */
const never = "toInt64(9000000000000000)";

/** What is known of a card: the month in which it ends, such as 2026-11, and the renewal that comes after. */
export interface EndingCard {
  readonly expires: string;
  readonly renewsMs: number;
}

/** The moment at which it was known that a card ends before the renewal within 30 days. */
interface CardMoment extends EndingCard {
  readonly entity: number;
  readonly timeMs: number;
  readonly id: string;
  readonly ofUser: number;
}

interface CardsQuestion {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
}

/** Rows (entity, saidMs, untilMs, expires, ofUser) of cards, from when they were said until another card was
 * said or the card was removed. */
function cardsSql(kind: EntityKind): string {
  const isNext = "place > at AND (later.2 = 'card_updated' OR later.3 = history[at].3)";
  return `
    SELECT entity, history[at].1 AS saidMs, history[at].3 AS expires, history[at].4 AS ofUser,
      arrayFirst((later, place) -> ${isNext}, history, arrayEnumerate(history)).1 AS nextMs,
      if(nextMs = 0, ${never}, nextMs) AS untilMs
    FROM (
      SELECT ifNull(${kind}, 0) AS entity,
        arraySort(groupArray((toUnixTimestamp64Milli(time), toString(event), JSONExtractString(properties, 'cardExpires'), user))) AS history
      FROM billing_events FINAL
      WHERE organization = {organization:UInt32} AND subscription = '' AND ${isOfCards} AND entity != 0
      GROUP BY entity) AS said
    ARRAY JOIN arrayEnumerate(history) AS at
    WHERE history[at].2 = 'card_updated' AND match(expires, '^[0-9]{4}-[0-9]{2}$')`;
}

/** Rows (payer, startMs, endMs, renewsMs) of the periods of subscriptions that go on. */
function periodsSql(kind: EntityKind): string {
  return `
    SELECT payer_${kind}[at] AS payer, toUnixTimestamp64Milli(stored."from"[at]) AS startMs,
      if(at < length(stored."from"), toUnixTimestamp64Milli(stored."from"[at + 1]), ${never}) AS endMs,
      toUnixTimestamp64Milli(assumeNotNull(ifNull(period_end[at], trial_ends_at[at]))) AS renewsMs
    FROM (SELECT * FROM subscriptions FINAL WHERE organization = {organization:UInt32}) AS stored
    ARRAY JOIN arrayEnumerate(stored."from") AS at
    WHERE payer != 0 AND toString(status[at]) IN ('active', 'past_due', 'trialing')
      AND isNotNull(ifNull(period_end[at], trial_ends_at[at]))
      AND (isNull(ends_at[at]) OR toUnixTimestamp64Milli(assumeNotNull(ends_at[at])) > renewsMs)`;
}

/** The instant at which the month of a card is over, in UTC. */
const cardEndMs = "toInt64(toInt32(addMonths(toDate32OrNull(concat(expires, '-01')), 1))) * 86400000";

/** The moments within a span of time, by time: one for each end of a card of a user or an account. @throws
 * WarehouseError */
export function cardMoments(
  warehouse: Warehouse,
  { organization, kind, fromMs, toMs }: CardsQuestion,
  most: number,
): Promise<CardMoment[]> {
  return warehouse.rows<CardMoment>(
    `SELECT * FROM (
       SELECT entity, min(knownMs) AS timeMs, concat('card ', toString(entity), ' ', expires) AS id,
         argMin(sentBy, knownMs) AS ofUser, expires, argMin(renewalMs, knownMs) AS renewsMs
       FROM (
         SELECT entity, expires, ofUser AS sentBy, renewsMs AS renewalMs, untilMs, endMs, ${cardEndMs} AS cardEndMs,
           greatest(saidMs, startMs, renewsMs - ${noticeMs}) AS knownMs
         FROM (${cardsSql(kind)}) AS cards
         JOIN (${periodsSql(kind)}) AS periods ON cards.entity = periods.payer)
       WHERE renewalMs >= cardEndMs AND knownMs < untilMs AND knownMs < endMs AND knownMs <= renewalMs
       GROUP BY entity, expires
       HAVING timeMs >= {fromMs:Int64} AND timeMs < {toMs:Int64} ORDER BY timeMs DESC, id LIMIT {most:UInt32})
     ORDER BY timeMs, id`,
    { organization, fromMs, toMs, most },
  );
}

/** The ids of the moments of the cards that are on file. Alerts about other cards are over. @throws
 * WarehouseError */
export async function cardsOnFile(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
  entities: readonly number[],
): Promise<ReadonlySet<string>> {
  if (entities.length === 0) return new Set();
  const rows = await warehouse.rows<{ id: string }>(
    `SELECT concat('card ', toString(entity), ' ', expires) AS id FROM (${cardsSql(kind)})
     WHERE untilMs = ${never} AND entity IN {entities:Array(UInt32)}`,
    { organization, entities },
  );
  return new Set(rows.map(({ id }) => id));
}
