/** Filters of lists that figures lead to. They stand in the address under the names that the API has for them, and on the
 * page as chips: figure-chips.tsx. */
import type { Reads } from "../../api/paths.ts";
import { choiceFilter, dayFilter, textFilter } from "../list/filters.ts";

type Query = Reads["/api/users"]["query"];
type Flag = "" | "true" | "false";
export type Moved = NonNullable<Query["moved"]>;
export type Lifecycle = NonNullable<Query["lifecycle"]>;

const flag = () => choiceFilter<Flag>(["", "true", "false"], "");
const moves: readonly Moved[] = ["changed", "worse", "better", "fell", "rose", "churned", "returned"];
const stages: readonly Lifecycle[] = ["new", "returning", "resurrected", "dormant"];
const healthBands = ["healthy", "watch", "at_risk", "onboarding", "churned", "none", "present"] as const;

/** Those of users and of accounts. */
export const movementFilters = {
  since: dayFilter(),
  isPresent: flag(),
  healthBandBefore: choiceFilter(["", ...healthBands], ""),
  moved: choiceFilter<Moved | "">(["", ...moves], ""),
  toCall: flag(),
};

/** Those of users alone. */
export const activityFilters = {
  activeFrom: dayFilter(),
  activeTo: dayFilter(),
  lifecycle: choiceFilter<Lifecycle | "">(["", ...stages], ""),
  activeInAccount: textFilter(),
};

export interface MovementValues {
  readonly since: string | undefined;
  readonly isPresent: Flag;
  readonly healthBandBefore: "" | (typeof healthBands)[number];
  readonly moved: Moved | "";
  readonly toCall: Flag;
}

export interface ActivityValues {
  readonly activeFrom: string | undefined;
  readonly activeTo: string | undefined;
  readonly lifecycle: Lifecycle | "";
  readonly activeInAccount: string;
}

/** The values without any filter. */
export const noMovement: MovementValues = {
  ...{ since: undefined, isPresent: "", healthBandBefore: "", moved: "", toCall: "" },
};
export const noActivity: ActivityValues = {
  ...{ activeFrom: undefined, activeTo: undefined, lifecycle: "", activeInAccount: "" },
};

const flagOf = (name: string, value: Flag) => (value === "" ? {} : { [name]: value === "true" });

/** The parameters of the API. */
export function movementQuery(values: MovementValues): Pick<Query, keyof MovementValues> {
  const { since, isPresent, healthBandBefore, moved, toCall } = values;
  return {
    ...(since !== undefined && { since }),
    ...(healthBandBefore !== "" && { healthBandBefore }),
    ...(moved !== "" && { moved }),
    ...flagOf("isPresent", isPresent),
    ...flagOf("toCall", toCall),
  };
}

/** The parameters of the API. */
export function activityQuery(values: ActivityValues): Pick<Query, keyof ActivityValues> {
  const { activeFrom, activeTo, lifecycle, activeInAccount } = values;
  return {
    ...(activeFrom !== undefined && { activeFrom }),
    ...(activeTo !== undefined && { activeTo }),
    ...(lifecycle !== "" && { lifecycle }),
    ...(activeInAccount !== "" && { activeInAccount }),
  };
}
