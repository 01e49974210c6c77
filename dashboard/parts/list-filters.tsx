/** The filters of a list, in one line where there is room: search, health, churn risk, state, last seen, and more. */
import type { ReactElement, ReactNode } from "react";
import { Button } from "./button.tsx";
import { type Choice, Select } from "./field.tsx";
import { MovementChips } from "./figure-chips.tsx";
import { type HealthColour, healthWord } from "./health.tsx";
import { type Band, type ListValues, noListFilters, type Seen, type State } from "./list-address.ts";
import { SearchInput } from "./search-input.tsx";

const stateWords: Record<State, string> = {
  active: "Active",
  new: "New",
  churned: "Churned",
  no_data: "No data",
};

/** The word of a state. */
export function stateWord(state: State): string {
  return stateWords[state];
}

const colours: readonly Choice<HealthColour | "">[] = [
  { value: "", label: "Any health" },
  ...(["healthy", "watch", "at_risk", "onboarding", "churned", "none"] as const).map((value) => ({
    value,
    label: healthWord(value),
  })),
];
const bands: readonly Choice<Band | "">[] = [
  { value: "", label: "Any churn risk" },
  { value: "high", label: "High risk" },
  { value: "medium", label: "Medium risk" },
  { value: "low", label: "Low risk" },
];
const states: readonly Choice<State | "">[] = [
  { value: "", label: "Any state" },
  ...(["active", "new", "churned", "no_data"] as const).map((value) => ({
    value,
    label: stateWords[value],
  })),
];

const seenWords = ({ how, days }: Seen): string => {
  if (how === "not") return `Not seen for ${days} ${days === 1 ? "day" : "days"}`;
  return days === 1 ? "Seen today" : `Seen within ${days} days`;
};
const usualSeen: readonly Seen[] = [
  ...([1, 7, 28] as const).map((days) => ({ how: "within", days }) as const),
  ...([7, 14, 28, 90] as const).map((days) => ({ how: "not", days }) as const),
];

interface ListFiltersProps {
  /** What the rows are called: users. */
  readonly what: string;
  readonly searchIn: string;
  readonly values: ListValues;
  readonly onChange: (changed: Partial<ListValues>, isTyping?: boolean) => void;
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
      className="grid grid-cols-2 gap-2 px-4 pt-1 pb-3 sm:flex sm:flex-wrap sm:items-center"
    >
      <div className="col-span-2 sm:w-60">
        <SearchInput
          label={`Search ${what}`}
          placeholder={searchIn}
          value={values.search}
          onSearch={(search) => onChange({ search }, true)}
        />
      </div>
      <Pick
        label="Health"
        value={values.colour}
        choices={colours}
        onChoose={(colour) => onChange({ colour })}
      />
      <Pick
        label="Churn risk"
        hint="Low is under 20 %, medium 20 to 50 %, high from 50 % on"
        value={values.band}
        choices={bands}
        onChoose={(band) => onChange({ band })}
      />
      <Pick label="State" value={values.state} choices={states} onChoose={(state) => onChange({ state })} />
      <SeenFilter value={values.seen} onChange={(seen) => onChange({ seen })} />
      <MovementChips values={values} onChange={onChange} />
      {children}
      {isFiltered && (
        <Button look="quiet" isSmall icon="close" onClick={onClear} className="justify-self-start">
          Clear filters
        </Button>
      )}
    </search>
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

/** A filter by one of few; it stands out while it is set. */
function Pick<Value extends string>({
  label,
  value,
  choices,
  onChoose,
  hint,
}: {
  label: string;
  hint?: string;
  value: Value;
  choices: readonly Choice<Value>[];
  onChoose: (value: Value) => void;
}): ReactElement {
  return (
    <Select
      label={label}
      isLabelHidden
      isSmall
      value={value}
      choices={choices}
      onChoose={onChoose}
      title={hint}
      className={value === "" ? "text-soft" : "border-ember! font-medium"}
    />
  );
}

/** Whether any of the filters that both lists have is set. */
export function isListFiltered(values: ListValues): boolean {
  return (Object.keys(noListFilters) as (keyof typeof noListFilters)[]).some(
    (name) => values[name] !== noListFilters[name],
  );
}
