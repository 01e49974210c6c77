/** The parts that tests of runs share: events of a handful of users, and reads of the stored data. */
import type { EventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { event, msPerDay, type WarehouseUnderTest } from "../warehouse/support.ts";

type Row = Record<string, unknown>;

/** All scores of a day, without what differs from run to run. */
export function scoresOf(
  subject: WarehouseUnderTest,
  organization: number,
  kind: "user" | "account",
  day: number,
): Promise<Row[]> {
  return subject.warehouse.rows<Row>(
    `SELECT * EXCEPT (organization, version) FROM ${kind}_scores FINAL
     WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {day:Int32})
     ORDER BY ${kind}`,
    { organization, day },
  );
}

/** An event of a user at noon or so of a day. */
export function on(organization: number, number: number, day: number, name = "opened"): EventRow {
  return event(organization, { user: number, account: 1, event: name, day, timeMs: day * msPerDay + 1_000 });
}

/** Events of users 1, 2 … on each of these days. */
export function all(organization: number, users: number, days: readonly number[]): EventRow[] {
  return Array.from({ length: users }, (_, index) =>
    days.map((day) => on(organization, index + 1, day)),
  ).flat();
}
