/** The choices of the question: periods, the last day, and by what payers are split. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { DayInput } from "../../parts/form/day-input.tsx";
import { type Choice, Select } from "../../parts/form/field.tsx";
import { useToday } from "../../parts/time.tsx";
import { SegmentPick } from "../segments/segment-pick.tsx";
import { type Choices, filters, periodCounts, periodsOf, useChoices } from "./question.ts";

type Traits = Reads["/api/traits"]["answer"]["traits"];

interface ControlsProps {
  /** Attributes of accounts. */
  readonly attributes: Traits;
  /** Traits of users, who may pay without an account. */
  readonly traits: Traits;
}

export function Controls({ attributes, traits }: ControlsProps): ReactElement {
  const [choices, change] = useChoices();
  const today = useToday();
  const { period, to } = choices;
  const count = periodsOf(choices);
  const counts = [...new Set([...periodCounts[period], count])].toSorted((a, b) => a - b);
  return (
    <search
      aria-label="Question"
      className="grid grid-cols-2 items-end gap-3 lg:flex lg:[&>div]:min-w-0 lg:[&>div]:flex-1"
    >
      <Select
        label="By"
        value={period}
        choices={filters.period.choices}
        onChoose={(chosen) => change({ period: chosen, periods: 0, at: undefined })}
      />
      <Select
        label="Shown"
        value={String(count)}
        choices={counts.map((each) => ({ value: String(each), label: `${each} ${period}s` }))}
        onChoose={(chosen) => change({ periods: Number(chosen), at: undefined })}
      />
      <DayInput label="Up to" max={today} value={to} onDay={(day) => change({ to: day, at: undefined })} />
      <Select
        label="Split by"
        value={splitValue(choices)}
        choices={splitChoices(choices, attributes, traits)}
        onChoose={(chosen) => change({ ...splitOf(chosen), group: "", open: "" })}
      />
      <SegmentPick
        isField
        of="payers"
        value={choices.segment}
        onChoose={(segment) => change({ segment, group: "", open: "" })}
      />
    </search>
  );
}

const attributePrefix = "trait ";

function splitValue({ split, trait }: Choices): string {
  if (split === "trait") return trait === "" ? "none" : attributePrefix + trait;
  return split;
}

function splitOf(chosen: string): Pick<Choices, "split" | "trait"> {
  return chosen.startsWith(attributePrefix)
    ? { split: "trait", trait: chosen.slice(attributePrefix.length) }
    : { split: filters.split.read(chosen), trait: "" };
}

/** Attributes with two values or more. A trait of users has the group of users who pay without an account. */
function splitChoices(choices: Choices, attributes: Traits, traits: Traits): Choice[] {
  const named = (group: string) => (name: string) => ({ value: attributePrefix + name, label: name, group });
  const varied = (of: Traits) =>
    of.filter(({ distinctValues }) => distinctValues !== 1).map(({ trait }) => trait);
  const ofAccounts = [...new Set([...varied(attributes), "name", "id"])];
  const ofUsers = varied(traits).filter((name) => !ofAccounts.includes(name));
  const found: Choice[] = [
    { value: "none", label: "nothing" },
    { value: "plan", label: "plan of the subscription" },
    ...ofAccounts.map(named("Attributes of accounts")),
    ...ofUsers.map(named("Traits of users without an account")),
  ];
  const chosen = splitValue(choices);
  if (found.some(({ value }) => value === chosen)) return found;
  return [...found, { value: chosen, label: choices.trait, group: "Attributes of accounts" }];
}
