/** The models, the one in use, and the data that a proof needs. */
import type { ReactElement } from "react";
import type { RiskModel } from "../../../contract/api/model-names.ts";
import { Badge } from "../../parts/figure/health.tsx";
import { Icon } from "../../parts/icons.tsx";
import { Panel } from "../../parts/panel.tsx";
import { classes } from "../../text/classes.ts";
import { counted, numbers } from "../../text/format.ts";
import {
  type Card,
  canBackTestDecide,
  type Judged,
  modelWords,
  shortageWords,
  stepInUse,
  steps,
} from "./words.ts";

export function LadderPanel({ card }: { card: Card }): ReactElement {
  const inUse = stepInUse(card);
  const groups = card.trainedOn?.controlGroups ?? null;
  return (
    <Panel
      title="Models"
      note="Each model needs more data than the one before. The best one that is good enough is used, or a baseline that no model beats."
    >
      <ol>
        {stepsOf(card).map(({ number, model, name, how }) => (
          <li
            key={model}
            aria-current={inUse === model ? "step" : undefined}
            className="relative border-t border-line py-2.5 pl-9 first:border-0 first:pt-0"
          >
            <span
              aria-hidden="true"
              className={classes(
                "absolute left-0 grid size-6 place-items-center rounded-full border text-sm",
                inUse === model ? "border-ember bg-ember font-medium text-inverse" : "border-edge text-soft",
              )}
            >
              {number ?? "–"}
            </span>
            <p className="flex flex-wrap items-center gap-x-2">
              <span className="font-medium">{name}</span>
              {inUse === model && <Badge tone="info">In use</Badge>}
            </p>
            <p className="max-w-[76ch] text-soft">{how}</p>
            <Why card={card} step={model} />
          </li>
        ))}
      </ol>
      {groups !== null && (
        <p className="border-t border-line pt-3 text-sm text-soft">
          Control groups: {counted(groups.treated, "outcome")} of treated {card.kind}s left out of training,{" "}
          {numbers.count(groups.control)} of controls weigh more instead.
        </p>
      )}
    </Panel>
  );
}

/** The end of a period is of subscriptions, and the base rate is there when it serves. */
function stepsOf({ models, model: inUse }: Card): typeof steps {
  const isHere = (model: RiskModel) => model === inUse || models.some((one) => one.model === model);
  return steps.filter(({ model }) => (model !== "period-end" && model !== "base-rate") || isHere(model));
}

/** Why a model is not in use: missing data, or a failure in the back-test. */
function Why({ card, step }: { card: Card; step: RiskModel }): ReactElement | null {
  const { next, models, kind } = card;
  // The order by activity is there whatever the data, and claims no number that could fail.
  if (card.day === null || card.model === step || step === "prior") return null;
  const missing = (next?.model === step ? next.missing : []).map(
    ({ what, have, need }) => `${numbers.count(have)} of ${numbers.count(need)} ${shortageWords(what, kind)}`,
  );
  const judged = models.find(({ model }) => model === step);
  const isLacking = missing.length > 0;
  const items = isLacking ? missing : (judged?.failures ?? []);
  if (items.length > 0) {
    return (
      <div className="text-sm">
        <p>{isLacking ? "Still missing:" : "Not good enough in the back-test:"}</p>
        <ul className="list-disc pl-5">
          {items.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </ul>
      </div>
    );
  }
  const reason =
    judged === undefined
      ? "Too little data to train it."
      : canBackTestDecide(card)
        ? "Good enough, but not 0.5% better than the model that serves."
        : "Needs the data listed under “Data needed for proof”.";
  return <p className="text-sm">{reason}</p>;
}

/** How far the data is from a proof. */
export function ProofPanel({ card }: { card: Card }): ReactElement | null {
  const { proof, trainedOn, kind, horizonDays } = card;
  if (proof === null || trainedOn === null) return null;
  return (
    <Panel
      title="Data needed for proof"
      note="The back-test compares predictions for past days with the outcome"
    >
      <div className="grid gap-4">
        <Progress
          label="Cut-off dates"
          {...proof.cutoffs}
          text={`Past days for which predictions are tested, four weeks apart. Each needs about ${Math.round((112 + 2 * horizonDays) / 7)} weeks of events.`}
        />
        <Progress
          label="Known outcomes"
          {...proof.rarerLabels}
          text={`We need at least ${numbers.count(proof.rarerLabels.need)} ${kind}s who left and ${numbers.count(proof.rarerLabels.need)} who stayed. The smaller number counts.`}
        />
        <p className="border-t border-line pt-3 text-sm text-soft">
          Training data: {numbers.count(trainedOn.entities)} {kind}s seen within half a year, with{" "}
          {numbers.count(trainedOn.churnedLabels)} known cases of leaving and{" "}
          {numbers.count(trainedOn.retainedLabels)} that stayed.
        </p>
      </div>
    </Panel>
  );
}

function Progress({
  label,
  have,
  need,
  text,
}: {
  label: string;
  have: number;
  need: number;
  text: string;
}): ReactElement {
  const isEnough = have >= need;
  return (
    <div>
      <p className="flex items-baseline justify-between gap-3">
        <span>{label}</span>
        <span className="whitespace-nowrap">
          <b className="font-medium">{numbers.count(have)}</b> of {numbers.count(need)}
          {isEnough && (
            <>
              <Icon name="check" className="ml-1 inline align-[-3px] text-healthy" />
              <span className="sr-only">enough</span>
            </>
          )}
        </span>
      </p>
      <span aria-hidden="true" className="mt-1 block h-1.5 rounded-full bg-sunk">
        <span
          className={classes("block h-full rounded-full", isEnough ? "bg-healthy-fill" : "bg-watch-fill")}
          style={{ width: `${Math.min(1, have / need) * 100}%` }}
        />
      </span>
      <p className="mt-1 text-sm text-soft">{text}</p>
    </div>
  );
}

/** The name of a model in a table. */
export function ModelName({ card, model }: { card: Card; model: Judged["model"] }): ReactElement {
  return (
    <span className="inline-flex items-center gap-2">
      {modelWords(model)}
      {card.model === model && <Badge tone="info">In use</Badge>}
    </span>
  );
}
