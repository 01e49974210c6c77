/** Organizations with scores of all days before today, as the schedule leaves them in a data folder: today is
 * the only day to score. */
import { msPerDay } from "../../server/calendar/zone.ts";
import { firstDayOf } from "../../server/scoring/run/population.ts";
import { historyDays } from "../../server/scoring/scores/history-days.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { eventCounts } from "../../server/warehouse/upkeep/event-counts.ts";
import { needs, writes } from "../../test/ledger/writes.ts";
import { generateHistory } from "../history/generated-in-engine.ts";
import { createOrganization, type Opened, scoringOf, withOpened, writeUsers } from "../history/opened.ts";

export interface Population {
  readonly organizations: number;
  /** Of each organization. */
  readonly users: number;
  readonly events: number;
  /** In days since 1970-01-01, UTC. */
  readonly today: number;
}

const historyWeeks = 26;
const kinds = ["user", "account"] as const;
/** Days before today that are scored: those with which conditions compare today. */
const scoredBefore = [28, 7, 1];
const usersAtOnce = 5_000;
/** A million rows of a statement would take 700 MB. */
const rowsAtOnce = 200_000;

/** Fills a data folder. All organizations have the same users and events.
 * @returns a token that writes to the first organization */
export function fillOrganizations(dataDir: string, population: Population): Promise<string> {
  return withOpened(dataDir, async (opened) => {
    const tokens: string[] = [];
    for (let number = 1; number <= population.organizations; number += 1) {
      tokens.push(await fillOrganization(opened, `bench-${number}`, population));
    }
    const [token = ""] = tokens;
    return token;
  });
}

async function fillOrganization(opened: Opened, name: string, population: Population): Promise<string> {
  const { users, events, today } = population;
  const { analysis, ledger } = opened;
  const { warehouse } = analysis;
  const { organization, token } = await createOrganization(opened, name);
  const { id } = organization;
  await generateHistory(warehouse, {
    organization: id,
    users,
    events,
    days: 7 * historyWeeks,
    toDay: today - 1,
  });
  for (let from = 1; from <= users; from += usersAtOnce) {
    const some = Math.min(usersAtOnce, users - from + 1);
    await writeUsers(
      opened,
      id,
      Array.from({ length: some }, (_, n) => from + n),
    );
  }
  const dayCounts = await eventCounts(warehouse, id);
  await ledger.transact(needs({}), () => writes(Date.now(), { dayCounts }));
  for (const before of scoredBefore) {
    const scoring = scoringOf(opened, () => morningOf(today - before));
    const scored = await scoring.scoredOrganization(organization);
    await scoring.scoreAsOf(scored, { day: today - before }, () => undefined);
  }
  const firstDay = (await firstDayOf(warehouse, id, today)) ?? today;
  await repeatScores(warehouse, id, population, historyDays(today, firstDay));
  return token;
}

/** When a day is scored and its rules are decided. */
export function morningOf(day: number): number {
  return day * msPerDay + msPerDay / 4;
}

/** Gives each other day the scores of the next day that is scored: a run for each of 100 days would take most
 * of the time. */
async function repeatScores(
  warehouse: Warehouse,
  organization: number,
  { today, users }: Population,
  history: readonly number[],
): Promise<void> {
  const sources = scoredBefore.map((before) => today - before);
  const daysAtOnce = Math.max(1, Math.floor(rowsAtOnce / users));
  for (const from of sources) {
    const days = history.filter((day) => day !== from && sources.find((source) => source >= day) === from);
    for (let at = 0; at < days.length; at += daysAtOnce) {
      const repeated = { organization, from, days: days.slice(at, at + daysAtOnce) };
      for (const kind of kinds) await repeat(warehouse, `${kind}_scores`, "true", repeated);
      await repeat(warehouse, "score_records", "what = 'run'", repeated);
    }
  }
}

function repeat(
  warehouse: Warehouse,
  table: string,
  condition: string,
  { organization, from, days }: { organization: number; from: number; days: readonly number[] },
): Promise<void> {
  return warehouse.command(
    `INSERT INTO ${table} SETTINGS insert_deduplicate = 0
     SELECT * REPLACE (addDays(toDate32('1970-01-01'), arrayJoin({days:Array(Int32)})) AS day)
     FROM (
       SELECT * FROM ${table} FINAL
       WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {from:Int32}) AND ${condition})`,
    { organization, from, days },
    { maxSeconds: 600 },
  );
}
