/** The list of users, with filters and saved views. */
import { type ReactElement, useMemo } from "react";
import { type Reads, useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { billingSorts } from "../../parts/billing/filters.ts";
import { ActivityChips } from "../../parts/figure/figure-chips.tsx";
import { activityFilters } from "../../parts/figure/figure-filters.ts";
import { FilterChip } from "../../parts/list/filter-chip.tsx";
import {
  defaultsOf,
  labelledFilter,
  setValues,
  textFilter,
  useFilters,
  type Values,
} from "../../parts/list/filters.ts";
import {
  firstSort,
  isListFiltered,
  listFilters,
  listQuery,
  noListFilters,
} from "../../parts/list/list-address.ts";
import { ListPage } from "../../parts/list/list-page.tsx";
import { Pick } from "../../parts/list/pick.tsx";
import { sortFilter, sortQuery } from "../../parts/list/trait-columns.tsx";
import { TraitFilters, traitOf, traitsFilter } from "../../parts/list/trait-filter.tsx";
import { Empty } from "../../parts/states.tsx";
import { userColumns } from "./user-columns.tsx";

const sorts = [
  "lastSeen",
  "firstSeen",
  "firstIdentified",
  "userId",
  "email",
  "name",
  "account",
  "owner",
  "health",
  "risk",
  "engagement",
  "momentum",
  "change",
  ...billingSorts,
] as const;

const filters = {
  ...listFilters,
  ...activityFilters,
  sort: sortFilter(sorts, firstSort),
  traits: traitsFilter,
  // One trait by itself, as addresses had it before there could be several: saved views still do.
  trait: textFilter(),
  match: textFilter(),
  value: textFilter(),
  account: textFilter(),
  excluded: labelledFilter(
    { leftOut: "Without excluded", only: "Only excluded", included: "With excluded" },
    "leftOut",
  ),
};
type UserValues = Values<typeof filters>;
const noTraits = { traits: [], trait: "", match: "", value: "" };
const noFilters = {
  ...noListFilters,
  ...defaultsOf(activityFilters),
  ...noTraits,
  account: "",
  excluded: "leftOut" as const,
};

/** The filters by traits that the address has. */
function traitsOf({ traits, trait, match, value }: UserValues) {
  return [...traitOf(trait, match, value), ...traits];
}

/** The parameters of the API. */
function queryOf(values: UserValues): Reads["/api/users"]["query"] {
  const { sort, account, excluded } = values;
  const traits = traitsOf(values);
  return {
    ...listQuery(values),
    ...setValues(activityFilters, values),
    ...sortQuery(sort, sorts, firstSort),
    ...(traits.length > 0 && { traits }),
    ...(account !== "" && { account }),
    ...(excluded !== "leftOut" && { excluded }),
  };
}

const rowsOf = ({ users }: Reads["/api/users"]["answer"]) => users;
const rowId = ({ userId }: ReturnType<typeof rowsOf>[number]) => userId;

export default function UsersPage(): ReactElement {
  const [values, change] = useFilters(filters);
  const traits = useRead("/api/traits").data?.traits;
  const byTraits = traitsOf(values);
  const columns = useMemo(() => userColumns((traits ?? []).map(({ trait }) => trait)), [traits]);
  return (
    <ListPage
      kind="users"
      title="Users"
      one="user"
      searchIn="Name, e-mail or id"
      values={values}
      onChange={change}
      onSort={({ by, order }) => change({ sort: by, order })}
      query={queryOf(values)}
      rowsOf={rowsOf}
      rowId={rowId}
      columns={columns}
      isFiltered={
        isListFiltered(values) ||
        Object.keys(setValues(activityFilters, values)).length > 0 ||
        byTraits.length > 0 ||
        values.account !== "" ||
        values.excluded !== "leftOut"
      }
      hasExcluded={values.excluded !== "leftOut"}
      onClear={() => change(noFilters)}
      none={
        <Empty title="No users yet">
          They appear here as soon as your application identifies the first one.{" "}
          <PageLink to="/o/$organization/start" className="underline">
            Connect your application
          </PageLink>
        </Empty>
      }
    >
      <Pick
        label="Excluded users"
        hint="Excluded users count in no figure"
        value={values.excluded}
        byDefault="leftOut"
        choices={filters.excluded.choices}
        onChoose={(excluded) => change({ excluded })}
      />
      <TraitFilters
        filters={byTraits}
        what={["trait", "users"]}
        traits={traits ?? []}
        onChange={(chosen) => change({ ...noTraits, traits: [...chosen] })}
      />
      <ActivityChips values={values} onChange={change} />
      {values.account !== "" && (
        <FilterChip text={`Account ${values.account}`} onRemove={() => change({ account: "" })} />
      )}
    </ListPage>
  );
}
