/** A filter by a trait: its name, how it is compared, and with what. */
import { type FormEvent, type ReactElement, useId, useState } from "react";
import type { Reads } from "../api/paths.ts";
import { Button } from "./button.tsx";
import { Input, Select } from "./field.tsx";
import { FilterChip } from "./list-filters.tsx";
import { Popover } from "./menu.tsx";

export type TraitMatch = NonNullable<Reads["/api/users"]["query"]["match"]>;
type Traits = Reads["/api/traits"]["answer"]["traits"];

/** A filter by a trait; without a name there is none. */
export interface TraitFilter {
  readonly trait: string;
  readonly match: TraitMatch;
  readonly value: string;
}

const matches: readonly { readonly value: TraitMatch; readonly label: string }[] = [
  { value: "is", label: "is" },
  { value: "isNot", label: "is not" },
  { value: "contains", label: "contains" },
  { value: "isEmpty", label: "is empty" },
  { value: "isNotEmpty", label: "is not empty" },
];

const needsValue = (match: TraitMatch) => match !== "isEmpty" && match !== "isNotEmpty";

/** The filter in words: plan is pro. */
function traitWords({ trait, match, value }: TraitFilter): string {
  const how = matches.find((one) => one.value === match)?.label ?? match;
  return needsValue(match) ? `${trait} ${how} ${value === "" ? "“”" : value}` : `${trait} ${how}`;
}

export function TraitFilterButton({
  filter,
  traits,
  onChange,
}: {
  filter: TraitFilter;
  traits: Traits;
  onChange: (filter: TraitFilter) => void;
}): ReactElement {
  const [isOpen, setOpen] = useState(false);
  if (filter.trait !== "") {
    const none = { trait: "", match: "is", value: "" } as const;
    return <FilterChip text={traitWords(filter)} onRemove={() => onChange(none)} />;
  }
  return (
    <Popover
      label="Filter by a trait"
      isOpen={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button isSmall icon="plus" className="h-8! justify-self-start">
          Trait
        </Button>
      }
    >
      <TraitForm
        traits={traits}
        onDone={(chosen) => {
          setOpen(false);
          onChange(chosen);
        }}
      />
    </Popover>
  );
}

function TraitForm({
  traits,
  onDone,
}: {
  traits: Traits;
  onDone: (filter: TraitFilter) => void;
}): ReactElement {
  const id = useId();
  const [{ trait, match, value }, set] = useState<TraitFilter>({ trait: "", match: "is", value: "" });
  const known = traits.find((one) => one.trait === trait);
  const send = (event: FormEvent) => {
    event.preventDefault();
    onDone({ trait, match, value: needsValue(match) ? value : "" });
  };
  return (
    <form onSubmit={send} className="grid gap-3">
      <Input
        label="Trait"
        required
        autoComplete="off"
        maxLength={256}
        list={`${id}-traits`}
        value={trait}
        onChange={({ target }) => set({ trait: target.value, match, value })}
        help={
          known === undefined
            ? traits.length === 0
              ? "No user has a trait yet."
              : `For instance ${traits[0]?.trait}.`
            : `${known.users} users have it.`
        }
      />
      <datalist id={`${id}-traits`}>
        {traits.map((one) => (
          <option key={one.trait} value={one.trait} />
        ))}
      </datalist>
      <Select
        label="Compared"
        value={match}
        choices={matches}
        onChoose={(chosen) => set({ trait, match: chosen, value })}
      />
      {needsValue(match) && (
        <>
          <Input
            label="Value"
            required
            autoComplete="off"
            maxLength={256}
            list={`${id}-values`}
            value={value}
            onChange={({ target }) => set({ trait, match, value: target.value })}
            help={match === "contains" ? "Whatever the case." : "Written exactly so."}
          />
          <datalist id={`${id}-values`}>
            {known?.values.map(({ value: one }) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </>
      )}
      <Button type="submit" look="primary" isSmall>
        Show these users
      </Button>
    </form>
  );
}
