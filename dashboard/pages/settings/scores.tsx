/** What counts in scores: the churn horizon, the weights of health, what each event is worth. */
import type { ReactElement } from "react";
import type { Settings } from "../../../contract/settings.ts";
import type { Reads } from "../../api/paths.ts";
import { useChange, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Departures } from "../../parts/figure/departures.tsx";
import { Button } from "../../parts/form/button.tsx";
import { FormError, Select } from "../../parts/form/field.tsx";
import { type Draft, DraftForm, Facts, useDraft } from "../../parts/form/form.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Figures, Loading } from "../../parts/states.tsx";
import { Ago } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { EventRules } from "./event-rules.tsx";
import { HealthWeights, healthParts } from "./health-weights.tsx";
import { Horizon } from "./horizon.tsx";

type Answer = Reads["/api/settings"]["answer"];

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
      <Departures className="mb-5" />
      <Figures of={asked} loading={<Loading rows={10} height={28} />}>
        {(answer) => (mayChange ? <Form saved={formOf(answer)} /> : <Read saved={answer.settings} />)}
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
          ["Events that do not mean that users have left", listText(saved.ordinaryEvents)],
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
  readonly draft: Pick<Draft<Settings>, "values" | "set">;
  readonly errorOf: (name: (typeof fields)[number]) => string | undefined;
}

/** The settings, and the version that they are. */
type Saved = Settings & { readonly version: number };

const formOf = ({ settings, version }: Answer): Saved => ({ ...settings, version });

function Form({ saved }: { saved: Saved }): ReactElement {
  const draft = useDraft(saved);
  const change = useChange("PATCH /api/settings");
  const tell = useTell();
  const errors = fieldErrors(change.error, fields);
  const { values, base, changes } = draft;
  const save = () => {
    const { version } = base;
    change.mutate(
      { body: { ...bodyOf(base, changes), version } },
      {
        onSuccess: (answer) => {
          draft.accept(changes, formOf(answer));
          tell(
            areScoresKept(changes) ? "Saved. Scores stay as they are." : "Saved. Scores are computed again.",
          );
        },
      },
    );
  };
  const isConflict = change.error?.kind === "conflict";
  const section = { draft, errorOf: errors.of };
  return (
    <DraftForm
      isDirty={draft.isDirty}
      isBusy={change.isPending}
      error={errors.rest}
      conflict={
        isConflict && (
          <Conflict
            onApply={(newer) => {
              draft.rebase(newer);
              change.reset();
            }}
          />
        )
      }
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

/** A change as the API takes it: of event weights only those that differ, and null for one that was removed. */
function bodyOf(base: Settings, { version: _, eventWeights, ...others }: Partial<Saved>) {
  if (eventWeights === undefined) return others;
  const names = new Set([...Object.keys(base.eventWeights), ...Object.keys(eventWeights)]);
  const changed = [...names].filter((name) => base.eventWeights[name] !== eventWeights[name]);
  return {
    ...others,
    eventWeights: Object.fromEntries(changed.map((name) => [name, eventWeights[name] ?? null])),
  };
}

/** Says that a newer version was saved, and puts the changes onto it. */
function Conflict({ onApply }: { onApply: (newer: Saved) => void }): ReactElement {
  const asked = useRead("/api/settings");
  const apply = async () => {
    const { data } = await asked.refetch();
    if (data !== undefined) onApply(formOf(data));
  };
  return (
    <div role="alert" className="grid justify-items-start gap-2">
      <p>These settings changed after you began. Your changes are not saved yet.</p>
      <FormError error={asked.error} />
      <Button isSmall isBusy={asked.isFetching} onClick={() => void apply()}>
        Apply my changes to the newer version
      </Button>
    </div>
  );
}

/** Whether scores are equal with and without these changes. */
function areScoresKept(changes: Partial<Settings>): boolean {
  return Object.keys(changes).every((name) => name === "weekStart");
}

/** What saving does, in words. */
function consequence(changes: Partial<Settings>): string {
  if (areScoresKept(changes)) return "Figures by week are counted anew. Scores stay as they are.";
  const model =
    changes.churnHorizonDays === undefined ? "" : " The churn model is trained anew for the new horizon.";
  return `Everybody is scored again, usually within a minute. The change is marked in the histories of scores, so that nobody takes it for a change of behaviour.${model}`;
}
