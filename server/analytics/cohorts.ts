/**
 * Cohorts as bitmaps: who entered in which period, each group of a split apart. And periods as bitmaps: who was
 * active. A cell of a retention table is how many the two have in common.
 */
import { entriesOf } from "./cohort-entries.ts";
import { included } from "./included.ts";
import { type Grid, type RetentionQuestion, retentionLimits } from "./retention-question.ts";
import { dateParameter, type Sql } from "./sql.ts";
import { splitValues } from "./trait-split.ts";

/** `value` is the text of a group's value, and null but for the kind "value". */
export interface Group {
  /** All users; those with a value; with one that few have; with none. */
  readonly kind: "all" | "value" | "other" | "none";
  readonly value: string | null;
}

/** Rows of `kind`, `value`, `cohort` (its first day) and `members` (a bitmap). */
export function cohortBitmaps(question: RetentionQuestion, grid: Grid): Sql {
  const entries = entriesOf(question);
  const within = `SELECT user, day FROM (${entries.text})
    WHERE day >= {firstDay:Int32} AND day < {endOfCohorts:Int32} AND day <= {today:Int32}`;
  const { text, parameters } =
    question.split === null
      ? { text: unsplit(within), parameters: {} }
      : ranked(splitValues(within, question.split, question.transitions));
  return {
    text,
    parameters: {
      ...entries.parameters,
      ...parameters,
      organization: question.organization,
      today: question.today,
      firstDay: grid.firstCohort,
      endOfCohorts: grid.endOfCohorts,
      starts: grid.starts,
    },
  };
}

const cohort = "roundDown(day, {starts:Array(Int32)})";

function unsplit(entries: string): string {
  return `
    SELECT 'all' AS kind, NULL AS value, ${cohort} AS cohort, ${membersOf("user")} AS members
    FROM (${entries}) GROUP BY cohort`;
}

/** A bitmap of users but for those who are excluded: who is in no cohort is counted nowhere. */
function membersOf(user: string): string {
  return included(`groupBitmapState(${user})`);
}

/** The values with the most users stand for themselves, the others together. */
function ranked({ text, parameters }: Sql): Sql {
  return {
    text: `
      SELECT multiIf(isNull(said), 'none', place <= {splitValues:UInt32}, 'value', 'other') AS kind,
        if(kind = 'value', said, NULL) AS value, cohort, groupBitmapMergeState(some) AS members
      FROM (
        SELECT said, cohort, some, dense_rank() OVER (ORDER BY isNull(said), total DESC, said) AS place
        FROM (
          SELECT said, cohort, some, sum(bitmapCardinality(some)) OVER (PARTITION BY said) AS total
          FROM (
            SELECT value AS said, ${cohort} AS cohort, ${membersOf("user")} AS some
            FROM (${text}) GROUP BY said, cohort)))
      GROUP BY kind, value, cohort`,
    parameters: { ...parameters, splitValues: retentionLimits.splitValues },
  };
}

/** Rows of `period` (its first day) and `users` (a bitmap of those who were active in it). Needs the parameters
 * `organization`, `starts`, and `activeFrom` and `activeEnd`, the days looked at but the last. */
export function activityBitmaps({ returnEvent }: RetentionQuestion): Sql {
  const [table, condition] =
    returnEvent === null ? ["active_days", ""] : ["event_days", "AND event = {returnEvent:String}"];
  return {
    text: `
      SELECT roundDown(toInt32(day), {starts:Array(Int32)}) AS period, groupBitmapMergeState(users) AS users
      FROM ${table}
      WHERE organization = {organization:UInt32} ${condition}
        AND day >= ${dateParameter("activeFrom")} AND day < ${dateParameter("activeEnd")}
      GROUP BY period`,
    parameters: { ...(returnEvent !== null && { returnEvent }) },
  };
}
