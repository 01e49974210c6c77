/** Names of events as they were sent: as links, and for places where only the stored name is known. */
import { type ReactElement, useMemo } from "react";
import { useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";

interface EventLinkProps {
  readonly event: string;
  readonly label: string | null;
  /** The one whose users are counted where the link is. */
  readonly segment: number | undefined;
}

/** The name as a link to the event's own volume, as it was sent. */
export function EventLink({ event, label, segment }: EventLinkProps): ReactElement {
  const search = { event, ...(segment !== undefined && { segment: String(segment) }) };
  return (
    <PageLink to="/o/$organization/events" search={search} title={label ?? event} className="font-medium">
      {label ?? event}
    </PageLink>
  );
}

/** The name of an event as it was sent. It is the stored name until then, and beyond the first 1,000
 * names. */
export function useEventLabels(): (event: string) => string {
  const { data } = useRead("/api/events", { query: { limit: 1_000 } });
  return useMemo(() => {
    const labels = new Map((data?.events ?? []).map(({ event, label }) => [event, label ?? event]));
    return (event) => labels.get(event) ?? event;
  }, [data]);
}
