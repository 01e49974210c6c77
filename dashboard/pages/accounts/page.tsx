/** Accounts, searched and sorted. */
import { Link } from "@tanstack/react-router";
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { csvAddress, useRead } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Input } from "../../parts/field.tsx";
import { choiceFilter, numberFilter, textFilter, useFilters } from "../../parts/filters.ts";
import { Freshness } from "../../parts/freshness.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Figures, Loading } from "../../parts/states.tsx";
import { DayAgo } from "../../parts/time.tsx";
import { dayText, numbers } from "../../text/format.ts";

type Account = Reads["/api/accounts"]["answer"]["accounts"][number];

const pageSize = 100;
const filters = {
  search: textFilter(),
  sort: choiceFilter(["lastSeen", "accountId", "name", "members"], "lastSeen"),
  order: choiceFilter(["ascending", "descending"], "descending"),
  offset: numberFilter(0, 0, 10_000_000),
};

const columns: readonly Column<Account>[] = [
  {
    id: "account",
    header: "Account",
    sort: "name",
    isFixed: true,
    width: 200,
    cell: (account) => <AccountLink account={account} />,
  },
  {
    id: "accountId",
    header: "Account id",
    sort: "accountId",
    isHidden: true,
    cell: ({ accountId }) => accountId,
  },
  {
    id: "members",
    header: "Members",
    sort: "members",
    isNumber: true,
    cell: ({ members }) => numbers.count(members),
  },
  {
    id: "active",
    header: "Active in 28 days",
    isNumber: true,
    cell: ({ activeMembers }) => numbers.count(activeMembers),
  },
  {
    id: "lastSeen",
    header: "Last seen",
    sort: "lastSeen",
    isNumber: true,
    cell: ({ lastSeenDay }) => <DayAgo day={lastSeenDay} />,
  },
  {
    id: "firstSeen",
    header: "First seen",
    isNumber: true,
    cell: ({ firstSeenDay }) => dayText(firstSeenDay),
  },
];

export function AccountsPage(): ReactElement {
  const { id } = useOrganization();
  const [{ search, sort, order, offset }, change] = useFilters(filters);
  const query = { search, sort, order };
  const accounts = useRead("/api/accounts", {
    query: { ...query, offset, limit: pageSize },
    keepsPrevious: true,
  });
  return (
    <>
      <PageHeader title="Accounts">
        <Freshness of={accounts.data?.freshness} />
      </PageHeader>
      <Panel isFlush className="pt-2">
        <Figures
          of={accounts}
          loading={
            <div className="p-4">
              <Loading rows={12} />
            </div>
          }
        >
          {(answer) => (
            <DataTable
              label="Accounts"
              name="accounts"
              rows={answer.accounts}
              columns={columns}
              rowId={({ accountId }) => accountId}
              sort={{ by: sort, order }}
              onSort={(by) => change({ sort: filters.sort.read(by.by), order: by.order, offset: 0 })}
              page={{ total: answer.total, offset, size: pageSize }}
              onPage={(to) => change({ offset: to })}
              csv={csvAddress(id, "/api/accounts", { ...query, limit: 1_000 })}
              tools={
                <Input
                  label="Search accounts"
                  isLabelHidden
                  type="search"
                  placeholder="Name or id"
                  defaultValue={search}
                  onChange={({ target }) => change({ search: target.value, offset: 0 }, true)}
                  className="w-64"
                />
              }
            />
          )}
        </Figures>
      </Panel>
    </>
  );
}

function AccountLink({ account: { accountId, name } }: { account: Account }): ReactElement {
  const organization = String(useOrganization().id);
  return (
    <Link
      to="/o/$organization/accounts/$accountId"
      params={{ organization, accountId }}
      className="font-medium"
    >
      {name || accountId}
    </Link>
  );
}
