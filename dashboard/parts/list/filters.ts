/** Filters, sort and choices in the address's query, so that every view is a link. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";

/** The reader and the writer of one filter in the address. Undefined stands for its default. */
export interface Filter<Value> {
  read(text: string | undefined): Value;
  write(value: Value): string | undefined;
}

/** A text, or an empty one. */
export function textFilter(): Filter<string> {
  return { read: (text) => text ?? "", write: (value) => value || undefined };
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

/** One of a few values, and the choices of a list: each value with its label. */
export function labelledFilter<Value extends string>(
  labels: Readonly<Record<Value, string>>,
  byDefault: NoInfer<Value>,
): Filter<Value> & { readonly choices: readonly { readonly value: Value; readonly label: string }[] } {
  const values = Object.keys(labels) as Value[];
  const choices = values.map((value) => ({ value, label: labels[value] }));
  return { ...choiceFilter(values, byDefault), choices };
}

/** A whole number from 0 to a bound. Any other text in the address is 0. */
export function numberFilter(most: number): Filter<number> {
  return {
    read: (text) => {
      const value = Number(text ?? 0);
      return Number.isInteger(value) && value >= 0 && value <= most ? value : 0;
    },
    write: (value) => (value === 0 ? undefined : String(value)),
  };
}

/** A whole number from 0, or from another one, to a bound, or none. */
export function optionalNumberFilter(most: number, least = 0): Filter<number | undefined> {
  return {
    read: (text) => {
      const value = text === undefined || !/^\d+$/.test(text) ? most + 1 : Number(text);
      return value >= least && value <= most ? value : undefined;
    },
    write: (value) => value?.toString(),
  };
}

/** A day, YYYY-MM-DD, or none. */
export function dayFilter(): Filter<string | undefined> {
  return {
    read: (text) => (text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : undefined),
    write: (value) => value,
  };
}

/** Yes or no, or none. */
export function flagFilter(): Filter<boolean | undefined> {
  return {
    read: (text) => (text === "true" || text === "false" ? text === "true" : undefined),
    write: (value) => value?.toString(),
  };
}

/** A list of objects, as JSON. @param read one of them; nothing when it is not whole @param most as many as
 * the server takes */
export function objectsFilter<Value>(
  read: (entry: Readonly<Record<string, unknown>>) => readonly Value[],
  most: number,
): Filter<Value[]> {
  return {
    read: (text) => (text === undefined ? [] : objectsIn(text).flatMap(read).slice(0, most)),
    write: (values) => (values.length === 0 ? undefined : JSON.stringify(values)),
  };
}

function objectsIn(text: string): Readonly<Record<string, unknown>>[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.filter((one) => typeof one === "object" && one !== null) : [];
  } catch {
    return [];
  }
}

type Filters = Readonly<Record<string, Filter<unknown>>>;

/** The values of filters, by their names. */
export type Values<Of extends Filters> = {
  readonly [Name in keyof Of]: Of[Name] extends { read(text: string | undefined): infer Value }
    ? Value
    : never;
};

/** The values of filters in an address that has none of them. */
export function defaultsOf<Of extends Filters>(filters: Of): Values<Of> {
  const pairs = Object.entries(filters).map(([name, { read }]) => [name, read(undefined)]);
  return Object.fromEntries(pairs) as Values<Of>;
}

type SetValues<Of extends Filters> = {
  readonly [Name in keyof Of]?: Exclude<Values<Of>[Name], "" | undefined>;
};

/** The values that are set, which are neither undefined nor empty texts or lists: as parameters of the
 * API. */
export function setValues<Of extends Filters>(filters: Of, values: Values<Of>): SetValues<Of> {
  const pairs = Object.keys(filters).map((name) => [name, values[name]] as const);
  return Object.fromEntries(
    pairs.filter(
      ([, value]) => value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0),
    ),
  ) as SetValues<Of>;
}

/** The filters of a page and a function that changes some of them. Every change goes into the history unless
 * it is typed letter by letter (`isTyping`). @param filters at module scope: they may not change */
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
