/** What the model's page says in words for people who are no statisticians. */
import type { RiskModel } from "../../../contract/api/model-names.ts";
import type { Reads } from "../../api/paths.ts";
import { numbers } from "../../text/format.ts";
import { modelNames } from "../../text/model-names.ts";

export type Card = Reads["/api/model"]["answer"];
export type Judged = Card["models"][number];
export type Kind = Card["kind"];

const hows: Readonly<Record<RiskModel, string>> = {
  prior: "Compares how long somebody is silent with how people use software in general. It needs no data.",
  bgbb: "Learns how regularly people here come, and sees who has been silent for longer than their own habit explains.",
  "bgbb-platt": "The same, corrected by how often such predictions came true here.",
  logistic:
    "Weighs silence, frequency, trend, breadth of use, tenure and traits as they told leavers from stayers here.",
};

/** The steps of the ladder, the simplest first. */
export const steps = modelNames.map(({ model, name, term }, number) => ({
  ...{ number, model, name },
  how: `${hows[model]} Its name in statistics: ${term}.`,
}));

/** The name of a model of the back-test, in words. */
export function modelWords(model: Judged["model"]): string {
  if (model === "recency") return "Baseline: time since last seen";
  if (model === "hiatus") return "Baseline: twice the usual gap";
  return steps.find((step) => step.model === model)?.name ?? model;
}

/** The figures of the model that serves; undefined without a back-test of it. */
export function servingResult(card: Card): Judged | undefined {
  return card.models.find(({ model }) => model === card.model);
}

const shortages: Readonly<Record<string, string>> = {
  entities: "seen within half a year",
  entitiesWithThreePeriods: "known for more than three weeks",
  churnedLabels: "known cases of somebody who left",
  retainedLabels: "known cases of somebody who stayed",
};

/** What is missing, as a phrase after a number. @param kind whom it is about */
export function shortageWords(what: string, kind: Kind): string {
  const words = shortages[what] ?? what;
  return what.startsWith("entities") ? `${kind}s ${words}` : words;
}

/** The answer to "can I trust it", in one line and a paragraph. */
export function verdict(card: Card): { readonly title: string; readonly text: string } {
  const { model, isProven, horizonDays, churnEvent, models, kind } = card;
  if (card.day === null) {
    return {
      title: "No predictions yet",
      text: `Nobody has been scored yet. The first run is at night, or at once with rekindle score.`,
    };
  }
  if (model === null) {
    return {
      title: "No churn risk is shown",
      text: "Tried on past days, no model did clearly better than simply looking at when somebody was last seen. A number that misleads is worse than none, so none is shown. It is tried again every week.",
    };
  }
  const result = servingResult(card);
  const gain = result === undefined ? null : 1 - result.logLoss / result.recencyLogLoss;
  if (isProven) {
    const better =
      gain === null
        ? ""
        : ` It is ${numbers.wholeShare(gain)} better than going by the last visit alone (by log loss).`;
    return {
      title: "Proven on your own data",
      text: `It was tried on past days with only what was known then, and what it said came true often enough.${better}`,
    };
  }
  const judged =
    models.length === 0
      ? "It was not tried on past days yet (a back-test): that begins with about half a year of events, some to learn from and some to be judged by."
      : "The trial on past days below (the back-test) is too small to call it proof.";
  return {
    title: "Shown, but not proven yet",
    text: `The risk of ${kind}s ${churnEvent === null ? `to do nothing for ${horizonDays} days` : `to churn within ${horizonDays} days`} is worked out, and useful for an order of whom to look at. How far the percentages hold is not known yet. ${judged}`,
  };
}
