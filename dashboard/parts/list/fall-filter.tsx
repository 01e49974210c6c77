/** Adds a filter by a fall: of use against the four weeks before, or of health within some days. What is set is a chip. */
import { type FormEvent, type ReactElement, useState } from "react";
import type { MovementValues } from "../figure/figure-filters.ts";
import { Button } from "../form/button.tsx";
import { Input, Select } from "../form/field.tsx";
import { Popover } from "../menu.tsx";

interface FallProps {
  readonly kind: "users" | "accounts";
  readonly values: MovementValues;
  readonly onChange: (changed: Partial<MovementValues>) => void;
}

export function FallFilter({ kind, values, onChange }: FallProps): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  if (values.usageFellPercent !== undefined && values.healthFellPoints !== undefined) return null;
  return (
    <Popover
      label="Filter by a fall"
      isOpen={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button isSmall icon="plus" className="h-8! justify-self-start">
          Fall
        </Button>
      }
    >
      <FallForm
        kind={kind}
        onDone={(changed) => {
          setOpen(false);
          onChange(changed);
        }}
      />
    </Popover>
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
  const send = (event: FormEvent) => {
    event.preventDefault();
    onDone(
      of === "use"
        ? { usageFellPercent: Number(by) }
        : { healthFellPoints: Number(by), healthFellDays: days === "28" ? undefined : Number(days) },
    );
  };
  const whole = { type: "number", required: true, min: 1, step: 1, autoComplete: "off" } as const;
  return (
    <form onSubmit={send} className="grid gap-3">
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
      <Button type="submit" look="primary" isSmall>
        Show these {kind}
      </Button>
    </form>
  );
}
