/** The share of active users of each event, and the days to first use. */
import type { ReactElement } from "react";
import { csvAddress, type Reads, useRead } from "../../api/query.ts";
import { Freshness } from "../../parts/figure/freshness.tsx";
import { SmallSelect } from "../../parts/form/field.tsx";
import { type Column, DataTable, figureColumn } from "../../parts/list/data-table.tsx";
import { choiceFilter, useFilters } from "../../parts/list/filters.ts";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { numbers } from "../../text/format.ts";
import { conditionFilters } from "../segments/conditions.ts";
import { SegmentPick } from "../segments/segment-pick.tsx";
import { EventLink } from "./event-names.tsx";

type Adopted = Reads["/api/adoption"]["answer"]["events"][number];

const spans = ["7", "28", "91", "182", "364"] as const;
const filters = { days: choiceFilter(spans, "28"), segment: conditionFilters.segment };

const columnsOf = (
  activeUsers: number,
  days: string,
  segment: number | undefined,
): readonly Column<Adopted>[] => [
  {
    id: "event",
    header: "Event",
    isFixed: true,
    width: 180,
    csv: ["event", "label"],
    cell: ({ event, label }) => <EventLink event={event} label={label} segment={segment} />,
  },
  {
    id: "share",
    header: "Adoption",
    isFixed: true,
    width: 200,
    hint: `Users who did it, of the ${numbers.count(activeUsers)} who were active within ${days} days`,
    cell: ({ share }) => <ShareBar share={share} />,
  },
  figureColumn("users", "Users", `Users who did it within ${days} days`, ({ users }) => numbers.count(users)),
  figureColumn(
    "firstTime",
    "First time",
    `Of these users, those who did it within ${days} days and never before`,
    ({ firstTimeUsers }) => numbers.count(firstTimeUsers),
    { csv: ["firstTimeUsers"] },
  ),
  figureColumn(
    "wait",
    "Days to first use",
    "Median for first-time users: days from first activity to first use",
    ({ medianDaysToFirstUse }) => numbers.decimal(medianDaysToFirstUse),
    { csv: ["medianDaysToFirstUse"] },
  ),
];

function ShareBar({ share }: { share: number }): ReactElement {
  return (
    <span className="flex items-center gap-2">
      <span aria-hidden="true" className="h-1.5 w-24 shrink-0 bg-sunk sm:w-32">
        <span className="block h-full bg-ember" style={{ width: `${share * 100}%` }} />
      </span>
      <span className="font-medium">{numbers.share(share)}</span>
    </span>
  );
}

export default function Adoption(): ReactElement {
  const [{ days, segment }, change] = useFilters(filters);
  const query = { days: Number(days), ...(segment !== undefined && { segment }) };
  const adoption = useRead("/api/adoption", { query: { ...query, limit: 1_000 }, keepsPrevious: true });
  return (
    <FigurePanel
      title="Adoption by event"
      note={
        adoption.data !== undefined && (
          <>
            {adoption.data.activeUsers > 0 &&
              `Shares are of the ${numbers.count(adoption.data.activeUsers)} ${adoption.data.activeUsers === 1 ? "user who was" : "users who were"} active within ${days} days, today included. `}
            <Freshness freshness={adoption.data.freshness} />
          </>
        )
      }
      actions={
        <>
          <SegmentPick value={segment} onChoose={(chosen) => change({ segment: chosen })} />
          <SmallSelect
            label="Days"
            value={days}
            choices={spans.map((value) => ({ value, label: `Last ${value} days` }))}
            onChoose={(chosen) => change({ days: chosen })}
          />
        </>
      }
      isFlush
      asked={adoption}
      empty={({ events }) =>
        events.length === 0 && (
          <Empty title={`No active users in ${days} days`}>
            Choose more days, or check under Live that events arrive.
          </Empty>
        )
      }
      loading={<Loading rows={12} />}
    >
      {({ events, activeUsers }) => (
        <DataTable
          label="Adoption of every event"
          name="adoption"
          rows={events}
          columns={columnsOf(activeUsers, days, segment)}
          rowId={({ event }) => event}
          csv={csvAddress("/api/adoption", query)}
        />
      )}
    </FigurePanel>
  );
}
