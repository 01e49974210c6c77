/**
 * An organization's events, users, accounts or changes of subscriptions as a stream of bytes: JSON lines, CSV
 * (RFC 4180) or Parquet. It contains everything that was loaded: drain the inbox first.
 *
 * Properties come out unchanged: their stored JSON text is put into the line and never parsed. So no number
 * is rounded and no key moves. Events come in the order in which they are stored (user, then time), so memory
 * stays flat. Only the users' ids are held for the join.
 */
import { contactEvent } from "../../../contract/api/contacts.ts";
import { amountInUnitsSql } from "../../../contract/billing/currencies.ts";
import type { Warehouse } from "../engine/warehouse.ts";

export const exportTables = ["events", "users", "accounts", "subscriptions", "contacts"] as const;
export type ExportTable = (typeof exportTables)[number];

export const exportFormats = ["jsonl", "csv", "parquet"] as const;
export type ExportFormat = (typeof exportFormats)[number];

export interface ExportRequest {
  readonly organization: number;
  readonly table: ExportTable;
  readonly format: ExportFormat;
}

/** The export's bytes. @throws WarehouseError during reading; the bytes so far are incomplete */
export async function* exportTable(warehouse: Warehouse, request: ExportRequest): AsyncIterable<Uint8Array> {
  const { organization, table, format } = request;
  const source = sources[table];
  switch (format) {
    case "jsonl": {
      const sql = `SELECT ${jsonLine(source)} FROM ${source.from} SETTINGS ${inOrder}`;
      yield* warehouse.stream(sql, "TabSeparatedRaw", { organization });
      break;
    }
    case "csv": {
      const texts = source.columns.map(({ name, value, text = value }) => `${text} AS ${name}`);
      const sql = `SELECT ${texts.join(", ")} FROM ${source.from} SETTINGS ${inOrder}, ${csvSettings}`;
      yield* warehouse.stream(sql, "CSVWithNames", { organization });
      break;
    }
    case "parquet": {
      const values = source.columns.map(({ name, value }) => `${value} AS ${name}`);
      const sql = `SELECT ${values.join(", ")} FROM ${source.from}
        SETTINGS ${inOrder}, output_format_parquet_row_group_size = ${parquetRowGroupRows}`;
      yield* warehouse.stream(sql, "Parquet", { organization });
    }
  }
}

/** A group of rows is held in memory before it is written. */
const parquetRowGroupRows = 100_000;

// RFC 4180 ends a line with CR LF and knows no NULL.
const csvSettings = "output_format_csv_crlf_end_of_line = 1, format_csv_null_representation = ''";

/** A column of a line. */
export interface Column {
  readonly name: string;
  /** The value with its own type, for Parquet. */
  readonly value: string;
  /** Its text, for CSV, where it is not the value's own. */
  readonly text?: string;
  /** Its JSON, where it is not the text as a JSON string. */
  readonly json?: string;
}

/** Rows that are written as lines. */
export interface Source {
  readonly from: string;
  readonly columns: readonly Column[];
}

// One thread, and a join that keeps the order of its left side: rows come as the subquery sorts them. Small
// blocks: 7 million events as JSON lines took 220 MB above the idle engine, with the default blocks 430.
export const inOrder =
  "max_threads = 1, max_block_size = 8192, join_algorithm = 'hash', query_plan_join_swap_table = 'false'";

export const messageId = "multiIf(id_is_message_id, toString(id), message_id = '', NULL, message_id)";

const knownEmail = "nullIf(u.email, '')";

const accountJson = `if(u.account = 0, NULL, concat(
  '{"id":', toJSONString(a.account_id), ',"name":', toJSONString(a.name),
  ',"avatar":', ${jsonOrNull("a.avatar")}, '}'))`;

const knownUser = "nullIf(u.user_id, '')";
const knownCurrency = "nullIf(toString(s.currency), '')";
const knownAccount = "nullIf(a.account_id, '')";

const contactText = (name: string) => `nullIf(JSONExtractString(e.properties, '${name}'), '')`;

const sources: Record<ExportTable, Source> = {
  events: {
    from: `(SELECT user, event, time, received_at, properties, id, id_is_message_id, message_id, is_activity FROM events
            WHERE organization = {organization:UInt32} ORDER BY user, time, id) AS e
      LEFT ANY JOIN (SELECT user, user_id FROM users FINAL WHERE organization = {organization:UInt32}) AS u
      ON e.user = u.user`,
    columns: [
      { name: "userId", value: "u.user_id" },
      { name: "event", value: "toString(e.event)" },
      { name: "timestamp", value: "e.time", text: isoText("e.time") },
      { name: "receivedAt", value: "e.received_at", text: isoText("e.received_at") },
      { name: "properties", value: "e.properties", json: "e.properties" },
      { name: "messageId", value: messageId, json: jsonOrNull(messageId) },
      { name: "isActivity", value: "e.is_activity", json: "toString(e.is_activity)" },
    ],
  },
  users: {
    from: `(SELECT user, user_id, email, traits, is_account_owner, account FROM users FINAL
            WHERE organization = {organization:UInt32} ORDER BY user) AS u
      LEFT ANY JOIN (SELECT account, account_id, name, avatar FROM accounts FINAL
            WHERE organization = {organization:UInt32}) AS a
      ON u.account = a.account`,
    columns: [
      { name: "userId", value: "u.user_id" },
      { name: "email", value: knownEmail, json: jsonOrNull(knownEmail) },
      { name: "properties", value: "u.traits", json: "u.traits" },
      { name: "isAccountOwner", value: "u.is_account_owner", json: jsonOrNull("u.is_account_owner") },
      { name: "account", value: accountJson, json: `ifNull(${accountJson}, 'null')` },
    ],
  },
  accounts: {
    from: `(SELECT account, account_id, name, avatar, traits FROM accounts FINAL
            WHERE organization = {organization:UInt32} ORDER BY account) AS a`,
    columns: [
      { name: "id", value: "a.account_id" },
      { name: "name", value: "a.name" },
      { name: "avatar", value: "a.avatar", json: jsonOrNull("a.avatar") },
      { name: "properties", value: "a.traits", json: "a.traits" },
    ],
  },
  contacts: {
    from: `(SELECT user, account, time, properties, id FROM events
            WHERE organization = {organization:UInt32} AND event = '${contactEvent}' ORDER BY user, time, id) AS e
      LEFT ANY JOIN (SELECT user, user_id FROM users FINAL WHERE organization = {organization:UInt32}) AS u
      ON e.user = u.user
      LEFT ANY JOIN (SELECT account, account_id FROM accounts FINAL WHERE organization = {organization:UInt32}) AS a
      ON e.account = a.account`,
    columns: [
      { name: "userId", value: "u.user_id" },
      { name: "accountId", value: knownAccount, json: jsonOrNull(knownAccount) },
      { name: "timestamp", value: "e.time", text: isoText("e.time") },
      ...["kind", "by", "text"].map((name) => ({
        name,
        value: contactText(name),
        json: jsonOrNull(contactText(name)),
      })),
    ],
  },
  subscriptions: {
    from: `(SELECT subscription, from, status, plan, mrr, currency, quantity, period_end, ends_at, payer_account,
              payer_user, is_involuntary
            FROM subscriptions FINAL
            ARRAY JOIN from, status, plan, mrr, currency, quantity, period_end, ends_at, payer_account, payer_user, is_involuntary
            WHERE organization = {organization:UInt32} ORDER BY subscription, from) AS s
      LEFT ANY JOIN (SELECT user, user_id FROM users FINAL WHERE organization = {organization:UInt32}) AS u
      ON s.payer_user = u.user
      LEFT ANY JOIN (SELECT account, account_id FROM accounts FINAL WHERE organization = {organization:UInt32}) AS a
      ON s.payer_account = a.account`,
    columns: [
      { name: "subscriptionId", value: "s.subscription" },
      { name: "userId", value: knownUser, json: jsonOrNull(knownUser) },
      { name: "accountId", value: knownAccount, json: jsonOrNull(knownAccount) },
      { name: "from", value: "s.from", text: isoText("s.from") },
      { name: "status", value: "toString(s.status)" },
      { name: "plan", value: "nullIf(s.plan, '')", json: jsonOrNull("nullIf(s.plan, '')") },
      // A CSV is for spreadsheets: 49.00. Other formats are for programs: 4900.
      {
        name: "mrr",
        value: "s.mrr",
        json: "toString(s.mrr)",
        text: amountInUnitsSql("s.mrr", "toString(s.currency)"),
      },
      { name: "currency", value: knownCurrency, json: jsonOrNull(knownCurrency) },
      { name: "quantity", value: "s.quantity", json: jsonOrNull("s.quantity") },
      { name: "currentPeriodEnd", ...timeOrNull("s.period_end") },
      { name: "endsAt", ...timeOrNull("s.ends_at") },
      { name: "isInvoluntary", value: "s.is_involuntary", json: "toString(s.is_involuntary)" },
    ],
  },
};

/** A time that may be missing. */
export function timeOrNull(value: string): Pick<Column, "value" | "text" | "json"> {
  return { value, text: isoText(value), json: jsonOrNull(isoText(value)) };
}

/** The JSON of a value that may be null. */
export function jsonOrNull(value: string): string {
  return `ifNull(toJSONString(${value}), 'null')`;
}

/** `2026-03-01T09:30:00.000Z` */
export function isoText(time: string): string {
  return `concat(replaceOne(toString(${time}), ' ', 'T'), 'Z')`;
}

/** The JSON of a row, as an expression. */
export function jsonLine({ columns }: Source): string {
  const members = columns.map(
    ({ name, value, text = value, json = `toJSONString(${text})` }, index) =>
      `'${index === 0 ? "" : ","}"${name}":', ${json}`,
  );
  return `concat('{', ${members.join(", ")}, '}')`;
}
