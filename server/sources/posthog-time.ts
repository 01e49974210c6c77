/** When an event of PostHog's happened: its `timestamp`, else its `offset` before arrival, else arrival. */

/** The clocks of a delivery, Unix milliseconds. */
export interface Clock {
  readonly receivedAtMs: number;
  /** What the sender's clock said when it sent; undefined when it did not say, or when its clock is of no matter. */
  readonly sentAtMs: number | undefined;
}

/** Up to this difference between both clocks nothing is corrected: a repeated delivery says when it was first sent. */
const toleratedSkewMs = 5 * 60_000;

/** PostHog takes what is further ahead for a wrong clock, and arrival instead. */
const maxAheadMs = 23 * 3_600_000;

interface TimeFields {
  readonly timestamp?: unknown;
  readonly offset?: unknown;
  readonly ignoreSentAt: boolean;
}

/** Unix milliseconds of an event, or why its time cannot be read. */
export function posthogTime(fields: TimeFields, clock: Clock): number | { readonly invalid: string } {
  const { timestamp, offset } = fields;
  const { receivedAtMs } = clock;
  if (timestamp === undefined || timestamp === null || timestamp === "") {
    const isOffset = typeof offset === "number" && Number.isFinite(offset) && offset > 0;
    return isOffset ? receivedAtMs - Math.round(offset) : receivedAtMs;
  }
  const saidMs = readTime(timestamp);
  if (saidMs === undefined) {
    return { invalid: "timestamp is not a time that can be read: send an ISO 8601 date-time." };
  }
  const skewMs = fields.ignoreSentAt || clock.sentAtMs === undefined ? 0 : receivedAtMs - clock.sentAtMs;
  const atMs = Math.abs(skewMs) > toleratedSkewMs ? saidMs + skewMs : saidMs;
  return atMs > receivedAtMs + maxAheadMs ? receivedAtMs : atMs;
}

/** When the sender's clock says that it sent: the body's `sent_at`, else the address's `_`, in milliseconds since 2020. */
export function sentAtMs(sentAt: unknown, query: string | undefined): number | undefined {
  const said = readTime(sentAt);
  if (said !== undefined) return said;
  const ms = query !== undefined && /^\d{13}$/.test(query) ? Number(query) : undefined;
  return ms !== undefined && ms > Date.UTC(2020) ? ms : undefined;
}

const isoTime = /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s?([Zz]|[+-]\d{2}:?\d{2})?)?$/;

/** ISO 8601; without an offset it is UTC's, as PostHog takes it. */
function readTime(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const match = isoTime.exec(value.trim());
  if (match === null) return undefined;
  const text = value.trim().replace(" ", "T").replace(/\s/g, "").toUpperCase();
  const isZoned = match[1] !== undefined || text.length === 10;
  const ms = Date.parse(isZoned ? text : `${text}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}
