/** An event's name, which leads to how often it is done. */
import type { ReactElement } from "react";
import { PageLink } from "../../app/page-link.ts";

/** The name as a link to the event's own volume, as it was sent. */
export function EventLink({ event, label }: { event: string; label: string | null }): ReactElement {
  return (
    <PageLink to="/o/$organization/events" search={{ event }} title={label ?? event} className="font-medium">
      {label ?? event}
    </PageLink>
  );
}
