/** The filters that figures lead to, as chips: what is set, each with a button that takes it away. */
import type { ReactElement } from "react";
import { dayText } from "../../text/format.ts";
import { FilterChip } from "../list/filter-chip.tsx";
import { defaultsOf } from "../list/filters.ts";
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

/** Of users and of accounts. */
export function MovementChips({
  values: { since, isPresent, healthBandBefore, moved, toCall },
  onChange,
}: {
  values: MovementValues;
  onChange: (changed: Partial<MovementValues>) => void;
}): ReactElement {
  const before = since === undefined ? "28 days before" : dayText(since);
  const isCompared = healthBandBefore !== "" || moved !== "";
  const chips: readonly (readonly [isSet: boolean, text: string, without: Partial<MovementValues>])[] = [
    [
      isPresent !== undefined,
      isPresent ? presentWord : "Churned or without a score",
      { isPresent: undefined },
    ],
    [
      toCall !== undefined,
      toCall ? "High churn risk or a sharp fall" : "No high churn risk and no sharp fall",
      { toCall: undefined },
    ],
    [
      healthBandBefore !== "",
      `${bandWord(healthBandBefore)} ${since === undefined ? before : `on ${before}`}`,
      { healthBandBefore: "", ...(moved === "" && { since: undefined }) },
    ],
    [
      moved !== "",
      `${moved === "" ? "" : movedWords[moved]} since ${before}`,
      { moved: "", ...(healthBandBefore === "" && { since: undefined }) },
    ],
    [since !== undefined && !isCompared, `Changes since ${before}`, { since: undefined }],
  ];
  return (
    <>
      {chips.map(
        ([isSet, text, without]) =>
          isSet && <FilterChip key={text} text={text} onRemove={() => onChange(without)} />,
      )}
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

function activityWords({ activeTo, lifecycle, activeInAccount }: ActivityValues, activeFrom: string): string {
  const days =
    activeTo === undefined || activeTo === activeFrom
      ? dayText(activeFrom)
      : `${dayText(activeFrom, "short")} to ${dayText(activeTo)}`;
  const where = activeInAccount === "" ? "" : ` in account ${activeInAccount}`;
  return `${stageWords[lifecycle]}${where}, ${days}`;
}
