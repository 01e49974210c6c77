/** Retention by weeks of the first event, computed from raw events; placeholder: organization. */

/** The simplest form: users with their cohorts, joined with their active weeks. */
const joined = (cohorts: string, group: string) => `
  SELECT ${group} cohort, week, count() AS users
  FROM (SELECT DISTINCT user, toMonday(day) AS week FROM events WHERE organization = {organization:UInt32}) AS active
  INNER JOIN (${cohorts}) AS cohorts ON cohorts.user = active.user
  GROUP BY ${group} cohort, week`;

const cohorts = `SELECT user, toMonday(min(day)) AS cohort, min(day) AS entry_day
  FROM events WHERE organization = {organization:UInt32} GROUP BY user`;

/** The quickest that we found: one pass in the order in which events are stored. */
const onePass = `
  SELECT min_week AS cohort, arrayJoin(weeks) AS week, count() AS users
  FROM (
    SELECT user, groupArray(week) AS weeks, min(week) AS min_week
    FROM (SELECT user, toMonday(day) AS week FROM events WHERE organization = {organization:UInt32} GROUP BY user, week)
    GROUP BY user)
  GROUP BY cohort, week`;

const plans = `
  SELECT user, cohort, argMaxIf(said, (at, version), said != '' AND toDate32(at) <= entry_day) AS plan
  FROM (${cohorts}) AS first
  INNER JOIN (
    SELECT user, at, version, JSONExtractString(traits, 'plan') AS said
    FROM user_versions WHERE organization = {organization:UInt32}) AS words
  ON words.user = first.user
  GROUP BY user, cohort`;

/** The simplest form, the fastest form that we found, and split by plan as of entry. */
export const rawRetention = { join: joined(cohorts, ""), onePass, byPlan: joined(plans, "plan,") } as const;
