/** The names of events as they were sent, where all that is known is the name by which they are stored. */
import { useMemo } from "react";
import { useRead } from "../../api/query.ts";

/** How an event is called: as it was sent; its stored name until that is known, and beyond the first 1,000 names. */
export function useEventLabels(): (event: string) => string {
  const { data } = useRead("/api/events", { query: { limit: 1_000 } });
  return useMemo(() => {
    const labels = new Map((data?.events ?? []).map(({ event, label }) => [event, label ?? event]));
    return (event) => labels.get(event) ?? event;
  }, [data]);
}
