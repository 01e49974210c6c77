/** Accounts at risk. */
import type { ReactElement } from "react";
import { csvAddress, type Reads, useRead } from "../../api/query.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Health, Risk } from "../../parts/figure/health.tsx";
import { type Column, DataTable, figureColumn } from "../../parts/list/data-table.tsx";
import { CountLink } from "../../parts/list/list-link.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { nothing, numbers, pointsText } from "../../text/format.ts";
import { membersOf, thoseNow, usersActiveIn } from "./lists.ts";

type AtRisk = Reads["/api/accounts-at-risk"]["answer"]["accounts"][number];

interface Row extends AtRisk {
  /** The day of the scores. */
  readonly day: string;
}

const activeMemberDays = 28;

const columns: readonly Column<Row>[] = [
  {
    id: "account",
    header: "Account",
    isFixed: true,
    width: 160,
    csv: ["id", "label"],
    cell: ({ id, label }) => <EntityLink kind="account" id={id} label={label} />,
  },
  figureColumn("members", "Members", "Users who belong to it now", ({ id, members }) => (
    <CountLink isQuiet count={members} list={membersOf(id)} />
  )),
  figureColumn(
    "active",
    "Active",
    "Members who were active in the 28 days before the scores",
    ({ id, day, activeMembers }) => (
      <CountLink isQuiet count={activeMembers} list={usersActiveIn(id, day, activeMemberDays)} />
    ),
    { csv: ["activeMembers"] },
  ),
  { id: "health", header: "Health", cell: ({ health }) => <Health healthBand="at_risk" score={health} /> },
  figureColumn(
    "change",
    "vs last week",
    "Points of health, compared with the scores a week before",
    ({ change }) => pointsText(change),
  ),
  {
    id: "risk",
    header: "Churn risk",
    isNumber: true,
    csv: ["riskBand", "risk"],
    cell: ({ risk, riskBand, ratioToBaseRate }) =>
      risk === null || riskBand === null ? nothing : <Risk {...{ risk, riskBand, ratioToBaseRate }} />,
  },
];

const shown = 8;

export function AccountsAtRisk(): ReactElement {
  const asked = useRead("/api/accounts-at-risk", { query: { limit: shown } });
  const { data } = asked;
  return (
    <FigurePanel
      isFlush
      title="Accounts at risk"
      note={data && data.total > 0 ? <AtRiskNote answer={data} /> : "Health below 40, the largest first"}
      asked={asked}
      loading={<Loading rows={6} />}
      empty={({ accounts }) => accounts.length === 0 && <NoneAtRisk scored={data?.scored ?? 0} />}
    >
      {({ accounts, day }) => (
        <DataTable
          label="The largest accounts at risk"
          name="accounts-at-risk"
          rows={accounts.map((account) => ({ ...account, day: day ?? "" }))}
          columns={columns}
          rowId={(account) => account.id}
          csv={csvAddress("/api/accounts-at-risk", {})}
        />
      )}
    </FigurePanel>
  );
}

function AtRiskNote({
  answer: { total, scored, accounts },
}: {
  answer: Reads["/api/accounts-at-risk"]["answer"];
}): ReactElement {
  return (
    <>
      Health below 40: <CountLink count={total} list={thoseNow("account", "at_risk")} /> of{" "}
      <CountLink count={scored} list={thoseNow("account", "present")} /> accounts,{" "}
      {accounts.length < total ? `here the ${accounts.length} largest` : "the largest first"}
    </>
  );
}

function NoneAtRisk({ scored }: { scored: number }): ReactElement {
  return scored > 0 ? (
    <Empty title="No account is at risk">
      The health of all {numbers.count(scored)} accounts that have not churned is 40 or more.
    </Empty>
  ) : (
    <Empty title="No scores of accounts yet">
      Accounts appear after identify and group calls. They are scored every night.
    </Empty>
  );
}
