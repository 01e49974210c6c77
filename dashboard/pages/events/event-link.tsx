/** An event's name, which leads to how often it is done. */
import { Link } from "@tanstack/react-router";
import type { ReactElement } from "react";
import { useOrganization } from "../../app/session.ts";

/** The name as a link to the event's own volume. */
export function EventLink({ event }: { event: string }): ReactElement {
  const organization = String(useOrganization().id);
  return (
    <Link to="/o/$organization/events" params={{ organization }} search={{ event }} className="font-medium">
      {event}
    </Link>
  );
}
