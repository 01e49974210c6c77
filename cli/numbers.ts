/** Reads the numbers and dates that commands take. */
import { InvalidArgumentError } from "commander";
import { dayNumber } from "../server/calendar/zone.ts";

/** Reads a whole number from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}

/** Reads a date as days since 1970-01-01. @param form of its text, with the year, the month and the day */
export function dateIn(form: RegExp): (text: string) => number {
  return (text) => {
    const [, year, month, day] = form.exec(text) ?? [];
    const number = dayNumber(Number(year), Number(month), Number(day));
    if (number === undefined) throw new InvalidArgumentError("Give a date, such as 2026-01-31.");
    return number;
  };
}
