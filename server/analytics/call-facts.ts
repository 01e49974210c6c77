/**
 * The facts of all users or accounts for which a class of the call list may hold. The conditions here leave
 * out most rows; the classes themselves are decided in `ranking.ts`.
 */
import { contactEvent } from "../../contract/api/contacts.ts";
import { currencyDigits } from "../../contract/billing/currencies.ts";
import { msPerDay } from "../calendar/zone.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import { type CallScoresQuestion, callScoresQuery } from "../scoring/queries/lists/call-scores.ts";
import { sharpFallPoints } from "../scoring/queries/lists/to-call.ts";
import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { isIncluded, isIncludedAccount } from "../warehouse/schema/included.ts";
import { jsonSettings } from "./json-text.ts";
import { type CallFacts, type CallGround, leastVolumeBefore } from "./ranking.ts";
import { type PayerColumn, type PayersQuestion, payersSql } from "./revenue/payers-now.ts";
import type { Sql } from "./sql.ts";

/** Whose facts are read. `all`: users or accounts whether they pay or not. */
export type CallPopulation = "payers" | "non_payers" | "all";

export interface CallFactsQuestion {
  /** Its `untilMs` is the end of the days in which a scheduled end counts. */
  readonly payers: PayersQuestion;
  /** Undefined before the first run: then only ends and payments are known. */
  readonly scores: CallScoresQuestion | undefined;
  readonly ground: CallGround;
  readonly population: CallPopulation;
  /** At most this many: those with the highest MRR, then those with the highest churn risk. */
  readonly limit: number;
}

/** A row of the query. MRR by contract is in the reporting currency, of a payer without MRR by
 * subscriptions. */
export interface CallFactsRow extends CallFacts {
  readonly isByContract: boolean;
}

const payerColumns = [
  "mrr",
  "scheduled",
  "status",
  "hadMrr",
  "firstEndMs",
  "endSetMs",
  "pastDueMs",
] as const satisfies readonly PayerColumn[];

/** @throws WarehouseError */
export async function callFacts(warehouse: Warehouse, question: CallFactsQuestion): Promise<CallFactsRow[]> {
  const { payers, scores, ground, population, limit } = question;
  const billing = billedSql(payers, ground.nowMs - ground.horizonDays * msPerDay, population);
  const ofScores = scores === undefined ? noScores : callScoresQuery(scores);
  // Of those who pay nothing the churned are gone. A payer that churned by another target pays still.
  const isOfPopulation = {
    payers: "isPayer",
    non_payers: `NOT isPayer AND NOT hasEnded AND band NOT IN ${goneBands}`,
    all: `(isPayer OR (NOT hasEnded AND band NOT IN ${goneBands}))`,
  }[population];
  return warehouse.rows<CallFactsRow>(
    `SELECT entity, isPayer, isByContract, mrr, scheduledMrr, firstEndMs, endSetMs, pastDueMs,
       isByContract OR hadMrr AS hadMrr, state, risk, change, idleDays, volume28, volumeBefore,
       activeMembers, membersBefore, members90
     FROM (${billing.text}) AS billed
     LEFT JOIN (${ofScores.sql}) AS scores USING (entity)
     WHERE ${isOfPopulation} AND (scheduledMrr > 0 OR isNotNull(pastDueMs) OR (isNull(mrr) AND isNotNull(firstEndMs))
       OR ifNull(risk >= {highRisk:Float64}, false) OR (isPayer AND ifNull(idleDays >= {horizonDays:Int32}, true))
       OR ifNull(volumeBefore >= ${leastVolumeBefore} AND volume28 <= volumeBefore / 2, false)
       OR ifNull(change <= -${sharpFallPoints}, false))
     ORDER BY mrr DESC NULLS LAST, ifNull(risk, 0) * members90 DESC, entity LIMIT {limit:UInt32} ${jsonSettings}`,
    {
      ...billing.parameters,
      ...ofScores.parameters,
      limit,
      highRisk: ground.highRisk,
      horizonDays: ground.horizonDays,
    },
  );
}

/** How many of them pay. @throws WarehouseError */
export async function payerCount(warehouse: Warehouse, payers: PayersQuestion): Promise<number> {
  const { text, parameters } = billedSql(payers, payers.nowMs, "payers");
  const [row] = await warehouse.rows<{ readonly count: number }>(
    `SELECT countIf(isPayer) AS count FROM (${text}) ${jsonSettings}`,
    parameters,
  );
  return row?.count ?? 0;
}

const goneBands = "('churned', 'none')";

/**
 * Rows (entity, isPayer, isByContract, hasEnded, mrr and the other columns of payers). A payer has MRR, that
 * of payments that are overdue among it, or MRR in a currency without a rate, or a `contractValue` while no
 * subscription of it has ended.
 */
function billedSql(payers: PayersQuestion, earlierMs: number, population: CallPopulation): Sql {
  const { kind } = payers;
  const { text, parameters } = payersSql(payers, payerColumns, { earlierMs });
  const contract =
    kind === "user"
      ? "0."
      : `if(position(traits, '"contractValue":') > 0, JSONExtractFloat(traits, 'contractValue'), 0.)`;
  // Users who pay without an account are few: then no other user is read.
  const entities =
    kind === "account"
      ? `SELECT account AS entity, ${contract} AS contract FROM accounts FINAL
         WHERE organization = {organization:UInt32} AND account > 0 AND ${isIncludedAccount("account")}`
      : population === "payers"
        ? `SELECT entity, 0. AS contract FROM ${text}`
        : `SELECT user AS entity, 0. AS contract FROM users FINAL
           WHERE organization = {organization:UInt32} AND ${isIncluded("user")}`;
  const perMonth = 10 ** currencyDigits(payers.reporting) / 12;
  return {
    text: `
      SELECT entity, ifNull(payer.mrr, 0) = 0 AND contract > 0 AND NOT hasEnded AND NOT isUnrated AS isByContract,
        ifNull(payer.mrr > 0, false) OR isUnrated OR isByContract AS isPayer,
        ifNull(payer.status = 'canceled', false) AS hasEnded,
        isNull(payer.mrr) AND ifNull(payer.status, '') IN ('active', 'past_due', 'canceling') AS isUnrated,
        multiIf(isByContract, toNullable(toInt64(roundBankers(contract * ${perMonth}))), isUnrated, NULL, ifNull(payer.mrr, 0)) AS mrr,
        toInt64(ifNull(payer.scheduled, 0)) AS scheduledMrr, toBool(payer.hadMrr) AS hadMrr, payer.firstEndMs AS firstEndMs,
        payer.endSetMs AS endSetMs, payer.pastDueMs AS pastDueMs
      FROM (${entities}) AS entities LEFT JOIN ${text} AS payer USING (entity)`,
    parameters,
  };
}

const noScores: ReturnType<typeof callScoresQuery> = {
  sql: `SELECT toUInt32(0) AS entity, '' AS state, '' AS band, CAST(NULL AS Nullable(Float64)) AS risk,
    CAST(NULL AS Nullable(Float64)) AS change, CAST(NULL AS Nullable(Int32)) AS idleDays, CAST(NULL AS Nullable(Float64)) AS volume28,
    CAST(NULL AS Nullable(Float64)) AS volumeBefore, toUInt32(0) AS activeMembers, toUInt32(0) AS membersBefore,
    toUInt32(0) AS members90 WHERE false`,
  parameters: {},
};

/** How a user or an account is called, and what team members said about it. */
export interface CalledEntity {
  readonly entity: number;
  readonly id: string;
  /** The name, else the e-mail address, else the id. */
  readonly name: string;
  /** The attribute or trait `owner`, and that of a user's account. */
  readonly owner: string;
  readonly accountOwner: string;
  /** The attribute of an account; empty without one. */
  readonly renewsAt: string;
}

interface OfKind {
  readonly organization: number;
  readonly kind: EntityKind;
}

/** Names and owners of some users or accounts, by number. @throws WarehouseError */
export async function calledEntities(
  warehouse: Warehouse,
  { organization, kind }: OfKind,
  entities: readonly number[],
): Promise<ReadonlyMap<number, CalledEntity>> {
  if (entities.length === 0) return new Map();
  const trait = (column: string, key: string) =>
    `if(position(${column}, '"${key}":') > 0, JSONExtractString(${column}, '${key}'), '')`;
  const own =
    kind === "account"
      ? `SELECT account AS entity, account_id AS id, if(name = '', account_id, name) AS name, ${trait("traits", "owner")} AS owner,
           '' AS accountOwner, ${trait("traits", "renewsAt")} AS renewsAt
         FROM accounts FINAL WHERE organization = {organization:UInt32} AND account IN {entities:Array(UInt32)}`
      : `SELECT user AS entity, user_id AS id,
           multiIf(${trait("traits", "name")} != '', ${trait("traits", "name")}, email != '', email, user_id) AS name,
           ${trait("traits", "owner")} AS owner, owned.owner AS accountOwner, '' AS renewsAt
         FROM (SELECT * FROM users FINAL WHERE organization = {organization:UInt32} AND user IN {entities:Array(UInt32)}) AS own
         LEFT JOIN (
           SELECT account, ${trait("traits", "owner")} AS owner FROM accounts FINAL
           WHERE organization = {organization:UInt32}) AS owned ON owned.account = own.account`;
  const rows = await warehouse.rows<CalledEntity>(`${own} ${jsonSettings}`, { organization, entities });
  return new Map(rows.map((row) => [row.entity, row]));
}

/** When some users, or members of some accounts, were contacted last, in unix milliseconds by number. Raw
 * events are read by their users.
 * @throws WarehouseError */
export async function lastContacts(
  warehouse: Warehouse,
  { organization, kind }: OfKind,
  entities: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (entities.length === 0) return new Map();
  const members =
    kind === "user"
      ? "{entities:Array(UInt32)}"
      : `(SELECT user FROM users FINAL
          WHERE organization = {organization:UInt32} AND account IN {entities:Array(UInt32)})`;
  const rows = await warehouse.rows<{ readonly entity: number; readonly atMs: number }>(
    `SELECT ifNull(${kind}, 0) AS entity, toUnixTimestamp64Milli(max(time)) AS atMs FROM events
     WHERE organization = {organization:UInt32} AND user IN ${members} AND event = {contactEvent:String}
       AND entity IN {entities:Array(UInt32)}
     GROUP BY entity`,
    { organization, entities, contactEvent },
  );
  return new Map(rows.map(({ entity, atMs }) => [entity, atMs]));
}

/** The churn risks of some users or accounts on some days, by `${entity} ${day}`. @throws WarehouseError */
export async function risksOfDays(
  warehouse: Warehouse,
  { organization, kind }: OfKind,
  asked: readonly { readonly entity: number; readonly day: number }[],
): Promise<ReadonlyMap<string, number | null>> {
  if (asked.length === 0) return new Map();
  const rows = await warehouse.rows<{ entity: number; day: number; risk: number | null }>(
    `SELECT ${kind} AS entity, toInt32(day) AS day, risk FROM ${kind}_scores FINAL
     WHERE organization = {organization:UInt32} AND ${kind} IN {entities:Array(UInt32)}
       AND toInt32(day) IN {days:Array(Int32)}`,
    { organization, entities: asked.map(({ entity }) => entity), days: asked.map(({ day }) => day) },
  );
  return new Map(rows.map(({ entity, day, risk }) => [`${entity} ${day}`, risk]));
}
