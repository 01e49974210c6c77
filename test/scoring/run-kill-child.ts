/**
 * The process that `run-kill.test.ts` kills: it scores the days that are due, and kills itself at a statement that writes.
 *
 *   bun run-kill-child.ts FOLDER first|import|score|result [STEP before|within|after]
 *
 * Each step is printed: the table that is written, and of records what they are of.
 */
import { currentSchema, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { listRuns, recordOf } from "../../server/scoring/run/records.ts";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import { msPerDay } from "../warehouse/support.ts";
import { Installation } from "./installation.ts";
import { on } from "./run-support.ts";

const [folder = "", work = "", step = "", when = ""] = process.argv.slice(2);
const organization = 1;
/** Both are of the week of Monday 172, on which there are three cut-offs to train at. */
const days = [173, 174] as const;
const [firstDay, today] = [4, 174];
const users = 40;
const warehouse = await openChdbWarehouse({ folder });
const command = warehouse.command.bind(warehouse);
const subject = {
  ...{ warehouse, newOrganization: () => organization },
  insert: () => Promise.reject(new Error("the child loads events itself")),
};
const installation = new Installation(subject, today);
installation.organization();

/** Some come every few days, and some stay away for weeks. The import has what the others did on one day. */
async function load(token: string): Promise<void> {
  const numbers = Array.from({ length: users }, (_, index) => index + 1);
  const isAway = (user: number, day: number) => user % 2 === 0 && (day + 9 * user) % 90 < 35;
  const events =
    token === "first"
      ? numbers.flatMap((user) =>
          Array.from({ length: today - firstDay }, (_, index) => firstDay + index)
            .filter((day) => (day + user) % (2 + (user % 5)) === 0 && !isAway(user, day))
            .map((day) => on(organization, user, day)),
        )
      : numbers.map((user) => on(organization, user, 150, "imported"));
  const body = Buffer.from(`${events.map(eventRow).join("\n")}\n`);
  const of = { table: "events", schema: currentSchema.events } as const;
  await warehouse.insertFrozen({ ...of, rows: events.length, body, token });
}

function isStep(name: string): boolean {
  console.log(name);
  return name === step;
}

function stepOf(...[sql, parameters]: Parameters<typeof command>): string | undefined {
  const table = /INSERT INTO (\w+)/.exec(sql)?.[1];
  return table && [table, parameters?.what, parameters?.kind].filter(Boolean).join(" ");
}

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

warehouse.command = async (...asked) => {
  const name = stepOf(...asked);
  const isHere = name !== undefined && isStep(name);
  if (isHere && when === "before") die();
  if (isHere && when === "within") setTimeout(die, Math.random() * 5);
  await command(...asked);
  if (isHere) die();
};

async function isDue(day: number): Promise<boolean> {
  const runs = await listRuns(warehouse, organization);
  return runs.filter((run) => run.day === day && !run.stale).length < 2;
}

async function score(): Promise<void> {
  const { scoring } = installation;
  if (scoring === undefined) throw new Error("there is no scoring");
  // Whether there was an import follows from the events: its time is that of the last look, and later.
  const [{ imported } = { imported: 0 }] = await warehouse.rows<{ imported: number }>(
    "SELECT count() AS imported FROM events WHERE event = 'imported'",
  );
  installation.lastImportAtMs = imported > 0 ? (today + 0.5) * msPerDay + 1 : null;
  const of = await scoring.scoredOrganization({ ...organizationOf() });
  await scoring.noticeChanges(of, today);
  for (const day of days) if (await isDue(day)) await scoring.scoreAsOf(of, { day }, () => undefined);
}

function organizationOf() {
  return {
    ...{ id: organization, name: "killed", timezone: "UTC", requestsPerSecond: 1, itemsPerSecondSet: null },
    ...{ keepEventsDays: null, eventsFromDay: null, createdAtMs: 0 },
  };
}

/** The scores and the models of all days, without instants and versions. */
async function result(): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const kind of ["user", "account"] as const) {
    for (const day of days) {
      const run = await recordOf(warehouse, { organization, kind, what: "run" }, day);
      const { model, bgbb, choice, backtest, counts, scale, riskScale, entities } = run?.body ?? {};
      const rows = await warehouse.rows(
        `SELECT * EXCEPT (version) FROM ${kind}_scores FINAL
         WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {day:Int32})
         ORDER BY ${kind}`,
        { organization, day },
      );
      found.push({ kind, day, stale: run?.stale, rows });
      found.push({
        kind,
        day,
        model,
        bgbb,
        choice,
        backtest,
        counts,
        scale: scale?.scale,
        riskScale,
        entities,
      });
    }
  }
  return found;
}

if (work === "first" || work === "import") await load(work);
if (work === "score") await score();
if (work === "result") console.log(JSON.stringify(await result()));
await warehouse.close();
