/** By which property or trait events are split: one of those that occur, or any that is typed. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { Button } from "../../parts/form/button.tsx";
import { Input } from "../../parts/form/field.tsx";
import { useTyped } from "../../parts/form/typed.ts";
import { Empty } from "../../parts/states.tsx";

interface KeysProps {
  readonly split: "property" | "trait";
  /** One event's name. Empty for all of them. */
  readonly event: string;
}

/** The names that occur, the most frequent first. Undefined while they are not known. */
function useKeys({ split, event }: KeysProps): readonly string[] | undefined {
  const properties = useRead("/api/properties", { query: { event }, enabled: split === "property" });
  const traits = useRead("/api/traits", { enabled: split === "trait" });
  return split === "property"
    ? properties.data?.properties.map(({ property }) => property)
    : traits.data?.traits.map(({ trait }) => trait);
}

export function KeyField({
  value,
  onChange,
  ...of
}: KeysProps & { value: string; onChange: (name: string) => void }): ReactElement {
  const names = useKeys(of) ?? [];
  const [typed, setTyped] = useTyped(value);
  const choose = (name: string) => name !== value && onChange(name);
  return (
    <Input
      label={of.split === "trait" ? "Trait" : "Property"}
      isLabelHidden
      isSmall
      placeholder={names[0] === undefined ? `Name of a ${of.split}` : `e.g. ${names[0]}`}
      value={typed}
      maxLength={256}
      autoComplete="off"
      suggestions={names}
      onChange={({ target, nativeEvent }) => {
        setTyped(target.value);
        // A name of the list is chosen at once. One that is typed may be the beginning of another.
        const isFromList =
          !(nativeEvent instanceof InputEvent) || nativeEvent.inputType === "insertReplacementText";
        if (isFromList && names.includes(target.value)) choose(target.value);
      }}
      onBlur={() => choose(typed)}
      onKeyDown={({ key }) => key === "Enter" && choose(typed)}
      className="sm:w-44"
    />
  );
}

/** More than these are only in the field's list. */
const shown = 12;

/** In place of the chart while nothing is chosen: what there is to choose from. */
export function Keys({ onChoose, ...of }: KeysProps & { onChoose: (name: string) => void }): ReactElement {
  const { split, event } = of;
  const names = useKeys(of);
  const several = split === "property" ? "properties" : "traits";
  if (names?.length === 0) {
    return (
      <Empty title={`No ${several}`}>
        {split === "trait"
          ? "No user has a trait yet."
          : `${event === "" ? "No event" : event} had no property in the last 91 days.`}
      </Empty>
    );
  }
  return (
    <Empty title={`Which ${split}?`}>
      <p className="mb-3">See events by the value of a {split}, as your applications send it.</p>
      <div className="flex flex-wrap justify-center gap-2">
        {names?.slice(0, shown).map((name) => (
          <Button key={name} isSmall onClick={() => onChoose(name)}>
            {name}
          </Button>
        ))}
      </div>
    </Empty>
  );
}
