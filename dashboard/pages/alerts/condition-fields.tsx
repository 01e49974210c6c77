/** The fields of a rule's scope and condition. */
import type { ReactElement } from "react";
import {
  fieldsOfCondition,
  isOfAccountsOnly,
  ruleLimits,
  ruleStates,
} from "../../../contract/alerts/rules.ts";
import { useRead } from "../../api/query.ts";
import { type Choice, Input, Select } from "../../parts/form/field.tsx";
import { senders, sourceName } from "../../text/source-names.ts";
import { type Segment, useSegments } from "../segments/segments.ts";
import { type Draft, hasScope, withoutSegments } from "./draft.ts";
import { kinds, kindWords, stateWords } from "./words.ts";

export interface FieldsProps {
  readonly draft: Draft;
  readonly onChange: (change: Partial<Draft>) => void;
}

export function ConditionFields({ draft, onChange }: FieldsProps): ReactElement {
  const needed = fieldsOfCondition[draft.kind];
  const segments = choicesOfKind(useSegments(), draft.scope);
  const choices: readonly Choice<"users" | "accounts">[] = [
    { value: "accounts", label: "Accounts" },
    ...(isOfAccountsOnly(draft) ? [] : [{ value: "users" as const, label: "Users" }]),
  ];
  const isOfUsers = (kind: Draft["kind"]) => draft.scope === "users" && isOfAccountsOnly({ kind });
  return (
    <div className="grid gap-x-4 gap-y-3 sm:grid-cols-2">
      <Select
        label="Users or accounts"
        value={draft.scope}
        choices={choices}
        onChoose={(scope) => onChange({ ...withoutSegments(draft), scope })}
      />
      <Select
        label="Condition"
        value={draft.kind}
        choices={kinds.map((value) => ({ value, label: kindWords[value] }))}
        onChoose={(kind) =>
          onChange({
            kind,
            ...(isOfUsers(kind) && { ...withoutSegments(draft), scope: "accounts" }),
          })
        }
      />
      {hasScope(draft) && segments.length > 0 && (
        <Select
          label="Limit to a segment"
          value={draft.scopeSegment}
          choices={[{ value: "", label: `All ${draft.scope}` }, ...segments]}
          onChoose={(scopeSegment) => onChange({ scopeSegment })}
        />
      )}
      {needed.map((field) => (
        <ConditionField key={field} field={field} draft={draft} onChange={onChange} />
      ))}
    </div>
  );
}

type Field = (typeof fieldsOfCondition)[Draft["kind"]][number];

interface FieldProps extends FieldsProps {
  readonly field: Field;
}

function ConditionField({ field, draft, onChange }: FieldProps): ReactElement {
  const set = (value: string) => onChange({ [field]: value });
  const value = draft[field];
  if (field === "segment") return <SegmentField draft={draft} onChange={onChange} />;
  if (field === "event") return <EventField value={value} onText={set} />;
  const choices = choicesOf(field);
  if (choices !== undefined) {
    return <Select label={labels[field]} value={value} required choices={choices} onChoose={set} />;
  }
  return (
    <Input
      label={labelOf(field, draft)}
      type="number"
      required
      min={isWhole(field) ? 1 : 0.1}
      max={mostOf(field, draft)}
      step={isWhole(field) ? 1 : "any"}
      value={value}
      onChange={({ target }) => set(target.value)}
    />
  );
}

const isWhole = (field: Field) => field === "days" || field === "minSeats" || field === "atMost";

function mostOf(field: Field, { kind }: Draft): number {
  if (field === "minSeats") return ruleLimits.minSeats;
  if (field === "atMost") return 4;
  if (field === "percent" && kind === "usageUp") return ruleLimits.usageUpPercent;
  if (field !== "days") return 100;
  return kind === "riskUp" || kind === "healthDown" ? ruleLimits.changeDays : ruleLimits.days;
}

function labelOf(field: Field, { kind }: Draft): string {
  if (field === "by" && kind === "riskUp") return "By at least, percentage points";
  if (field === "percent" && kind === "seatsAbove") return "Seats used, at least %";
  if (field === "percent" && kind === "seatsBelow") return "Seats used, below %";
  return labels[field];
}

const labels: Readonly<Record<Field, string>> = {
  band: "Risk band",
  below: "Below",
  by: "By at least, points",
  days: "Days",
  state: "State",
  segment: "Segment",
  event: "Event",
  percent: "By at least, %",
  minSeats: "Only accounts with at least so many seats",
  atMost: "Pulse at most",
  source: "Source",
};

/** The choices of a field; undefined for a field that is typed. */
function choicesOf(field: Field): readonly Choice[] | undefined {
  const of: Partial<Record<Field, readonly Choice[]>> = {
    band: [
      { value: "high", label: "High" },
      { value: "medium", label: "Medium or high" },
    ],
    state: ruleStates.map((value) => ({ value, label: stateWords[value] })),
    source: [
      { value: "", label: "Any source" },
      ...senders.map((value) => ({ value, label: sourceName(value) })),
    ],
  };
  return of[field];
}

/** The segments of users, or of accounts, as choices. */
export function choicesOfKind(segments: readonly Segment[], kind: Segment["kind"]): readonly Choice[] {
  return segments
    .filter((segment) => segment.kind === kind)
    .map(({ id, name }) => ({ value: String(id), label: name }));
}

function SegmentField({ draft, onChange }: FieldsProps): ReactElement {
  const choices = choicesOfKind(useSegments(), draft.scope);
  return (
    <Select
      label="Segment"
      value={draft.segment}
      required
      choices={[{ value: "", label: "Choose a segment" }, ...choices]}
      help={choices.length === 0 ? `There is no segment of ${draft.scope} yet.` : undefined}
      onChoose={(segment) => onChange({ segment })}
    />
  );
}

function EventField({ value, onText }: { value: string; onText: (text: string) => void }): ReactElement {
  const { data } = useRead("/api/events", { query: { limit: 1_000 } });
  return (
    <Input
      label="Event"
      required
      autoComplete="off"
      value={value}
      suggestions={data?.events.map(({ event }) => event)}
      onChange={({ target }) => onText(target.value)}
    />
  );
}
