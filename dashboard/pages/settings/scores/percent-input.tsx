/** Fields for numbers of settings. */
import type { ReactElement } from "react";
import { Input } from "../../../parts/form/field.tsx";

interface NumberInputProps {
  readonly label: string;
  readonly help?: string | undefined;
  /** NaN for an empty field. */
  readonly value: number;
  readonly onChange: (value: number) => void;
  readonly error?: string | undefined;
}

/** A field for a percentage. */
export function PercentInput({ label, ...rest }: NumberInputProps): ReactElement {
  return <NumberInput label={`${label}, %`} min={0} max={100} {...rest} />;
}

/** A field for any number. */
export function NumberInput({
  value,
  onChange,
  ...rest
}: NumberInputProps & { readonly min?: number; readonly max?: number }): ReactElement {
  return (
    <Input
      {...rest}
      type="number"
      step="any"
      required
      value={Number.isNaN(value) ? "" : value}
      onChange={({ target }) => onChange(target.valueAsNumber)}
    />
  );
}
