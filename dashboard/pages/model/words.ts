/** The texts of the model page. */
import type { RiskModel } from "../../../contract/api/model-names.ts";
import type { Reads } from "../../api/paths.ts";
import { counted, dayText, nothing, numbers } from "../../text/format.ts";
import { modelNames, tooLittleData } from "../../text/model-names.ts";

export type Card = Reads["/api/model"]["answer"];
export type Judged = Card["models"][number];
export type Kind = Card["kind"];

function isBaseline(model: RiskModel): boolean {
  return model === "recency" || model === "period-end" || model === "base-rate";
}

const hows: Readonly<Record<RiskModel, string>> = {
  prior:
    "Orders users by how often and how recently they were active. It needs no data, and gives no churn risk.",
  bgbb: "Learns how regularly your users visit, and finds those who are silent for longer than their own rhythm explains.",
  "bgbb-platt": "The same, calibrated with the outcomes of past predictions.",
  logistic:
    "Weighs silence, frequency, trend, breadth of use, single events, tenure and traits by how well they separated users who left from users who stayed.",
  recency: "Looks at the days since the last visit alone. It serves while no model is clearly better.",
  "period-end":
    "Looks at the days to the end of the paid period alone. It serves while no model is clearly better.",
  "base-rate": "Gives everybody the same risk. It takes over from a model that failed, until one passes.",
};

/** The order by activity and the models, the simplest first, and then the baselines, which have no number. */
export const steps = modelNames.map(({ model, name, term }, number) => ({
  number: isBaseline(model) ? null : number,
  model,
  name: model === "prior" ? "Order by activity" : name,
  how: `${hows[model]} Statistical name: ${model === "prior" ? "BG/BB with fixed parameters" : term}.`,
}));

/** The step in use: without a model, the order by activity. Undefined before the first scores. */
export function stepInUse({ model, day }: Card): RiskModel | undefined {
  return day === null ? undefined : (model ?? "prior");
}

/** Whether figures leave out scheduled ends of subscriptions: they meet the churn target when they come. */
export function leavesOutScheduledEnds({ churnTarget }: Card): boolean {
  return (
    churnTarget.by === "subscription" ||
    (churnTarget.by === "event" && churnTarget.event === "subscription_canceled")
  );
}

/** The name of a model of the back-test, in words. */
export function modelWords(model: Judged["model"]): string {
  if (model === "recency") return "Baseline: time since last seen";
  if (model === "hiatus") return "Baseline: inactive for at least a fixed number of days";
  if (model === "period-end") return "Baseline: days to the end of the period";
  if (model === "base-rate") return "Baseline: the base rate";
  if (model === "prior") return "Baseline: a general assumption";
  return steps.find((step) => step.model === model)?.name ?? model;
}

/** The figures of the serving model. Undefined without a back-test of it. */
export function servingResult(card: Card): Judged | undefined {
  return card.models.find(({ model }) => model === card.model);
}

/** About ends of subscriptions in the back-test of the serving model: those that were scheduled, and those by
 * failed payments. */
export function subscriptionEndsText(card: Card): string[] {
  const result = servingResult(card);
  if (result === undefined) return [];
  const { departures, involuntaryDepartures: unpaid } = result;
  const all = card.withCanceling.find(({ model }) => model === card.model);
  const scheduled = all === undefined ? 0 : all.count - result.count;
  const order = (auc: number | null) => (auc === null ? nothing : numbers.decimal(auc * 100));
  return [
    ...(all === undefined || scheduled <= 0
      ? []
      : [
          `${numbers.count(scheduled)} more predictions were about ${card.kind}s whose end was scheduled.`,
          `With them ${order(all.auc)} of 100 pairs are in the right order instead of ${order(result.auc)}, and the log loss is ${numbers.thousandths(all.logLoss)} instead of ${numbers.thousandths(result.logLoss)}.`,
          "A scheduled end is known and not predicted, so the figures above leave it out.",
        ]),
    ...(unpaid === 0
      ? []
      : [
          `Failed payments ended the subscriptions of ${numbers.count(unpaid)} of the ${numbers.count(departures)} ${card.kind}s that churned in the back-test.`,
        ]),
  ];
}

const shortages: Readonly<Record<string, string>> = {
  entities: "seen within half a year",
  entitiesWithThreePeriods: "known for more than three weeks",
  churnedLabels: "known cases of leaving",
  retainedLabels: "that are known to have stayed",
};

/** The missing data, as a phrase after a number. @param kind users or accounts */
export function shortageWords(what: string, kind: Kind): string {
  const words = shortages[what] ?? what;
  return what === "churnedLabels" ? words : `${kind}s ${words}`;
}

/** The result of the back-test in plain words: of those with the highest tenth of risks, and of all.
 * Undefined without it. */
export function plainResult(card: Card): { readonly text: string; readonly source: string } | undefined {
  const result = servingResult(card);
  const [flagged] = card.reliability.toSorted((one, other) => other.meanPrediction - one.meanPrediction);
  if (result === undefined || flagged === undefined) return undefined;
  const ofHundred = (rate: number) => numbers.count(Math.round(rate * 100));
  const leave = (rate: number) => (ofHundred(rate) === "1" ? "leaves" : "leave");
  return {
    text: `Of 100 ${card.kind}s that we flag, ${ofHundred(flagged.rate)} ${leave(flagged.rate)}. Of 100 ${card.kind}s overall, ${ofHundred(result.baseRate)} ${leave(result.baseRate)}.`,
    source: `Flagged: the tenth with the highest churn risk. From ${numbers.count(result.count)} predictions of the back-test, within ${card.horizonDays} days.`,
  };
}

/** Whether the back-test has enough cut-off dates and outcomes. */
export function canBackTestDecide({ proof }: Card): boolean {
  return proof !== null && [proof.cutoffs, proof.rarerLabels].every(({ have, need }) => have >= need);
}

/** Whether the model can be trusted: a title and a paragraph. */
export function verdict(card: Card): { readonly title: string; readonly text: string } {
  const { model, isProven, isProvisional, models, kind, lacksData } = card;
  if (card.day === null) {
    return {
      title: "No predictions yet",
      text: "No users have been scored yet. Scoring runs every night.",
    };
  }
  if (card.trainedDay === null) {
    return {
      title: "The first model is being trained",
      text:
        model === null
          ? "Training takes a few minutes. No churn risk is shown until then."
          : `It takes a few minutes. Until then the risks come from activity alone. Use them to rank ${kind}s.`,
    };
  }
  if (model === null) {
    return {
      title: "No churn risk is shown",
      text: lacksData
        ? tooLittleData(kind)
        : `In the back-test, the risks of no model came true often enough. A misleading number is worse than none, so none is shown: ${kind}s are ordered by activity. The models are tested again every week.`,
    };
  }
  if (model === "base-rate") {
    return {
      title: `The same risk for all ${kind}s`,
      text: `No model passed the last back-test, so nothing tells those who will leave from the others. Every ${kind} has the share that left before. The call list is ordered by money. The models are tested again every week.`,
    };
  }
  const result = servingResult(card);
  const gain = result === undefined ? null : 1 - result.logLoss / result.recencyLogLoss;
  if (isProven) {
    const doubt = isProvisional
      ? ` The back-test has only ${numbers.count(result?.departures ?? 0)} ${kind}s that churned. From 100 on, the result is no longer provisional.`
      : "";
    if (model === "recency" || model === "period-end") {
      const alone =
        model === "recency" ? "the time since the last visit" : "the days to the end of the paid period";
      return {
        title: isProvisional ? "Provisionally proven on your own data" : "Proven on your own data",
        text: `The risks come from ${alone} alone, and in the back-test they came true often enough. No model was clearly better. The models are tested again every week.${doubt}`,
      };
    }
    const better =
      gain === null
        ? ""
        : ` It is ${numbers.wholeShare(gain)} better than the last visit alone (by log loss).`;
    return {
      title: isProvisional ? "Provisionally proven on your own data" : "Proven on your own data",
      text: `In the back-test, the model predicted past days from older data, and its predictions came true often enough.${better}${doubt}`,
    };
  }
  if (result !== undefined && result.failures.length > 0 && canBackTestDecide(card)) {
    return {
      title: "Failed the last back-test",
      text: `In the last back-test ${result.failures[0]}. The model passed the one before, so it stays for now. It is withdrawn if it fails the next one.`,
    };
  }
  const judged =
    models.length === 0
      ? "There is no back-test yet. It needs about half a year of events."
      : "The back-test below is too small to be proof.";
  return {
    title: "Shown, but not proven yet",
    text: `Use these risks to rank ${kind}s. The percentages aren’t proven yet. ${judged}`,
  };
}

/** "No subscription_canceled since 1 July …". Empty while departures come. */
export function departuresStoppedText({ noDeparturesSince, churnTarget, kind }: Card): string {
  if (noDeparturesSince === null) return "";
  const what =
    churnTarget.by === "event"
      ? `No ${churnTarget.event}`
      : churnTarget.by === "subscription"
        ? "No subscription_canceled"
        : `No ${kind} has churned`;
  return `${what} since ${dayText(noDeparturesSince)}, though they came regularly before. Check whether the source still sends them. Cut-off dates after that day are left out of the back-test.`;
}

/** "3.1% (1.2% to 7.6%): 12 of 380 users at 5 cut-off dates churned". Undefined without a declared churn
 * target, or any outcome. */
export function baseRateText({ observedBaseRate, kind }: Card): string | undefined {
  if (observedBaseRate === null) return undefined;
  const { rate, low, high, churned, count, cutoffs } = observedBaseRate;
  return `${numbers.share(rate)} (${numbers.share(low)} to ${numbers.share(high)}): ${numbers.count(churned)} of ${counted(count, kind)} at ${counted(cutoffs, "cut-off date")} churned`;
}

/** "3 Nov 2026 to 7 Nov 2026 (declared), 1 Jun 2026. No count of days contains them." */
export function outagesText(outages: Card["outages"]): string {
  const spans = outages.map(({ from, to, isDeclared }) => {
    const days = from === to ? dayText(from) : `${dayText(from)} to ${dayText(to)}`;
    return isDeclared ? `${days} (declared)` : days;
  });
  return `${spans.join(", ")}. No count of days contains them.`;
}
