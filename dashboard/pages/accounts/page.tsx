/** All accounts, with what their members do and with their scores: searched, filtered, sorted, and kept as views. */
import { Link } from "@tanstack/react-router";
import { type ReactElement, useMemo } from "react";
import type { Reads } from "../../api/paths.ts";
import { csvAddress, useReadPages } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { choiceFilter, useFilters } from "../../parts/filters.ts";
import { Freshness } from "../../parts/freshness.tsx";
import {
  columnsText,
  listFilters,
  listQuery,
  noListFilters,
  useColumnChoice,
} from "../../parts/list-address.ts";
import { isListFiltered, ListFilters } from "../../parts/list-filters.tsx";
import { NothingFound } from "../../parts/nothing-found.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { ScoresOf, scoreColumns } from "../../parts/score-columns.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import type { Column } from "../../parts/table-model.ts";
import { DayAgo, Instant } from "../../parts/time.tsx";
import { ViewStrip } from "../../parts/view-strip.tsx";
import { dayText, numbers } from "../../text/format.ts";

type Account = Reads["/api/accounts"]["answer"]["accounts"][number];

const pageSize = 200;
const sorts = [
  ...(["lastSeen", "firstSeen", "accountId", "name", "members", "activeMembers", "createdAt"] as const),
  ...(["health", "risk", "engagement", "momentum", "change"] as const),
] as const;
const filters = { ...listFilters, sort: choiceFilter(sorts, "lastSeen") };

const columns: readonly Column<Account>[] = [
  {
    ...{ id: "account", header: "Account", sort: "name", isFixed: true, width: 200 },
    cell: (account) => <AccountLink account={account} />,
  },
  ...scoreColumns<Account>(),
  {
    ...{ id: "members", header: "Members", sort: "members", isNumber: true },
    hint: "Users who belong to it now, without excluded ones",
    cell: (account) => <MembersLink account={account} />,
  },
  {
    ...{ id: "active", header: "Active in 28 days", sort: "activeMembers", isNumber: true },
    hint: "Members who did anything within 28 days, and their share of all members",
    cell: ({ members, activeMembers }) => (
      <>
        {numbers.count(activeMembers)}
        <span className="inline-block w-14 text-soft">
          {numbers.wholeShare(members === 0 ? null : activeMembers / members)}
        </span>
      </>
    ),
  },
  {
    ...{ id: "lastSeen", header: "Last seen", sort: "lastSeen", isNumber: true },
    hint: "The day of its members' last event",
    cell: ({ lastSeenDay }) => <DayAgo day={lastSeenDay} />,
  },
  {
    ...{ id: "firstSeen", header: "First seen", sort: "firstSeen", isNumber: true, isHidden: true },
    hint: "The day of its members' first event",
    cell: ({ firstSeenDay }) => dayText(firstSeenDay),
  },
  {
    ...{ id: "createdAt", header: "Known since", sort: "createdAt", isNumber: true, isHidden: true },
    hint: "When the account was sent first",
    cell: ({ createdAt }) => <Instant instant={createdAt} />,
  },
  {
    ...{ id: "accountId", header: "Account id", sort: "accountId", isHidden: true },
    cell: ({ accountId }) => accountId,
  },
];

export function AccountsPage(): ReactElement {
  const { id } = useOrganization();
  const [values, change] = useFilters(filters);
  const query = { ...listQuery(values), sort: values.sort };
  const pages = useReadPages("/api/accounts", query, pageSize, ({ accounts }) => accounts.length);
  const choice = useColumnChoice("accounts", columns, values.columns, (shown) => change({ columns: shown }));
  const rows = useMemo(() => {
    const all = (pages.data?.pages ?? []).flatMap(({ accounts }) => accounts);
    // What moves between two readings may come twice.
    return [...new Map(all.map((account) => [account.accountId, account])).values()];
  }, [pages.data]);
  const first = pages.data?.pages[0];
  const isFiltered = isListFiltered(values);
  const clear = () => change(noListFilters);
  return (
    <>
      <PageHeader title="Accounts">
        <Freshness of={first?.freshness} />
      </PageHeader>
      <ViewStrip page="accounts" everything="All accounts" columns={columnsText(choice.shown)} />
      <Panel isFlush className="pt-2">
        <ListFilters
          what="accounts"
          searchIn="Name or id"
          values={values}
          onChange={change}
          isFiltered={isFiltered}
          onClear={clear}
        />
        <Figures
          of={{ ...pages, data: first }}
          loading={
            <div className="p-4">
              <Loading rows={14} />
            </div>
          }
          empty={{
            when: ({ total }) => total === 0,
            show: isFiltered ? <NothingFound what="account" onClear={clear} /> : <NoAccounts />,
          }}
        >
          {(answer) => (
            <DataTable
              label="Accounts"
              name="accounts"
              words={["account", "accounts"]}
              rows={rows}
              columns={columns}
              choice={choice}
              rowId={({ accountId }) => accountId}
              sort={{ by: values.sort, order: values.order }}
              onSort={({ by, order }) => change({ sort: filters.sort.read(by), order })}
              more={{
                total: answer.total,
                isComing: pages.isFetchingNextPage,
                hasMore: pages.hasNextPage,
                onMore: () => void pages.fetchNextPage({ cancelRefetch: false }),
              }}
              csv={csvAddress(id, "/api/accounts", query)}
              tools={<ScoresOf of={answer} />}
            />
          )}
        </Figures>
      </Panel>
    </>
  );
}

function NoAccounts(): ReactElement {
  return (
    <Empty title="No accounts yet">
      They appear here as soon as your application identifies a user together with an account.
    </Empty>
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

/** The number of members, which leads to the list of them. */
function MembersLink({ account: { accountId, members } }: { account: Account }): ReactElement {
  const organization = String(useOrganization().id);
  return (
    <Link to="/o/$organization/users" params={{ organization }} search={{ account: accountId }}>
      {numbers.count(members)}
    </Link>
  );
}
