/** The filters that figures lead to, as chips: what is set, each with a button that takes it away. */
import type { ReactElement } from "react";
import { dayText } from "../../text/format.ts";
import { FilterChip } from "../list/filter-chip.tsx";
import { defaultsOf } from "../list/filters.ts";
import { fallChips } from "./fall-chips.ts";
import {
  type ActivityValues,
  activityFilters,
  type Lifecycle,
  type Moved,
  type MovementValues,
} from "./figure-filters.ts";
import { healthWord } from "./health.tsx";

const movedWords: Readonly<Record<Moved, string>> = {
  changed: "Another health band",
  worse: "Health band got worse",
  better: "Health band got better",
  fell: "Health fell",
  rose: "Health rose",
  churned: "Churned",
  returned: "Returned after churn",
};

const presentWord = "Not churned";
const bandWord = (band: MovementValues["healthBandBefore"]) =>
  band === "present" ? presentWord : band === "" ? "" : healthWord(band);

/** A filter that is set, and the values without it. */
interface MovementChip {
  readonly text: string;
  readonly without: Partial<MovementValues>;
}

/** The set filters by movement in words. */
export function movementChips({
  since,
  isPresent,
  healthBandBefore,
  moved,
  toCall,
  comparedWithDays = 28,
  ...falls
}: MovementValues): readonly MovementChip[] {
  const before = since === undefined ? `${comparedWithDays} days before` : dayText(since);
  const notCompared = { since: undefined, comparedWithDays: undefined };
  const isCompared = healthBandBefore !== "" || moved !== "";
  const chips: readonly (MovementChip & { readonly isSet: boolean })[] = [
    {
      isSet: isPresent !== undefined,
      text: isPresent ? presentWord : "Churned or without a score",
      without: { isPresent: undefined },
    },
    {
      isSet: toCall !== undefined,
      text: toCall ? "High churn risk or a sharp fall" : "No high churn risk and no sharp fall",
      without: { toCall: undefined },
    },
    {
      isSet: healthBandBefore !== "",
      text: `${bandWord(healthBandBefore)} ${since === undefined ? before : `on ${before}`}`,
      without: { healthBandBefore: "", ...(moved === "" && notCompared) },
    },
    {
      isSet: moved !== "",
      text: `${moved === "" ? "" : movedWords[moved]} since ${before}`,
      without: { moved: "", ...(healthBandBefore === "" && notCompared) },
    },
    {
      isSet: since !== undefined && !isCompared,
      text: `Changes since ${before}`,
      without: { since: undefined },
    },
    ...fallChips(falls),
  ];
  return chips.filter(({ isSet }) => isSet);
}

/** Of users and of accounts. */
export function MovementChips({
  values,
  onChange,
}: {
  values: MovementValues;
  onChange: (changed: Partial<MovementValues>) => void;
}): ReactElement {
  return (
    <>
      {movementChips(values).map(({ text, without }) => (
        <FilterChip key={text} text={text} onRemove={() => onChange(without)} />
      ))}
    </>
  );
}

/** Of users alone. */
export function ActivityChips({
  values,
  onChange,
}: {
  values: ActivityValues;
  onChange: (changed: Partial<ActivityValues>) => void;
}): ReactElement | null {
  const { activeFrom } = values;
  if (activeFrom === undefined) return null;
  return (
    <FilterChip
      text={activityWords(values, activeFrom)}
      onRemove={() => onChange(defaultsOf(activityFilters))}
    />
  );
}

const stageWords: Readonly<Record<Lifecycle | "", string>> = {
  "": "Active",
  new: "New",
  returning: "Returning",
  resurrected: "Resurrected",
  dormant: "Dormant",
};

/** Activity on days in words. */
export function activityWords(
  { activeTo, lifecycle, activeInAccount }: ActivityValues,
  activeFrom: string,
): string {
  const days =
    activeTo === undefined || activeTo === activeFrom
      ? dayText(activeFrom)
      : `${dayText(activeFrom, "short")} to ${dayText(activeTo)}`;
  const where = activeInAccount === "" ? "" : ` in account ${activeInAccount}`;
  return `${stageWords[lifecycle]}${where}, ${days}`;
}
