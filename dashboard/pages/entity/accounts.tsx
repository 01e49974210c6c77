/** The list of accounts, with filters and saved views. */
import { type ReactElement, useMemo } from "react";
import { type Reads, useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { billingSorts } from "../../parts/billing/filters.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { setValues, useFilters } from "../../parts/list/filters.ts";
import {
  firstSort,
  isListFiltered,
  listFilters,
  listQuery,
  noListFilters,
} from "../../parts/list/list-address.ts";
import { ListPage } from "../../parts/list/list-page.tsx";
import { scoreColumns } from "../../parts/list/score-columns.tsx";
import { noSeatsFilters, SeatsFilter, seatsFilters } from "../../parts/list/seats-filter.tsx";
import type { Column } from "../../parts/list/table-model.ts";
import { sortFilter, sortQuery, traitColumns } from "../../parts/list/trait-columns.tsx";
import { TraitFilters, traitsFilter } from "../../parts/list/trait-filter.tsx";
import { Empty } from "../../parts/states.tsx";
import { Instant, RelativeDay } from "../../parts/time.tsx";
import { dayText, nothing, numbers } from "../../text/format.ts";
import { seatsChips } from "../../text/seats-words.ts";
import { ControlBadge } from "../tasks/control-badge.tsx";
import { ownerColumn } from "../tasks/owner-pick.tsx";

type Account = Reads["/api/accounts"]["answer"]["accounts"][number];

const sorts = [
  "lastSeen",
  "firstSeen",
  "accountId",
  "name",
  "owner",
  "members",
  "activeMembers",
  "seats",
  "seatsUsed",
  "pulse",
  "createdAt",
  "health",
  "risk",
  "engagement",
  "momentum",
  "change",
  ...billingSorts,
] as const;
const filters = { ...listFilters, ...seatsFilters, sort: sortFilter(sorts, firstSort), traits: traitsFilter };

const before: readonly Column<Account>[] = [
  {
    id: "account",
    header: "Account",
    sort: "name",
    isFixed: true,
    width: 200,
    csv: ["accountId", "name", "controlUntil"],
    cell: ({ accountId, name, controlUntil }) => (
      <span className="flex min-w-0 items-center">
        <EntityLink
          kind="account"
          id={accountId}
          label={name}
          title={name || accountId}
          className="truncate font-medium"
        />
        <ControlBadge until={controlUntil} />
      </span>
    ),
  },
  ...scoreColumns<Account>(),
  {
    id: "members",
    header: "Members",
    sort: "members",
    isNumber: true,
    hint: "Users who belong to it now, without excluded ones",
    cell: ({ accountId, members }) => (
      <PageLink to="/o/$organization/users" search={{ account: accountId }}>
        {numbers.count(members)}
      </PageLink>
    ),
  },
  {
    id: "active",
    header: "Active in 28 days",
    sort: "activeMembers",
    isNumber: true,
    hint: "Users active in the account in the 28 days before the scores, as a share of the members",
    csv: ["activeMembers"],
    cell: ({ members, activeMembers }) => (
      <>
        {numbers.count(activeMembers)}
        <span className="inline-block w-14 text-soft">
          {numbers.wholeShare(activeMembers > members || members === 0 ? null : activeMembers / members)}
        </span>
      </>
    ),
  },
  {
    id: "seats",
    header: "Seats",
    sort: "seats",
    isNumber: true,
    isHidden: true,
    hint: "Seats bought: the attribute seats, or else the quantity of its subscriptions",
    cell: ({ seats }) => (seats === null ? nothing : numbers.count(seats)),
  },
  {
    id: "seatsUsed",
    header: "Seats used",
    sort: "seatsUsed",
    isNumber: true,
    isHidden: true,
    hint: "Members active in the 28 days before the scores, as a share of the seats bought",
    cell: ({ seatsUsed }) => numbers.wholeShare(seatsUsed),
  },
  {
    id: "pulse",
    header: "Pulse",
    sort: "pulse",
    isNumber: true,
    isHidden: true,
    hint: "The newest judgement of the team before the scores, 1 to 5, of the last 90 days and the present owner",
    cell: ({ pulse }) => (pulse === null ? nothing : numbers.count(pulse)),
  },
  ownerColumn<Account>(),
  {
    id: "lastSeen",
    header: "Last seen",
    sort: "lastSeen",
    isNumber: true,
    hint: "The day of its members' last engagement event",
    csv: ["lastSeenDay"],
    cell: ({ lastSeenDay }) => <RelativeDay day={lastSeenDay} />,
  },
  {
    id: "firstSeen",
    header: "First seen",
    sort: "firstSeen",
    isNumber: true,
    isHidden: true,
    hint: "The day of its members' first engagement event",
    csv: ["firstSeenDay"],
    cell: ({ firstSeenDay }) => dayText(firstSeenDay),
  },
  {
    id: "createdAt",
    header: "Known since",
    sort: "createdAt",
    isNumber: true,
    isHidden: true,
    hint: "When the account was sent first",
    cell: ({ createdAt }) => <Instant instant={createdAt} />,
  },
  {
    id: "accountId",
    header: "Account id",
    sort: "accountId",
    isHidden: true,
    cell: ({ accountId }) => accountId,
  },
];

const rowsOf = ({ accounts }: Reads["/api/accounts"]["answer"]) => accounts;
const rowId = ({ accountId }: Account) => accountId;

export default function AccountsPage(): ReactElement {
  const [values, change] = useFilters(filters);
  const attributes = useRead("/api/traits", { query: { kind: "account" } }).data?.traits;
  const columns = useMemo(
    () => [
      ...before,
      ...traitColumns<Account>(
        (attributes ?? []).map(({ trait }) => trait),
        "Attributes",
      ),
    ],
    [attributes],
  );
  return (
    <ListPage
      kind="accounts"
      title="Accounts"
      one="account"
      searchIn="Name or id"
      values={values}
      onChange={change}
      onSort={({ by, order }) => change({ sort: by, order })}
      query={{
        ...listQuery(values),
        ...sortQuery(values.sort, sorts, firstSort),
        ...setValues(seatsFilters, values),
        ...(values.traits.length > 0 && { traits: [...values.traits] }),
      }}
      rowsOf={rowsOf}
      rowId={rowId}
      columns={columns}
      isFiltered={isListFiltered(values) || values.traits.length > 0 || seatsChips(values).length > 0}
      onClear={() => change({ ...noListFilters, ...noSeatsFilters, traits: [] })}
      none={
        <Empty title="No accounts yet">
          They appear here as soon as your application identifies a user together with an account.
        </Empty>
      }
    >
      <SeatsFilter values={values} onChange={change} />
      <TraitFilters
        what={["attribute", "accounts"]}
        filters={values.traits}
        traits={attributes ?? []}
        onChange={(traits) => change({ traits: [...traits] })}
      />
    </ListPage>
  );
}
