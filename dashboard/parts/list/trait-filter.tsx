/** Filters by traits of users or attributes of accounts: of each its name, how it is compared, and with
 * what. */
import { type ReactElement, useState } from "react";
import type { Reads } from "../../api/paths.ts";
import { attributeName } from "../../text/attribute-names.ts";
import { Input, Select } from "../form/field.tsx";
import { FilterChip } from "./filter-chip.tsx";
import { FilterForm, FilterPopover } from "./filter-popover.tsx";
import { objectsFilter } from "./filters.ts";

export type TraitMatch = NonNullable<Reads["/api/users"]["query"]["match"]>;
type Traits = Reads["/api/traits"]["answer"]["traits"];

/** A filter by a trait. */
export interface TraitFilter {
  readonly trait: string;
  readonly match: TraitMatch;
  readonly value: string;
}

/** The word for a trait, and the rows that have it. */
type TraitWords = readonly ["trait", "users"] | readonly ["attribute", "accounts"];

const titles = { trait: "Trait", attribute: "Attribute" } as const;

/** The server takes no more. */
const maxFilters = 8;

const matches: readonly { readonly value: TraitMatch; readonly label: string }[] = [
  { value: "is", label: "is" },
  { value: "isNot", label: "is not" },
  { value: "contains", label: "contains" },
  { value: "isEmpty", label: "is empty" },
  { value: "isNotEmpty", label: "is not empty" },
];

/** Whether a filter lacks nothing. */
function isWhole({ trait, match, value }: TraitFilter): boolean {
  return trait !== "" && (value !== "" || !needsValue(match));
}

/** Filters in the address, as JSON. Incomplete ones are left out. */
export const traitsFilter = objectsFilter<TraitFilter>(
  ({ trait, match, value }) => traitOf(text(trait), text(match), text(value)),
  maxFilters,
);

const text = (value: unknown) => (typeof value === "string" ? value : "");

/** A filter of three texts. Undefined when it is incomplete. */
export function traitOf(trait: string, match: string, value: string): TraitFilter[] {
  const known = matches.find((one) => one.value === match)?.value ?? "is";
  const filter = { trait, match: known, value: needsValue(known) ? value : "" };
  return isWhole(filter) ? [filter] : [];
}

const needsValue = (match: TraitMatch) => match !== "isEmpty" && match !== "isNotEmpty";

/** The filter in words: plan is pro. */
export function traitWords({ trait, match, value }: TraitFilter): string {
  const how = matches.find((one) => one.value === match)?.label ?? match;
  return needsValue(match) ? `${trait} ${how} ${value === "" ? "“”" : value}` : `${trait} ${how}`;
}

/** The filters that are set, each with a way to take it away, and a button for one more. */
export function TraitFilters({
  what,
  filters,
  traits,
  onChange,
}: {
  what: TraitWords;
  filters: readonly TraitFilter[];
  traits: Traits;
  onChange: (filters: readonly TraitFilter[]) => void;
}): ReactElement {
  return (
    <>
      {filters.map((filter) => (
        <FilterChip
          key={JSON.stringify(filter)}
          text={traitWords(what[0] === "trait" ? filter : { ...filter, trait: attributeName(filter.trait) })}
          onRemove={() => onChange(filters.filter((one) => one !== filter))}
        />
      ))}
      {filters.length < maxFilters && (
        <FilterPopover
          name={titles[what[0]]}
          label={`Filter by ${what[0] === "trait" ? "a trait" : "an attribute"}`}
        >
          {(close) => (
            <TraitForm
              what={what}
              traits={traits}
              onDone={(chosen) => {
                close();
                const isThere = filters.some((one) => traitWords(one) === traitWords(chosen));
                if (!isThere) onChange([...filters, chosen]);
              }}
            />
          )}
        </FilterPopover>
      )}
    </>
  );
}

function TraitForm({
  what: [name, rows],
  traits,
  onDone,
}: {
  what: TraitWords;
  traits: Traits;
  onDone: (filter: TraitFilter) => void;
}): ReactElement {
  const [{ trait, match, value }, set] = useState<TraitFilter>({ trait: "", match: "is", value: "" });
  const known = traits.find((one) => one.trait === trait);
  const send = () => {
    onDone({ trait, match, value: needsValue(match) ? value : "" });
  };
  return (
    <FilterForm rows={rows} onSend={send}>
      <Input
        label={titles[name]}
        required
        autoComplete="off"
        maxLength={256}
        suggestions={traits.map((one) => one.trait)}
        value={trait}
        onChange={({ target }) => set({ trait: target.value, match, value })}
        help={
          known === undefined
            ? traits.length === 0
              ? rows === "users"
                ? "No user has a trait yet."
                : "No account has an attribute yet."
              : `For instance ${traits[0]?.trait}.`
            : `${known.users} ${rows} have it.`
        }
      />
      <Select
        label="Compared"
        value={match}
        choices={matches}
        onChoose={(chosen) => set({ trait, match: chosen, value })}
      />
      {needsValue(match) && (
        <Input
          label="Value"
          required
          autoComplete="off"
          maxLength={256}
          suggestions={known?.values.map((one) => one.value) ?? []}
          value={value}
          onChange={({ target }) => set({ trait, match, value: target.value })}
          help={match === "contains" ? "Upper and lower case are the same." : "Exact match"}
        />
      )}
    </FilterForm>
  );
}
