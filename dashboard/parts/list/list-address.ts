/** The state of a list in its address, and the parameters of the API that follow from it. */
import { useCallback, useEffect, useMemo, useState } from "react";
import type { Reads } from "../../api/paths.ts";
import { recall, remember } from "../../app/memory.ts";
import { conditionFilters } from "../../pages/segments/conditions.ts";
import { billingFilters } from "../billing/filters.ts";
import { movementFilters } from "../figure/figure-filters.ts";
import type { HealthBand } from "../figure/health.tsx";
import { choiceFilter, defaultsOf, type Filter, setValues, textFilter, type Values } from "./filters.ts";
import type { Column, ColumnChoice } from "./table-model.ts";

type Query = Reads["/api/accounts"]["query"];
export type State = NonNullable<Query["state"]>;
export type RiskBand = NonNullable<Query["riskBand"]>;
/** A verdict, or `not_churned` for all but those that have churned or whose account has. */
export type VerdictChoice = NonNullable<Query["verdict"]>;

/** The last visit: `within` this many days that end today, or `not` within them. */
export interface Seen {
  readonly how: "within" | "not";
  readonly days: number;
}

const seenFilter: Filter<Seen | undefined> = {
  read: (text) => {
    const [, how, days = ""] = /^(within|not)-([1-9][0-9]{0,3})$/.exec(text ?? "") ?? [];
    return how === "within" || how === "not" ? { how, days: Number(days) } : undefined;
  },
  write: (seen) => seen && `${seen.how}-${seen.days}`,
};

/** A list of texts. An empty one is undefined. */
const textsFilter: Filter<readonly string[] | undefined> = {
  read: (text) => text?.split(",").map(decoded),
  write: (texts) => texts?.map(encodeURIComponent).join(","),
};

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** By what lists are sorted until the reader sorts them otherwise: the highest risk first, then rows without
 * one. */
export const firstSort = "risk";

const orders = ["ascending", "descending"] as const;
const verdicts: readonly (VerdictChoice | "")[] = [
  "",
  "not_churned",
  "churned",
  "account_churned",
  "high_risk",
  "at_risk",
  "new",
  "watch",
  "healthy",
  "no_score",
] as const;
/** No filter of the page: addresses and saved views from before verdicts have it. */
const states: readonly (State | "")[] = [
  "",
  "active",
  "new",
  "inactive",
  "canceling",
  "churned",
  "no_data",
] as const;
const healthBands: readonly (HealthBand | "")[] = [
  "",
  "healthy",
  "watch",
  "at_risk",
  "onboarding",
  "churned",
  "none",
] as const;
const riskBands: readonly (RiskBand | "")[] = ["", "high", "medium", "low"];

/** The filters of both lists, users and accounts. */
const narrowing = {
  search: textFilter(),
  verdict: choiceFilter(verdicts, ""),
  state: choiceFilter(states, ""),
  healthBand: choiceFilter(healthBands, ""),
  riskBand: choiceFilter(riskBands, ""),
  seen: seenFilter,
  ...movementFilters,
  ...billingFilters,
  /** As the API takes it. */
  owner: textFilter(),
  ...conditionFilters,
};

/** The parameters in the addresses of both lists. */
export const listFilters = {
  ...narrowing,
  order: choiceFilter(orders, "descending"),
  columns: textsFilter,
  /** The id of the saved view that was opened. */
  view: textFilter(),
  /** The id of the segment whose filter is changed in the list, or `new`. */
  saves: textFilter(),
};
export type ListValues = Values<typeof listFilters>;

/** The parameters of the API for what both lists have. */
export function listQuery(values: ListValues) {
  const { seen, ...query } = setValues(narrowing, values);
  return {
    ...query,
    order: values.order,
    ...(seen?.how === "within" && { seenWithinDays: seen.days }),
    ...(seen?.how === "not" && { notSeenForDays: seen.days }),
  };
}

/** The values of the filters of both lists without any filter. */
export const noListFilters = defaultsOf(narrowing);

/** Whether any of the filters of both lists is set. */
export function isListFiltered(values: ListValues): boolean {
  return Object.keys(setValues(narrowing, values)).length > 0;
}

/** Which columns are shown: those of the address, or those that this browser remembers, or the usual ones. */
export function useColumnChoice<Row>(
  name: string,
  columns: readonly Column<Row>[],
  inAddress: readonly string[] | undefined,
  onChange: (shown: readonly string[]) => void,
): ColumnChoice {
  const storage = `rekindle.shown.${name}`;
  const [remembered, setRemembered] = useState(() => textsFilter.read(recall(storage)));
  // The address follows a choice a moment later, and a second choice must not undo the first.
  const [chosenLast, setChosenLast] = useState<readonly string[]>();
  const address = inAddress && textsFilter.write(inAddress);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new address ends it
  useEffect(() => setChosenLast(undefined), [address]);
  const shown = useMemo(
    () =>
      chosenLast ??
      inAddress ??
      remembered ??
      columns.filter(({ isHidden }) => !isHidden).map(({ id }) => id),
    [chosenLast, inAddress, remembered, columns],
  );
  const onChoose = useCallback(
    (chosen: readonly string[]) => {
      remember(storage, textsFilter.write(chosen));
      setRemembered(chosen);
      setChosenLast(chosen);
      onChange(chosen);
    },
    [storage, onChange],
  );
  return { shown, onChoose };
}

/** Columns as the address has them. */
export function columnsText(shown: readonly string[]): string {
  return textsFilter.write(shown) ?? "";
}
