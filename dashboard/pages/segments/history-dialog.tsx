/** The dialog with a segment's past: its size over time, and the newest changes. */
import { type ReactElement, useCallback } from "react";
import type { SegmentCause } from "../../../contract/segments/segments.ts";
import { csvAddress, type Reads, usePages, useRead } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { barSeries, Chart, categoryAxis, gridWithin, valueAxis } from "../../charts/chart.tsx";
import type { Colours } from "../../charts/colours.ts";
import { tooltipOf } from "../../charts/tooltip.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Button } from "../../parts/form/button.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { Empty, Figures, Loading, Problem } from "../../parts/states.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { counted, dayPlus, daysBetween, dayText, instantText, numbers } from "../../text/format.ts";
import type { Segment, SegmentKind } from "./segments.ts";

type History = Reads["/api/segments/:id/history"]["answer"];
type Changes = Reads["/api/segments/:id/changes"]["answer"];

const shownDays = 90;
const pageSize = 50;
/** A new segment is evaluated soon. */
const everyMs = 10_000;

export function HistoryDialog({
  segment: { id, name, kind },
  onClose,
}: {
  segment: Pick<Segment, "id" | "name" | "kind">;
  onClose: () => void;
}): ReactElement {
  const asked = useRead("/api/segments/:id/history", {
    path: { id: String(id) },
    query: { days: shownDays },
    everyMs,
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={`History of “${name}”`}
      description={`Its size within ${shownDays} days, and the ${kind} that entered and left.`}
      isWide
    >
      <Figures
        asked={asked}
        loading={<Loading rows={8} />}
        empty={({ firstEvaluatedAt }) => firstEvaluatedAt === null && <NotEvaluated />}
      >
        {(history) => (
          <div className="grid gap-5">
            <Sizes history={history} />
            <Newest id={String(id)} kind={kind} firstAt={history.firstEvaluatedAt} />
          </div>
        )}
      </Figures>
    </Dialog>
  );
}

function NotEvaluated(): ReactElement {
  return (
    <Empty title="Not evaluated yet">
      The members of a new segment are recorded soon, within a minute usually. From then on the history has
      everybody that enters and leaves.
    </Empty>
  );
}

const causeWords: Readonly<Record<SegmentCause, string>> = {
  change: "own data",
  edit: "segment edited",
  scores: "model or settings of scores",
  bulk: "bulk change: an import, exclusions, settings, another owner, an erasure or missing data",
  first: "first evaluation",
};

/** All days from the first to the last. Those without an evaluation have no bar. */
function everyDay(days: History["days"]): readonly string[] {
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  if (first === undefined || last === undefined) return [];
  return Array.from({ length: daysBetween(first, last) + 1 }, (_, index) => dayPlus(first, index));
}

function Sizes({ history: { segment, days } }: { history: History }): ReactElement | null {
  const option = useCallback(
    (colours: Colours) => {
      const sizes = new Map(days.map(({ day, size }) => [day, size]));
      const shown = everyDay(days);
      return {
        tooltip: tooltipOf(numbers.count),
        grid: gridWithin({ top: 12 }),
        xAxis: categoryAxis(
          colours,
          shown.map((day) => dayText(day, "short")),
        ),
        yAxis: { ...valueAxis(colours, numbers.compact), minInterval: 1 },
        series: [
          {
            ...barSeries(
              "Members",
              shown.map((day) => sizes.get(day) ?? null),
              colours["series-1"],
              "25%",
            ),
            barMaxWidth: 40,
          },
        ],
      };
    },
    [days],
  );
  if (days.length === 0) return <p className="text-soft">No evaluation within {shownDays} days.</p>;
  return (
    <Chart
      label={`Size of ${segment.name} by day`}
      height={180}
      option={option}
      table={{
        columns: ["Day", "Members", "Entered", "Left", "Causes"],
        rows: days
          .toReversed()
          .map(({ day, size, entered, left, causes }) => [
            dayText(day),
            numbers.count(size),
            numbers.count(entered),
            numbers.count(left),
            causes.map((cause) => causeWords[cause]).join(", "),
          ]),
      }}
    />
  );
}

interface NewestProps {
  readonly id: string;
  readonly kind: SegmentKind;
  readonly firstAt: string | null;
}

function Newest({ id, kind, firstAt }: NewestProps): ReactElement {
  const { timezone } = useOrganization();
  const pages = usePages(
    "/api/segments/:id/changes",
    { path: { id }, query: { limit: pageSize }, everyMs },
    ({ next }) => next,
  );
  const { error, hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  return (
    <section aria-label="Newest changes" className="min-w-0">
      <div className="mb-2 flex items-center justify-between gap-2">
        <h3 className="text-base">Newest changes</h3>
        <CsvLink address={csvAddress("/api/segments/:id/changes", {}, { id })} />
      </div>
      <Figures
        asked={{ ...pages, error: pages.data === undefined ? error : null }}
        loading={<Loading rows={6} />}
        empty={(data) =>
          data.pages.every(({ changes }) => changes.length === 0) && (
            <Empty title="No changes yet">
              Evaluated for the first time on {firstAt === null ? "" : instantText(firstAt, timezone)}.
              Members of that time did not enter.
            </Empty>
          )
        }
      >
        {(data) => (
          <>
            <List kind={kind} changes={data.pages.flatMap(({ changes }) => changes)} />
            {error !== null && <Problem error={error} onRetry={() => void fetchNextPage()} />}
            {hasNextPage && error === null && (
              <Button
                isSmall
                className="mt-2"
                isBusy={isFetchingNextPage}
                onClick={() => void fetchNextPage()}
              >
                {isFetchingNextPage ? "Loading …" : "Older changes"}
              </Button>
            )}
          </>
        )}
      </Figures>
    </section>
  );
}

function List({ kind, changes }: { kind: SegmentKind; changes: Changes["changes"] }): ReactElement {
  return (
    <>
      <ul aria-label="Newest changes" className="border-t border-line">
        {changes.map(({ entityId, entityLabel, at, change, cause }) => (
          <li
            key={`${at} ${entityId} ${change}`}
            className="flex flex-wrap items-baseline justify-between gap-x-3 border-b border-line py-1.5"
          >
            <span className="min-w-0 max-w-full truncate">
              <EntityLink
                kind={kind === "users" ? "user" : "account"}
                id={entityId}
                label={entityLabel}
                title={entityLabel}
              />
            </span>
            <span className="text-sm text-soft">
              {change}
              {cause !== "change" && `, ${causeWords[cause]}`} · <RelativeTime instant={at} />
            </span>
          </li>
        ))}
      </ul>
      <p role="status" className="mt-1 text-sm text-soft">
        {counted(changes.length, "change")} shown
      </p>
    </>
  );
}
