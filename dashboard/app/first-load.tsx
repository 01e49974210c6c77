/** In place of a page with figures until an organization's first scores are there: figures of half of the
 * data are false. */
import { useQueryClient } from "@tanstack/react-query";
import { type ReactElement, useEffect, useRef, useState } from "react";
import { useRead } from "../api/query.ts";
import { PageHeader, Panel } from "../parts/panel.tsx";
import { numbers } from "../text/format.ts";
import { useOrganization } from "./session.ts";

const everyMs = { whileLoading: 2_000, otherwise: 30_000 } as const;
/** So long a page waits for the answer whether data is loading. When the server hangs, the page says so
 * itself. */
const patienceMs = 1_000;

/** The page, or that its data is still loading. When loading ends, all figures are asked for again. */
export function afterFirstLoad(Page: () => ReactElement): () => ReactElement {
  return function AfterFirstLoad() {
    const { id } = useOrganization();
    const client = useQueryClient();
    const { data, failureReason } = useRead("/api/freshness", {
      everyMs: (answer) => (answer?.freshness.loading == null ? everyMs.otherwise : everyMs.whileLoading),
    });
    const [hasWaited, setHasWaited] = useState(false);
    useEffect(() => {
      const timer = setTimeout(() => setHasWaited(true), patienceMs);
      return () => clearTimeout(timer);
    }, []);
    const loading = data?.freshness.loading ?? null;
    const wasLoading = useRef(false);
    useEffect(() => {
      if (wasLoading.current && loading === null) void client.invalidateQueries({ queryKey: [id] });
      wasLoading.current = loading !== null;
    }, [client, id, loading]);
    if (data === undefined && failureReason === null && !hasWaited) return <PageHeader title={undefined} />;
    return loading === null || loading.hasScores ? <Page /> : <StillLoading events={loading.events} />;
  };
}

function StillLoading({ events }: { readonly events: number }): ReactElement {
  return (
    <>
      <PageHeader title="Loading" />
      <Panel>
        <div role="status" className="grid justify-items-center gap-1 px-4 py-10 text-center">
          <p className="font-medium">Your data is still loading: {numbers.count(events)} events so far</p>
          <p className="max-w-[56ch] text-soft">
            Figures appear here by themselves, about a minute after the last event has arrived.
          </p>
        </div>
      </Panel>
    </>
  );
}
