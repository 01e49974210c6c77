/** The scores of one user or account, their parts and the reasons of the churn risk. */
import type { ReactElement, ReactNode } from "react";
import type { Asked } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { Waterfall } from "../../charts/waterfall.tsx";
import { Stat, Stats } from "../../parts/figure/stat.tsx";
import { Empty, FigurePanel, Figures, Loading } from "../../parts/states.tsx";
import { counted, dayText, nothing, numbers } from "../../text/format.ts";
import { toTenths } from "../../text/rounding.ts";
import {
  activityText,
  baseRateSentence,
  cancelingText,
  churnText,
  modelSentence,
  rankText,
  reasonLabel,
  riskSentence,
  type Score,
  stepsOfHealth,
  stepsOfParts,
} from "./score-text.ts";

export interface ScoreProps {
  readonly asked: Asked<Score>;
  /** "user" or "account": how sentences call it. */
  readonly what: "user" | "account";
}

/** The four scores side by side, with further figures of the page. */
export function ScoreStats({
  asked,
  children,
}: Pick<ScoreProps, "asked"> & { children?: ReactNode }): ReactElement {
  return (
    <Figures asked={asked} loading={<Loading rows={1} height={88} />}>
      {({ state, health, engagement, risk, momentum, change, model }) => {
        const healthStat = (
          <Stat
            key="health"
            label="Health, 0 to 100"
            value={health.score === null ? nothing : numbers.score(health.score)}
            change={scoreChange(change?.health?.total, change?.sinceDay, true)}
          />
        );
        const riskStat = (
          <Stat
            key="risk"
            label="Churn risk"
            value={risk === null ? nothing : numbers.risk(risk.probability)}
            change={riskChange(change?.risk?.total, change?.sinceDay)}
            note={risk === null || model === null ? undefined : `within ${counted(model.horizonDays, "day")}`}
          />
        );
        return (
          <Stats isDense>
            {model?.leadsWithRisk === true ? [riskStat, healthStat] : [healthStat, riskStat]}
            <Stat
              label="Engagement, 0 to 100"
              value={engagement === null ? nothing : numbers.score(engagement.score)}
              change={scoreChange(change?.engagement?.total, change?.sinceDay, true)}
              note={engagement === null ? undefined : rankText(engagement.rank)}
            />
            <Stat
              label="Momentum, 0 to 100"
              value={momentum === null || state === "churned" ? nothing : numbers.score(momentum)}
              note={momentumNote(momentum, state)}
            />
            {children}
          </Stats>
        );
      }}
    </Figures>
  );
}

function momentumNote(momentum: number | null, state: Score["state"]): string | undefined {
  if (state === "churned") return undefined;
  return momentum === null ? "needs 56 days of data" : "50 = no change in four weeks";
}

function scoreChange(total: number | undefined, sinceDay: string | undefined, isMoreGood: boolean) {
  if (total === undefined || sinceDay === undefined) return undefined;
  const shown = toTenths(total);
  return {
    value: numbers.change(shown),
    isGood: shown === 0 ? null : shown > 0 === isMoreGood,
    text: `since ${dayText(sinceDay, "short")}`,
  };
}

function riskChange(total: number | undefined, sinceDay: string | undefined) {
  const change = scoreChange(total === undefined ? undefined : 100 * total, sinceDay, false);
  return change && { ...change, value: `${change.value} points` };
}

/** The components of the health score. */
export function HealthPanel({ asked, what }: ScoreProps): ReactElement {
  return (
    <FigurePanel
      title="Health by component"
      note="Points of each part. They add up to the score."
      asked={asked}
      loading={<Loading rows={5} />}
    >
      {(score) => {
        const { health, state, note, churnCause, returnProbability, model } = score;
        if (state === "churned") {
          return (
            <Empty title={churnText(score) ?? "Churned"}>
              {churnCause?.by === "silence"
                ? "No activity since, so health is 0."
                : `Health of ${what}s that have churned is 0.`}
              {returnProbability !== null &&
                ` ${returnText(returnProbability)} to come back within ${counted(score.model?.horizonDays ?? 0, "day")}.`}
            </Empty>
          );
        }
        if (health.score === null) return <Empty title="No score yet">{note}</Empty>;
        const steps = [
          ...stepsOfHealth(health),
          ...(health.cap === 0 ? [] : [{ ...capText(health.capReasons, model), points: health.cap }]),
        ];
        return (
          <>
            <Waterfall
              label={`Health of this ${what}, part by part`}
              steps={steps}
              total={{ label: "Health", value: health.score }}
              isMoreGood
            />
            {isUnused(health.contributions) && model !== null && (
              <p className="mt-2 text-sm text-soft">
                Not used for {counted(model.horizonDays, "day")} or more: engagement, outlook and momentum
                count as 0.
              </p>
            )}
            {health.healthBand === "onboarding" && (
              <p className="mt-2 text-sm text-soft">
                New: there is too little of this {what} to call it healthy or at risk.
              </p>
            )}
          </>
        );
      }}
    </FigurePanel>
  );
}

/** Whether the parts that follow from use are all 0, which they are without use for the churn horizon. */
function isUnused({ engagement, outlook, momentum }: Readonly<Record<string, number>>): boolean {
  return engagement === 0 && outlook === 0 && momentum === 0;
}

/** Why health is at most 39: the label of a step, and its hint. */
function capText(
  reasons: Score["health"]["capReasons"],
  model: Score["model"],
): { readonly label: string; readonly hint: string } {
  const words = {
    high_risk: ["high churn risk", `from a churn risk of ${numbers.risk(model?.riskLimits.cap ?? null)}`],
    end_scheduled: ["scheduled end", "while the end of every subscription is scheduled"],
    payment_failed: ["failed payment", "while a subscription is past due"],
    unused: ["no use", "without use for the churn horizon"],
  } as const;
  const label = reasons.map((reason) => words[reason][0]).join(", ");
  return {
    label: label.charAt(0).toUpperCase() + label.slice(1),
    hint: `Health is at most 39 ${reasons.map((reason) => words[reason][1]).join(", and ")}`,
  };
}

function returnText(probability: number): string {
  return probability < 0.005 ? "Less than 1% likely" : `${numbers.wholeShare(probability)} likely`;
}

/** The reasons of the churn risk. */
export function RiskPanel({ asked, what }: ScoreProps): ReactElement {
  const { timezone } = useOrganization();
  return (
    <FigurePanel
      title="Why this churn risk"
      note={`From the risk of a typical ${what} to this one, reason by reason.`}
      asked={asked}
      loading={<Loading rows={5} />}
    >
      {({ risk, activityRank, model, state, endsAt }) => {
        const canceling = cancelingText({ endsAt }, timezone);
        if (risk === null || model === null) {
          if (state === "churned") {
            return (
              <Empty title="Already churned">Only {what}s that have not churned have a churn risk.</Empty>
            );
          }
          return canceling !== undefined ? (
            <Empty title="Canceling">{canceling}</Empty>
          ) : (
            <Empty title="No churn risk">
              {activityText({ activityRank, model }, what) ??
                `A churn risk needs a model and some history of this ${what}.`}
            </Empty>
          );
        }
        return (
          <>
            <p className="mb-2">
              {canceling} <b className="font-semibold">{riskSentence(risk, model)}</b>{" "}
              {baseRateSentence(risk, model)}
            </p>
            <Waterfall
              label={`Churn risk of this ${what}, reason by reason`}
              start={{
                label: `A typical ${what}`,
                value: 100 * risk.referenceRisk,
              }}
              steps={risk.reasons.map(({ text, points }) => ({ label: reasonLabel(text), points }))}
              total={{ label: "Churn risk", value: 100 * risk.probability }}
              unit="%"
              isMoreGood={false}
            />
            <p className="mt-3 text-sm text-soft">{modelSentence(model, what)}</p>
          </>
        );
      }}
    </FigurePanel>
  );
}

/** The components of the engagement score. */
export function EngagementPanel({ asked, what }: ScoreProps): ReactElement {
  return (
    <FigurePanel
      title="What engagement is made of"
      note={
        what === "user"
          ? "Use in the last 28 days, compared with the most engaged tenth."
          : "The engagement of its members, and the share of active members."
      }
      asked={asked}
      loading={<Loading rows={5} />}
    >
      {({ engagement, note }) =>
        engagement === null ? (
          <Empty title="No engagement yet">{note ?? "No activity in 90 days."}</Empty>
        ) : (
          <>
            <Waterfall
              label={`Engagement of this ${what}, part by part`}
              steps={stepsOfParts(engagement.contributions)}
              total={{ label: "Engagement", value: engagement.score }}
              isMoreGood
            />
            {engagement.confidence === "low" && (
              <p className="mt-2 text-sm text-soft">In the first week this score rests on a few days.</p>
            )}
          </>
        )
      }
    </FigurePanel>
  );
}
