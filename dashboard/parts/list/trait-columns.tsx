/** Columns of lists for traits of users, or attributes of accounts, and the sort by one of them. */
import type { ReactElement } from "react";
import { ownerTrait } from "../../../contract/notes-and-tasks.ts";
import { attributeName } from "../../text/attribute-names.ts";
import { dayText, nothing, numbers } from "../../text/format.ts";
import { choiceFilter, type Filter } from "./filters.ts";
import type { Column } from "./table-model.ts";

/** The most traits that can be columns: those of the most rows. */
const maxTraitColumns = 60;

/** Hidden columns, one for each trait. @param group their heading in the choice of columns */
export function traitColumns<Row extends { readonly traits: Readonly<Record<string, unknown>> }>(
  traits: readonly string[],
  group: "Traits" | "Attributes",
): readonly Column<Row>[] {
  // The owner of accounts has a column of its own.
  const shown = group === "Attributes" ? traits.filter((trait) => trait !== ownerTrait) : traits;
  return shown.slice(0, maxTraitColumns).map((trait) => {
    const id = `trait:${trait}`;
    return {
      id,
      sort: id,
      isHidden: true,
      group,
      header: group === "Attributes" ? attributeName(trait) : trait,
      csv: [`traits.${trait}`],
      cell: (row) =>
        group === "Attributes" ? (
          <AttributeValue name={trait} value={row.traits[trait]} />
        ) : (
          <TraitValue value={row.traits[trait]} />
        ),
    };
  });
}

/** The trait of a sort. Undefined for a column that is no trait. */
function traitSort(sort: string | undefined): string | undefined {
  return sort?.startsWith("trait:") && sort.length > "trait:".length
    ? sort.slice("trait:".length)
    : undefined;
}

/** A column of the list, or a trait by its name. */
export function sortFilter<Sort extends string>(
  sorts: readonly Sort[],
  byDefault: NoInfer<Sort>,
): Filter<string> {
  const ofColumns = choiceFilter(sorts, byDefault);
  return {
    read: (text) => (traitSort(text) === undefined ? ofColumns.read(text) : (text ?? "")),
    write: (sort) => (sort === byDefault ? undefined : sort),
  };
}

/** The parameters of the API for a sort. */
export function sortQuery<Sort extends string>(
  sort: string,
  sorts: readonly Sort[],
  byDefault: NoInfer<Sort>,
) {
  const trait = traitSort(sort);
  return trait === undefined
    ? { sort: choiceFilter(sorts, byDefault).read(sort) }
    : { sort: "trait" as const, sortTrait: trait };
}

function AttributeValue({ name, value }: { name: string; value: unknown }): ReactElement {
  return <TraitValue value={meaningText(name, value) ?? value} />;
}

/** An attribute with a meaning as text; undefined for any other value. */
function meaningText(name: string, value: unknown): string | undefined {
  if (name === "renewsAt" && typeof value === "string" && value.length === 10) return dayText(value);
  return name === "contractValue" && typeof value === "number" ? numbers.precise(value) : undefined;
}

function TraitValue({ value }: { value: unknown }): ReactElement {
  if (value === undefined || value === null || value === "")
    return <span className="text-soft">{nothing}</span>;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return <span title={text}>{text}</span>;
}
