/** The filters of a list, in one line where there is room: search, verdict, last seen, and more. Verdict,
 * health band and risk band have words in common, so only the verdict is in the line: the two scales that it
 * is made of are under "More". */
import type { ReactElement, ReactNode } from "react";
import { MovementChips } from "../figure/figure-chips.tsx";
import { type HealthBand, healthWord } from "../figure/health.tsx";
import { type VerdictName, verdictWord } from "../figure/verdict.tsx";
import { Button } from "../form/button.tsx";
import { type Choice, Select } from "../form/field.tsx";
import { SearchInput } from "../form/search-input.tsx";
import { Popover } from "../menu.tsx";
import { FilterChip } from "./filter-chip.tsx";
import type { ListValues, RiskBand, Seen, State, VerdictChoice } from "./list-address.ts";
import { Pick } from "./pick.tsx";

export const stateWords: Record<State, string> = {
  active: "Active",
  new: "New",
  churned: "Churned",
  inactive: "Inactive",
  canceling: "Canceling",
  no_data: "No data",
};

const verdicts: readonly VerdictName[] = [
  "high_risk",
  "at_risk",
  "watch",
  "healthy",
  "new",
  "churned",
  "account_churned",
  "no_score",
] as const;

/** @param hasAccounts whether a row can belong to a churned account */
function verdictChoices(hasAccounts: boolean): Choice<VerdictChoice | "">[] {
  return [
    { value: "", label: "Any verdict" },
    { value: "not_churned", label: "Not churned" },
    ...verdicts
      .filter((verdict) => hasAccounts || verdict !== "account_churned")
      .map((value) => ({ value, label: verdictWord(value) })),
  ];
}
const healthBands: readonly Choice<HealthBand | "">[] = [
  { value: "", label: "Any health" },
  ...(["healthy", "watch", "at_risk", "onboarding", "churned", "none"] as const).map((value) => ({
    value,
    label: healthWord(value),
  })),
];
const riskBands: readonly Choice<RiskBand | "">[] = [
  { value: "", label: "Any churn risk" },
  { value: "high", label: "High risk" },
  { value: "medium", label: "Medium risk" },
  { value: "low", label: "Low risk" },
];

export const seenWords = ({ how, days }: Seen): string => {
  if (how === "not") return `Not seen for ${days} ${days === 1 ? "day" : "days"}`;
  return days === 1 ? "Seen today" : `Seen within ${days} days`;
};
const usualSeen: readonly Seen[] = [
  ...([1, 7, 28] as const).map((days) => ({ how: "within", days }) as const),
  ...([7, 14, 28, 90] as const).map((days) => ({ how: "not", days }) as const),
];

interface BandProps {
  readonly values: ListValues;
  readonly onChange: (changed: Partial<ListValues>, isTyping?: boolean) => void;
}

interface ListFiltersProps extends BandProps {
  /** The word for the rows: users. */
  readonly what: string;
  readonly searchIn: string;
  /** Filters that only this list has. */
  readonly children?: ReactNode;
  /** Whether any filter is set, those of this list alone included. */
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

export function ListFilters(props: ListFiltersProps): ReactElement {
  const { what, searchIn, values, onChange, children, isFiltered, onClear } = props;
  return (
    <search
      aria-label={`Filter ${what}`}
      // The button to clear stays at the end of the first line, however many lines the filters need.
      className="grid grid-cols-2 gap-2 px-4 pt-1 pb-3 sm:flex sm:items-start"
    >
      <div className="contents sm:flex sm:min-w-0 sm:flex-wrap sm:items-center sm:gap-2">
        <div className="col-span-2 sm:w-52">
          <SearchInput
            label={`Search ${what}`}
            placeholder={searchIn}
            value={values.search}
            onSearch={(search) => onChange({ search }, true)}
            hasKey
          />
        </div>
        <Pick
          label="Verdict"
          value={values.verdict}
          choices={verdictChoices(what === "users")}
          onChoose={(verdict) => onChange({ verdict })}
        />
        <SeenFilter value={values.seen} onChange={(seen) => onChange({ seen })} />
        <BandFilters values={values} onChange={onChange} />
        <MovementChips values={values} onChange={onChange} />
        {children}
        {values.state !== "" && (
          <FilterChip text={`State ${stateWords[values.state]}`} onRemove={() => onChange({ state: "" })} />
        )}
      </div>
      {isFiltered && (
        <Button
          look="quiet"
          isSmall
          icon="close"
          onClick={onClear}
          className="shrink-0 justify-self-start sm:mt-0.5"
        >
          Clear filters
        </Button>
      )}
    </search>
  );
}

/** Filters by health band and risk band, behind a button. Those that are set stand in the line. */
function BandFilters({ values, onChange }: BandProps): ReactElement {
  const { healthBand, riskBand } = values;
  const labelOf = <Value extends string>(choices: readonly Choice<Value>[], value: Value) =>
    choices.find((choice) => choice.value === value)?.label ?? value;
  return (
    <>
      {healthBand !== "" && (
        <FilterChip
          text={`Health: ${labelOf(healthBands, healthBand)}`}
          onRemove={() => onChange({ healthBand: "" })}
        />
      )}
      {riskBand !== "" && (
        <FilterChip
          text={`Churn risk: ${labelOf(riskBands, riskBand)}`}
          onRemove={() => onChange({ riskBand: "" })}
        />
      )}
      <Popover
        label="Filter by health and churn risk"
        trigger={
          <Button isSmall icon="plus" className="h-8! justify-self-start">
            More
          </Button>
        }
      >
        <div className="grid gap-3">
          <Select
            label="Health"
            value={healthBand}
            choices={healthBands}
            onChoose={(chosen) => onChange({ healthBand: chosen })}
          />
          <Select
            label="Churn risk"
            value={riskBand}
            choices={riskBands}
            onChoose={(chosen) => onChange({ riskBand: chosen })}
          />
          <p className="text-sm text-soft">The verdict is made of these two.</p>
        </div>
      </Popover>
    </>
  );
}

function SeenFilter({
  value,
  onChange,
}: {
  value: Seen | undefined;
  onChange: (seen: Seen | undefined) => void;
}): ReactElement {
  const key = ({ how, days }: Seen) => `${how}-${days}`;
  const isUsual = value === undefined || usualSeen.some((one) => key(one) === key(value));
  // An address may say other days than the list offers.
  const offered = isUsual ? usualSeen : [value, ...usualSeen];
  return (
    <Pick
      label="Last seen"
      value={value === undefined ? "" : key(value)}
      choices={[
        { value: "", label: "Seen any time" },
        ...offered.map((seen) => ({ value: key(seen), label: seenWords(seen) })),
      ]}
      onChoose={(text) => onChange(offered.find((seen) => key(seen) === text))}
    />
  );
}
