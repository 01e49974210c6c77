/** The part of the JSON API that is about scores, as JSON Schema. */
import Type from "typebox";
import { controlField } from "../actions/work-schemas.ts";
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
  "The model of churn risk that serves. `bgbb`: BG/BB. `bgbb-platt`: BG/BB with Platt calibration. `logistic`: ridge logistic regression. `recency`, `period-end`: the days since the last activity, or to the end of the paid period, alone, while no model is clearly better. `base-rate`: everybody has the share that churned, after a model failed and until one passes. `prior`: a general assumption, only in scores of version 0.1.0. Null: no churn risk is given, because there is too little data or no model passed the back-test. Then there is an order by activity.";

const isProven = Field.boolean("Whether it passed the back-test.");
const lacksData = Field.boolean("Whether no model serves because there is too little data for one.");
export const leadsWithRisk = Field.boolean(
  "Whether lists and cards lead with churn risk: in two trainings running the share that churned did not rise from the healthy band over watch to at risk.",
);
const isProvisional = Field.boolean("Whether it passed a back-test of under 100 departures.");

export const ScoreParameters = closedObject({ since: sinceIfSent });

export const ScoreAnswer = Type.Object({
  id: Field.text("The user's or the account's own id."),
  day: scoredDay,
  dataStoppedSince,
  daysWithoutData: Field.count(
    "Days on which data collection had stopped, within the window of 28 days or the idle days, if they are more. No count of days contains them.",
  ),
  state: State,
  verdict: Verdict,
  note: nullable(Field.text("Why there is no score.")),
  health: Type.Object({
    score: nullable(Field.number("0 to 100.")),
    healthBand: HealthBand,
    contributions: parts(
      "Points of each part; with the cap they add up to the score. A trait's part is called `trait.` and its name.",
    ),
    cap: Field.number("Points that the reasons below took away: zero or negative."),
    capReasons: Type.Array(Type.Enum(["high_risk", "end_scheduled", "payment_failed", "unused"]), {
      description:
        "Why health is at most 39. `high_risk`: the churn risk is at `riskLimits.cap` or above. `end_scheduled`: every remaining subscription has a scheduled end. `payment_failed`: a subscription is past due. `unused`: no engagement event for the churn horizon.",
    }),
    traits: listOf("The organization's own parts, `healthTraits` of the settings of these scores.", {
      trait: Type.String(),
      part: Field.text("Its name among the contributions: `trait.nps`."),
      value: nullable(Field.number("Its last number. Null without one: it is no part of this score.")),
      zeroAt: Field.number("The value that means 0."),
      hundredAt: Field.number("The value that means 100."),
    }),
  }),
  engagement: nullable(
    Type.Object({
      score: Field.number("0 to 100."),
      contributions: parts("Points of each part; they add up to the score."),
      rank: nullable(Field.number("The share of those active in 28 days whose engagement is lower.")),
      confidence: Field.text("`low` in the first week, otherwise `normal`."),
    }),
  ),
  momentum: nullable(Field.number("0 to 100; 50 is as four weeks ago. Null under 56 days.")),
  risk: nullable(
    Type.Object({
      probability: Field.number("Of churn within the horizon, as the churn target says."),
      riskBand: RiskBand,
      ratioToBaseRate,
      referenceRisk: Field.number("The baseline risk that the reasons start from."),
      reasons: listOf(
        "Step by step from referenceRisk to probability, each reason after those before it: no sum on the way leaves 0 to 100.",
        {
          group: Field.text(
            "The idea behind it, each at most once: `use`, `mix` (single events), `billing`, `traits`, `tenure` or `other`. What the risk contradicts is counted in `other`: a fall in use never lowers a risk.",
          ),
          points: Field.number("Percentage points; they add up to 100 · (probability − referenceRisk)."),
          text: Type.String(),
        },
      ),
    }),
  ),
  activityRank: objectOrNull(
    "The rank by activity, where no model gives a churn risk. Null for the churned.",
    {
      position: Field.integer("1 for the most active. Equal histories have the same position."),
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
      trainedDay: Field.day("The day as of which it was trained."),
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
    "The oldest first. Days older than 90 are Mondays and the first of each month. When settings change, scores of earlier days stay as they were told.",
    {
      day: Field.day("As of its start."),
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
  change: nullable(Field.number("Of health, since the earlier scores.")),
};

/** The place of a churn risk that no model gives, in a row of a list. */
export const activityPosition = nullable(
  Field.integer(
    "The position by activity, where no model gives a churn risk: 1 for the most active. sort=risk goes by it. Null for the churned.",
  ),
);

/** A row of a list of scores. */
const Listed = Type.Object({
  id: Type.String(),
  label: Field.text("A user's name, else their e-mail address, else their id; an account's name."),
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
  total: Field.count("On all pages."),
  scores: Type.Array(Type.Object({ ...Listed.properties, activityPosition })),
});

export const ScoreNowAnswer = Type.Object({
  day: Field.day("The day as of whose start everybody was scored: today."),
  users: Field.count("Users who were scored; 0 before the first whole day with events."),
  accounts: Field.count("Accounts that were scored."),
  stoppedSince: nullable(
    Field.day("The day on which data was received last; no data came since, so scores stay as they were."),
  ),
  silentSource: Field.textOrNull("The source whose data is missing; null when nothing is received at all."),
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
    count: Field.count("Users, or accounts."),
  }),
  movement: objects({
    from: nullable(HealthBand, { description: "Null for who was not there." }),
    to: nullable(HealthBand),
    count: Field.count("Users, or accounts."),
    byRules: Field.count("Of them: moved only by another model, scale or settings."),
  }),
});

export const ModelParameters = closedObject({ kind: kindParameter });

const metric = nullable(Type.Number());

/** Figures of a model of the back-test, of a set of predictions. */
const modelMetrics = {
  model: Type.Enum([...judgedModels]),
  count: Field.count("Rows judged."),
  departures: Field.count("Churned. An entity at cut-offs closer than the horizon churns once."),
  involuntaryDepartures: Field.count(
    "Of these, those whose last subscription was ended by failed payments. 0 with churn targets other than `subscription`.",
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
  calibrationSlopeError: nullable(Field.number("Its standard error; users of one account count together.")),
  biasError: nullable(Field.number("The standard error of ln(base rate / mean prediction).")),
  topDecileLift: metric,
};

export const ModelAnswer = Type.Object({
  kind: Kind,
  day: scoredDay,
  dataStoppedSince,
  isCurrent: Field.boolean("Whether events that came since are not in the scores yet."),
  model: nullable(RiskModelName, { description: riskModelText }),
  isProven,
  isProvisional,
  why: Type.String(),
  lacksData,
  leadsWithRisk,
  horizonDays: Type.Integer(),
  ...churnDefinition,
  advisedHorizonDays: nullable(Field.integer("Nine of ten gaps between active days are no longer than it.")),
  trainedDay: nullable(
    Field.day(
      "The day as of which models were trained and back-tested. Null before the first scores, and while the first model is being trained.",
    ),
  ),
  baseRate: nullable(Field.number("The share that churned in the back-test.")),
  observedBaseRate: objectOrNull(
    "With a declared churn target: the share that churned at past cut-off dates, whether a model could be trained or not. Null before the first one whose outcomes are known.",
    {
      cutoffs: Field.count("Cut-off dates, at least a churn horizon apart."),
      count: Field.count("Users or accounts that could churn, of all cut-off dates."),
      churned: Field.count("Those who churned within the horizon."),
      rate: Type.Number(),
      low: Field.number("Of the rate's 95 % interval; users of one account count together."),
      high: Type.Number(),
    },
  ),
  noDeparturesSince: nullable(
    Field.day(
      "With a declared churn target: the first day of a span in which departures should have come and none has. Cut-off dates that predict such days are left out. Null while departures come.",
    ),
  ),
  scale: objectOrNull("Values for full points of engagement, this month.", {
    measuredDay: Field.day("The day as of which it was measured."),
    activeDays: Type.Number(),
    volume: Type.Number(),
    eventNames: Type.Number(),
    halfLifeDays: Type.Number(),
  }),
  next: objectOrNull("Data that the next model needs.", {
    model: RiskModelName,
    missing: objects({ what: Type.String(), have: Type.Number(), need: Type.Number() }),
    failures: Type.Array(Type.String()),
  }),
  proof: nullable(Proof),
  trainedOn: nullable(TrainedOn),
  parameters: nullable(BgbbParameters, { description: "BG/BB's, fitted to everybody." }),
  isReturnCalibrated: Field.boolean(
    "Of returnProbability: by `bgbb-platt` and `logistic`, once 50 of the churned came back and 50 did not.",
  ),
  isConverged: Type.Boolean(),
  models: listOf("Every model that could be trained, the prior and both baselines, in the back-test.", {
    ...modelMetrics,
    cutoffs: Type.Integer(),
    recencyLogLoss: Type.Number(),
    failures: Type.Array(Type.String(), {
      description: "Why it does not serve; none if it may, and of `prior` and baselines.",
    }),
  }),
  withCanceling: listOf(
    "With the churn target `subscription`: the same figures with the users or accounts whose end was scheduled at the cut-off. `models` leaves them out, because such an end is known and not predicted. Empty where there were none.",
    modelMetrics,
  ),
  reliability: listOf("Of the model that serves: tenths by prediction.", {
    count: Type.Integer(),
    meanPrediction: Type.Number(),
    rate: Type.Number(),
    low: Field.number("Of the rate's 95 % interval."),
    high: Type.Number(),
  }),
  outages: listOf(
    "Days of the last year on which data collection had stopped, the newest first. No count of days contains them, and no cut-off with one in its horizon is used.",
    {
      from: Field.day("The first."),
      to: Field.day("The last."),
      isDeclared: Field.boolean("Whether all of them were declared by `rekindle outage add`."),
    },
  ),
  realised: listOf("Outcomes of each health band, from stored scores whose horizon is over.", {
    healthBand: HealthBand,
    count: Field.count("With scores of a horizon ago or earlier."),
    churned: Field.count("Those who really churned."),
    involuntary: Field.count(
      "Of these, those whose last subscription was ended by failed payments. 0 with churn targets other than `subscription`.",
    ),
    rate: Type.Number(),
    low: Field.number("Of the rate's 95 % interval."),
    high: Type.Number(),
  }),
});

export const MoversParameters = closedObject({
  kind: kindParameter,
  state: Type.Optional(State),
  since: since(7),
  segment,
  limit: Parameter.positive(100, 10, "Of each direction."),
});

const Mover = Type.Object({
  ...Listed.properties,
  accountId: nullable(Field.text("Of a user; null without an account.")),
  accountName: nullable(Type.String()),
  reason: Field.text("Activity after and before, in words: active on 3 of 28 days, was 14."),
});

export const MoversAnswer = Type.Object({
  day: scoredDay,
  ...sinceThen,
  dataStoppedSince,
  movers: Type.Array(Mover, {
    description:
      "Those whose health rose, the most first, then those whose fell, the most first. Those who returned from churned are not among them.",
  }),
  returned: Type.Array(Mover, {
    description: "Those who had churned at the earlier scores and have not now, whatever their state.",
  }),
  totals: Type.Object(
    {
      fell: Field.count("Health fell."),
      rose: Field.count("Health rose."),
      returned: Field.count("They returned from churned."),
    },
    { description: "How many there are, shown or not." },
  ),
});
