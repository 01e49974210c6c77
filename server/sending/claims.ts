/** Claims deliveries for a process that sends them. */

import { ids, skipLocked, skipLockedRows } from "../ledger/dialect.ts";
import { count, type Fragment, part, returning, run, select, type Work } from "../ledger/sql.ts";
import { type ClaimedDelivery, type ClaimRoom, type Delivery, longestWaitMs } from "./deliveries.ts";
import { deliveryRow, destinationRow, testDueAtMs } from "./delivery-rows.ts";

/** A delivery whose outcome was not recorded after this time is sent again: its process is gone. */
const claimMs = 60_000;

/** A claim that ends later than a new one would is of a clock that was ahead. */
const isClaimed = (nowMs: number) =>
  part`state = 'pending' AND claimed_until_ms > ${nowMs} AND claimed_until_ms <= ${nowMs + claimMs}`;

/** The plus keeps SQLite from the index of claims: it would read all that waits for a later retry. */
export const isFree = (nowMs: number) =>
  part`(+claimed_until_ms <= ${nowMs} OR +claimed_until_ms > ${nowMs + claimMs})`;

/** A message without a body is not rendered yet. */
const isDue = (nowMs: number) =>
  part`state = 'pending' AND due_at_ms <= ${nowMs} AND body <> '' AND ${isFree(nowMs)}`;

/** Claims deliveries that are due. @returns them with their destinations */
export function* claim(
  { most, perDestination, failing, only }: ClaimRoom,
  nowMs: number,
): Work<ClaimedDelivery[]> {
  if (only === undefined) yield* bringForward(nowMs);
  const claimed: ClaimedDelivery[] = [];
  let failingLeft = failing;
  for (const destination of yield* waitingDestinations({ most, perDestination, only }, nowMs)) {
    const isFailing = destination.failingSinceMs !== null;
    const left = Math.min(most - claimed.length, isFailing ? failingLeft : most);
    if (left <= 0) break;
    const deliveries = yield* claimOf(destination.id, left, isFailing ? 1 : perDestination, nowMs);
    if (isFailing) failingLeft -= deliveries.length;
    claimed.push(...deliveries.map((delivery) => ({ delivery, destination })));
  }
  return claimed;
}

/** Makes messages due whose time a clock that was ahead has set. Without any it takes one look into an
 * index. */
function bringForward(nowMs: number) {
  return run`
    UPDATE deliveries SET due_at_ms = ${nowMs} WHERE id IN (
      SELECT id FROM deliveries WHERE state = 'pending' AND due_at_ms > ${nowMs + longestWaitMs}
      ORDER BY due_at_ms LIMIT ${mostBroughtForward} ${skipLocked})`;
}

/** So that the commit stays short. */
const mostBroughtForward = 1_000;

/** The test of a destination that waits longest. One at a time has a place of its own: the others may hang
 * for 15 s each. */
const nextTest = (destination: Fragment, nowMs: number) => part`
  SELECT id FROM deliveries WHERE destination = ${destination} AND ${isDue(nowMs)} AND due_at_ms = ${testDueAtMs}
    AND NOT EXISTS (SELECT 1 FROM deliveries WHERE destination = ${destination} AND ${isClaimed(nowMs)}
      AND due_at_ms = ${testDueAtMs})
  ORDER BY id LIMIT 1`;

/** Conditions of the other messages of a destination, due ones and those under way. The plus is for the index
 * of claims. */
const othersDue = (nowMs: number) => part`${isDue(nowMs)} AND due_at_ms > ${testDueAtMs}`;
const othersUnderWay = (nowMs: number) => part`${isClaimed(nowMs)} AND +due_at_ms > ${testDueAtMs}`;

/** Destinations with room whose messages are due. Those that work come first, so that those that hang delay
 * no other. The order is by chance, so that none waits for ever behind others. A node that claims or records
 * for a destination keeps other nodes from it until its commit. */
function waitingDestinations(
  { most, perDestination, only }: Pick<ClaimRoom, "most" | "perDestination" | "only">,
  nowMs: number,
) {
  return select(destinationRow)`
    FROM destinations WHERE state = 'active'
      ${only === undefined ? part`` : part`AND id IN (SELECT id FROM ${ids(only)})`}
      AND (EXISTS (${nextTest(part`destinations.id`, nowMs)})
        OR (EXISTS (SELECT 1 FROM deliveries WHERE destination = destinations.id AND ${othersDue(nowMs)})
          AND (SELECT count(*) FROM deliveries WHERE destination = destinations.id AND ${othersUnderWay(nowMs)})
            < CASE WHEN failing_since_ms IS NULL THEN ${perDestination} ELSE 1 END))
    ORDER BY failing_since_ms IS NOT NULL, random() LIMIT ${most} ${skipLockedRows}`;
}

/** Claims the next test of a destination, and the deliveries that wait longest. @param most under way, those
 * that are claimed already among them */
function* claimOf(destination: number, left: number, most: number, nowMs: number): Work<readonly Delivery[]> {
  const underWay = yield* count`
    FROM deliveries WHERE destination = ${destination} AND ${othersUnderWay(nowMs)}`;
  return yield* returning(deliveryRow)`
    UPDATE deliveries SET claimed_until_ms = ${nowMs + claimMs}
    WHERE id IN (
      SELECT id FROM (${nextTest(part`${destination}`, nowMs)} ${skipLocked}) AS test
      UNION ALL
      SELECT id FROM (
        SELECT id FROM deliveries WHERE destination = ${destination} AND ${othersDue(nowMs)}
        ORDER BY due_at_ms, id LIMIT ${Math.max(0, most - underWay)} ${skipLocked}) AS others
      LIMIT ${left})`;
}
