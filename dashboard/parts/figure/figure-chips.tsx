/** The filters that figures lead to, as chips: what is set, each with a button that takes it away. */
import type { ReactElement } from "react";
import { dayText } from "../../text/format.ts";
import { FilterChip } from "../list/filter-chip.tsx";
import {
  type ActivityValues,
  type Lifecycle,
  type Moved,
  type MovementValues,
  noActivity,
} from "./figure-filters.ts";
import { type HealthBand, healthWord } from "./health.tsx";

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
const bandWord = (band: HealthBand | "present") => (band === "present" ? presentWord : healthWord(band));

/** Of users and of accounts. */
export function MovementChips({
  values: { since, isPresent, healthBandBefore, moved, toCall },
  onChange,
}: {
  values: MovementValues;
  onChange: (changed: Partial<MovementValues>) => void;
}): ReactElement {
  const on = since === undefined ? "28 days before" : `on ${dayText(since)}`;
  const isCompared = healthBandBefore !== "" || moved !== "";
  return (
    <>
      {isPresent !== "" && (
        <FilterChip
          text={isPresent === "true" ? presentWord : "Churned or without a score"}
          onRemove={() => onChange({ isPresent: "" })}
        />
      )}
      {toCall !== "" && (
        <FilterChip
          text={
            toCall === "true" ? "High churn risk or a sharp fall" : "No high churn risk and no sharp fall"
          }
          onRemove={() => onChange({ toCall: "" })}
        />
      )}
      {healthBandBefore !== "" && (
        <FilterChip
          text={`${bandWord(healthBandBefore)} ${on}`}
          onRemove={() => onChange({ healthBandBefore: "", ...(moved === "" && { since: undefined }) })}
        />
      )}
      {moved !== "" && (
        <FilterChip
          text={`${movedWords[moved]} since ${since === undefined ? "28 days before" : dayText(since)}`}
          onRemove={() => onChange({ moved: "", ...(healthBandBefore === "" && { since: undefined }) })}
        />
      )}
      {since !== undefined && !isCompared && (
        <FilterChip
          text={`Changes since ${dayText(since)}`}
          onRemove={() => onChange({ since: undefined })}
        />
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
  return <FilterChip text={activityWords(values, activeFrom)} onRemove={() => onChange(noActivity)} />;
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
