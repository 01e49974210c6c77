/** The part of the JSON API that is about scores, as JSON Schema. */
import Type from "typebox";
import { controlField } from "./list-fields.ts";
import { judgedModels, riskModels } from "./model-names.ts";
import {
  closedObject,
  Field,
  inSegment,
  listOf,
  nullable,
  objectOrNull,
  objects,
  Parameter,
} from "./schema.ts";
import {
  BgbbParameters,
  churnDefinition,
  churnFields,
  dataStoppedSince,
  HealthBand,
  Kind,
  kindParameter,
  Marks,
  Proof,
  RiskBand,
  RiskLimits,
  ratioToBaseRate,
  ScoreChange,
  State,
  scoredDay,
  since,
  sinceIfSent,
  sinceThen,
  TrainedOn,
  Verdict,
} from "./score-parts.ts";

const segment = inSegment("entities");

const parts = (description: string) => Type.Record(Type.String(), Type.Number(), { description });

export const RiskModelName = Type.Enum([...riskModels]);
export const riskModelText =
  "The model of churn risk that serves. `bgbb`: BG/BB. `bgbb-platt`: BG/BB with Platt calibration. `logistic`: ridge logistic regression. `recency`, `period-end`: the days since the last activity, or to the end of the paid period, alone, while no model is clearly better. `base-rate`: everybody has the base rate, from the failure of a model until a model passes the back-test. `prior`: a general assumption, only in scores of version 0.1.0. Null: no churn risk is given, because there is too little data or no model passed the back-test. Lists are then sorted by activity.";

const isProven = Field.boolean("Whether the model passed the back-test.");
const lacksData = Field.boolean("Whether no model serves because there is too little data to train a model.");
export const leadsWithRisk = Field.boolean(
  "Whether lists and cards show churn risk first, before health: in two trainings in a row, the share that churned did not rise from the health band healthy over watch to at risk.",
);
const isProvisional = Field.boolean("Whether the model passed a back-test with under 100 departures.");

export const ScoreParameters = closedObject({ since: sinceIfSent });

export const ScoreAnswer = Type.Object({
  id: Field.text("The user's or the account's own id."),
  day: scoredDay,
  dataStoppedSince,
  daysWithoutData: Field.count(
    "Days on which data collection had stopped, in the last 28 days, or since the last activity if that is longer ago. They are left out of all counts of days.",
  ),
  state: State,
  verdict: Verdict,
  note: nullable(Field.text("Why there is no score. Null with a score.")),
  health: Type.Object({
    score: nullable(Field.number("0 to 100.")),
    healthBand: HealthBand,
    contributions: parts(
      "Points of each part of health; together with `cap` they add up to the score. The part of the trait nps is `trait.nps`.",
    ),
    cap: Field.number("Points that `capReasons` took away: zero or negative."),
    capReasons: Type.Array(Type.Enum(["high_risk", "end_scheduled", "payment_failed", "unused"]), {
      description:
        "Why health is at most 39. `high_risk`: the churn risk is at `riskLimits.cap` or above. `end_scheduled`: every remaining subscription has a scheduled end. `payment_failed`: a subscription is past due. `unused`: no engagement event for the churn horizon.",
    }),
    traits: listOf(
      "The organization's own parts of health: `healthTraits` of the settings that these scores used.",
      {
        trait: Type.String(),
        part: Field.text("The name of the part in `contributions`, e.g. `trait.nps`."),
        value: nullable(
          Field.number(
            "The trait's last number. Null without a number: then the trait is no part of this score.",
          ),
        ),
        zeroAt: Field.number("The value that means 0."),
        hundredAt: Field.number("The value that means 100."),
      },
    ),
  }),
  engagement: nullable(
    Type.Object({
      score: Field.number("0 to 100."),
      contributions: parts("Points of each part of engagement; they add up to the score."),
      rank: nullable(
        Field.number("The share of users or accounts active in 28 days whose engagement is lower."),
      ),
      confidence: Field.text("`low` in the first week, otherwise `normal`."),
    }),
  ),
  momentum: nullable(
    Field.number("0 to 100; 50 means the same use as four weeks ago. Null in the first 56 days."),
  ),
  risk: nullable(
    Type.Object({
      probability: Field.number("The probability of churn within the horizon, by the churn target. 0 to 1."),
      riskBand: RiskBand,
      ratioToBaseRate,
      referenceRisk: Field.number("The baseline risk that the reasons start from."),
      reasons: listOf(
        "Step by step from referenceRisk to probability, in this order. Every sum on the way is between 0 and 100.",
        {
          group: Field.text(
            "What the reason is about, each group at most once: `use`, `mix` (single events), `billing`, `traits`, `seats` (seats used), `pulse`, `tenure` or `other`. An effect against expectation, such as a fall in use that lowers the risk, is counted in `other`.",
          ),
          points: Field.number("Percentage points; they add up to 100 · (probability − referenceRisk)."),
          text: Type.String(),
        },
      ),
    }),
  ),
  activityRank: objectOrNull(
    "The rank by activity, if no model gives a churn risk. Null if a model gives a churn risk, or if churned.",
    {
      position: Field.integer(
        "The position, 1 for the most active. Users or accounts with equal histories share a position.",
      ),
      of: Field.count("Users or accounts that have not churned."),
    },
  ),
  ...churnFields,
  model: nullable(
    Type.Object({
      model: nullable(RiskModelName, { description: riskModelText }),
      isProven,
      isProvisional,
      why: Type.String(),
      lacksData,
      leadsWithRisk,
      horizonDays: Type.Integer(),
      ...churnDefinition,
      trainedDay: Field.day("The day as of which the model was trained."),
      baseRate: nullable(Field.number("The share that churned in the back-test.")),
      riskLimits: RiskLimits,
      logLoss: nullable(Field.number("In the back-test.")),
      auc: nullable(Field.number("In the back-test.")),
      calibrationError: nullable(Field.number("In the back-test.")),
    }),
  ),
  change: ScoreChange,
});

export const HistoryParameters = closedObject({
  from: Parameter.optionalDay("The first day."),
  to: Parameter.optionalDay("The last day."),
});

const scores = {
  state: State,
  healthBand: HealthBand,
  health: nullable(Type.Number()),
  risk: nullable(Type.Number()),
  engagement: nullable(Type.Number()),
  momentum: nullable(Type.Number()),
};

export const HistoryAnswer = Type.Object({
  days: listOf(
    "The oldest first. Of days more than 90 days ago only Mondays and the first of each month. When settings change, scores of earlier days are not computed again.",
    {
      day: Field.day("Scores are as of the start of this day."),
      ...scores,
    },
  ),
  marks: Marks,
});

/** The scores of a row of a list. */
export const listedScores = {
  ...scores,
  riskBand: nullable(RiskBand),
  ratioToBaseRate,
  change: nullable(Field.number("The change of health since `sinceDay`. Null without earlier scores.")),
};

/** The place of a churn risk that no model gives, in a row of a list. */
export const activityPosition = nullable(
  Field.integer(
    "The position by activity, if no model gives a churn risk: 1 for the most active. Then sort=risk sorts by this position. Null if a model gives a churn risk, or if churned.",
  ),
);

/** A row of a list of scores. */
const Listed = Type.Object({
  id: Type.String(),
  label: Field.text("A user's name, else e-mail address, else id; an account's name."),
  ...controlField,
  ...listedScores,
});

export const ScoreListParameters = closedObject({
  sort: Parameter.Enum(["health", "risk", "engagement", "change"], { default: "health" }),
  order: Parameter.Union([Type.Literal("ascending"), Type.Literal("descending")], { default: "ascending" }),
  state: Type.Optional(State),
  healthBand: Type.Optional(HealthBand),
  riskBand: Type.Optional(RiskBand),
  since: since(28),
  segment,
  limit: Parameter.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
  offset: Parameter.Integer({ minimum: 0, maximum: 10_000_000, default: 0 }),
});

/** The scores of a list as a whole. */
export const listHead = {
  day: scoredDay,
  ...sinceThen,
  dataStoppedSince,
};

export const ScoreListAnswer = Type.Object({
  ...listHead,
  total: Field.count("Rows on all pages together."),
  scores: Type.Array(Type.Object({ ...Listed.properties, activityPosition })),
});

export const ScoreNowAnswer = Type.Object({
  day: Field.day("The day of the scores: today. They are as of its start."),
  users: Field.count("Users who were scored; 0 before the first whole day with events."),
  accounts: Field.count("Accounts that were scored."),
  stoppedSince: nullable(
    Field.day(
      "The last day with data, if no data came since: scores then stay as they were. Otherwise null.",
    ),
  ),
  silentSource: Field.textOrNull(
    "The source whose data is missing. Null if no source sends, or no data is missing.",
  ),
});

export const SummaryParameters = closedObject({
  kind: kindParameter,
  since: since(28),
  segment,
});

export const SummaryAnswer = Type.Object({
  kind: Kind,
  day: scoredDay,
  ...sinceThen,
  dataStoppedSince,
  baseRate: nullable(Field.number("The share that churned in the back-test.")),
  riskLimits: nullable(RiskLimits),
  counts: objects({
    healthBand: HealthBand,
    riskBand: nullable(RiskBand),
    count: Field.count("Users or accounts."),
  }),
  movement: objects({
    from: nullable(HealthBand, {
      description: "Null for users or accounts that did not exist at the comparison date.",
    }),
    to: nullable(HealthBand),
    count: Field.count("Users or accounts."),
    byRules: Field.count("How many of `count` moved only because of another model, scale or settings."),
  }),
});

export const ModelParameters = closedObject({ kind: kindParameter });

const metric = nullable(Type.Number());

/** Figures of a model of the back-test, of a set of predictions. */
const modelMetrics = {
  model: Type.Enum([...judgedModels]),
  count: Field.count("Predictions that were judged."),
  departures: Field.count(
    "Rows that churned. Churn within several cut-off dates closer than the horizon counts once.",
  ),
  involuntaryDepartures: Field.count(
    "Departures whose last subscription was ended by failed payments. 0 with churn targets other than `subscription`.",
  ),
  baseRate: Type.Number(),
  auc: metric,
  logLoss: Type.Number(),
  brier: Type.Number(),
  brierSkill: metric,
  calibrationError: Type.Number(),
  calibrationErrorOfPerfection: Type.Number(),
  calibrationSlope: metric,
  calibrationIntercept: metric,
  calibrationSlopeError: nullable(
    Field.number("The standard error of the calibration slope; users of one account count together."),
  ),
  biasError: nullable(Field.number("The standard error of ln(base rate / mean prediction).")),
  topDecileLift: metric,
};

export const ModelAnswer = Type.Object({
  kind: Kind,
  day: scoredDay,
  dataStoppedSince,
  isCurrent: Field.boolean("False while events that came since are not in the scores yet."),
  model: nullable(RiskModelName, { description: riskModelText }),
  isProven,
  isProvisional,
  why: Type.String(),
  lacksData,
  leadsWithRisk,
  horizonDays: Type.Integer(),
  ...churnDefinition,
  advisedHorizonDays: nullable(
    Field.integer("The recommended churn horizon: nine of ten gaps between active days are no longer."),
  ),
  trainedDay: nullable(
    Field.day(
      "The day as of which models were trained and back-tested. Null before the first scores, and while the first model is being trained.",
    ),
  ),
  baseRate: nullable(Field.number("The share that churned in the back-test.")),
  observedBaseRate: objectOrNull(
    "With a declared churn target: the share that churned at past cut-off dates, whether a model could be trained or not. Null until the outcomes of a first cut-off date are known.",
    {
      cutoffs: Field.count("Cut-off dates, at least a churn horizon apart."),
      count: Field.count("Users or accounts that could churn, of all cut-off dates."),
      churned: Field.count("Users or accounts that churned within the horizon."),
      rate: Type.Number(),
      low: Field.number("Lower end of the rate's 95 % interval; users of one account count together."),
      high: Type.Number(),
    },
  ),
  noDeparturesSince: nullable(
    Field.day(
      "With a declared churn target: the first day of a span in which departures were to be expected, but none came. Cut-off dates that predict days of this span are left out. Null while departures come.",
    ),
  ),
  scale: objectOrNull("The values that get full points of engagement, this month.", {
    measuredDay: Field.day("The day as of which the values were measured."),
    activeDays: Type.Number(),
    volume: Type.Number(),
    eventNames: Type.Number(),
    halfLifeDays: Type.Number(),
  }),
  next: objectOrNull("Data that are missing for the next model. Null without a next model.", {
    model: RiskModelName,
    missing: objects({ what: Type.String(), have: Type.Number(), need: Type.Number() }),
    failures: Type.Array(Type.String()),
  }),
  proof: nullable(Proof),
  trainedOn: nullable(TrainedOn),
  parameters: nullable(BgbbParameters, {
    description: "The parameters of BG/BB, fitted to all users or accounts.",
  }),
  isReturnCalibrated: Field.boolean(
    "Whether returnProbability is calibrated: with `bgbb-platt` and `logistic`, once 50 churned users or accounts came back and 50 did not.",
  ),
  isConverged: Type.Boolean(),
  models: listOf("The back-test of every model that could be trained, of the prior and of the baselines.", {
    ...modelMetrics,
    cutoffs: Type.Integer(),
    recencyLogLoss: Type.Number(),
    failures: Type.Array(Type.String(), {
      description: "Why the model does not serve. Empty if it may serve, and for `prior` and baselines.",
    }),
  }),
  withCanceling: listOf(
    "With the churn target `subscription`: the figures of `models` including users or accounts with a scheduled end at the cut-off date. `models` leaves them out, because a scheduled end is known and not predicted. Empty if there were none.",
    modelMetrics,
  ),
  reliability: listOf("The calibration of the model that serves, in tenths by prediction.", {
    count: Type.Integer(),
    meanPrediction: Type.Number(),
    rate: Type.Number(),
    low: Field.number("Lower end of the rate's 95 % interval."),
    high: Type.Number(),
  }),
  outages: listOf(
    "Days of the last year on which data collection had stopped, the newest first. They are left out of all counts of days. Cut-off dates with an outage in their horizon are not used.",
    {
      from: Field.day("The first day of the outage."),
      to: Field.day("The last day of the outage."),
      isDeclared: Field.boolean("Whether all of these days were declared by `POST /api/outages`."),
    },
  ),
  realised: listOf("What happened in each health band, from stored scores whose horizon is over.", {
    healthBand: HealthBand,
    count: Field.count("Users or accounts with scores from a horizon ago or earlier."),
    churned: Field.count("Users or accounts that churned."),
    involuntary: Field.count(
      "Departures whose last subscription was ended by failed payments. 0 with churn targets other than `subscription`.",
    ),
    rate: Type.Number(),
    low: Field.number("Lower end of the rate's 95 % interval."),
    high: Type.Number(),
  }),
});

export const MoversParameters = closedObject({
  kind: kindParameter,
  state: Type.Optional(State),
  since: since(7),
  segment,
  limit: Parameter.positive(100, 10, "At most this many gains, and at most this many drops."),
});

const Mover = Type.Object({
  ...Listed.properties,
  accountId: nullable(Field.text("The id of the user's account. Null without an account, and for accounts.")),
  accountName: nullable(Type.String()),
  reason: Field.text("Activity now and before, in words, e.g. active on 3 of 28 days, was 14."),
});

export const MoversAnswer = Type.Object({
  day: scoredDay,
  ...sinceThen,
  dataStoppedSince,
  movers: Type.Array(Mover, {
    description:
      "The biggest gains of health first, then the biggest drops. Users or accounts that returned from churned are in `returned` instead.",
  }),
  returned: Type.Array(Mover, {
    description:
      "Users or accounts that had churned at the comparison date and have not churned now, in any state.",
  }),
  totals: Type.Object(
    {
      fell: Field.count("Users or accounts whose health fell."),
      rose: Field.count("Users or accounts whose health rose."),
      returned: Field.count("Users or accounts that returned from churned."),
    },
    { description: "How many moved in all, shown or not." },
  ),
});
