/** In place of the pages with figures until an organization's first scores are there: figures of half of the data are false. */
import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { type ReactElement, type ReactNode, useEffect, useRef } from "react";
import { useRead } from "../api/query.ts";
import { Freshness } from "../parts/figure/freshness.tsx";
import { PageHeader, Panel } from "../parts/panel.tsx";
import { Loading } from "../parts/states.tsx";
import { numbers } from "../text/format.ts";
import { useOrganization } from "./session.ts";

/** Pages whose figures are of all data. The others show what has arrived so far, or what is set. */
const pagesOfFigures = /^\/o\/\d+\/(overview|users|accounts|segments|win-back|retention|revenue|model)(\/|$)/;

const everyMs = { whileLoading: 2_000, otherwise: 30_000 } as const;

/** Shows the page, or that its data is still loading. When loading ends, all figures are asked for again. */
export function FirstLoad({ children }: { children: ReactNode }): ReactElement {
  const { id } = useOrganization();
  const { pathname } = useLocation();
  const client = useQueryClient();
  const asked = useRead("/api/freshness", {
    everyMs: (answer) => (answer?.freshness.loading == null ? everyMs.otherwise : everyMs.whileLoading),
  });
  const { data, fetchStatus, failureReason } = asked;
  const loading = data?.freshness.loading ?? null;
  const wasLoading = useRef(false);
  useEffect(() => {
    if (wasLoading.current && loading === null) void client.invalidateQueries({ queryKey: [id] });
    wasLoading.current = loading !== null;
  }, [client, id, loading]);
  if (!pagesOfFigures.test(pathname)) return <>{children}</>;
  // What fails is said by the page itself.
  if (data === undefined && fetchStatus === "fetching" && failureReason === null) return <Loading />;
  if (loading === null || loading.hasScores) return <>{children}</>;
  return (
    <>
      <PageHeader title="Loading">
        <Freshness freshness={data?.freshness} />
      </PageHeader>
      <Panel>
        <div role="status" className="grid justify-items-center gap-1 px-4 py-10 text-center">
          <p className="font-medium">
            Your data is still loading: {numbers.count(loading.events)} events so far
          </p>
          <p className="max-w-[56ch] text-soft">
            Figures appear here by themselves, about a minute after the last event has arrived.
          </p>
        </div>
      </Panel>
    </>
  );
}
