/**
 * Days without any departure that the days before do not explain: a declared churn event has stopped coming,
 * and no customer stays for ever. Nothing says who left on these days, so no cut-off is judged by them.
 */
import type { DaySpan } from "./churn-changes.ts";

/** Days from which the rhythm of departures is measured: half a year. */
const rhythmDays = 182;
/** With fewer days with a departure there is no claim. */
const leastDays = 15;
/**
 * The log-probability of so many days without a departure, below which there is a claim: 1 in 9 million. An
 * event that came on 55 % of the days (.8 a day) and then not for 31 days has e^-25.
 */
const largestLogProbability = -16;
/** Departures may come in turn, as on the first days of months: the gap is also this many times the longest
 * one before. */
const timesLongestGap = 2;

/**
 * The spans without departures, in order. A span that has not ended reaches up to `beforeDay`.
 * @param days with a departure before that day, in order, each once
 */
export function daysWithoutDepartures(days: readonly number[], beforeDay: number): DaySpan[] {
  return days.flatMap((last, index) => {
    const next = days[index + 1] ?? beforeDay;
    const silent = next - last - 1;
    const recent = days.slice(0, index + 1).filter((day) => day > last - rhythmDays);
    const first = recent[0] ?? last;
    if (recent.length < leastDays || silent < 1) return [];
    const gaps = recent.slice(1).map((day, at) => day - (recent[at] ?? day) - 1);
    const share = recent.length / (last - first + 1);
    const logProbability = silent * Math.log1p(-Math.min(share, 1 - 1e-9));
    const isStopped =
      logProbability <= largestLogProbability && silent >= timesLongestGap * Math.max(...gaps, 0);
    return isStopped ? [{ from: last + 1, to: next }] : [];
  });
}
