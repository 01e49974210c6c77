/** Instants and days relative to now, with the exact one on hover. */
import { type ReactElement, useSyncExternalStore } from "react";
import { useOrganization } from "../app/session.ts";
import { agoText, daysAgoText, dayText, instantText, nothing, todayIn } from "../text/format.ts";

const everyMs = 20_000;
let nowMs = Date.now();
const listeners = new Set<() => void>();
setInterval(() => {
  nowMs = Date.now();
  for (const listener of listeners) listener();
}, everyMs);

/** The clock of relative times, in milliseconds. It moves every 20 seconds. */
export function useNowMs(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => nowMs,
  );
}

/** An instant as "5 minutes ago". The exact one shows on hover. */
export function RelativeTime({ instant }: { instant: string | null | undefined }): ReactElement {
  const now = useNowMs();
  const { timezone } = useOrganization();
  if (instant == null) return <>{nothing}</>;
  return (
    <time dateTime={instant} title={`${instantText(instant, timezone)}, ${timezone}`}>
      {agoText(instant, now)}
    </time>
  );
}

/** An instant as date and time in the organization's timezone. */
export function Instant({ instant }: { instant: string | null | undefined }): ReactElement {
  const { timezone } = useOrganization();
  if (instant == null) return <>{nothing}</>;
  return (
    <time dateTime={instant} title={timezone}>
      {instantText(instant, timezone)}
    </time>
  );
}

/** Today in the organization's timezone, YYYY-MM-DD. */
export function useToday(): string {
  return todayIn(useOrganization().timezone, useNowMs());
}

/** A day as "3 weeks ago". The day itself shows on hover. */
export function RelativeDay({ day }: { day: string | null | undefined }): ReactElement {
  const today = useToday();
  if (day == null) return <>{nothing}</>;
  return (
    <time dateTime={day} title={dayText(day, "long")}>
      {daysAgoText(day, today)}
    </time>
  );
}
