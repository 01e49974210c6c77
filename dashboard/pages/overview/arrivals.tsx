/** The arrivals of the start page: nothing yet, a user, the first event. */
import { type ReactElement, useState } from "react";
import { useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Stat, Stats } from "../../parts/figure/stat.tsx";
import { buttonClass } from "../../parts/form/button.tsx";
import { Problem, Starting } from "../../parts/states.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { numbers } from "../../text/format.ts";

/** Before the first event, and afterwards. */
const waitingMs = 1_500;
const restingMs = 10_000;
const maxKinds = 1_000;

/** The data that has arrived so far. It refreshes by itself. */
export function useArrivals() {
  const [isWaiting, setWaiting] = useState(true);
  const everyMs = isWaiting ? waitingMs : restingMs;
  const people = useRead("/api/users", { query: { limit: 1 }, everyMs });
  // Excluded users are not among them.
  const isAnyoneListed = (people.data?.total ?? 0) > 0;
  const kinds = useRead("/api/events", { query: { limit: maxKinds }, everyMs });
  const excluded = kinds.data?.freshness.excludedUsers ?? 0;
  const events = kinds.data?.events ?? [];
  const hasEvents = events.length > 0;
  if (isWaiting && hasEvents) setWaiting(false);
  // Events of excluded users are in no figure. Without this check the page would wait for them without end.
  const hasUsers = isAnyoneListed || excluded > 0;
  const areAllExcluded = !isAnyoneListed && excluded > 0;
  return { people, kinds, hasUsers, hasEvents, areAllExcluded };
}

export function Arrivals({ arrivals }: { arrivals: ReturnType<typeof useArrivals> }): ReactElement {
  const { people, kinds, hasUsers, hasEvents, areAllExcluded } = arrivals;
  const reason = people.failureReason ?? kinds.failureReason;
  return (
    <div aria-live="polite">
      {people.data === undefined || kinds.data === undefined ? (
        <Waiting reason={reason} onRetry={() => void Promise.all([people.refetch(), kinds.refetch()])} />
      ) : hasEvents ? (
        <Arrived arrivals={arrivals} />
      ) : areAllExcluded ? (
        <AllExcluded />
      ) : (
        <p className="flex items-center gap-3 rounded border border-line bg-surface px-4 py-3">
          <span aria-hidden="true" className="size-2.5 rounded-full bg-ember motion-safe:animate-pulse" />
          {hasUsers
            ? "A user is identified. Waiting for the first event …"
            : "Waiting for the first user and the first event. They appear here by themselves."}
        </p>
      )}
    </div>
  );
}

function AllExcluded(): ReactElement {
  return (
    <div className="grid justify-items-start gap-3 rounded border border-watch/50 bg-watch-wash px-4 py-3">
      <p>
        <b className="font-medium">All users so far are excluded</b> by a rule. Their events are stored but
        count in no figure. Identify a user that no rule excludes, or remove the rule.
      </p>
      <div className="flex flex-wrap gap-2">
        <PageLink to="/o/$organization/settings/exclusions" className={buttonClass()}>
          See the rules
        </PageLink>
        <PageLink to="/o/$organization/events" className={buttonClass()}>
          See events arrive
        </PageLink>
      </div>
    </div>
  );
}

function Waiting({ reason, onRetry }: { reason: Error | null; onRetry: () => void }): ReactElement {
  if (reason !== null && "isStarting" in reason && reason.isStarting === true) return <Starting />;
  if (reason !== null) return <Problem error={reason} onRetry={onRetry} />;
  return <p className="text-soft">Looking for what has arrived …</p>;
}

function Arrived({
  arrivals: { people, kinds },
}: {
  arrivals: ReturnType<typeof useArrivals>;
}): ReactElement {
  const events = kinds.data?.events ?? [];
  const count = events.reduce((sum, one) => sum + one.count, 0);
  const isAll = events.length < maxKinds;
  return (
    <div className="grid gap-3">
      <Latest />
      <Stats>
        <Stat label="Users identified" value={numbers.count(people.data?.total)} />
        <Stat
          label={isAll ? "Events so far" : "Events of the most frequent kinds"}
          value={numbers.count(count)}
        />
        <Stat label="Kinds of events" value={`${numbers.count(events.length)}${isAll ? "" : " or more"}`} />
      </Stats>
      <div className="flex flex-wrap gap-2">
        <PageLink to="/o/$organization/events" className={buttonClass()}>
          See events arrive
        </PageLink>
        <PageLink to="/o/$organization/users" className={buttonClass()}>
          See the users
        </PageLink>
      </div>
    </div>
  );
}

/** The latest event, with its user. */
function Latest(): ReactElement | null {
  const last = useRead("/api/latest-event", { everyMs: restingMs }).data?.event;
  if (last == null) return null;
  const { label, event, userId, userLabel, timestamp } = last;
  return (
    <p className="rounded border border-healthy/50 bg-healthy-wash px-4 py-3 [overflow-wrap:anywhere]">
      <b className="font-medium">{label ?? event}</b> by{" "}
      <EntityLink kind="user" id={userId} label={userLabel} className="underline" />,{" "}
      <RelativeTime instant={timestamp} />
    </p>
  );
}
