/** The open alerts of a user or an account. Without any nothing is shown. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { FigurePanel } from "../../parts/states.tsx";
import { AlertList } from "../alerts/alert-list.tsx";

export function AlertsPanel({ what, id }: { what: "user" | "account"; id: string }): ReactElement | null {
  const asked = useRead("/api/alerts", { query: { [what]: id } });
  if (asked.error === null && (asked.data?.total ?? 0) === 0) return null;
  return (
    <FigurePanel
      title="Open alerts"
      asked={asked}
      actions={
        <PageLink to="/o/$organization/alerts" className="underline decoration-edge underline-offset-3">
          All alerts
        </PageLink>
      }
    >
      {({ alerts }) => <AlertList label={`Open alerts of this ${what}`} alerts={alerts} isOfOne />}
    </FigurePanel>
  );
}
