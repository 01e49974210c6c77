/** Scores in sentences, for the pages of users and accounts. */
import type { Reads } from "../../api/paths.ts";
import { churningText } from "../../text/churning.ts";
import { dayText, numbers, todayIn } from "../../text/format.ts";
import { modelNames, tooLittleData } from "../../text/model-names.ts";
import { healthTraitName } from "../../text/setting-names.ts";

export type Score = Reads["/api/users/:userId/score"]["answer"];
type Risk = NonNullable<Score["risk"]>;
type Model = NonNullable<Score["model"]>;

/** Names of the parts of scores, as readers meet them. */
const partNames: Readonly<Record<string, { label: string; hint: string }>> = {
  engagement: { label: "Engagement", hint: "How much the product was used in 28 days" },
  outlook: { label: "Outlook", hint: "100 = no churn risk, 50 = twice the usual" },
  momentum: { label: "Momentum", hint: "Active days in 4 weeks, compared with the 4 weeks before" },
  adoption: { label: "Adoption", hint: "The share of key events used in 90 days" },
  frequency: { label: "Frequency", hint: "Days with activity, of the last 28: up to 40 points" },
  volume: { label: "Volume", hint: "Weighted events in 28 days: up to 20 points" },
  breadth: { label: "Breadth", hint: "Different events in 28 days: up to 20 points" },
  recency: { label: "Recency", hint: "How long ago the last activity was: up to 20 points" },
  members: { label: "Members' engagement", hint: "Mean engagement of the active members: up to 60 points" },
  activeShare: {
    label: "Active share",
    hint: "Members active in 28 days as a share of those active in 90: up to 40 points",
  },
};

/** Contributions as steps of a waterfall, in the order in which they are explained. */
export function stepsOfParts(parts: Readonly<Record<string, number>>) {
  const known = Object.keys(partNames);
  const placeOf = (name: string) => (known.includes(name) ? known.indexOf(name) : known.length);
  return Object.entries(parts)
    .sort(([a], [b]) => placeOf(a) - placeOf(b))
    .map(([name, points]) => ({ label: name, ...partNames[name], points }));
}

/** Contributions to health as steps. The organization's own parts come last, each with its value. */
export function stepsOfHealth({ contributions, traits }: Score["health"]) {
  const own = new Map(traits.map((trait) => [trait.part, trait]));
  return stepsOfParts(contributions).map((step) => {
    const trait = own.get(step.label);
    if (trait === undefined) return step;
    const [value, zeroAt, hundredAt] = [trait.value, trait.zeroAt, trait.hundredAt].map(numbers.precise);
    return {
      ...step,
      label: healthTraitName(trait.trait),
      hint: `The value is ${value}. ${zeroAt} means 0 and ${hundredAt} means 100`,
    };
  });
}

/** A churn risk as a sentence. */
export function riskSentence({ probability }: Risk, model: Model): string {
  return `${numbers.risk(probability)} likely ${churningText(model)}.`;
}

/** When and why a user or account churned: "Canceled on 11 Nov 2026 (subscription_canceled, Farah Okafor)".
 * Undefined for others. */
export function churnText({ churnedDay, churnCause, model }: Score): string | undefined {
  if (churnedDay === null || churnCause === null) return undefined;
  const { event, member, isInvoluntary } = churnCause;
  const means = isInvoluntary === true ? `${model?.churnMeans}, by a failed payment` : model?.churnMeans;
  const why = event === null ? means : [event, ...(member === null ? [] : [member.label])].join(", ");
  return `${/cancel/i.test(event ?? "") ? "Canceled" : "Churned"} on ${dayText(churnedDay)} (${why})`;
}

/** The end of a user or account that is canceling: "The end of the last subscription is scheduled for 11 Nov
 * 2026.". Undefined for others. @param timezone the organization's */
export function cancelingText({ endsAt }: Pick<Score, "endsAt">, timezone: string): string | undefined {
  if (endsAt === null) return undefined;
  const day = dayText(todayIn(timezone, Date.parse(endsAt)));
  return `The end of the last subscription is scheduled for ${day}.`;
}

/** Why there is no churn risk. Undefined where a model gives one. */
export function activityText(
  { activityRank, model }: Pick<Score, "activityRank" | "model">,
  what: "user" | "account",
): string | undefined {
  if (activityRank === null || model === null) return undefined;
  return model.lacksData
    ? tooLittleData(what)
    : `No model passed the back-test, so there is no churn risk: ${what}s are ordered by activity.`;
}

/** A churn risk compared with the base rate, "1.9 times the usual 8.9%." Undefined without a base rate. */
export function baseRateSentence({ ratioToBaseRate }: Risk, { baseRate }: Model): string | undefined {
  if (ratioToBaseRate === null || baseRate === null) return undefined;
  const rate = `the usual ${numbers.share(baseRate)}`;
  if (ratioToBaseRate >= 1.15) return `${numbers.decimal(ratioToBaseRate)} times ${rate}.`;
  if (ratioToBaseRate > 0.87) return `About ${rate}.`;
  const part = 1 / ratioToBaseRate;
  if (part < 1.5) return `A little below ${rate}.`;
  return part > 100 ? `Far below ${rate}.` : `${numbers.decimal(part)} times less likely than ${rate}.`;
}

/** A reason without its points, which stand beside it. */
export function reasonLabel(text: string): string {
  const label = text.replace(/: [+−±]\d+ points?$/, "");
  return label.charAt(0).toUpperCase() + label.slice(1);
}

/** What a risk was learned from, and whether it is to be believed: "Learned from similar accounts. Still
 * provisional." The page Model has the statistics. */
export function modelSentence(
  { model, isProven, isProvisional }: Pick<Model, "model" | "isProven" | "isProvisional">,
  what: "user" | "account",
): string {
  const from = modelNames.find((each) => each.model === model)?.from(`${what}s`);
  const proof = isProven ? (isProvisional ? "Still provisional." : "") : "Not proven on your own data.";
  return [...(from === undefined ? [] : [`Learned from ${from}.`]), proof].join(" ").trim();
}

/** A rank in words. */
export function rankText(rank: number | null): string | undefined {
  if (rank === 0) return "lowest of all active in 28 days";
  return rank === null ? undefined : `higher than ${numbers.wholeShare(rank)} of all active in 28 days`;
}
