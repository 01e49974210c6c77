/** Accounts at risk. */
import type { ReactElement } from "react";
import { csvAddress, type Reads, useRead } from "../../api/query.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Health, Risk } from "../../parts/figure/health.tsx";
import { type Column, DataTable, figureColumn } from "../../parts/list/data-table.tsx";
import { CountLink, ListsOfSegment } from "../../parts/list/list-link.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { nothing, numbers, pointsText } from "../../text/format.ts";
import { type Kind, useScoredSegment } from "./filters.ts";
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
      risk === null || riskBand === null ? (
        nothing
      ) : (
        <Risk risk={risk} riskBand={riskBand} ratioToBaseRate={ratioToBaseRate} />
      ),
  },
];

const shown = 8;

/** All of them, or those of the segment of accounts whose health is shown. */
export function AccountsAtRisk({ kind }: { kind: Kind }): ReactElement {
  const scored = useScoredSegment();
  const ofSegment = kind === "account" ? scored : {};
  const asked = useRead("/api/accounts-at-risk", {
    query: { limit: shown, ...ofSegment },
    keepsPrevious: true,
  });
  const { data } = asked;
  return (
    <FigurePanel
      isFlush
      title="Accounts at risk"
      note={
        data && data.total > 0 ? (
          <ListsOfSegment {...ofSegment}>
            <AtRiskNote answer={data} ofWhat={ofSegment.segment === undefined ? "" : " of the segment"} />
          </ListsOfSegment>
        ) : (
          "Health below 40, the largest first"
        )
      }
      asked={asked}
      loading={<Loading rows={6} />}
      empty={({ accounts, scored: present }) =>
        accounts.length === 0 && <NoneAtRisk scored={present} isOfSegment={ofSegment.segment !== undefined} />
      }
    >
      {({ accounts, day }) => (
        <DataTable
          label="The largest accounts at risk"
          name="accounts-at-risk"
          rows={accounts.map((account) => ({ ...account, day: day ?? "" }))}
          columns={columns}
          rowId={(account) => account.id}
          csv={csvAddress("/api/accounts-at-risk", ofSegment)}
        />
      )}
    </FigurePanel>
  );
}

function AtRiskNote({
  answer: { total, scored, accounts, payersOnly },
  ofWhat,
}: {
  answer: Reads["/api/accounts-at-risk"]["answer"];
  ofWhat: string;
}): ReactElement {
  const listOf = (band: "at_risk" | "present") => {
    const { page, query } = thoseNow("account", band);
    return { page, query: { ...query, ...(payersOnly && { mrrFrom: "1" }) } };
  };
  return (
    <>
      Health below 40: <CountLink count={total} list={listOf("at_risk")} /> of{" "}
      <CountLink count={scored} list={listOf("present")} /> {payersOnly && "paying "}accounts{ofWhat},{" "}
      {accounts.length < total ? `here the ${accounts.length} largest` : "the largest first"}
    </>
  );
}

function NoneAtRisk({ scored, isOfSegment }: { scored: number; isOfSegment: boolean }): ReactElement {
  if (isOfSegment) return <Empty title="No account of the segment is at risk" />;
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
