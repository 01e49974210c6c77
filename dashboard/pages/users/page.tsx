/** Users, searched and sorted. */
import { Link } from "@tanstack/react-router";
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { csvAddress, useRead } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Input } from "../../parts/field.tsx";
import { choiceFilter, numberFilter, textFilter, useFilters } from "../../parts/filters.ts";
import { Freshness } from "../../parts/freshness.tsx";
import { Badge } from "../../parts/health.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Figures, Loading } from "../../parts/states.tsx";
import { DayAgo } from "../../parts/time.tsx";
import { dayText, nothing } from "../../text/format.ts";

type User = Reads["/api/users"]["answer"]["users"][number];

const pageSize = 100;
const filters = {
  search: textFilter(),
  sort: choiceFilter(["lastSeen", "userId", "email"], "lastSeen"),
  order: choiceFilter(["ascending", "descending"], "descending"),
  offset: numberFilter(0, 0, 10_000_000),
};

const columns: readonly Column<User>[] = [
  {
    id: "user",
    header: "User",
    sort: "email",
    isFixed: true,
    width: 200,
    cell: (user) => <UserLink user={user} />,
  },
  { id: "userId", header: "User id", sort: "userId", isHidden: true, cell: ({ userId }) => userId },
  {
    id: "account",
    header: "Account",
    cell: ({ accountName, accountId }) => accountName ?? accountId ?? nothing,
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

export function UsersPage(): ReactElement {
  const { id } = useOrganization();
  const [{ search, sort, order, offset }, change] = useFilters(filters);
  const query = { search, sort, order };
  const users = useRead("/api/users", { query: { ...query, offset, limit: pageSize }, keepsPrevious: true });
  return (
    <>
      <PageHeader title="Users">
        <Freshness of={users.data?.freshness} />
      </PageHeader>
      <Panel isFlush className="pt-2">
        <Figures
          of={users}
          loading={
            <div className="p-4">
              <Loading rows={12} />
            </div>
          }
        >
          {(answer) => (
            <DataTable
              label="Users"
              name="users"
              rows={answer.users}
              columns={columns}
              rowId={({ userId }) => userId}
              sort={{ by: sort, order }}
              onSort={(by) => change({ sort: filters.sort.read(by.by), order: by.order, offset: 0 })}
              page={{ total: answer.total, offset, size: pageSize }}
              onPage={(to) => change({ offset: to })}
              csv={csvAddress(id, "/api/users", { ...query, limit: 1_000 })}
              tools={
                <Input
                  label="Search users"
                  isLabelHidden
                  type="search"
                  placeholder="Name, e-mail or id"
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

function UserLink({ user: { userId, name, email, isExcluded } }: { user: User }): ReactElement {
  const organization = String(useOrganization().id);
  return (
    <>
      <Link to="/o/$organization/users/$userId" params={{ organization, userId }} className="font-medium">
        {name ?? email}
      </Link>
      {name !== null && <span className="ml-2 text-soft">{email}</span>}
      {isExcluded && (
        <span className="ml-2">
          <Badge>excluded</Badge>
        </span>
      )}
    </>
  );
}
