/** The conditions of a list on events and segments: each as a chip, and a button for one more. */
import { type ReactElement, useState } from "react";
import { segmentLimits } from "../../../contract/segments/segments.ts";
import { useRead } from "../../api/query.ts";
import { Input, Select } from "../../parts/form/field.tsx";
import { FilterChip } from "../../parts/list/filter-chip.tsx";
import { FilterForm, FilterPopover } from "../../parts/list/filter-popover.tsx";
import { eventWords, segmentWords } from "./condition-words.ts";
import type { ConditionValues, EventCondition, SegmentCondition } from "./conditions.ts";
import { segmentsOf } from "./saved-filter.ts";
import { type SegmentKind, segmentChoices, useSegmentNames, useSegments } from "./segments.ts";

interface FiltersProps {
  readonly kind: SegmentKind;
  readonly values: ConditionValues;
  readonly onChange: (changed: Partial<ConditionValues>) => void;
}

export function ConditionFilters(props: FiltersProps): ReactElement {
  return (
    <>
      <EventFilters {...props} />
      <SegmentFilters {...props} />
    </>
  );
}

function EventFilters({ kind, values: { events }, onChange }: FiltersProps): ReactElement {
  const change = (changed: EventCondition[]) => onChange({ events: changed });
  return (
    <>
      {events.map((condition) => (
        <FilterChip
          key={JSON.stringify(condition)}
          text={eventWords(condition)}
          onRemove={() => change(events.filter((one) => one !== condition))}
        />
      ))}
      {events.length < segmentLimits.events && (
        <FilterPopover name="Event" label="Filter by an event">
          {(close) => (
            <EventForm
              kind={kind}
              onDone={(chosen) => {
                close();
                const words = eventWords(chosen);
                change([...events.filter((one) => eventWords(one) !== words), chosen]);
              }}
            />
          )}
        </FilterPopover>
      )}
    </>
  );
}

const eventMatches = [
  { value: "atLeast", label: "at least" },
  { value: "fewerThan", label: "fewer than" },
] as const;

function EventForm({
  kind,
  onDone,
}: {
  kind: SegmentKind;
  onDone: (condition: EventCondition) => void;
}): ReactElement {
  const names =
    useRead("/api/events", { query: { limit: 500 } }).data?.events.map(({ event }) => event) ?? [];
  const [event, setEvent] = useState("");
  const [match, setMatch] = useState<"atLeast" | "fewerThan">("atLeast");
  const [times, setTimes] = useState("1");
  const [days, setDays] = useState("28");
  const send = () => {
    onDone({
      event,
      days: Number(days),
      ...(match === "fewerThan" && { match }),
      ...(times !== "1" && { times: Number(times) }),
    });
  };
  const whole = { type: "number", required: true, min: 1, step: 1, autoComplete: "off" } as const;
  return (
    <FilterForm rows={kind} onSend={send}>
      <Input
        label="Event"
        required
        autoComplete="off"
        maxLength={256}
        suggestions={names}
        value={event}
        onChange={({ target }) => setEvent(target.value)}
        help={names[0] === undefined ? undefined : `For instance ${names[0]}.`}
      />
      <div className="grid grid-cols-[minmax(0,1fr)_5rem] gap-2">
        <Select label="How often" value={match} choices={eventMatches} onChoose={setMatch} />
        <Input
          {...whole}
          label="Times"
          max={100_000}
          value={times}
          onChange={({ target }) => setTimes(target.value)}
        />
      </div>
      <Input
        {...whole}
        label="Within days"
        max={3_650}
        value={days}
        onChange={({ target }) => setDays(target.value)}
        help="The last of them is today. Fewer than 1 time: not at all."
      />
    </FilterForm>
  );
}

function SegmentFilters({ kind, values, onChange }: FiltersProps): ReactElement | null {
  const names = useSegmentNames();
  const chosen = segmentsOf(values);
  // Both parameters become one when one of them is changed.
  const change = (segments: SegmentCondition[]) => onChange({ segment: undefined, segments });
  const choices = segmentChoices(useSegments(), kind);
  return (
    <>
      {chosen.map((condition) => (
        <FilterChip
          key={JSON.stringify(condition)}
          text={segmentWords(condition, names)}
          onRemove={() => change(chosen.filter((one) => one !== condition))}
        />
      ))}
      {chosen.length < segmentLimits.segments && choices.length > 0 && (
        <FilterPopover name="Segment" label="Filter by a segment">
          {(close) => (
            <SegmentForm
              kind={kind}
              choices={choices}
              onDone={(condition) => {
                close();
                const others = chosen.filter(({ segment }) => segment !== condition.segment);
                change([...others, condition]);
              }}
            />
          )}
        </FilterPopover>
      )}
    </>
  );
}

const segmentMatches = [
  { value: "isIn", label: "in the segment" },
  { value: "isNotIn", label: "not in the segment" },
] as const;

function SegmentForm({
  kind,
  choices,
  onDone,
}: {
  kind: SegmentKind;
  choices: ReturnType<typeof segmentChoices>;
  onDone: (condition: SegmentCondition) => void;
}): ReactElement {
  const [segment, setSegment] = useState(choices[0]?.value ?? "");
  const [match, setMatch] = useState<"isIn" | "isNotIn">("isIn");
  const send = () => {
    onDone({ segment: Number(segment), ...(match === "isNotIn" && { match }) });
  };
  return (
    <FilterForm rows={kind} onSend={send}>
      <Select
        label={kind === "users" ? "Users are" : "Accounts are"}
        value={match}
        choices={segmentMatches}
        onChoose={setMatch}
      />
      <Select label="Segment" value={segment} choices={choices} onChoose={setSegment} />
    </FilterForm>
  );
}
