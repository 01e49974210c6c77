/** A filter of a list by one of few values. */
import type { ReactElement } from "react";
import { classes } from "../../text/classes.ts";
import { type Choice, SmallSelect } from "../form/field.tsx";

/** A filter by one of few values. It stands out while it is set. */
export function Pick<Value extends string>({
  label,
  value,
  byDefault,
  choices,
  onChoose,
  hint,
}: {
  label: string;
  hint?: string;
  value: Value;
  /** The value of a filter that is not set. Default: "". */
  byDefault?: Value;
  choices: readonly Choice<Value>[];
  onChoose: (value: Value) => void;
}): ReactElement {
  return (
    <SmallSelect
      label={label}
      value={value}
      choices={choices}
      onChoose={onChoose}
      title={hint}
      // A long choice makes no field as wide as the page.
      className={classes(
        "sm:max-w-56",
        value === (byDefault ?? "") ? "text-soft" : "border-ember! font-medium",
      )}
    />
  );
}
