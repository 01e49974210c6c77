/** Parts of health of the organization's own: numeric traits with the values that mean 0 and 100. */
import type { ReactElement } from "react";
import type { HealthTrait } from "../../../../contract/api/health-traits.ts";
import { healthFigures } from "../../../../contract/health-figures.ts";
import { healthTraitLimits } from "../../../../contract/member-limits.ts";
import { useRead } from "../../../api/query.ts";
import { Button } from "../../../parts/form/button.tsx";
import { Input } from "../../../parts/form/field.tsx";
import type { SectionProps } from "./event-rules.tsx";
import { NumberInput, PercentInput } from "./percent-input.tsx";

const begun: HealthTrait = { trait: "", zeroAt: 0, hundredAt: 10, weight: 0 };

/** A row of fields for each trait, and a button for another one. */
export function HealthTraits({ draft, errorOf }: SectionProps): ReactElement {
  const { healthTraits } = draft.values;
  const { data } = useRead("/api/traits");
  const suggestions = data && [...data.traits.map(({ trait }) => trait), ...healthFigures];
  const set = (traits: readonly HealthTrait[]) => draft.set({ healthTraits: [...traits] });
  const error = errorOf("healthTraits");
  return (
    <section aria-label="Your own parts of health" className="mt-6 grid gap-4 border-t border-line pt-4">
      <div className="grid gap-0.5">
        <h3 className="font-medium">Your own parts</h3>
        <p className="max-w-prose text-sm text-soft">
          A numeric trait, such as nps or open_tickets, of an account also its owner's; or $seatsUsed, in per
          cent, and $pulse, 1 to 5.
        </p>
      </div>
      {error !== undefined && (
        <p role="alert" className="text-sm text-at-risk">
          {error}
        </p>
      )}
      {healthTraits.map((one, at) => (
        <TraitFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a trait's name is typed, so it is no key.
          key={at}
          number={at + 1}
          value={one}
          suggestions={suggestions}
          onChange={(changed) => set(healthTraits.with(at, { ...one, ...changed }))}
          onRemove={() => set(healthTraits.toSpliced(at, 1))}
        />
      ))}
      {healthTraits.length < healthTraitLimits.traits && (
        <div>
          <Button isSmall icon="plus" onClick={() => set([...healthTraits, begun])}>
            Add a trait
          </Button>
        </div>
      )}
    </section>
  );
}

interface TraitFieldsProps {
  readonly number: number;
  readonly value: HealthTrait;
  /** Names of traits that came. Undefined until they are known. */
  readonly suggestions: readonly string[] | undefined;
  readonly onChange: (changed: Partial<HealthTrait>) => void;
  readonly onRemove: () => void;
}

function TraitFields({ number, value, suggestions, onChange, onRemove }: TraitFieldsProps): ReactElement {
  const name = value.trait === "" ? `Trait ${number}` : value.trait;
  return (
    <fieldset className="grid grid-cols-2 items-end gap-3 sm:grid-cols-[2fr_1fr_1fr_1fr_auto]">
      <legend className="sr-only">{name}</legend>
      <div className="col-span-2 sm:col-span-1">
        <Input
          label="Trait"
          value={value.trait}
          suggestions={suggestions}
          maxLength={healthTraitLimits.characters}
          required
          onChange={({ target }) => onChange({ trait: target.value })}
        />
      </div>
      <NumberInput label="Means 0" value={value.zeroAt} onChange={(zeroAt) => onChange({ zeroAt })} />
      <NumberInput
        label="Means 100"
        value={value.hundredAt}
        onChange={(hundredAt) => onChange({ hundredAt })}
      />
      <PercentInput label="Weight" value={value.weight} onChange={(weight) => onChange({ weight })} />
      <Button onClick={onRemove} aria-label={`Remove ${name} from health`}>
        Remove
      </Button>
    </fieldset>
  );
}
