/**
 * The judgements of many rules about one scored day, in one statement for a range of entities. Rows of the
 * day, and of the days that rules compare with, are read once, and each rule adds an expression. See
 * docs/decisions/0086.
 */
import { boundBitmap, type EntitySet } from "../../../analytics/entities/entity-sets.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import { windowStart } from "../../../scoring/scores/observed-days.ts";
import type { Parameter } from "../../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../../warehouse/schema/included.ts";
import { dayParameter } from "../../../warehouse/upkeep/keep-events.ts";
import { conditionSql, type DailyCondition, isOfScores, type JudgedCondition } from "./conditions.ts";
import type { Run } from "./due-days.ts";
import { judgements } from "./readings-query.ts";

/** The part of a rule that the engine judges. */
export interface RuleOfDay {
  readonly condition: DailyCondition;
  /** Entities outside the scope are out. Undefined for a rule about all entities. */
  readonly scope: EntitySet | undefined;
  /** The run whose values a rise or a fall compares with; undefined for other conditions, or without
   * scores. */
  readonly before: Run | undefined;
}

export interface DayQuestion {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly run: Run;
  /** The run of the last decided day; undefined without one. */
  readonly last: Run | undefined;
  readonly rules: readonly RuleOfDay[];
  /** Entities that are read although no rule matches them: rules keep states of them. */
  readonly followed: readonly number[];
  /** The range of the numbers of entities. */
  readonly numbers: { readonly from: number; readonly below: number };
}

/** An entity with a score row of the day. */
export interface JudgedEntity {
  readonly entity: number;
  /** A digit of `judgements` for each rule. */
  readonly codes: string;
  /** Whether it has a row of the last decided day. */
  readonly hadRow: boolean;
  /** Whether it is younger than the last decided day. */
  readonly isNew: boolean;
}

interface Query {
  readonly sql: string;
  readonly parameters: Record<string, Parameter>;
}

/** Rows of `JudgedEntity`, in the order of numbers. */
export function dayQuery(question: DayQuestion): Query {
  const { organization, kind, run, last, rules, followed, numbers } = question;
  const statement = new Statement(question);
  const codes = rules.map((rule, at) => statement.code(rule, at));
  const { inside } = judgements;
  return {
    sql: `
      SELECT entity, arrayStringConcat(arrayMap(each -> toString(each), judged)) AS codes, hadRow, isNew
      FROM (
        SELECT entity, [${codes.join(", ")}] AS judged, toBool(rowsBefore > 0) AS hadRow, toBool(tenureDays <= {gap:Int32}) AS isNew
        FROM (
          SELECT entity, countIf(place = 1) AS rowsNow, countIf(place = {lastPlace:UInt8}) AS rowsBefore,
            anyIf(state = 'churned', place = 1) AS isChurned, anyIf(tenure_days, place = 1) AS tenureDays
            ${statement.columns()}
          FROM (
            SELECT *, ${kind} AS entity, volume_28 AS volume28, toUInt8(indexOf({days:Array(Int32)}, toInt32(day))) AS place
            FROM ${kind}_scores FINAL
            WHERE organization = {organization:UInt32} AND day IN (${statement.days()})
              AND ${kind} >= {numbersFrom:UInt32} AND ${kind} < {numbersBelow:UInt32}
              AND version >= {versions:Array(UInt64)}[place]
              ${kind === "user" ? `AND ${isIncluded("user")}` : ""})
          GROUP BY entity HAVING rowsNow > 0) AS scored
        ${statement.doings()})
      WHERE has(judged, ${inside}) OR entity IN {followed:Array(UInt32)}
      ORDER BY entity`,
    parameters: {
      ...statement.parameters(),
      organization,
      numbersFrom: numbers.from,
      numbersBelow: numbers.below,
      followed: followed.filter((one) => one >= numbers.from && one < numbers.below),
      gap: run.day - (last?.day ?? 0),
    },
  };
}

/** The parts of a statement that its rules share. */
class Statement {
  readonly #kind: EntityKind;
  /** The run of the day. */
  readonly #run: Run;
  /** The runs that are read, the run of the day first. Places begin at 1. */
  readonly #runs: readonly Run[];
  readonly #lastPlace: number;
  readonly #columns = new Map<string, string>();
  readonly #events = new Map<string, string>();
  readonly #parameters: Record<string, Parameter> = {};

  constructor({ kind, run, last, rules }: DayQuestion) {
    const compared = [last, ...rules.map(({ before }) => before)].filter((one) => one !== undefined);
    this.#kind = kind;
    this.#run = run;
    this.#runs = [run, ...new Map(compared.map((one) => [one.day, one])).values()];
    this.#lastPlace = last === undefined ? 0 : this.#placeOf(last);
  }

  #placeOf({ day }: Run): number {
    return this.#runs.findIndex((run) => run.day === day) + 1;
  }

  /** An expression with a rule's judgement. @param at the rule's place in the statement */
  code({ condition, scope, before }: RuleOfDay, at: number): string {
    const { churned, out } = judgements;
    const judged = isOfScores(condition)
      ? this.#ofScores(condition, before, at)
      : this.#ofEvent(condition, at);
    return `multiIf(isChurned, ${churned}, ${scope === undefined ? "" : `NOT ${this.#isIn(scope, at)}, ${out}, `}${judged})`;
  }

  #isIn({ bitmap }: EntitySet, at: number): string {
    this.#parameters[`scope${at}`] = bitmap;
    return `bitmapContains(${boundBitmap(`scope${at}`)}, entity)`;
  }

  #ofScores(condition: JudgedCondition, before: Run | undefined, at: number): string {
    const { neither, inside, out } = judgements;
    const sql = conditionSql(condition, String(at));
    const hasBefore = sql.lookbackDays > 0;
    if (hasBefore && before === undefined) return neither;
    const { inFrom, outFrom } = sql.limits(this.#run.body);
    Object.assign(this.#parameters, sql.parameters, { [`inFrom${at}`]: inFrom, [`outFrom${at}`]: outFrom });
    const of = {
      value: this.#column(sql.value, 1),
      before: before !== undefined ? this.#column(sql.value, this.#placeOf(before)) : "0.",
    };
    const isUnknown = `isNaN(${of.value})${hasBefore ? ` OR isNaN(${of.before})` : ""}`;
    return `${isUnknown}, ${neither},
      ${sql.inside({ ...of, from: `{inFrom${at}:Float64}` })}, ${inside},
      ${sql.out({ ...of, from: `{outFrom${at}:Float64}` })}, ${out}, ${neither}`;
  }

  /** The name of the column with a value on a day: NaN where the value or the row is missing. */
  #column(value: string, place: number): string {
    const sql = `ifNull(anyIf(toNullable(toFloat64(${value})), place = ${place}), nan)`;
    const name = this.#columns.get(sql) ?? `value${this.#columns.size}`;
    this.#columns.set(sql, name);
    return name;
  }

  /** An event is unseen when it was done before, and enough observed days passed since. */
  #ofEvent({ event, days }: Extract<DailyCondition, { kind: "keyEventUnseen" }>, at: number): string {
    const { inside, out } = judgements;
    const name = this.#events.get(event) ?? `done${this.#events.size}`;
    this.#events.set(event, name);
    const { day, body } = this.#run;
    this.#parameters[`unseenBefore${at}`] = windowStart(day, days - 1, body.outages);
    return `${name} > 0 AND ${name} < {unseenBefore${at}:Int32}, ${inside}, ${out}`;
  }

  columns(): string {
    return [...this.#columns].map(([sql, name]) => `, ${sql} AS ${name}`).join("");
  }

  days(): string {
    return this.#runs.map((_, at) => dayParameter(`day${at}`)).join(", ");
  }

  /** The last days on which entities did the events of rules, before the day. */
  doings(): string {
    if (this.#events.size === 0) return "";
    const columns = [...this.#events.values()].map(
      (name) => `maxIf(toInt32(day), event = {${name}:String}) AS ${name}`,
    );
    return `
      LEFT JOIN (
        SELECT ${this.#kind} AS entity, ${columns.join(", ")}
        FROM user_event_days
        WHERE organization = {organization:UInt32} AND event IN {doneEvents:Array(String)} AND day < ${dayParameter("day0")}
          AND ${this.#kind} >= {numbersFrom:UInt32} AND ${this.#kind} < {numbersBelow:UInt32} AND ${isIncluded("user")}
        GROUP BY entity) AS doings USING (entity)`;
  }

  parameters(): Record<string, Parameter> {
    return {
      ...this.#parameters,
      ...Object.fromEntries(this.#runs.map(({ day }, at) => [`day${at}`, day])),
      ...Object.fromEntries([...this.#events].map(([event, name]) => [name, event])),
      ...(this.#events.size > 0 && { doneEvents: [...this.#events.keys()] }),
      days: this.#runs.map(({ day }) => day),
      versions: this.#runs.map(({ body }) => body.rowsVersion),
      lastPlace: this.#lastPlace,
    };
  }
}
