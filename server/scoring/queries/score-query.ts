/**
 * Scores all entities inside the engine: one INSERT … SELECT. It is engagement.ts, momentum.ts, state.ts,
 * health.ts and churn-model.ts in SQL, with their constants. A test compares both on random logs.
 */
import { silence } from "../../../contract/api/churn-targets.ts";
import type { HealthTrait } from "../../../contract/api/health-traits.ts";
import {
  type ChurnModel,
  eventsOfModel,
  isRidge,
  numbersOfModel,
  traitsOfModel,
} from "../churn/churn-model.ts";
import { isCancelingSql, isMetByEnd } from "../scores/billing.ts";
import type { EngagementScale } from "../scores/engagement.ts";
import { isDeclared } from "../scores/features.ts";
import type { HealthParts } from "../scores/health.ts";
import { damping, leastTenureDays } from "../scores/momentum.ts";
import type { RiskScale } from "../scores/risk-scale.ts";
import { newForDays } from "../scores/state.ts";
import { type CellRisks, silenceSql } from "./cell-table.ts";
import type { Population } from "./engagement-events.ts";
import { healthSteps, healthValuesQuery, healthValuesSql } from "./health-sql.ts";
import { accountsOfUsersQuery, engagedMembersQuery, ownAccountColumns } from "./lists/member-query.ts";
import { userEngagement, zeroUnused } from "./lists/user-engagement.ts";
import {
  type Columns,
  columnList,
  type Expressions,
  type Query,
  type Steps,
  withColumns,
  withParts,
} from "./query.ts";
import { ridgeLogOddsSql } from "./ridge-sql.ts";
import { saidOfAccountsQuery, seatsColumns } from "./seats-query.ts";
import type { SnapshotRows } from "./snapshot-rows.ts";
import { billedQuery } from "./subscription-query.ts";
import { isScoredRow, withLeft } from "./target-query.ts";
import { traitsQuery } from "./trait-query.ts";

export interface ScoreInput {
  readonly snapshot: SnapshotRows;
  /** Of the rows; higher than any before of the same day. */
  readonly version: number;
  readonly horizonDays: number;
  readonly scale: EngagementScale;
  readonly healthWeights: HealthParts;
  /** The organization's own parts of health, none by default. */
  readonly healthTraits?: readonly HealthTrait[];
  readonly riskScale: RiskScale;
  /** Null when no model is good enough: then no entity has a risk. */
  readonly model: ChurnModel | null;
  /** By the model's BG/BB. */
  readonly cells: CellRisks;
  /** For accounts: the risks of their members. */
  readonly memberRisks?: CellRisks;
}

/** The statement that scores all users, or all accounts, as of a day. */
export function insertScoresQuery(population: Population, input: ScoreInput): Query {
  const { kind, organization } = population;
  const columns = { ...commonColumns, ...(kind === "account" ? memberColumns : userColumns) };
  const select = scoresQuery(population, input, [
    "{organization:UInt32}",
    "addDays(toDate32('1970-01-01'), {cutoffDay:Int32})",
    "entity",
    "{version:UInt64}",
    ...Object.values(columns),
  ]);
  return {
    sql: `
      INSERT INTO ${kind}_scores (organization, day, ${kind}, version, ${Object.keys(columns).join(", ")})
      SETTINGS insert_deduplicate = 0 ${select.sql} SETTINGS allow_simdjson = 0`,
    parameters: {
      ...select.parameters,
      organization,
      cutoffDay: input.snapshot.day,
      version: input.version,
      mixEvents: [...eventsOfModel(input.model)],
    },
  };
}

/**
 * The scores of all users, or all accounts, as of a day, without storing them: rows of these expressions over
 * `entity` and the scores. Statements need `allow_simdjson = 0`.
 */
export function scoresQuery(
  population: Population,
  input: UnstoredInput,
  selected: readonly string[],
): Query {
  const billed = withBilling(aboutParts(population, input), population, input);
  const about = withHealthValues(withSeats(billed, population, input), population, input);
  const engagement =
    population.kind === "account" ? accountEngagement(input.scale) : userEngagement(input.scale);
  const scores = scoreSteps(population, input, engagement);
  return withParts(
    { features: withLeft(population, input.snapshot.day, input.snapshot.entities), ...about.parts },
    {
      sql: `
        SELECT ${selected.join(", ")}
        FROM (${withColumns(`SELECT *, ${columnList(about.columns)} FROM features ${about.joins}`, scores.steps)})`,
      parameters: { ...scores.parameters, ...about.parameters },
    },
  );
}

/** Scores that are not stored have no version. */
type UnstoredInput = Omit<ScoreInput, "version">;

interface About {
  readonly parts: Readonly<Record<string, Query>>;
  readonly joins: string;
  readonly columns: Columns;
  readonly parameters: Query["parameters"];
}

/** Facts beside an entity's own events: members of accounts, or the account and the traits of users. */
function aboutParts(population: Population, input: UnstoredInput): About {
  const { memberRisks } = input;
  const about = memberRisks === undefined ? userParts(input) : memberParts(input, memberRisks);
  return withTraits(about, population, input);
}

function userParts({ snapshot }: UnstoredInput): About {
  return {
    parts: { about: accountsOfUsersQuery(snapshot.users) },
    joins: "LEFT JOIN about USING (account)",
    columns: ownAccountColumns,
    parameters: {},
  };
}

/** Adds the traits that the model reads: traits of users, or attributes of accounts. */
function withTraits(about: About, population: Population, { model, snapshot }: UnstoredInput): About {
  const [traits, numbers] = [traitsOfModel(model), numbersOfModel(model)];
  const names = [...new Set(traits.map(({ trait }) => trait))];
  const atMs = population.zone.startOfDay(snapshot.day);
  const hasPlanChanges = isRidge(model) && model.design.hasPlanChanges === true;
  // Reading the traits of all users takes three times as long as their features.
  if (traits.length === 0 && numbers.length === 0 && !hasPlanChanges) {
    return { ...about, columns: { ...about.columns, ...untoldColumns } };
  }
  return {
    parts: { ...about.parts, told: traitsQuery(population, atMs, { names, numbers }) },
    joins: `${about.joins} LEFT JOIN told USING (entity)`,
    columns: { ...about.columns, ...toldColumns },
    parameters: {
      ...about.parameters,
      traitNames: traits.map(({ trait }) => trait),
      traitValues: traits.map(({ value }) => value),
      traitNumberNames: [...numbers],
    },
  };
}

const toldColumns: Columns = {
  traitHits: `arrayMap((trait, value) -> toUInt64(has(traits, (trait, value))),
    {traitNames:Array(String)}, {traitValues:Array(String)})`,
  traitMask: "arraySum((hit, bit) -> bitShiftLeft(hit, bit), traitHits, range(length(traitHits)))",
  traitNumbers: `arrayMap(trait -> if(mapContains(numbers, trait), numbers[trait], NULL),
    {traitNumberNames:Array(String)})`,
};

const untoldColumns: Columns = {
  traitMask: "toUInt64(0)",
  traitNumbers: "[]::Array(Nullable(Float64))",
  planIdleDays: "NULL",
};

function memberParts({ snapshot, scale }: UnstoredInput, risks: CellRisks): About {
  return {
    parts: { about: engagedMembersQuery(snapshot.users, risks, scale) },
    joins: "LEFT JOIN about USING (entity)",
    columns: { isAccount: "true" },
    parameters: {},
  };
}

/** Adds the facts of subscriptions. */
function withBilling(about: About, population: Population, { snapshot }: UnstoredInput): About {
  return {
    ...about,
    parts: { ...about.parts, billed: billedQuery(population, snapshot.day) },
    joins: `${about.joins} LEFT JOIN billed USING (entity)`,
  };
}

/** Adds seats and pulse, which accounts have. */
function withSeats(about: About, population: Population, { snapshot }: UnstoredInput): About {
  if (population.kind === "user") return about;
  return {
    ...about,
    parts: { ...about.parts, said: saidOfAccountsQuery(population, snapshot.day) },
    joins: `${about.joins} LEFT JOIN said USING (entity)`,
    columns: { ...about.columns, ...seatsColumns },
  };
}

/** Adds the values of the organization's own parts of health. */
function withHealthValues(about: About, population: Population, input: UnstoredInput): About {
  const { healthTraits = [], snapshot } = input;
  if (healthTraits.length === 0) {
    return { ...about, columns: { ...about.columns, healthValues: "[]::Array(Nullable(Float64))" } };
  }
  const names = healthTraits.map(({ trait }) => trait);
  return {
    ...about,
    columns: { ...about.columns, healthValues: healthValuesSql(names, population.kind) },
    parts: { ...about.parts, health: healthValuesQuery(population, snapshot.day, names) },
    joins: `${about.joins} LEFT JOIN health USING (entity)`,
  };
}

/** `accountEngagementOf`. */
function accountEngagement(scale: EngagementScale): Expressions {
  const sql = "if(active90 = 0, NULL, 0.6 * meanEngagement + 40 * active28 / active90)";
  return { columns: { engagementScore: zeroUnused(scale, sql) }, parameters: {} };
}

function scoreSteps(population: Population, input: UnstoredInput, engagement: Expressions): Steps {
  const { horizonDays, cells, model } = input;
  const { target = silence } = population.settings;
  const isBySilence = !isDeclared(population.settings);
  const risk = riskExpression(model);
  const returns = returnExpression(isBySilence ? model : null);
  const health = healthSteps(input);
  const change = "toInt32(activeDays28) - toInt32(activeDaysPrevious28)";
  const silent = silenceSql({ numbers: "cells", risks: "cellRisks" });
  return {
    steps: [
      ...silent.steps,
      {
        bgbbRisk: silent.risk,
        state: `multiIf(hasLeft, 'churned', ${isMetByEnd(target) ? isCancelingSql : "false"}, 'canceling', idleDays >= {horizonDays:Int32}, '${isBySilence ? "churned" : "inactive"}',
          tenureDays < ${newForDays}, 'new', 'active')`,
        ...engagement.columns,
        momentumScore: `if(tenureDays < ${leastTenureDays}, NULL,
          50 + 50 * (${change}) / (activeDays28 + activeDaysPrevious28 + ${damping}))`,
      },
      {
        risk: `if(${isScoredRow(population, horizonDays).sql}, ${risk.sql}, NULL)`,
        returnProbability: isBySilence ? `if(state = 'churned' AND n >= 0, ${returns.sql}, NULL)` : "NULL",
      },
      ...health.steps,
    ],
    parameters: {
      horizonDays,
      cells: cells.numbers,
      cellRisks: cells.risks,
      ...engagement.parameters,
      ...risk.parameters,
      ...returns.parameters,
      ...health.parameters,
    },
  };
}

function riskExpression(model: ChurnModel | null): Query {
  if (model === null) return { sql: "NULL", parameters: {} };
  if (model.rung === 2) {
    return {
      sql: logistic(`{plattIntercept:Float64} + {plattSlope:Float64} * ${bgbbLogOddsSql}`),
      parameters: { plattIntercept: model.platt.intercept, plattSlope: model.platt.slope },
    };
  }
  if (!isRidge(model)) return { sql: "bgbbRisk", parameters: {} };
  const logOdds = ridgeLogOddsSql(model);
  return { sql: logistic(logOdds.sql), parameters: logOdds.parameters };
}

/** `returnProbability`. */
function returnExpression(model: ChurnModel | null): Query {
  if (model === null) return { sql: "NULL", parameters: {} };
  const { churnedPlatt } = model;
  if (churnedPlatt === undefined) return { sql: "1 - bgbbRisk", parameters: {} };
  return {
    sql: logistic(`-({churnedIntercept:Float64} + {churnedSlope:Float64} * ${bgbbLogOddsSql})`),
    parameters: { churnedIntercept: churnedPlatt.intercept, churnedSlope: churnedPlatt.slope },
  };
}

const clippedRisk = "least(greatest(bgbbRisk, 1e-12), 1 - 1e-12)";
/** `bgbbLogOdds`. */
const bgbbLogOddsSql = `(log(${clippedRisk}) - log1p(-(${clippedRisk})))`;

function logistic(logOdds: string): string {
  return `1 / (1 + exp(-(${logOdds})))`;
}

/** The table's columns of users and accounts alike. */
const commonColumns: Columns = {
  state: "state",
  colour: "colour",
  engagement: "engagementScore",
  momentum: "momentumScore",
  risk: "risk",
  return_probability: "returnProbability",
  health: "health",
  idle_days: "idleDays",
  tenure_days: "tenureDays",
  active_days_28: "activeDays28",
  active_days_previous_28: "activeDaysPrevious28",
  active_days_84: "activeDays84",
  volume_28: "volume28",
  active_days_by_week: "activeDaysByWeek",
  event_names_28: "eventNames28",
  mean_gap_days: "meanGapDays",
  gap_variability: "gapVariability",
  key_event_idle_days: "keyEventIdleDays",
  event_counts_28: "mapFilter((name, times) -> has({mixEvents:Array(String)}, name), eventCounts28)",
  has_single_active_day: "hasSingleActiveDay",
  has_left: "hasLeft",
  x: "x",
  t: "t",
  n: "n",
  adoption: "adoption",
  health_values: "healthValues",
  billing: "billing",
  traits: "traitMask",
  trait_numbers: "traitNumbers",
  plan_idle_days: "planIdleDays",
};

const userColumns: Columns = {
  own_account_active_28: "ownAccountActive28",
  own_account_previous_28: "ownAccountPrevious28",
};

const memberColumns: Columns = {
  active_members_28: "active28",
  active_members_previous_28: "activePrevious28",
  active_members_90: "active90",
  top_share: "topShare",
  mean_risk_log_odds: "meanRiskLogOdds",
  mean_engagement: "meanEngagement",
  seats: "seats",
  pulse: "pulse",
};
