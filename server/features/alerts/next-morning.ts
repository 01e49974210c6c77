/** When a message of the morning is due. */
import { msPerDay, msPerHour, type Zone } from "../../calendar/zone.ts";

const morningHour = 8;

/** The next 08:00 by the clocks of a zone, also on a day on which they change. */
export function nextMorningMs(zone: Zone, nowMs: number): number {
  const today = zone.dayOf(nowMs);
  const todays = morningOf(zone, today);
  return todays >= nowMs ? todays : morningOf(zone, today + 1);
}

/** Now, the start of today and the next morning, in the timezone of an organization. */
export function clockOf(
  zone: Zone,
  nowMs: number,
): { readonly nowMs: number; readonly todayMs: number; readonly nextMorningMs: number } {
  return { nowMs, todayMs: zone.startOfDay(zone.dayOf(nowMs)), nextMorningMs: nextMorningMs(zone, nowMs) };
}

function morningOf(zone: Zone, day: number): number {
  return timeOfDayMs(zone, day, morningHour);
}

/** The instant at which the clocks of a zone show a full hour of a day, also if they changed since its start,
 * or its midnight is skipped. */
export function timeOfDayMs(zone: Zone, day: number, hour: number): number {
  const offsetS = zone.offsetSecondsAt(zone.startOfDay(day) + hour * msPerHour);
  return day * msPerDay + hour * msPerHour - offsetS * 1_000;
}
