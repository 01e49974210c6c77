/** Which period of a figure a day belongs to. */

/**
 * The number, from 1, of the period that a day lies in; queries bind `starts`, the first days of the periods in
 * ascending order. For days before the first it is 0. A look through the array for every row: group by day first.
 */
export function periodOf(day: string): string {
  return `toUInt32(arrayLastIndex(start -> start <= ${day}, {starts:Array(Int32)}))`;
}
