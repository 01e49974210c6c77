/** One line of the live view. */
import { memo, type ReactElement } from "react";
import type { LiveItem, LiveSkipped } from "../../../contract/live.ts";
import type { SourceOutcome } from "../../../contract/sources.ts";
import { useOrganization } from "../../app/session.ts";
import { Badge } from "../../parts/figure/health.tsx";
import { classes } from "../../text/classes.ts";
import { numbers, timeText } from "../../text/format.ts";
import { isConnectedSource, sourceName } from "../../text/source-names.ts";
import { warningWords } from "./warning-words.tsx";

/** The outcomes of an item in words, and why it was not simply stored, where the outcome alone says it. */
export const outcomes = {
  accepted: { word: "Accepted", tone: "good", note: "" },
  held: { word: "Held", tone: "warn", note: "Held until its user is identified" },
  duplicate: { word: "Duplicate", tone: "info", note: "Same message id as before: stored once" },
  rejected: { word: "Rejected", tone: "bad", note: "" },
  ignored: { word: "Ignored", tone: "info", note: "" },
} as const satisfies Readonly<Record<SourceOutcome, object>>;
export const outcomeNames = Object.keys(outcomes) as readonly SourceOutcome[];

/** The outcome of an item. */
export function OutcomeBadge({ outcome, status }: Pick<LiveItem, "outcome" | "status">): ReactElement {
  const { word, tone } = outcomes[outcome];
  return <Badge tone={tone}>{outcome === "rejected" ? `${word} ${status}` : word}</Badge>;
}

/** The endpoint of a request: a path, or the connected source of its client. */
export function senderText(endpoint: string): string {
  return isConnectedSource(endpoint) ? endpoint : `/${endpoint}`;
}

/** The title of an item: the event's name as it was sent, where that is known, or the item's kind. */
export function titleOf(
  { kind, event, outcome }: Pick<LiveItem, "kind" | "event" | "outcome">,
  labelOf: (event: string) => string,
): string {
  if (event !== null) return labelOf(event);
  return kind ?? (outcome === "ignored" ? "Ignored" : "Not readable");
}

/** An item in one line. */
function lineOf({ error, ignoredBecause, warnings, outcome }: LiveItem): string {
  const text = error?.message ?? ignoredBecause ?? warnings.map(noteOf).join(" · ");
  return text === "" ? outcomes[outcome].note : text;
}

function toneOf({ error, outcome, warnings }: LiveItem): string {
  if (error !== null) return "text-at-risk";
  return outcome === "held" || warnings.length > 0 ? "text-watch" : "text-soft";
}

/** The columns of rows and of their header, where the window is wide. */
const wideColumns = "lg:grid-cols-[5.5rem_8rem_minmax(0,13rem)_minmax(0,10rem)_minmax(0,1fr)_7rem]";

/** The names of the columns. On a phone rows are two or three lines, which need none. */
export function LiveHeader(): ReactElement {
  return (
    <div
      className={classes(
        "sticky top-0 z-[1] hidden gap-x-3 border-b border-line bg-surface px-4 py-1.5 text-sm font-medium text-soft lg:grid",
        wideColumns,
      )}
    >
      {["Time", "Outcome", "Event", "User", "Reason"].map((name) => (
        <span key={name}>{name}</span>
      ))}
      <span className="text-right">Token</span>
    </div>
  );
}

/** One line, two on a phone. The reason is shown whole. */
export const LiveRow = memo(function LiveRow({
  item,
  labelOf,
  onOpen,
}: {
  item: LiveItem;
  labelOf: (event: string) => string;
  onOpen: (item: LiveItem) => void;
}): ReactElement {
  const { timezone } = useOrganization();
  const { at, error, userId, batch, token, endpoint } = item;
  const status = error?.statusCode ?? item.status;
  return (
    <li>
      <button
        type="button"
        onClick={() => onOpen(item)}
        className={classes(
          "grid w-full items-baseline gap-x-3 border-b border-line px-4 py-1.5 text-left hover:bg-sunk focus-visible:-outline-offset-2",
          "grid-cols-[auto_minmax(0,1fr)_auto]",
          wideColumns,
        )}
      >
        <time dateTime={at} className="text-sm text-soft">
          {timeText(at, timezone)}
        </time>
        <span className="order-3 justify-self-end lg:order-none lg:justify-self-start">
          <OutcomeBadge outcome={item.outcome} status={status} />
        </span>
        <span className="order-2 min-w-0 truncate lg:order-none">
          <b className={classes("font-medium", item.event === null && "text-soft")}>
            {titleOf(item, labelOf)}
          </b>
          {batch !== null && (
            <span className="text-sm text-soft">
              {" "}
              {numbers.count(batch.index + 1)} of {numbers.count(batch.items)}
            </span>
          )}
          {isConnectedSource(endpoint) && (
            <span className="text-sm text-soft"> · {sourceName(endpoint)}</span>
          )}
        </span>
        <span className="order-4 col-span-3 min-w-0 truncate text-sm lg:order-none lg:col-span-1 lg:text-base">
          {userId ?? <span className="text-soft">no user</span>}
        </span>
        <span
          className={classes(
            "order-5 col-span-3 min-w-0 text-sm [overflow-wrap:anywhere] lg:order-none",
            // Without a token its place is the reason's.
            token === null ? "lg:col-span-2" : "lg:col-span-1",
            toneOf(item),
          )}
        >
          {lineOf(item)}
        </span>
        {token !== null && (
          <span
            className="hidden min-w-0 truncate text-right text-sm text-soft lg:block"
            title="Project token"
          >
            {token.name} …{token.lastFour}
          </span>
        )}
      </button>
    </li>
  );
});

/** A warning in few words. */
export function noteOf({ kind, detail }: LiveItem["warnings"][number]): string {
  const { word } = warningWords[kind];
  return detail === null ? word : `${word}: ${detail}`;
}

/** How many items are missing here, and what became of them. */
export function SkippedRow({ skipped }: { skipped: LiveSkipped }): ReactElement {
  const counts = outcomeNames.map((outcome) => [outcome, skipped[outcome]] as const);
  const parts = counts.flatMap(([outcome, count]) =>
    count > 0 ? [`${numbers.count(count)} ${outcome}`] : [],
  );
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  return (
    <li
      className="border-b border-line bg-sunk px-4 py-1 text-center text-sm text-soft"
      title="Too many at once to show. They count in figures like all others."
    >
      {parts.length === 1
        ? `${parts[0]?.replace(" ", " more ")}, not shown`
        : `${numbers.count(all)} more not shown: ${parts.join(", ")}`}
    </li>
  );
}
