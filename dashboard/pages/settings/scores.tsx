/** What counts in scores: the churn horizon, the weights of health, what each event is worth. */
import type { ReactElement } from "react";
import type { Settings } from "../../../contract/settings.ts";
import { useChange, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Select } from "../../parts/field.tsx";
import { type Draft, DraftForm, Facts, useDraft } from "../../parts/form.tsx";
import { fieldErrors } from "../../parts/form-errors.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Figures, Loading } from "../../parts/states.tsx";
import { Ago } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { EventRules } from "./event-rules.tsx";
import { HealthWeights, healthParts } from "./health-weights.tsx";
import { Horizon } from "./horizon.tsx";

export function ScoreSettings(): ReactElement {
  const asked = useRead("/api/settings");
  const mayChange = useMayAs("member");
  return (
    <>
      <PageHeader title="Scores">
        {asked.data === undefined || asked.data.changedAt === null ? (
          "Nothing was changed yet: this is what every organization starts with."
        ) : (
          <>
            Changed <Ago instant={asked.data.changedAt} /> by {byText(asked.data.changedBy)}.
          </>
        )}
        {!mayChange && " Members and owners change what is here."}
      </PageHeader>
      <Figures of={asked} loading={<Loading rows={10} height={28} />}>
        {({ settings }) => (mayChange ? <Form saved={settings} /> : <Read saved={settings} />)}
      </Figures>
    </>
  );
}

/** Who made a change, without the number that tells people of one name apart. */
const byText = (by: string | null) =>
  by === "command line" ? "the command line" : (by ?? "nobody").replace(/ \(person \d+\)$/, "");

const weekdays = { 1: "Monday", 7: "Sunday" } as const;
const listText = (names: readonly string[]) => (names.length === 0 ? "none" : names.join(", "));

function Read({ saved }: { saved: Settings }): ReactElement {
  return (
    <Panel>
      <Facts
        of={[
          ["Churn horizon", `${saved.churnHorizonDays} days`],
          ["Weeks start on", weekdays[saved.weekStart]],
          ...healthParts.map(({ name, label }) => [`Weight of ${label}`, saved.healthWeights[name]] as const),
          ["Key events", listText(saved.keyEvents)],
          ["Passive events", listText(saved.passiveEvents)],
          [
            "Events with a weight of their own",
            listText(Object.entries(saved.eventWeights).map(([name, weight]) => `${name} (${weight})`)),
          ],
          ["Event with which users leave", saved.churnEvent ?? "none"],
        ]}
      />
    </Panel>
  );
}

const fields = [
  "churnHorizonDays",
  "healthWeights",
  "eventWeights",
  "passiveEvents",
  "keyEvents",
  "churnEvent",
  "weekStart",
] as const;

/** What the page may change of one section. */
export interface SectionProps {
  readonly draft: Draft<Settings>;
  readonly errorOf: (name: (typeof fields)[number]) => string | undefined;
}

function Form({ saved }: { saved: Settings }): ReactElement {
  const draft = useDraft(saved);
  const change = useChange("PATCH /api/settings");
  const tell = useTell();
  const errors = fieldErrors(change.error, fields);
  const { values, changes } = draft;
  const save = () => {
    const { eventWeights, ...others } = changes;
    // A name that has no weight of its own any more has to be said: what is not sent stays.
    const gone = Object.keys(saved.eventWeights).map((name) => [name, null] as const);
    const weights = eventWeights && { eventWeights: { ...Object.fromEntries(gone), ...eventWeights } };
    change.mutate(
      { body: { ...others, ...weights } },
      {
        onSuccess: () => {
          draft.discard();
          tell("Saved. Scores are computed again.");
        },
      },
    );
  };
  const section = { draft, errorOf: errors.of };
  return (
    <DraftForm
      isDirty={draft.isDirty}
      isBusy={change.isPending}
      error={errors.rest}
      consequence={consequence(changes)}
      onSave={save}
      onDiscard={() => {
        draft.discard();
        change.reset();
      }}
    >
      <Horizon {...section} />
      <HealthWeights {...section} />
      <EventRules {...section} />
      <Panel title="Weeks" note="Where retention and other figures count by week.">
        <div className="max-w-xs">
          <Select
            label="Weeks start on"
            value={String(values.weekStart) as "1" | "7"}
            choices={[
              { value: "1", label: "Monday" },
              { value: "7", label: "Sunday" },
            ]}
            onChoose={(value) => draft.set({ weekStart: value === "7" ? 7 : 1 })}
            error={errors.of("weekStart")}
          />
        </div>
      </Panel>
    </DraftForm>
  );
}

/** What saving does, in words. */
function consequence(changes: Partial<Settings>): string {
  const isOnlyWeeks = Object.keys(changes).every((name) => name === "weekStart");
  if (isOnlyWeeks) return "Figures by week are counted anew. Scores stay as they are.";
  const model =
    changes.churnHorizonDays === undefined ? "" : " The churn model is trained anew for the new horizon.";
  return `Everybody is scored again, usually within a minute. The change is marked in the histories of scores, so that nobody takes it for a change of behaviour.${model}`;
}
