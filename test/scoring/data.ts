/** Reads the real logs and the published tables beside the checkout. They are always there in CI. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { dayNumber, msPerDay } from "../../server/calendar/zone.ts";
import type { CountedCell } from "../../server/scoring/churn/bgbb-fit.ts";
import type { DayEvent } from "./features.ts";
import type { EntityLog } from "./snapshot.ts";

const folder = join(import.meta.dir, "..", "..", "..", "shared", "data");

/** A log of entities and the days that it covers. */
export interface ActivityLog {
  readonly entities: readonly EntityLog[];
  readonly firstDay: number;
  /** The day after the last with an event. */
  readonly endDay: number;
}

/** `2022-01-01` as days since 1970-01-01. */
export function day(date: string): number {
  const [year = 0, month = 0, ofMonth = 0] = date.split("-").map(Number);
  const number = dayNumber(year, month, ofMonth);
  if (number === undefined) throw new RangeError(`${date} is no date`);
  return number;
}

/** 125,644 commits of people in public projects. An entity is a user at an account, and an event is a kind of
 * commit. */
export function readGitLog(): ActivityLog {
  const lines = gunzipSync(readFileSync(join(folder, "git_activity_log.csv.gz"))).toString();
  return collect(
    records(lines).map(({ unix_time, account, user, event }) => ({
      entity: `${user} at ${account}`,
      account: account ?? "",
      day: Math.floor((Number(unix_time) * 1_000) / msPerDay),
      event: event ?? "",
    })),
  );
}

/** The purchases of 23,570 customers from 1997-01-01 to 1998-06-30. */
export function readCdnow(): ActivityLog {
  const lines = readFileSync(join(folder, "CDNOW_master.txt"), "utf8").split("\n");
  const fields = lines.map((line) => line.trim().split(/\s+/));
  return collect(
    fields
      .filter(([, date = ""]) => /^\d{8}$/.test(date))
      .map(([customer = "", date = ""]) => ({
        entity: customer,
        day: day(date.replace(/(....)(..)(..)/, "$1-$2-$3")),
        event: "purchase",
      })),
  );
}

/** The cells of 11,104 donors over six years (Fader, Hardie and Shang 2010). */
export function readDonations(): CountedCell[] {
  return numbers("donations.csv").map(
    ({ frequency: x = 0, recency: t = 0, periods: n = 0, weights: count = 0 }) => ({
      x,
      t,
      n,
      count,
    }),
  );
}

/** A file of numbers with a line of column names. Words become NaN. */
export function numbers(file: string): Record<string, number>[] {
  return records(readFileSync(join(folder, file), "utf8")).map((record) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, Number(value)])),
  );
}

/** A file with a line of column names, by name. */
export function table(file: string): Record<string, string>[] {
  return records(readFileSync(join(folder, file), "utf8"));
}

/** A packed file of customers, by column. */
export function crossSection(file: string): Record<string, string>[] {
  return records(
    gunzipSync(readFileSync(join(folder, file)))
      .toString()
      .replaceAll("\r", ""),
  );
}

function records(text: string): Record<string, string>[] {
  const [head = "", ...lines] = text.trim().split("\n");
  const names = head.split(",");
  return lines.map((line) => {
    const values = line.split(",");
    return Object.fromEntries(names.map((name, i) => [name, values[i] ?? ""]));
  });
}

interface LoggedEvent {
  readonly entity: string;
  readonly account?: string;
  readonly day: number;
  readonly event: string;
}

function collect(events: readonly LoggedEvent[]): ActivityLog {
  const counts = new Map<string, Map<string, DayEvent>>();
  const accounts = new Map(events.map(({ entity, account }) => [entity, account]));
  const numbers = new Map([...new Set(accounts.values())].map((account, index) => [account, index + 1]));
  let [firstDay, lastDay] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { entity, day, event } of events) {
    const own = counts.get(entity) ?? new Map<string, DayEvent>();
    const key = `${day} ${event}`;
    counts.set(entity, own.set(key, { day, event, count: (own.get(key)?.count ?? 0) + 1 }));
    firstDay = Math.min(firstDay, day);
    lastDay = Math.max(lastDay, day);
  }
  const entities = [...counts].map(([entity, own]) => {
    const account = accounts.get(entity);
    return {
      log: [...own.values()].sort((a, b) => a.day - b.day),
      ...(account !== undefined && { account: numbers.get(account) ?? 0 }),
    };
  });
  return { entities, firstDay, endDay: lastDay + 1 };
}
