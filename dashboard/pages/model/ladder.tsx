/** Which step of the ladder serves, why not a higher one, and what proof takes. */
import type { ReactElement, ReactNode } from "react";
import type { RiskModel } from "../../../contract/api/model-names.ts";
import { Badge } from "../../parts/figure/health.tsx";
import { Icon } from "../../parts/icons.tsx";
import { Panel } from "../../parts/panel.tsx";
import { classes } from "../../text/classes.ts";
import { numbers } from "../../text/format.ts";
import { type Card, type Judged, modelWords, shortageWords, steps } from "./words.ts";

export function LadderPanel({ card }: { card: Card }): ReactElement {
  return (
    <Panel
      title="Which model, and why"
      note="Four steps, each needing more data than the one before. Of those that are good enough the best serves."
    >
      <ol>
        {steps.map(({ number, model, name, how }) => (
          <li
            key={model}
            aria-current={card.model === model ? "step" : undefined}
            className="relative border-t border-line py-2.5 pl-9 first:border-0 first:pt-0"
          >
            <span
              aria-hidden="true"
              className={classes(
                "absolute left-0 grid size-6 place-items-center rounded-full border text-sm",
                card.model === model
                  ? "border-ember bg-ember font-medium text-inverse"
                  : "border-edge text-soft",
              )}
            >
              {number}
            </span>
            <p className="flex flex-wrap items-center gap-x-2">
              <span className="font-medium">{name}</span>
              {card.model === model && <Badge tone="info">Serves</Badge>}
            </p>
            <p className="max-w-[76ch] text-soft">{how}</p>
            <Why card={card} step={model} />
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** Why a step does not serve: what is missing, or how it failed. */
function Why({ card, step }: { card: Card; step: RiskModel }): ReactElement | null {
  const { next, models, kind } = card;
  if (card.day === null || card.model === step) return null;
  const missing = next?.model === step ? next.missing : [];
  const judged = models.find(({ model }) => model === step);
  if (missing.length > 0) {
    return (
      <List title="Still missing:">
        {missing.map(({ what, have, need }) => (
          <li key={what}>
            {numbers.count(have)} of {numbers.count(need)} {shortageWords(what, kind)}
          </li>
        ))}
      </List>
    );
  }
  if (judged !== undefined && judged.failures.length > 0) {
    return (
      <List title="Not good enough on past days (back-test):">
        {judged.failures.map((failure) => (
          <li key={failure}>{failure}</li>
        ))}
      </List>
    );
  }
  const reason =
    judged === undefined
      ? "There was too little data to train it."
      : card.isProven
        ? "Good enough, but another step did better."
        : "Waits for the proof that is described beside.";
  return <p className="text-sm">{reason}</p>;
}

function List({ title, children }: { title: string; children: ReactNode }): ReactElement {
  return (
    <div className="text-sm">
      <p>{title}</p>
      <ul className="list-disc pl-5">{children}</ul>
    </div>
  );
}

/** How far the data is from a proof. */
export function ProofPanel({ card }: { card: Card }): ReactElement | null {
  const { proof, trainedOn, kind, horizonDays } = card;
  if (proof === null || trainedOn === null) return null;
  return (
    <Panel title="What a proof takes" note="Predictions made for past days, beside what really happened">
      <div className="grid gap-4">
        <Progress
          label="Past days that could be judged"
          {...proof.cutoffs}
          text={`Four weeks apart. Each needs about ${Math.round((112 + 2 * horizonDays) / 7)} weeks of events: history before it, and ${horizonDays} days after it.`}
        />
        <Progress
          label="People whose outcome is known"
          {...proof.rarerLabels}
          text="It takes enough who left and enough who stayed: counted are those of whom there were fewer on those days."
        />
        <p className="border-t border-line pt-3 text-sm text-soft">
          There is to learn from: {numbers.count(trainedOn.entities)} {kind}s seen within half a year,{" "}
          {numbers.count(trainedOn.churnedLabels)} known cases of somebody who left and{" "}
          {numbers.count(trainedOn.retainedLabels)} of somebody who stayed.
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

/** What hardly any of the other figures say: names of models, for a table. */
export function ModelName({ card, model }: { card: Card; model: Judged["model"] }): ReactElement {
  return (
    <span className="inline-flex items-center gap-2">
      {modelWords(model)}
      {card.model === model && <Badge tone="info">Serves</Badge>}
    </span>
  );
}
