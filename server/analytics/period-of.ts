/** Which period of a figure a day belongs to. */

/**
 * The number, from 1, of the period that contains a day. Queries bind `starts`, the first days of the periods
 * in ascending order. For earlier days it is 0. It searches the array for every row, so group by day first.
 */
export function periodOf(day: string): string {
  return `toUInt32(arrayLastIndex(start -> start <= ${day}, {starts:Array(Int32)}))`;
}
