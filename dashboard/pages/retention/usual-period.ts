/** Which period the cohorts of the page have when nobody chose one. */

/** Below this a cohort is small: with 30 users the 95% interval of a half is 35 points wide. */
export const smallCohortUsers = 30;

/** Whether the cohorts whose own period is over are small on average, but for users from before the data
 * begins. False without a cohort. */
export function hasFewUsers(
  cells: readonly {
    readonly period: number;
    readonly cohortUsers: number;
    readonly isComplete: boolean;
    readonly isAlreadyHere: boolean;
  }[],
): boolean {
  const cohorts = cells.filter((cell) => cell.period === 0 && cell.isComplete && !cell.isAlreadyHere);
  const users = cohorts.reduce((sum, { cohortUsers }) => sum + cohortUsers, 0);
  return cohorts.length > 0 && users / cohorts.length < smallCohortUsers;
}
