/**
 * The process that `kill.long.test.ts` kills: it works on the scores of the warehouse in DATA_DIR, and is
 * held at its statements. It prints the name of each statement that writes, and what the test asks for as
 * JSON.
 *
 *   DATA_DIR=FOLDER bun held-work.ts WORK…
 */
import { Zone } from "../../server/calendar/zone.ts";
import { currentSchema, type EventRow, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { warehouseFolder } from "../../server/process/data-folder.ts";
import type { Population } from "../../server/scoring/queries/engagement-events.ts";
import { healthByWeek } from "../../server/scoring/queries/lists/health-by-week.ts";
import { historyOf } from "../../server/scoring/queries/lists/reading.ts";
import { read } from "../../server/scoring/queries/query.ts";
import { computedRows, storedRows } from "../../server/scoring/queries/snapshot-rows.ts";
import { snapshotFor } from "../../server/scoring/queries/stored-snapshots.ts";
import { listRuns, recordOf } from "../../server/scoring/run/records.ts";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import { thinScores } from "../../server/warehouse/upkeep/thin-scores.ts";
import { holdStatements } from "../durability/held-process.ts";
import { msPerDay } from "../warehouse/support.ts";
import { daysIn, fillDays } from "./daily-runs-support.ts";
import { Installation } from "./installation.ts";
import { thinned } from "./kill-support.ts";
import { on } from "./run-support.ts";

const kinds = ["user", "account"] as const;
const organization = 1;
/** Both are of the week of Monday 172, on which there are three cut-offs to train at. */
const days = [173, 174] as const;
const [firstDay, today] = [4, 174];
const users = 40;
const snapshotDay = 100;

holdStatements((name) => console.log(/^(?:record: \w+ of \w+|[A-Z]+ [A-Z]+ \w+)/.exec(name)?.[0]));
const warehouse = await openChdbWarehouse({ folder: warehouseFolder(process.env.DATA_DIR ?? "") });

function load(token: string, events: readonly EventRow[]): Promise<void> {
  const body = Buffer.from(`${events.map(eventRow).join("\n")}\n`);
  const of = { table: "events", schema: currentSchema.events } as const;
  return warehouse.insertFrozen({ ...of, rows: events.length, body, token });
}

const numbers = Array.from({ length: users }, (_, index) => index + 1);

/** Some users come every few days, and some stay away for weeks. */
function first(): readonly EventRow[] {
  const isAway = (user: number, day: number) => user % 2 === 0 && (day + 9 * user) % 90 < 35;
  const all = Array.from({ length: today - firstDay }, (_, index) => firstDay + index);
  return numbers.flatMap((user) =>
    all
      .filter((day) => (day + user) % (2 + (user % 5)) === 0 && !isAway(user, day))
      .map((day) => on(organization, user, day)),
  );
}

/** Scores the days that are due. */
async function score(): Promise<void> {
  const subject = {
    warehouse,
    newOrganization: () => organization,
    insert: () => Promise.reject(new Error("events are loaded before")),
  };
  const installation = new Installation(subject, today);
  installation.organization();
  const { scoring } = installation;
  if (scoring === undefined) throw new Error("there is no scoring");
  // Whether there was an import follows from the events: its time is that of the last look, and later.
  const [{ imported } = { imported: 0 }] = await warehouse.rows<{ imported: number }>(
    "SELECT count() AS imported FROM events WHERE event = 'imported'",
  );
  installation.lastBulkLoadAtMs = imported > 0 ? (today + 0.5) * msPerDay + 1 : null;
  const scored = await scoring.scoredOrganization({
    id: organization,
    name: "killed",
    timezone: "UTC",
    requestsPerSecond: 1,
    itemsPerSecondSet: null,
    keepEventsDays: null,
    eventsFromDay: null,
    createdAtMs: 0,
  });
  await scoring.noticeChanges(scored, today);
  for (const day of days) {
    const runs = await listRuns(warehouse, organization);
    if (runs.filter((run) => run.day === day && !run.stale).length < kinds.length)
      await scoring.scoreAsOf(scored, { day }, () => undefined);
  }
}

/** The scores and the models of all days, without instants and versions. */
async function scores(): Promise<unknown> {
  const found: unknown[] = [];
  for (const kind of kinds) {
    for (const day of days) {
      const run = await recordOf(warehouse, { organization, kind, what: "run" }, day);
      const { model, bgbb, choice, backtest, counts, scale, riskScale, entities } = run?.body ?? {};
      const rows = await warehouse.rows(
        `SELECT * EXCEPT (version) FROM ${kind}_scores FINAL
         WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {day:Int32})
         ORDER BY ${kind}`,
        { organization, day },
      );
      const body = { model, bgbb, choice, backtest, counts, scale: scale?.scale, riskScale, entities };
      found.push({ kind, day, stale: run?.stale, rows, body });
    }
  }
  return found;
}

const weightedBy = (kind: Population["kind"], weight: number): Population => ({
  organization,
  kind,
  zone: new Zone("UTC"),
  settings: { weights: new Map([["opened", weight]]) },
});

/** Writes the snapshots of a day under a weight of the events. */
async function snapshots(weight: number): Promise<void> {
  for (const kind of kinds) await snapshotFor(warehouse, weightedBy(kind, weight), snapshotDay);
}

/** Of each snapshot that is valid, the weight under which it was made, its rows, and those that the events
 * give. */
async function validSnapshots(): Promise<unknown> {
  const volumes = (rows: Parameters<typeof read>[1]) =>
    read(warehouse, { ...rows, sql: `SELECT entity, volume28, idleDays FROM (${rows.sql}) ORDER BY entity` });
  const found: unknown[] = [];
  for (const kind of kinds) {
    const record = await recordOf(warehouse, { organization, kind, what: "snapshot" }, snapshotDay);
    if (record === undefined || record.stale) continue;
    const { settingsKey, rowsVersion } = record.body;
    const { weights } = JSON.parse(settingsKey) as { weights: [string, number][] };
    const weight = weights[0]?.[1] ?? 0;
    const stored = await volumes(storedRows({ kind, organization, day: snapshotDay, rowsVersion }));
    found.push({
      kind,
      weight,
      stored,
      computed: await volumes(computedRows(weightedBy(kind, weight), snapshotDay)),
    });
  }
  return found;
}

/** The days of which scores are stored, and those that histories and weeks show. */
async function thinnedDays(): Promise<unknown> {
  const { organization: of, today: toDay } = thinned;
  const shown = await Promise.all(
    kinds.map(async (kind) => ({
      history: (await historyOf(warehouse, kind, { organization: of, entity: 1, fromDay: 0, toDay })).map(
        ({ day }) => day,
      ),
      weeks: (await healthByWeek(warehouse, { organization: of, kind, day: toDay, weeks: 26 })).map(
        ({ watch }) => watch,
      ),
    })),
  );
  const stored = async (table: Parameters<typeof daysIn>[1]) => daysIn(warehouse, table, of);
  return {
    shown,
    records: await stored("score_records"),
    users: await stored("user_scores"),
    accounts: await stored("account_scores"),
  };
}

const print = (what: unknown) => console.log(JSON.stringify(what));
const works: Record<string, () => Promise<unknown>> = {
  load: () => load("first", first()),
  import: () =>
    load(
      "import",
      numbers.map((user) => on(organization, user, 120, "imported")),
    ),
  score,
  "weight 1": () => snapshots(1),
  "weight 2": () => snapshots(2),
  "fill days": () => fillDays(warehouse, thinned, 10),
  thin: () => thinScores(warehouse, thinned.today * msPerDay),
  "print scores": async () => print(await scores()),
  "print snapshots": async () => print(await validSnapshots()),
  "print days": async () => print(await thinnedDays()),
};
for (const work of process.argv.slice(2)) await works[work]?.();
await warehouse.close();
