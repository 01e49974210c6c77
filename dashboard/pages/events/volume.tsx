/** Events and their users, over time and by name. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { Freshness } from "../../parts/figure/freshness.tsx";
import { Button } from "../../parts/form/button.tsx";
import { SmallSelect } from "../../parts/form/field.tsx";
import {
  choiceFilter,
  labelledFilter,
  textFilter,
  useFilters,
  type Values,
} from "../../parts/list/filters.ts";
import { Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { conditionFilters } from "../segments/conditions.ts";
import { SegmentPick } from "../segments/segment-pick.tsx";
import { useEventLabels } from "./event-names.tsx";
import { KeyField, Keys } from "./keys.tsx";
import { Names } from "./names.tsx";
import { VolumeChart } from "./volume-chart.tsx";

/** Period and how many of them. */
const ranges = {
  "28d": { label: "28 days", period: "day", periods: 28 },
  "91d": { label: "91 days", period: "day", periods: 91 },
  "13w": { label: "13 weeks", period: "week", periods: 13 },
  "26w": { label: "26 weeks", period: "week", periods: 26 },
  "53w": { label: "53 weeks", period: "week", periods: 53 },
  "13m": { label: "13 months", period: "month", periods: 13 },
} as const;
type Range = keyof typeof ranges;
const rangeNames = Object.keys(ranges) as Range[];

const filters = {
  event: textFilter(),
  range: choiceFilter(rangeNames, "28d"),
  measure: labelledFilter({ count: "Events", users: "Users" }, "count"),
  by: labelledFilter(
    { event: "By event", none: "Not split", property: "By property", trait: "By user's trait" },
    "event",
  ),
  key: textFilter(),
  segment: conditionFilters.segment,
};
type Split = Values<typeof filters>["by"];

/** The chart has no distinct colours for more series. */
const top = 7;

export default function Volume(): ReactElement {
  return (
    <div className="grid gap-4">
      <OverTime />
      <Names />
    </div>
  );
}

function OverTime(): ReactElement {
  const [{ event, range, measure, by, key, segment }, change] = useFilters(filters);
  const labelOf = useEventLabels();
  const { period, periods, label } = ranges[range];
  // One event has only one name.
  const split = event !== "" && by === "event" ? "none" : by;
  const needsKey = split === "property" || split === "trait";
  const lacksKey = needsKey && key === "";
  const query = {
    event,
    period,
    periods,
    breakdown: split,
    top,
    ...(needsKey && { key }),
    ...(segment !== undefined && { segment }),
  };
  const asked = useRead("/api/events-over-time", {
    query,
    enabled: !lacksKey,
    keepsPrevious: true,
  });
  const what = measure === "count" ? "Number of events" : "Users with an event";
  return (
    <Panel
      title={event === "" ? "Events over time" : labelOf(event)}
      note={
        <>
          {what}, by {period}, over {label}. {!lacksKey && <Freshness freshness={asked.data?.freshness} />}
        </>
      }
      actions={
        event !== "" && (
          <Button isSmall icon="close" onClick={() => change({ event: "", by: "event", key: "" })}>
            All events
          </Button>
        )
      }
    >
      <Choices split={split} />
      {lacksKey ? (
        <Keys split={split} event={event} onChoose={(name) => change({ key: name })} />
      ) : (
        <Figures
          asked={asked}
          loading={<Loading rows={1} height={300} />}
          empty={({ periods: rows }) =>
            rows.every(({ count }) => count === 0) && (
              <NoEvents
                event={event === "" ? "" : labelOf(event)}
                label={label}
                isOfSegment={segment !== undefined}
              />
            )
          }
        >
          {({ periods: rows }) => (
            <VolumeChart
              rows={rows}
              measure={measure}
              period={period}
              split={split}
              {...(split === "event" && { onPick: (name: string) => change({ event: name, by: "event" }) })}
            />
          )}
        </Figures>
      )}
    </Panel>
  );
}

/** The choices of the chart. The address holds all of them. */
function Choices({ split }: { split: Split }): ReactElement {
  const [{ event, range, measure, key, segment }, change] = useFilters(filters);
  const needsKey = split === "property" || split === "trait";
  return (
    <div className="mb-4 grid grid-cols-2 gap-2 sm:flex">
      <SmallSelect
        label="Time"
        value={range}
        choices={rangeNames.map((value) => ({ value, label: `Last ${ranges[value].label}` }))}
        onChoose={(chosen) => change({ range: chosen })}
      />
      <SmallSelect
        label="What is counted"
        value={measure}
        choices={filters.measure.choices}
        onChoose={(chosen) => change({ measure: chosen })}
      />
      <SmallSelect
        label="Split"
        value={split}
        choices={filters.by.choices.filter(({ value }) => value !== "event" || event === "")}
        onChoose={(chosen) => change({ by: chosen, key: "" })}
      />
      <SegmentPick value={segment} onChoose={(chosen) => change({ segment: chosen })} />
      {needsKey && (
        <KeyField split={split} event={event} value={key} onChange={(name) => change({ key: name })} />
      )}
    </div>
  );
}

function NoEvents({
  event,
  label,
  isOfSegment,
}: {
  event: string;
  label: string;
  isOfSegment: boolean;
}): ReactElement {
  const { timezone } = useOrganization();
  if (isOfSegment) return <Empty title={`No such event of the segment’s users within ${label}`} />;
  return (
    <Empty title={event === "" ? "No events yet" : `${event} was not done within ${label}`}>
      Nothing was counted in these {label}, in days of {timezone.replaceAll("_", " ")}. Under Live you see
      what arrives at this moment.
    </Empty>
  );
}
