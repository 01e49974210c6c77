/** Filters of accounts by seats used and pulse. What is set is a chip. */
import { type ReactElement, useState } from "react";
import { pulseLimits } from "../../../contract/pulse/pulse.ts";
import { seatsChips } from "../../text/seats-words.ts";
import { Input, Select } from "../form/field.tsx";
import { FilterChip } from "./filter-chip.tsx";
import { FilterForm, FilterPopover } from "./filter-popover.tsx";
import { optionalNumberFilter, type Values } from "./filters.ts";

const { lowest, highest } = pulseLimits;

/** As in the address, and as the API takes them: seats used in per cent. */
export const seatsFilters = {
  seatsUsedFrom: optionalNumberFilter(100_000),
  seatsUsedTo: optionalNumberFilter(100_000),
  pulseFrom: optionalNumberFilter(highest, lowest),
  pulseTo: optionalNumberFilter(highest, lowest),
};
type SeatsValues = Values<typeof seatsFilters>;

/** Without any of these filters. */
export const noSeatsFilters: SeatsValues = {
  seatsUsedFrom: undefined,
  seatsUsedTo: undefined,
  pulseFrom: undefined,
  pulseTo: undefined,
};

const bounds = [
  { value: "seatsUsedTo", label: "Seats used, at most" },
  { value: "seatsUsedFrom", label: "Seats used, at least" },
  { value: "pulseTo", label: "Pulse, at most" },
  { value: "pulseFrom", label: "Pulse, at least" },
] as const;

interface SeatsProps {
  readonly values: SeatsValues;
  readonly onChange: (changed: Partial<SeatsValues>) => void;
}

export function SeatsFilter({ values, onChange }: SeatsProps): ReactElement {
  return (
    <>
      {seatsChips(values).map(({ text, without }) => (
        <FilterChip key={text} text={text} onRemove={() => onChange(without)} />
      ))}
      <FilterPopover name="Seats and pulse" label="Filter by seats and pulse">
        {(close) => (
          <SeatsForm
            onDone={(changed) => {
              close();
              onChange(changed);
            }}
          />
        )}
      </FilterPopover>
    </>
  );
}

function SeatsForm({ onDone }: { onDone: (changed: Partial<SeatsValues>) => void }): ReactElement {
  const [of, setOf] = useState<(typeof bounds)[number]["value"]>("seatsUsedTo");
  const isPulse = of === "pulseTo" || of === "pulseFrom";
  const [percent, setPercent] = useState("50");
  const [pulse, setPulse] = useState("2");
  const whole = { type: "number", required: true, step: 1, autoComplete: "off" } as const;
  return (
    <FilterForm rows="accounts" onSend={() => onDone({ [of]: Number(isPulse ? pulse : percent) })}>
      <Select label="What" value={of} choices={bounds} onChoose={setOf} />
      {isPulse ? (
        <Input
          {...whole}
          label="Pulse, 1 to 5"
          min={lowest}
          max={highest}
          value={pulse}
          onChange={({ target }) => setPulse(target.value)}
        />
      ) : (
        <Input
          {...whole}
          label="Per cent of seats"
          min={0}
          max={100_000}
          value={percent}
          onChange={({ target }) => setPercent(target.value)}
        />
      )}
    </FilterForm>
  );
}
