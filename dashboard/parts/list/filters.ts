/** Filters, sort and choices in the address's query, so that every view is a link. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";

/** The reader and the writer of one filter in the address. Undefined stands for its default. */
export interface Filter<Value> {
  read(text: string | undefined): Value;
  write(value: Value): string | undefined;
}

/** A text. */
export function textFilter(byDefault = ""): Filter<string> {
  return { read: (text) => text ?? byDefault, write: (value) => (value === byDefault ? undefined : value) };
}

/** One of a list. Any other text in the address is the default. */
export function choiceFilter<Value extends string>(
  choices: readonly Value[],
  byDefault: Value,
): Filter<Value> {
  return {
    read: (text) => choices.find((choice) => choice === text) ?? byDefault,
    write: (value) => (value === byDefault ? undefined : value),
  };
}

/** A whole number within bounds. */
export function numberFilter(byDefault: number, least: number, most: number): Filter<number> {
  return {
    read: (text) => {
      const value = Number(text);
      return text !== undefined && Number.isInteger(value) && value >= least && value <= most
        ? value
        : byDefault;
    },
    write: (value) => (value === byDefault ? undefined : String(value)),
  };
}

/** A day, YYYY-MM-DD, or none. */
export function dayFilter(): Filter<string | undefined> {
  return {
    read: (text) => (text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : undefined),
    write: (value) => value,
  };
}

type Filters = Readonly<Record<string, Filter<unknown>>>;
type Values<Of extends Filters> = {
  readonly [Name in keyof Of]: Of[Name] extends { read(text: string | undefined): infer Value }
    ? Value
    : never;
};

/** The filters of a page and a function that changes some of them. Every change goes into the history unless it is
 * typed letter by letter (`isTyping`). @param filters at module scope: they may not change */
export function useFilters<Of extends Filters>(
  filters: Of,
): readonly [Values<Of>, (change: Partial<Values<Of>>, isTyping?: boolean) => void] {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const values = useMemo(
    () =>
      Object.fromEntries(
        Object.entries(filters).map(([name, { read }]) => {
          const text = search[name];
          return [name, read(typeof text === "string" ? text : undefined)];
        }),
      ) as Values<Of>,
    [filters, search],
  );
  const change = useCallback(
    (changed: Partial<Values<Of>>, isTyping = false) => {
      const written = Object.entries(changed).map(([name, value]) => [name, filters[name]?.write(value)]);
      void navigate({
        to: ".",
        search: (before: Readonly<Record<string, unknown>>) => ({
          ...before,
          ...Object.fromEntries(written),
        }),
        replace: isTyping,
        resetScroll: false,
      });
    },
    [filters, navigate],
  );
  return [values, change];
}
