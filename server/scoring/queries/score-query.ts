/**
 * Scores all entities inside the engine: one INSERT … SELECT. It is engagement.ts, momentum.ts, state.ts, health.ts
 * and churn-model.ts in SQL, with their constants. A test compares all scores of random logs with those.
 */
import { type ChurnModel, traitsOfModel } from "../churn/churn-model.ts";
import type { EngagementScale } from "../scores/engagement.ts";
import { isDeclared } from "../scores/features.ts";
import { type HealthParts, healthLimits } from "../scores/health.ts";
import { damping, leastTenureDays } from "../scores/momentum.ts";
import type { RiskScale } from "../scores/risk-scale.ts";
import { newForDays } from "../scores/state.ts";
import { type CellRisks, cellNumberSql } from "./cell-table.ts";
import type { Population } from "./engagement-events.ts";
import { featuresQuery } from "./feature-query.ts";
import { type CellLogOdds, scoredMembersQuery } from "./lists/member-query.ts";
import { type Columns, type Expressions, userEngagement } from "./lists/user-engagement.ts";
import { type Query, withParts } from "./query.ts";
import { ridgeLogOddsSql } from "./ridge-sql.ts";
import { isScoredRow } from "./target-query.ts";
import { traitsQuery } from "./trait-query.ts";

export interface ScoreInput {
  readonly cutoffDay: number;
  /** Of the rows; higher than any before of the same day. */
  readonly version: number;
  readonly horizonDays: number;
  readonly scale: EngagementScale;
  readonly healthWeights: HealthParts;
  readonly riskScale: RiskScale;
  /** Null when no model is good enough: then no entity has a risk. */
  readonly model: ChurnModel | null;
  /** By the model's BG/BB. */
  readonly cells: CellRisks;
  /** For accounts: their members' risks, and the version of the users' scores of the same day. */
  readonly members?: { readonly risks: CellLogOdds; readonly usersVersion: number };
}

/** The statement that scores all users, or all accounts, as of a day. */
export function insertScoresQuery(population: Population, input: ScoreInput): Query {
  const { kind } = population;
  const about = aboutParts(population, input);
  const expressions = scoreExpressions(
    population,
    input,
    kind === "account" ? accountEngagement : userEngagement(input.scale),
  );
  const columns = { ...commonColumns, ...(kind === "account" ? memberColumns : { traits: "traitMask" }) };
  const select = withParts(
    { features: featuresQuery(population, input.cutoffDay), ...about.parts },
    {
      sql: `
        SELECT {organization:UInt32}, addDays(toDate32('1970-01-01'), {cutoffDay:Int32}), entity, {version:UInt64},
          ${Object.values(columns).join(", ")}
        FROM (
          SELECT *, ${asList(expressions.columns)}
          FROM (SELECT *, ${asList(about.columns)} FROM features ${about.joins}))
        SETTINGS allow_simdjson = 0`,
      parameters: {
        organization: population.organization,
        cutoffDay: input.cutoffDay,
        version: input.version,
        ...expressions.parameters,
        ...about.parameters,
      },
    },
  );
  return {
    sql: `
      INSERT INTO ${kind}_scores (organization, day, ${kind}, version, ${Object.keys(columns).join(", ")})
      SETTINGS insert_deduplicate = 0 ${select.sql}`,
    parameters: select.parameters,
  };
}

interface About {
  readonly parts: Readonly<Record<string, Query>>;
  readonly joins: string;
  readonly columns: Columns;
  readonly parameters: Query["parameters"];
}

/** Facts beside an entity's own events: traits of users, members of accounts. */
function aboutParts(population: Population, input: ScoreInput): About {
  if (input.members !== undefined) return memberParts(population, input, input.members);
  const traits = traitsOfModel(input.model);
  if (traits.length === 0) {
    return { parts: {}, joins: "", columns: { traitMask: "toUInt64(0)" }, parameters: {} };
  }
  return {
    parts: {
      about: traitsQuery(population.organization, population.zone.startOfDay(input.cutoffDay), {
        names: [...new Set(traits.map(({ trait }) => trait))],
      }),
    },
    joins: "LEFT JOIN about USING (entity)",
    columns: {
      traitHits: `arrayMap((trait, value) -> toUInt64(has(traits, (trait, value))),
        {traitNames:Array(String)}, {traitValues:Array(String)})`,
      traitMask: "arraySum((hit, bit) -> bitShiftLeft(hit, bit), traitHits, range(length(traitHits)))",
    },
    parameters: {
      traitNames: traits.map(({ trait }) => trait),
      traitValues: traits.map(({ value }) => value),
    },
  };
}

function memberParts(
  population: Population,
  { cutoffDay }: ScoreInput,
  { risks, usersVersion }: NonNullable<ScoreInput["members"]>,
): About {
  return {
    parts: { about: scoredMembersQuery(population, cutoffDay, risks, usersVersion) },
    joins: "LEFT JOIN about USING (entity)",
    columns: { isAccount: "true" },
    parameters: {},
  };
}

/** `accountEngagementOf`. */
const accountEngagement: Expressions = {
  columns: { engagementScore: "if(active90 = 0, NULL, 0.6 * meanEngagement + 40 * active28 / active90)" },
  parameters: {},
};

function scoreExpressions(population: Population, input: ScoreInput, engagement: Expressions): Expressions {
  const { horizonDays, cells, model } = input;
  const isBySilence = !isDeclared(population.settings);
  const risk = riskExpression(model);
  const returns = returnExpression(isBySilence ? model : null);
  const health = healthExpressions(input);
  const change = "toInt32(activeDays28) - toInt32(activeDaysPrevious28)";
  return {
    columns: {
      bgbbRisk: `transform(${cellNumberSql}, {cells:Array(Int32)}, {cellRisks:Array(Float64)}, 1.)`,
      state: `multiIf(hasLeft, 'churned', idleDays >= {horizonDays:Int32}, '${isBySilence ? "churned" : "inactive"}',
        tenureDays < ${newForDays}, 'new', 'active')`,
      ...engagement.columns,
      momentumScore: `if(tenureDays < ${leastTenureDays}, NULL,
        50 + 50 * (${change}) / (activeDays28 + activeDaysPrevious28 + ${damping}))`,
      risk: `if(${isScoredRow(population, horizonDays).sql}, ${risk.sql}, NULL)`,
      returnProbability: isBySilence ? `if(state = 'churned' AND n >= 0, ${returns.sql}, NULL)` : "NULL",
      ...health.columns,
    },
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
  if (model.rung !== 3) return { sql: "bgbbRisk", parameters: {} };
  const logOdds = ridgeLogOddsSql(model.ridge, model.design.traits.length);
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

/** `healthOf`. */
function healthExpressions({ healthWeights, riskScale }: ScoreInput): Expressions {
  const { healthyFrom, watchFrom, cappedTo } = healthLimits;
  const parts: HealthParts<string> = {
    engagement: "engagementScore",
    outlook: "100 * (1 - risk) / (1 - risk + risk / {evenOdds:Float64})",
    momentum: "momentumScore",
    adoption: "100 * adoption",
  };
  const names = ["engagement", "outlook", "momentum", "adoption"] as const;
  const weight = (name: keyof HealthParts) => `{${name}Weight:Float64}`;
  const total = names.map((name) => `if(isNull(${parts[name]}), 0, ${weight(name)})`);
  const points = names.map((name) => `ifNull(${parts[name]}, 0) * ${weight(name)}`);
  return {
    columns: {
      totalWeight: total.join(" + "),
      uncapped: `(${points.join(" + ")}) / totalWeight`,
      health: `multiIf(state = 'churned', 0, totalWeight = 0, NULL,
        ifNull(risk, 0) >= {cappedRisk:Float64}, least(toFloat64(${cappedTo}), uncapped), uncapped)`,
      colour: `multiIf(state = 'churned', 'churned', totalWeight = 0, 'none', state = 'new', 'onboarding',
        health >= ${healthyFrom}, 'healthy', health >= ${watchFrom}, 'watch', 'at_risk')`,
    },
    parameters: {
      evenOdds: riskScale.evenOdds,
      cappedRisk: riskScale.cap,
      ...Object.fromEntries(names.map((name) => [`${name}Weight`, Math.max(0, healthWeights[name])])),
    },
  };
}

/** The table's columns of users and accounts alike. */
const commonColumns: Columns = {
  ...{
    state: "state",
    colour: "colour",
    engagement: "engagementScore",
    momentum: "momentumScore",
    risk: "risk",
  },
  ...{ return_probability: "returnProbability", health: "health" },
  ...{ idle_days: "idleDays", tenure_days: "tenureDays", active_days_28: "activeDays28" },
  ...{
    active_days_previous_28: "activeDaysPrevious28",
    active_days_84: "activeDays84",
    volume_28: "volume28",
  },
  ...{ event_names_28: "eventNames28", mean_gap_days: "meanGapDays" },
  ...{ has_single_active_day: "hasSingleActiveDay", has_left: "hasLeft", x: "x", t: "t", n: "n" },
  adoption: "adoption",
};

const memberColumns: Columns = {
  ...{ active_members_28: "active28", active_members_previous_28: "activePrevious28" },
  ...{ active_members_90: "active90", top_share: "topShare", mean_risk_log_odds: "meanRiskLogOdds" },
  mean_engagement: "meanEngagement",
};

function asList(columns: Columns): string {
  return Object.entries(columns)
    .map(([name, sql]) => `${sql} AS ${name}`)
    .join(",\n");
}
