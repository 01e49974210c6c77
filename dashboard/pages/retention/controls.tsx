/** The choices of the question: what makes a cohort, what counts as coming back, and by what to split. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { periodsText } from "../../charts/cohort-model.ts";
import { Button } from "../../parts/form/button.tsx";
import { DayInput } from "../../parts/form/day-input.tsx";
import { type Choice, Select } from "../../parts/form/field.tsx";
import { Popover } from "../../parts/menu.tsx";
import { useToday } from "../../parts/time.tsx";
import { numbers } from "../../text/format.ts";
import { SegmentPick } from "../segments/segment-pick.tsx";
import { type Choices, filters, useChoices } from "./question.ts";

type NamedEvent = Pick<Reads["/api/events"]["answer"]["events"][number], "event" | "label">;
type Traits = Reads["/api/traits"]["answer"]["traits"];

interface ControlsProps {
  /** The names of the organization's events, the most frequent first. */
  readonly events: readonly NamedEvent[];
  readonly traits: Traits;
}

/** The most used choices. The others are behind a button. */
export function Controls(props: ControlsProps): ReactElement {
  const { events } = props;
  const [choices, change] = useChoices();
  return (
    <search
      aria-label="Question"
      className="grid grid-cols-2 items-end gap-3 sm:grid-cols-3 xl:flex xl:[&>div]:min-w-0 xl:[&>div]:flex-1"
    >
      <EntryField {...props} />
      <Select
        label="Came back by"
        value={choices.returnEvent}
        choices={[{ value: "", label: "any event" }, ...named(events, choices.returnEvent)]}
        onChoose={(returnEvent) => change({ returnEvent })}
      />
      <Select
        label="Periods"
        value={choices.period}
        choices={periodChoices}
        onChoose={(period) => change({ period, periods: 0, from: undefined, to: undefined })}
      />
      <Select
        label="Counts as retained"
        value={choices.measure}
        choices={[
          { value: "in", label: `in the ${choices.period}` },
          { value: "inOrAfter", label: `in the ${choices.period} or later` },
        ]}
        onChoose={(measure) => change({ measure })}
      />
      <SplitField {...props} />
      <SegmentPick isField value={choices.segment} onChoose={(segment) => change({ segment })} />
      <More />
    </search>
  );
}

const periodChoices = [
  { value: "day", label: "days" },
  { value: "week", label: "weeks" },
  { value: "month", label: "months" },
] as const;

/** Events as choices. An event that only the address knows is among them. */
function named(events: readonly NamedEvent[], chosen: string, prefix = ""): Choice[] {
  const isKnown = chosen === "" || events.some(({ event }) => event === chosen);
  const all = isKnown ? events : [{ event: chosen, label: null }, ...events];
  return all.map(({ event, label }) => ({
    value: `${prefix}${event}`,
    label: label ?? event,
    group: "An event",
  }));
}

function EntryField({ events }: ControlsProps): ReactElement {
  const [{ entry, entryEvent }, change] = useChoices();
  return (
    <Select
      label="A cohort begins with"
      value={entry === "event" ? `event ${entryEvent}` : entry}
      choices={[
        { value: "firstEvent", label: "any first event" },
        { value: "signUp", label: "the sign-up" },
        ...named(events, entryEvent, "event "),
      ]}
      onChoose={(chosen) =>
        change(
          chosen.startsWith("event ")
            ? { entry: "event", entryEvent: chosen.slice("event ".length) }
            : { entry: filters.entry.read(chosen), entryEvent: "" },
        )
      }
    />
  );
}

/** Traits with two values or more. Those with more than 100 values come last. */
function splitChoices(traits: Traits, { trait, of }: Choices): Choice[] {
  const some = traits.filter(({ distinctValues }) => distinctValues !== null && distinctValues > 1);
  const many = traits.filter(({ distinctValues }) => distinctValues === null);
  const labelOf = ({ trait: name, distinctValues }: Traits[number]) =>
    `${name} (${distinctValues === null ? "more than 100" : numbers.count(distinctValues)} values)`;
  const choice = (whose: "user" | "account", group: string) => (one: Traits[number]) => ({
    value: `${whose} ${one.trait}`,
    label: labelOf(one),
    group,
  });
  const ofAccount = "The account's";
  const found = [
    ...[...some, ...many].map(choice("user", "The user's")),
    { value: "account name", label: "name", group: ofAccount },
    { value: "account id", label: "id", group: ofAccount },
    ...some.filter(({ trait: name }) => name !== "name" && name !== "id").map(choice("account", ofAccount)),
  ];
  const chosen = `${of} ${trait}`;
  if (trait === "" || found.some(({ value }) => value === chosen)) return found;
  return [{ value: chosen, label: trait, group: of === "user" ? "The user's" : ofAccount }, ...found];
}

function SplitField({ traits }: ControlsProps): ReactElement {
  const [choices, change] = useChoices();
  return (
    <Select
      label="Split by"
      value={choices.trait === "" ? "" : `${choices.of} ${choices.trait}`}
      choices={[{ value: "", label: "nothing" }, ...splitChoices(traits, choices)]}
      onChoose={(chosen) => {
        const [whose = "", ...name] = chosen.split(" ");
        change({
          trait: name.join(" "),
          of: whose === "account" ? "account" : "user",
          open: "",
          first: "",
          second: "",
        });
      }}
    />
  );
}

const periodCounts = [7, 13, 26, 31, 52, 60, 90, 120] as const;

function More(): ReactElement {
  const [choices, change] = useChoices();
  const today = useToday();
  const { period, periods, weekStart, from, to, trait, asOf } = choices;
  const changed = [periods !== 0, weekStart !== "", from, to, asOf !== "entry"].filter(Boolean).length;
  const counts: readonly number[] = [...new Set([...periodCounts, ...(periods === 0 ? [] : [periods])])];
  return (
    <Popover
      label="More options"
      trigger={<Button icon="settings">More{changed > 0 && ` (${changed})`}</Button>}
    >
      <div className="grid gap-3">
        <DayInput
          label="First cohort"
          max={to ?? today}
          value={from}
          help={`Empty: the last ${{ day: "30 days", week: "26 weeks", month: "12 months" }[period]}, relative to today.`}
          onDay={(day) => change({ from: day })}
        />
        <DayInput label="Last cohort" max={today} value={to} onDay={(day) => change({ to: day })} />
        <Select
          label="Shown of a cohort"
          value={String(periods)}
          choices={[
            { value: "0", label: "as usual" },
            ...counts
              .toSorted((a, b) => a - b)
              .map((count) => ({ value: String(count), label: periodsText(count, period) })),
          ]}
          onChoose={(count) => change({ periods: Number(count) })}
        />
        {period === "week" && (
          <Select
            label="Weeks begin"
            value={weekStart}
            choices={[
              { value: "", label: "as in the settings" },
              { value: "1", label: "on Mondays" },
              { value: "7", label: "on Sundays" },
            ]}
            onChoose={(start) => change({ weekStart: start })}
          />
        )}
        {trait !== "" && (
          <Select
            label="The trait"
            value={asOf}
            choices={filters.asOf.choices}
            onChoose={(when) => change({ asOf: when })}
          />
        )}
      </div>
    </Popover>
  );
}
