/** Churn targets: what counts as leaving, for users and for accounts. */
import type { ReactElement } from "react";
import type { ChurnTarget, ChurnTargets } from "../../../../contract/api/churn-targets.ts";
import { useRead } from "../../../api/query.ts";
import { Input, Select } from "../../../parts/form/field.tsx";
import { Panel } from "../../../parts/panel.tsx";
import type { SectionProps } from "./event-rules.tsx";

type Kind = keyof ChurnTargets;

const kinds: readonly { readonly kind: Kind; readonly label: string }[] = [
  { kind: "user", label: "A user has churned" },
  { kind: "account", label: "An account has churned" },
];

const choices: readonly { readonly value: ChurnTarget["by"]; readonly label: string }[] = [
  { value: "silence", label: "when inactive for the churn horizon" },
  { value: "event", label: "when an event came" },
  { value: "trait", label: "when a trait has a value" },
  { value: "subscription", label: "when the last subscription ended" },
];

const helps: Readonly<Record<ChurnTarget["by"], Readonly<Record<Kind, string>>>> = {
  silence: {
    user: "An engagement event undoes it.",
    account: "An engagement event of any member undoes it.",
  },
  event: {
    user: "Later activity does not undo it.",
    account: "The event of any account member counts. Later activity does not undo it.",
  },
  trait: {
    user: "Each value counts from the time at which it was sent.",
    account:
      "An account has its attributes, and for others the traits of its owner. Each value counts from the time at which it was sent.",
  },
  subscription: {
    user: "Only users who pay themselves have a churn risk. A trial that ends unpaid is no churn.",
    account:
      "Only accounts with a subscription that is active or past due have a churn risk. A trial that ends unpaid is no churn.",
  },
};

const begun: Readonly<Record<ChurnTarget["by"], ChurnTarget>> = {
  silence: { by: "silence" },
  event: { by: "event", event: "", undoneBy: null },
  trait: { by: "trait", trait: "", values: [] },
  subscription: { by: "subscription" },
};

/** The choice of both targets, with their fields. */
export function ChurnTargetsPanel({ draft, errorOf }: SectionProps): ReactElement {
  const { data } = useRead("/api/events", { query: { limit: 1_000 } });
  const { churnTargets } = draft.values;
  const events = data?.events.map(({ event }) => event);
  return (
    <Panel title="Definition of churn" note="Churn risk is the probability of this within the churn horizon.">
      <div className="grid gap-x-8 gap-y-6 lg:grid-cols-2">
        {kinds.map(({ kind, label }) => {
          const target = churnTargets[kind];
          const set = (next: ChurnTarget) => draft.set({ churnTargets: { ...churnTargets, [kind]: next } });
          return (
            <div key={kind} className="grid content-start gap-3">
              <Select
                label={label}
                value={target.by}
                choices={choices}
                onChoose={(by) => {
                  const chosen = choices.find(({ value }) => value === by);
                  if (chosen !== undefined) set(begun[chosen.value]);
                }}
                help={helps[target.by][kind]}
                error={errorOf(`churnTargets.${kind}`)}
              />
              <TargetFields target={target} onChange={set} events={events} />
            </div>
          );
        })}
      </div>
    </Panel>
  );
}

interface FieldsProps {
  readonly target: ChurnTarget;
  readonly onChange: (target: ChurnTarget) => void;
  /** Names of events that came. Undefined until they are known. */
  readonly events: readonly string[] | undefined;
}

function TargetFields({ target, onChange, events }: FieldsProps): ReactElement | null {
  if (target.by === "event") {
    return (
      <div className="grid gap-3 sm:grid-cols-2">
        <Input
          label="Event"
          value={target.event}
          suggestions={events}
          maxLength={256}
          required
          onChange={({ target: { value } }) => onChange({ ...target, event: value.trim() })}
        />
        <Input
          label="Undone by"
          value={target.undoneBy ?? ""}
          suggestions={events}
          maxLength={256}
          help="Optional: a later event that undoes it."
          onChange={({ target: { value } }) => onChange({ ...target, undoneBy: value.trim() || null })}
        />
      </div>
    );
  }
  if (target.by !== "trait") return null;
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Input
        label="Trait"
        value={target.trait}
        maxLength={256}
        required
        onChange={({ target: { value } }) => onChange({ ...target, trait: value })}
      />
      <Input
        label="Values"
        value={target.values.join(", ")}
        required
        help="Separated by commas."
        onChange={({ target: { value } }) => onChange({ ...target, values: valuesOf(value) })}
      />
    </div>
  );
}

/** Values as they are typed: a comma at the end begins another one. */
function valuesOf(text: string): string[] {
  return text === "" ? [] : text.split(",").map((value) => value.replace(/^ /, ""));
}
