/** Everybody, with traits and scores: searched, filtered, sorted, and kept as views. */
import { Link } from "@tanstack/react-router";
import { type ReactElement, useMemo } from "react";
import type { Reads } from "../../api/paths.ts";
import { csvAddress, useRead, useReadPages } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { choiceFilter, type Filter, textFilter, useFilters } from "../../parts/filters.ts";
import { Freshness } from "../../parts/freshness.tsx";
import {
  columnsText,
  listFilters,
  listQuery,
  noListFilters,
  useColumnChoice,
} from "../../parts/list-address.ts";
import { FilterChip, isListFiltered, ListFilters } from "../../parts/list-filters.tsx";
import { NothingFound } from "../../parts/nothing-found.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { ScoresOf } from "../../parts/score-columns.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { TraitFilterButton, type TraitMatch } from "../../parts/trait-filter.tsx";
import { ViewStrip } from "../../parts/view-strip.tsx";
import { traitSort, userColumns } from "./columns.tsx";

const pageSize = 200;
const sorts = [
  ...(["lastSeen", "firstSeen", "firstIdentified", "userId", "email", "name", "account"] as const),
  ...(["health", "risk", "engagement", "momentum", "change"] as const),
] as const;
const matches: readonly TraitMatch[] = ["is", "isNot", "contains", "isEmpty", "isNotEmpty"];

/** A column, or a trait by its name. */
const sortFilter: Filter<string> = {
  read: (text) => (traitSort(text) === undefined ? choiceFilter(sorts, "lastSeen").read(text) : (text ?? "")),
  write: (sort) => (sort === "lastSeen" ? undefined : sort),
};
const filters = {
  ...listFilters,
  sort: sortFilter,
  trait: textFilter(),
  match: choiceFilter(matches, "is"),
  value: textFilter(),
  account: textFilter(),
};
type Values = ReturnType<typeof useFilters<typeof filters>>[0];
const noFilters = { ...noListFilters, trait: "", match: "is", value: "", account: "" } as const;

/** The parameters of the API; without those of a filter by a trait that lacks its value. */
function queryOf(values: Values): Reads["/api/users"]["query"] {
  const { sort, trait, match, value, account } = values;
  const byTrait = traitSort(sort);
  const isWhole = trait !== "" && (value !== "" || match === "isEmpty" || match === "isNotEmpty");
  return {
    ...listQuery(values),
    ...(byTrait === undefined
      ? { sort: choiceFilter(sorts, "lastSeen").read(sort) }
      : { sort: "trait" as const, sortTrait: byTrait }),
    ...(isWhole && { trait, match, value }),
    ...(account !== "" && { account }),
  };
}

export function UsersPage(): ReactElement {
  const { id } = useOrganization();
  const [values, change] = useFilters(filters);
  const query = queryOf(values);
  const pages = useReadPages("/api/users", query, pageSize, ({ users }) => users.length);
  const traits = useRead("/api/traits").data?.traits;
  const columns = useMemo(() => userColumns((traits ?? []).map(({ trait }) => trait)), [traits]);
  const choice = useColumnChoice("users", columns, values.columns, (shown) => change({ columns: shown }));
  const rows = useMemo(() => {
    const all = (pages.data?.pages ?? []).flatMap(({ users }) => users);
    // Whoever moves between two readings may come twice.
    return [...new Map(all.map((user) => [user.userId, user])).values()];
  }, [pages.data]);
  const first = pages.data?.pages[0];
  const isFiltered = isListFiltered(values) || values.trait !== "" || values.account !== "";
  const clear = () => change(noFilters);
  return (
    <>
      <PageHeader title="Users">
        <Freshness of={first?.freshness} />
      </PageHeader>
      <ViewStrip page="users" everything="All users" columns={columnsText(choice.shown)} />
      <Panel isFlush className="pt-2">
        <ListFilters
          what="users"
          searchIn="Name, e-mail or id"
          values={values}
          onChange={change}
          isFiltered={isFiltered}
          onClear={clear}
        >
          <TraitFilterButton filter={values} traits={traits ?? []} onChange={change} />
          {values.account !== "" && (
            <FilterChip text={`Account ${values.account}`} onRemove={() => change({ account: "" })} />
          )}
        </ListFilters>
        <Figures
          of={{ ...pages, data: first }}
          loading={
            <div className="p-4">
              <Loading rows={14} />
            </div>
          }
          empty={{
            when: ({ total }) => total === 0,
            show: isFiltered ? <NothingFound what="user" onClear={clear} /> : <NoUsers />,
          }}
        >
          {(answer) => (
            <DataTable
              label="Users"
              name="users"
              words={["user", "users"]}
              rows={rows}
              columns={columns}
              choice={choice}
              rowId={({ userId }) => userId}
              sort={{ by: values.sort, order: values.order }}
              onSort={({ by, order }) => change({ sort: by, order })}
              more={{
                total: answer.total,
                isComing: pages.isFetchingNextPage,
                hasMore: pages.hasNextPage,
                onMore: () => void pages.fetchNextPage({ cancelRefetch: false }),
              }}
              csv={csvAddress(id, "/api/users", query)}
              tools={<ScoresOf of={answer} />}
            />
          )}
        </Figures>
      </Panel>
    </>
  );
}

function NoUsers(): ReactElement {
  const organization = String(useOrganization().id);
  return (
    <Empty title="No users yet">
      They appear here as soon as your application identifies the first one.{" "}
      <Link to="/o/$organization/start" params={{ organization }} className="underline">
        Connect your application
      </Link>
    </Empty>
  );
}
