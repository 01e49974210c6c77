/** The module's interface: days, weeks and months in a timezone. */

export { formatDay, parseDay } from "./days.ts";
export { firstNumberYear, isKeptTime, isPlausibleNumber, parseEventTime } from "./event-time.ts";
export {
  type Period,
  type PeriodsQuestion,
  periodStarts,
  periodsBetween,
  periodsLater,
  startOfPeriod,
} from "./period-starts.ts";
export { dayNumber, msPerDay, msPerHour, type OffsetTransition, Zone, zoneNamed, zoneOf } from "./zone.ts";
