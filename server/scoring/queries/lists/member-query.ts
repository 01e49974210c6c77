/** How the members of every account are doing. Members are users whose events carry the account. */
import type { EngagementScale } from "../../scores/engagement.ts";
import { type CellRisks, silenceSql } from "../cell-table.ts";
import { type Query, withColumns } from "../query.ts";
import { userEngagement } from "./user-engagement.ts";

const clippedRisk = "least(greatest(memberRisk, 1e-12), 1 - 1e-12)";

/**
 * `MemberFeatures` and the number of each account with a member in the 90 days before the day of the rows.
 * The top member's share is of the sum of the members' own volumes. Members without a churn risk, who have
 * been silent for the horizon, do not count in the mean risk. The outer query binds horizonDays.
 * @param users rows of users' snapshots: accounts take the silence of their members, whatever the churn
 * targets are
 */
export function membersQuery(users: Query, risks: CellRisks): Query {
  return ofMembers(users, risks, { score: "0", more: "", parameters: {} });
}

/** The rows of `membersQuery` with `meanEngagement`, the mean of the members who were active in 28 days. */
export function engagedMembersQuery(users: Query, risks: CellRisks, scale: EngagementScale): Query {
  const { columns, parameters } = userEngagement(scale);
  return ofMembers(users, risks, {
    score: columns.engagementScore,
    more: ", if(active28 = 0, 0, avgIf(score, newest <= 28)) AS meanEngagement",
    parameters,
  });
}

/** @param more columns that are made of `score` */
function ofMembers(
  users: Query,
  risks: CellRisks,
  { score, more, parameters }: { readonly score: string; readonly more: string } & Pick<Query, "parameters">,
): Query {
  const silent = silenceSql({ numbers: "memberCells", risks: "memberRisks" });
  const scored = withColumns(users.sql, [
    ...silent.steps,
    { hasRisk: "n >= 0 AND idleDays < {horizonDays:Int32}", memberRisk: silent.risk, score },
    { logOdds: `log(${clippedRisk}) - log1p(-(${clippedRisk}))` },
  ]);
  const sql = `
    SELECT entity,
      countIf(newest <= 28) AS active28,
      countIf(wasActivePrevious28) AS activePrevious28,
      count() AS active90,
      if(sum(volume) = 0, 0, max(volume) / sum(volume)) AS topShare,
      if(countIf(hasRisk) = 0, NULL, avgIf(logOdds, hasRisk)) AS meanRiskLogOdds
      ${more}
    FROM (
      SELECT number AS entity, newest, wasActivePrevious28, volume, hasRisk, logOdds, score
      FROM (${scored})
      ARRAY JOIN accountNumbers AS number, accountIdleDays AS newest, accountPrevious28 AS wasActivePrevious28,
        accountVolumes28 AS volume)
    WHERE entity != 0
    GROUP BY entity`;
  return {
    sql,
    parameters: { ...users.parameters, ...parameters, memberCells: risks.numbers, memberRisks: risks.risks },
  };
}

/** Rows (account, members28, membersPrevious28) of the accounts that users belong to: their members who were
 * active, as in `membersQuery`. @param users rows of users' snapshots */
export function accountsOfUsersQuery(users: Query): Query {
  return {
    sql: `
      SELECT number AS account, countIf(newest <= 28) AS members28, countIf(wasActivePrevious28) AS membersPrevious28
      FROM (${users.sql})
      ARRAY JOIN accountNumbers AS number, accountIdleDays AS newest, accountPrevious28 AS wasActivePrevious28
      WHERE number != 0 GROUP BY number`,
    parameters: users.parameters,
  };
}

/** Columns of a user's account, over rows of users that are joined with `accountsOfUsersQuery`. */
export const ownAccountColumns = {
  ownAccountActive28: "if(account = 0, NULL, members28)",
  ownAccountPrevious28: "if(account = 0, NULL, membersPrevious28)",
} as const;
