/** An event's name, which leads to how often it is done. */
import { Link } from "@tanstack/react-router";
import type { ReactElement } from "react";
import { useOrganization } from "../../app/session.ts";

/** The name as a link to the event's own volume, as it was sent. */
export function EventLink({ event, label }: { event: string; label: string | null }): ReactElement {
  const organization = String(useOrganization().id);
  return (
    <Link
      to="/o/$organization/events"
      params={{ organization }}
      search={{ event }}
      title={label ?? event}
      className="font-medium"
    >
      {label ?? event}
    </Link>
  );
}
