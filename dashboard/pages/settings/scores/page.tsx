/** Settings of scores: churn horizon, health weights, events. */
import type { ReactElement } from "react";
import type { RiskBounds } from "../../../../contract/api/risk-bands.ts";
import type { Settings } from "../../../../contract/settings.ts";
import { type Reads, useChange, useRead } from "../../../api/query.ts";
import { useMayAs } from "../../../app/session.ts";
import { Departures } from "../../../parts/figure/departures.tsx";
import { Button } from "../../../parts/form/button.tsx";
import { FormError, Select } from "../../../parts/form/field.tsx";
import { DraftForm, SavedValues, useDraft } from "../../../parts/form/form.tsx";
import { fieldErrors } from "../../../parts/form/form-errors.ts";
import { PageHeader, Panel } from "../../../parts/panel.tsx";
import { Figures, Loading } from "../../../parts/states.tsx";
import { RelativeTime } from "../../../parts/time.tsx";
import { useTell } from "../../../parts/toast.tsx";
import { classes } from "../../../text/classes.ts";
import { numbers } from "../../../text/format.ts";
import {
  authorText,
  churnTargetText,
  healthTraitName,
  healthTraitText,
  riskBoundsText,
} from "../../../text/setting-names.ts";
import { ChurnTargetsPanel } from "./churn-targets.tsx";
import { EventRules, type SectionProps, scoreFields } from "./event-rules.tsx";
import { HealthWeights, healthParts } from "./health-weights.tsx";
import { Preview } from "./preview.tsx";
import { RiskBands } from "./risk-bands.tsx";
import { Versions } from "./versions.tsx";

type Answer = Reads["/api/settings"]["answer"];

export default function ScoreSettings(): ReactElement {
  const asked = useRead("/api/settings");
  const mayChange = useMayAs("member");
  return (
    <>
      <PageHeader title="Scores">
        {asked.data === undefined || asked.data.changedAt === null ? (
          "These are the defaults. They have not been changed yet."
        ) : (
          <>
            Changed <RelativeTime instant={asked.data.changedAt} /> by {authorText(asked.data.changedBy)}.
          </>
        )}
        {!mayChange && " Only members and owners can change these settings."}
      </PageHeader>
      <Departures className="mb-5" />
      <Figures asked={asked} loading={<Loading rows={10} height={28} />}>
        {(answer) => (
          <div className="grid gap-5">
            {mayChange ? <Form saved={formOf(answer)} /> : <Read saved={answer.settings} />}
            <Versions current={answer.version} mayChange={mayChange} />
          </div>
        )}
      </Figures>
    </>
  );
}

const weekdays = { 1: "Monday", 7: "Sunday" } as const;
const listText = (names: readonly string[]) => (names.length === 0 ? "none" : names.join(", "));

const boundsText = (bounds: RiskBounds | null) => (bounds === null ? "automatic" : riskBoundsText(bounds));

function Read({ saved }: { saved: Settings }): ReactElement {
  return (
    <Panel>
      <SavedValues
        values={[
          ["Churn horizon", `${saved.churnHorizonDays} days`],
          ["A user has churned by", churnTargetText(saved.churnTargets.user)],
          ["An account has churned by", churnTargetText(saved.churnTargets.account)],
          ["Risk bands of users", boundsText(saved.riskBands.user)],
          ["Risk bands of accounts", boundsText(saved.riskBands.account)],
          ["Weeks start on", weekdays[saved.weekStart]],
          ...healthParts.map(
            ({ name, label }) =>
              [`Weight of ${label} in health`, `${numbers.precise(saved.healthWeights[name])}%`] as const,
          ),
          ...saved.healthTraits.map(
            (one) => [`${healthTraitName(one.trait)} in health`, healthTraitText(one)] as const,
          ),
          ["Key events", listText(saved.keyEvents)],
          ["Passive events", listText(saved.passiveEvents)],
          [
            "Events with a weight of their own",
            listText(Object.entries(saved.eventWeights).map(([name, weight]) => `${name} (${weight})`)),
          ],
          ["Events that do not mean churn", listText(saved.ordinaryEvents)],
        ]}
      />
    </Panel>
  );
}

/** The settings, and the version that they are. */
type Saved = Settings & { readonly version: number };

const formOf = ({ settings, version }: Answer): Saved => ({ ...settings, version });

function Form({ saved }: { saved: Saved }): ReactElement {
  const draft = useDraft(saved);
  const change = useChange("PATCH /api/settings");
  const tell = useTell();
  const errors = fieldErrors(change.error, scoreFields);
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
      draft={draft}
      change={change}
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
      consequence={
        <div className="grid gap-2">
          <p>{consequence(changes)}</p>
          {!areScoresKept(changes) && (
            <Preview
              body={{ ...bodyOf(base, changes), version: base.version }}
              isOfHorizon={changes.churnHorizonDays !== undefined}
            />
          )}
        </div>
      }
      onSave={save}
    >
      <ChurnTargetsPanel {...section} />
      <Horizon {...section} />
      <RiskBands {...section} />
      <HealthWeights {...section} />
      <EventRules {...section} />
      <Panel title="Weeks" note="For retention and other weekly figures.">
        <div className="max-w-xs">
          <Select
            label="Weeks start on"
            value={String(values.weekStart)}
            choices={Object.entries(weekdays).map(([value, label]) => ({ value, label }))}
            onChoose={(value) => draft.set({ weekStart: value === "7" ? 7 : 1 })}
            error={errors.of("weekStart")}
          />
        </div>
      </Panel>
    </DraftForm>
  );
}

/** A change as the API takes it: of event weights only those that differ, and null for one that was
 * removed. */
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

/** The effect of saving, in words. */
function consequence(changes: Partial<Settings>): string {
  if (areScoresKept(changes)) return "Weekly figures are computed again. Scores stay as they are.";
  const model =
    changes.churnHorizonDays === undefined ? "" : " The churn model is trained again for the new horizon.";
  return `All users and accounts are scored again, usually within a minute. The score history marks the change.${model}`;
}

const horizons = [7, 14, 28, 56, 84] as const satisfies readonly Settings["churnHorizonDays"][];

type Intervals = Reads["/api/usage-intervals"]["answer"];

function Horizon({ draft, errorOf }: SectionProps): ReactElement {
  const { data: intervals, error } = useRead("/api/usage-intervals");
  const chosen = draft.values.churnHorizonDays;
  const advised = intervals?.advisedChurnHorizonDays ?? null;
  return (
    <Panel
      title="Churn horizon"
      note="Churn risks are about this many days. After this many silent days a user counts as inactive, and as churned if nothing else defines churn."
    >
      <fieldset className="grid gap-3">
        <legend className="sr-only">Churn horizon</legend>
        <div className="grid gap-px overflow-hidden rounded border border-edge bg-line sm:grid-cols-5">
          {horizons.map((days) => (
            <label
              key={days}
              className={classes(
                "relative flex flex-wrap items-baseline justify-between gap-x-3 px-3 py-2.5 sm:grid sm:content-start sm:gap-0.5 focus-within:z-[1] focus-within:outline-2 focus-within:outline-ember",
                days === chosen ? "bg-ember-wash" : "bg-raised hover:bg-sunk",
              )}
            >
              <span className="flex items-center gap-2">
                <input
                  type="radio"
                  name="churnHorizonDays"
                  value={days}
                  checked={days === chosen}
                  onChange={() => draft.set({ churnHorizonDays: days })}
                  className="accent-ember outline-none"
                />
                <span className="font-medium">{days} days</span>
                {days === advised && <span className="text-sm text-ember">suggested</span>}
              </span>
              <span className={classes("text-sm", days === chosen ? "text-ink" : "text-soft")}>
                {sharesText(intervals, days)}
              </span>
            </label>
          ))}
        </div>
        {errorOf("churnHorizonDays") !== undefined && (
          <p role="alert" className="text-sm text-at-risk">
            {errorOf("churnHorizonDays")}
          </p>
        )}
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-sm text-soft">
          <p>{error === null ? advice(intervals) : "A suggestion is not available at the moment."}</p>
          {advised !== null && advised !== chosen && (
            <Button isSmall onClick={() => draft.set({ churnHorizonDays: advised })}>
              Use {advised} days
            </Button>
          )}
        </div>
      </fieldset>
    </Panel>
  );
}

/** How many of the gaps between visits are no longer than a horizon. */
function sharesText(intervals: Intervals | undefined, days: number): string {
  if (intervals === undefined) return "…";
  if (intervals.gaps === 0) return "no data yet";
  const covered = intervals.intervals.findLast((one) => one.days <= days)?.cumulativeShare ?? 0;
  return `${numbers.share(covered)} of gaps are shorter or equal`;
}

function advice(intervals: Intervals | undefined): string {
  if (intervals === undefined) return "Loading a suggestion …";
  const { gaps, percentiles, advisedChurnHorizonDays: advised } = intervals;
  if (advised === null) {
    return `A suggestion appears after 100 return visits. So far: ${numbers.count(gaps)} in 26 weeks.`;
  }
  return `Of ${numbers.count(gaps)} gaps between two active days of the same user in 26 weeks, 90% are at most ${percentiles.p90} days long. Suggested: ${advised} days.`;
}
