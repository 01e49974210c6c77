/** Adds a filter by a fall: of use against the four weeks before, or of health within some days. What is set
 * is a chip. */
import { type ReactElement, useState } from "react";
import type { MovementValues } from "../figure/figure-filters.ts";
import { Input, Select } from "../form/field.tsx";
import { FilterForm, FilterPopover } from "./filter-popover.tsx";

interface FallProps {
  readonly kind: "users" | "accounts";
  readonly values: MovementValues;
  readonly onChange: (changed: Partial<MovementValues>) => void;
}

export function FallFilter({ kind, values, onChange }: FallProps): ReactElement | null {
  if (values.usageFellPercent !== undefined && values.healthFellPoints !== undefined) return null;
  return (
    <FilterPopover name="Fall" label="Filter by a fall">
      {(close) => (
        <FallForm
          kind={kind}
          onDone={(changed) => {
            close();
            onChange(changed);
          }}
        />
      )}
    </FilterPopover>
  );
}

const falls = [
  { value: "use", label: "Use, last 28 days v. the 28 before" },
  { value: "health", label: "Health" },
] as const;

function FallForm({
  kind,
  onDone,
}: {
  kind: FallProps["kind"];
  onDone: (changed: Partial<MovementValues>) => void;
}): ReactElement {
  const [of, setOf] = useState<(typeof falls)[number]["value"]>("use");
  const [by, setBy] = useState("25");
  const [days, setDays] = useState("28");
  const send = () => {
    onDone(
      of === "use"
        ? { usageFellPercent: Number(by) }
        : { healthFellPoints: Number(by), healthFellDays: days === "28" ? undefined : Number(days) },
    );
  };
  const whole = { type: "number", required: true, min: 1, step: 1, autoComplete: "off" } as const;
  return (
    <FilterForm rows={kind} onSend={send}>
      <Select label="What fell" value={of} choices={falls} onChoose={setOf} />
      <Input
        {...whole}
        label={of === "use" ? "By at least, in per cent" : "By at least, in points"}
        max={100}
        value={by}
        onChange={({ target }) => setBy(target.value)}
      />
      {of === "health" && (
        <Input
          {...whole}
          label="Within days"
          max={28}
          value={days}
          onChange={({ target }) => setDays(target.value)}
        />
      )}
    </FilterForm>
  );
}
