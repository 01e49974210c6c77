/** The names of events as they were sent, for places where only the stored name is known. */
import { useMemo } from "react";
import { useRead } from "../../api/query.ts";

/** The name of an event as it was sent. It is the stored name until then, and beyond the first 1,000 names. */
export function useEventLabels(): (event: string) => string {
  const { data } = useRead("/api/events", { query: { limit: 1_000 } });
  return useMemo(() => {
    const labels = new Map((data?.events ?? []).map(({ event, label }) => [event, label ?? event]));
    return (event) => labels.get(event) ?? event;
  }, [data]);
}
