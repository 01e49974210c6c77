/** All event names, with their number of events and users. */
import type { ReactElement } from "react";
import { csvAddress, type Reads, useRead } from "../../api/query.ts";
import { SearchInput } from "../../parts/form/search-input.tsx";
import { type Column, DataTable } from "../../parts/list/data-table.tsx";
import { choiceFilter, textFilter, useFilters } from "../../parts/list/filters.ts";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { RelativeDay } from "../../parts/time.tsx";
import { dayText, numbers } from "../../text/format.ts";
import { conditionFilters } from "../segments/conditions.ts";
import { SegmentPick } from "../segments/segment-pick.tsx";
import { EventLink } from "./event-names.tsx";

type Named = Reads["/api/events"]["answer"]["events"][number];

const limit = 1_000;
const filters = {
  search: textFilter(),
  sort: choiceFilter(["count", "users", "event", "firstDay", "lastDay"], "count"),
  order: choiceFilter(["ascending", "descending"], "descending"),
  segment: conditionFilters.segment,
};

const columnsOf = (segment: number | undefined): readonly Column<Named>[] => [
  {
    id: "event",
    header: "Event",
    sort: "event",
    isFixed: true,
    width: 200,
    csv: ["event", "label"],
    cell: ({ event, label }) => <EventLink event={event} label={label} segment={segment} />,
  },
  {
    id: "count",
    header: "Events",
    sort: "count",
    isNumber: true,
    hint: "All time",
    cell: ({ count }) => numbers.count(count),
  },
  {
    id: "users",
    header: "Users",
    sort: "users",
    isNumber: true,
    hint: "All time",
    cell: ({ users }) => numbers.count(users),
  },
  {
    id: "perUser",
    header: "Per user",
    isNumber: true,
    hint: "Events divided by users",
    csv: ["count", "users"],
    cell: ({ count, users }) => numbers.decimal(users === 0 ? null : count / users),
  },
  {
    id: "firstDay",
    header: "First seen",
    sort: "firstDay",
    isNumber: true,
    cell: ({ firstDay }) => dayText(firstDay),
  },
  {
    id: "lastDay",
    header: "Last seen",
    sort: "lastDay",
    isNumber: true,
    cell: ({ lastDay }) => <RelativeDay day={lastDay} />,
  },
];

/** The table of names: searched, and sorted by the server. */
export function Names(): ReactElement {
  const [{ search, sort, order, segment }, change] = useFilters(filters);
  const query = { search, sort, order, ...(segment !== undefined && { segment }) };
  const names = useRead("/api/events", { query: { ...query, limit }, keepsPrevious: true });
  const left = (names.data?.total ?? 0) - (names.data?.events.length ?? 0);
  return (
    <FigurePanel
      title="Events by name"
      note={
        left > 0
          ? `All time. ${numbers.count(left)} more names are not shown: search for them.`
          : "All time. Choose one to see it over time."
      }
      actions={
        <>
          <SegmentPick value={segment} onChoose={(chosen) => change({ segment: chosen })} />
          <SearchInput
            label="Search events"
            placeholder="Part of a name"
            value={search}
            onSearch={(text) => change({ search: text }, true)}
            className="w-48"
          />
        </>
      }
      isFlush
      asked={names}
      loading={<Loading rows={10} />}
      empty={({ events }) =>
        events.length === 0 && <NoNames search={search} isOfSegment={segment !== undefined} />
      }
    >
      {({ events }) => (
        <DataTable
          label="Every event by name"
          name="events"
          rows={events}
          columns={columnsOf(segment)}
          rowId={({ event }) => event}
          sort={{ by: sort, order }}
          onSort={(by) => change({ sort: filters.sort.read(by.by), order: by.order })}
          csv={csvAddress("/api/events", query)}
        />
      )}
    </FigurePanel>
  );
}

function NoNames({ search, isOfSegment }: { search: string; isOfSegment: boolean }): ReactElement {
  if (search !== "") return <Empty title={`No event name contains “${search}”`} />;
  if (isOfSegment) return <Empty title="No events of users in the segment" />;
  return (
    <Empty title="No events yet">Your first event appears here within 2 seconds of its track request.</Empty>
  );
}
