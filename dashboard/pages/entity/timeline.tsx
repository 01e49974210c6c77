/** Events by day, the newest first, with their properties. Older events load on scrolling. */
import { type ReactElement, useEffect, useRef, useState } from "react";
import type { Asked, usePages } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Button } from "../../parts/form/button.tsx";
import { SmallSelect } from "../../parts/form/field.tsx";
import { Icon } from "../../parts/icons.tsx";
import { useFilters } from "../../parts/list/filters.ts";
import { Empty, FigurePanel, Loading, Problem } from "../../parts/states.tsx";
import { summaryOf, Tree } from "../../parts/tree.tsx";
import { classes } from "../../text/classes.ts";
import { counted, dayText, instantText, numbers, timeText, todayIn } from "../../text/format.ts";
import { entryText } from "./entry-text.ts";
import { filters } from "./filters.ts";

type Kind = "event" | "alert" | "note" | "pulse" | "task" | "task_done";

/** The names of entries that are no events. */
const workWords: Record<Exclude<Kind, "event">, string> = {
  alert: "Alert",
  note: "Note",
  pulse: "Pulse",
  task: "Task added",
  task_done: "Task done",
};

interface TimelineEvent {
  readonly kind: Kind;
  readonly id: string;
  readonly event: string;
  /** The name as it was sent. Null where that is the name itself. */
  readonly label: string | null;
  readonly isActivity: boolean;
  readonly timestamp: string;
  readonly receivedAt: string;
  readonly properties: Record<string, unknown>;
  /** In an account's timeline: the user of the event. */
  readonly userId?: string | null;
  readonly userLabel?: string | null;
}

type Pages = ReturnType<typeof usePages<"/api/users/:userId/timeline" | "/api/accounts/:accountId/timeline">>;

/** So many events are shown before the reader scrolls on. */
export const timelinePage = 25;

interface TimelinePanelProps {
  readonly asked: Pages;
  readonly names: Asked<{
    readonly events: readonly { event: string; label: string | null; count: number }[];
  }>;
}

export function TimelinePanel({ asked, names }: TimelinePanelProps): ReactElement {
  const [{ event }, choose] = useFilters(filters);
  const { timezone } = useOrganization();
  const known = names.data?.events ?? [];
  const chosen =
    event !== "" && !known.some((one) => one.event === event) ? [{ event, label: null, count: 0 }] : [];
  return (
    <FigurePanel
      title="Timeline"
      note={`The newest first, in the timezone ${timezone.replaceAll("_", " ")}.`}
      actions={
        <SmallSelect
          label="Event"
          className="max-w-[60vw]"
          value={event}
          onChoose={(to) => choose({ event: to })}
          choices={[
            { value: "", label: "All events" },
            ...[...chosen, ...known].map((one) => ({
              value: one.event,
              label: `${one.label ?? one.event} (${numbers.count(one.count)})`,
            })),
          ]}
        />
      }
      // The timeline itself says that older events could not be read.
      asked={{ ...asked, error: asked.data === undefined ? asked.error : null }}
      loading={<Loading rows={10} />}
      empty={({ pages }) =>
        pages.every(({ events }) => events.length === 0) && (
          <Empty title={event === "" ? "No events yet" : "None of these events"}>
            {event === ""
              ? "Events of your application appear here within 2 seconds."
              : "Choose another event, or all of them."}
          </Empty>
        )
      }
    >
      {({ pages }) => (
        <Timeline asked={asked} events={pages.flatMap((page) => page.events)} timezone={timezone} />
      )}
    </FigurePanel>
  );
}

function Timeline({
  asked: { error, hasNextPage, isFetchingNextPage, fetchNextPage },
  events,
  timezone,
}: {
  asked: Pages;
  events: readonly TimelineEvent[];
  timezone: string;
}): ReactElement {
  const days = Map.groupBy(events, ({ timestamp }) => todayIn(timezone, Date.parse(timestamp)));
  return (
    <>
      {[...days].map(([day, ofDay]) => (
        <section key={day} aria-label={dayText(day, "long")} className="mb-3">
          <h3 className="sticky top-12 z-[1] border-b border-line bg-surface py-1 text-sm lg:top-0">
            {dayText(day, "long")}
          </h3>
          <ol>
            {ofDay.map((event) => (
              <Row key={`${event.kind} ${event.id}`} event={event} timezone={timezone} />
            ))}
          </ol>
        </section>
      ))}
      {error !== null && <Problem error={error} onRetry={() => void fetchNextPage()} />}
      <p role="status" className="text-sm text-soft">
        {counted(events.length, "event")}
        {hasNextPage ? " so far." : ", and that is all."}
      </p>
      {hasNextPage && error === null && (
        <Older shown={events.length} isBusy={isFetchingNextPage} onOlder={() => void fetchNextPage()} />
      )}
    </>
  );
}

interface OlderProps {
  /** How many events are above. */
  readonly shown: number;
  readonly isBusy: boolean;
  readonly onOlder: () => void;
}

/** Reads the next page when it comes near the window. A button does the same. */
function Older({ shown, isBusy, onOlder }: OlderProps): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  const read = useRef(onOlder);
  read.current = onOlder;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page that came at once was never busy, and only a new observer reports an end that stays in view
  useEffect(() => {
    if (place.current === null || isBusy) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        // A busy browser reports several changes at once. The last one is the present state.
        if (entries.at(-1)?.isIntersecting) read.current();
      },
      { rootMargin: "400px" },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [shown, isBusy]);
  return (
    <div ref={place} className="mt-2">
      <Button isSmall isBusy={isBusy} onClick={onOlder}>
        {isBusy ? "Loading …" : "Older events"}
      </Button>
    </div>
  );
}

function Row({ event, timezone }: { event: TimelineEvent; timezone: string }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const { properties, timestamp, userId, userLabel } = event;
  return (
    <li className="border-b border-line last:border-0">
      <div className="flex items-center gap-2">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="grid min-w-0 grow grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-3 rounded py-1.5 text-left hover:bg-sunk focus-visible:-outline-offset-2 sm:grid-cols-[5.5rem_minmax(8rem,14rem)_minmax(0,1fr)]"
        >
          <span className="flex items-baseline gap-1 text-sm text-soft">
            <Icon
              name="right"
              size={12}
              className={classes("self-center transition-transform", isOpen && "rotate-90")}
            />
            <time dateTime={timestamp}>{timeText(timestamp, timezone)}</time>
          </span>
          <span
            className={classes(
              "truncate font-medium",
              event.kind === "event" && !event.isActivity && "text-soft",
            )}
          >
            {event.kind === "event" ? (event.label ?? event.event) : workWords[event.kind]}
          </span>
          <span className="col-span-2 truncate pl-4 text-sm text-soft sm:col-span-1 sm:pl-0">
            {event.kind === "event" ? summaryOf(properties) : entryText(event.kind, properties)}
          </span>
        </button>
        {userId != null && <UserLink userId={userId} label={userLabel ?? userId} />}
      </div>
      {isOpen && <Details event={event} timezone={timezone} />}
    </li>
  );
}

function UserLink({ userId, label }: { userId: string; label: string }): ReactElement {
  const look = "max-w-[40%] shrink-0 truncate text-sm text-soft";
  if (userId === "") return <span className={look}>erased user</span>;
  return (
    <EntityLink kind="user" id={userId} label={label} title={label} className={`${look} hover:text-ink`} />
  );
}

function Details({ event, timezone }: { event: TimelineEvent; timezone: string }): ReactElement {
  const { kind, properties, id, timestamp, receivedAt, isActivity } = event;
  return (
    <div className="mb-2 ml-4 grid gap-2 rounded bg-sunk p-3">
      {Object.keys(properties).length === 0 ? (
        <p className="text-sm text-soft">Sent without properties.</p>
      ) : (
        <Tree values={properties} timezone={timezone} />
      )}
      <p className="border-t border-line pt-2 text-sm text-soft [overflow-wrap:anywhere]">
        {kind === "event" ? (
          <>
            Happened {instantText(timestamp, timezone)}, received {instantText(receivedAt, timezone)} (
            {timezone}) · event id {id}
            {!isActivity && " · not counted: the source marks it as no activity"}
          </>
        ) : (
          <>
            Written by the team {instantText(timestamp, timezone)} ({timezone})
          </>
        )}
      </p>
      <div>
        <CopyButton text={JSON.stringify(event, null, 2)} label="Copy as JSON" />
      </div>
    </div>
  );
}
