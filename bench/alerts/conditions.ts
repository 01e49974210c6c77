/** Conditions that about so many users come to meet today, found in scores and events: rules of every kind,
 * of which each fires. */
import type { RuleCondition } from "../../contract/alerts/rules.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";

/** A condition, and how many users came to meet it since yesterday. */
export interface Entered {
  readonly condition: RuleCondition;
  readonly users: number;
}

/** The scores of a user: of today, yesterday, and each of them a week and four weeks before. */
interface Scores {
  readonly states: readonly [today: string, yesterday: string];
  readonly risks: readonly (number | null)[];
  readonly healths: readonly (number | null)[];
  readonly volumes: readonly (number | null)[];
}

const changeDays = 7;
const usageDays = 28;
const daysBefore = [0, 1, changeDays, changeDays + 1, usageDays, usageDays + 1];
const unseenDays = { from: 3, to: 60 };

/** Whether a condition holds for a user, today (0) or yesterday (1). With an unknown figure it does not. */
type Judge = (scores: Scores, at: 0 | 1) => boolean;

/** A user enters when the condition holds today, and did not yesterday. */
function judged(condition: RuleCondition, users: readonly Scores[], holds: Judge): Entered {
  const isInside = (scores: Scores, at: 0 | 1) => scores.states[at] !== "churned" && holds(scores, at);
  const entered = users.filter((scores) => isInside(scores, 0) && !isInside(scores, 1));
  return { condition, users: entered.length };
}

/** By how much a figure rose since so many days before. NaN where one of the two is unknown. */
function rise(figures: readonly (number | null)[], at: 0 | 1, days: number): number {
  return (figures[at] ?? Number.NaN) - (figures[daysBefore.indexOf(days) + at] ?? Number.NaN);
}

const upTo = (end: number) => Array.from({ length: end }, (_, n) => n + 1);

function ofScores(users: readonly Scores[]): Entered[] {
  return [
    ...upTo(99).map((below) =>
      judged({ kind: "healthBelow", below }, users, ({ healths }, at) => (healths[at] ?? 101) < below),
    ),
    ...upTo(99).map((percent) =>
      judged({ kind: "riskUp", by: percent / 100, days: changeDays }, users, ({ risks }, at) => {
        return rise(risks, at, changeDays) >= percent / 100;
      }),
    ),
    ...upTo(99).map((by) =>
      judged({ kind: "healthDown", by, days: changeDays }, users, ({ healths }, at) => {
        return -rise(healths, at, changeDays) >= by;
      }),
    ),
    ...upTo(99).map((percent) =>
      judged({ kind: "usageDown", percent }, users, ({ volumes }, at) => {
        const before = volumes[daysBefore.indexOf(usageDays) + at] ?? 0;
        return before > 0 && (volumes[at] ?? Number.NaN) <= before * (1 - percent / 100);
      }),
    ),
    judged({ kind: "state", state: "inactive" }, users, ({ states }, at) => states[at] === "inactive"),
  ];
}

async function ofEvents(warehouse: Warehouse, organization: number, today: number): Promise<Entered[]> {
  const rows = await warehouse.rows<{ event: string; days: number; users: number }>(
    `SELECT event, {today:Int32} - toInt32(lastDay) AS days, count() AS users
     FROM (
       SELECT event, user, max(day) AS lastDay FROM user_event_days
       WHERE organization = {organization:UInt32} AND day < addDays(toDate32('1970-01-01'), {today:Int32}) GROUP BY event, user)
     WHERE days BETWEEN {from:Int32} AND {to:Int32} AND user IN (
       SELECT user FROM user_scores FINAL
       WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {today:Int32}) AND state != 'churned')
     GROUP BY event, days ORDER BY event, days`,
    { organization, today, ...unseenDays },
  );
  return rows.map(({ event, days, users }) => ({
    condition: { kind: "keyEventUnseen", event, days },
    users,
  }));
}

/** Conditions with a number of users close to the wanted one, one of each kind in turn. The same may come
 * several times.
 * @throws Error when no condition is within a quarter of it */
export async function conditionsWith(
  warehouse: Warehouse,
  organization: number,
  today: number,
  wanted: { readonly users: number; readonly conditions: number },
): Promise<Entered[]> {
  const days = daysBefore.map((before) => today - before);
  const users = await warehouse.rows<Scores>(
    `SELECT
       [anyIf(toString(state), place = 1), anyIf(toString(state), place = 2)] AS states,
       ${["risk", "health", "volume_28"].map((column) => `${byPlace(column)} AS ${column === "volume_28" ? "volumes" : `${column}s`}`).join(", ")}
     FROM (
       SELECT *, indexOf({days:Array(Int32)}, toInt32(day)) AS place FROM user_scores FINAL
       WHERE organization = {organization:UInt32} AND toInt32(day) IN {days:Array(Int32)})
     GROUP BY user`,
    { organization, days },
  );
  const all = [...ofScores(users), ...(await ofEvents(warehouse, organization, today))];
  const close = all
    .filter(({ users: found }) => Math.abs(found - wanted.users) <= wanted.users / 4)
    .toSorted((a, b) => Math.abs(a.users - wanted.users) - Math.abs(b.users - wanted.users));
  if (close.length === 0) throw new Error(`no condition has about ${wanted.users} users: take more users`);
  return inTurn(close, wanted.conditions);
}

const byPlace = (column: string) =>
  `arrayMap(at -> arrayFirst(pair -> pair.1 = at, groupArray((place, ${column}))).2, range(1, ${daysBefore.length + 1}))`;

/** One of each kind, then the next of each kind. A kind without any more begins again. */
function inTurn(close: readonly Entered[], conditions: number): Entered[] {
  const kinds = [...Map.groupBy(close, ({ condition }) => condition.kind).values()];
  return Array.from({ length: conditions }, (_, n) => {
    const kind = kinds[n % kinds.length] ?? [];
    return kind[Math.floor(n / kinds.length) % kind.length];
  }).filter((entered) => entered !== undefined);
}
