/** The live view: each item that arrives, with its outcome and answer. */
import { type ReactElement, useMemo, useRef, useState } from "react";
import { useOrganization } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { SmallSelect } from "../../parts/form/field.tsx";
import { SearchInput } from "../../parts/form/search-input.tsx";
import { choiceFilter, textFilter, useFilters, type Values } from "../../parts/list/filters.ts";
import { Panel } from "../../parts/panel.tsx";
import { Empty, Problem } from "../../parts/states.tsx";
import { classes } from "../../text/classes.ts";
import { numbers } from "../../text/format.ts";
import { senderOf, senders, sourceName } from "../../text/source-names.ts";
import { useEventLabels } from "./event-names.tsx";
import { LiveDialog } from "./live-dialog.tsx";
import { LiveHeader, LiveRow, outcomeNames, outcomes, SkippedRow } from "./live-row.tsx";
import { type LiveEntry, type LiveFeed, useLive } from "./use-live.ts";

const filters = {
  outcome: choiceFilter(["all", ...outcomeNames, "warned"], "all"),
  source: choiceFilter(["all", ...senders], "all"),
  event: textFilter(),
  user: textFilter(),
};
type Item = Extract<LiveEntry, { event: "item" }>["data"];

export default function Live(): ReactElement {
  const { timezone } = useOrganization();
  const feed = useLive();
  const [wanted] = useFilters(filters);
  const [frozen, setFrozen] = useState<Pick<LiveFeed, "entries" | "received">>();
  const [open, setOpen] = useState<Item>();
  const { entries } = frozen ?? feed;
  const labelOf = useEventLabels();
  const shown = useMemo(
    () => entries.filter((entry) => isWanted(entry, wanted, labelOf)),
    [entries, wanted, labelOf],
  );
  const clear = () => {
    feed.clear();
    setFrozen(frozen && { entries: [], received: 0 });
  };
  return (
    <Panel
      title="Live"
      note={`Items sent with a project token of this organization, the newest first, in the timezone ${timezone.replaceAll("_", " ")}. Requests with an unknown token are rejected (401) and not shown.`}
      actions={
        <>
          <Status feed={feed} waiting={frozen && Math.max(0, feed.received - frozen.received)} />
          <Button
            isSmall
            icon={frozen ? "play" : "pause"}
            aria-pressed={frozen !== undefined}
            onClick={() => setFrozen(frozen ? undefined : feed)}
          >
            {frozen ? "Resume" : "Pause"}
          </Button>
          <Button isSmall onClick={clear} disabled={entries.length === 0}>
            Clear
          </Button>
        </>
      }
      isFlush
    >
      <Filters />
      {feed.error !== undefined && (
        <div className="px-4 pb-3">
          <Problem error={feed.error} {...(feed.status === "over" && { onRetry: feed.retry })} />
        </div>
      )}
      <Rows
        shown={shown}
        held={entries.length}
        isLive={feed.status === "live"}
        labelOf={labelOf}
        onOpen={setOpen}
      />
      {open !== undefined && <LiveDialog item={open} labelOf={labelOf} onClose={() => setOpen(undefined)} />}
    </Panel>
  );
}

function Status({ feed, waiting }: { feed: LiveFeed; waiting: number | undefined }): ReactElement {
  const isLive = feed.status === "live" && waiting === undefined;
  const text = { connecting: "Connecting …", live: "Live", over: "Not connected" }[feed.status];
  return (
    <span role="status" className="mr-1 inline-flex items-center gap-1.5 text-sm text-soft">
      <span
        aria-hidden="true"
        className={classes(
          "size-2 rounded-full",
          isLive ? "bg-healthy motion-safe:animate-pulse" : feed.status === "over" ? "bg-at-risk" : "bg-edge",
        )}
      />
      {waiting === undefined ? text : `Paused, ${numbers.count(waiting)} waiting`}
    </span>
  );
}

function Filters(): ReactElement {
  const [{ outcome, source, event, user }, change] = useFilters(filters);
  return (
    <div className="grid grid-cols-2 gap-2 px-4 pb-3 sm:flex">
      <SmallSelect
        label="Outcome"
        value={outcome}
        choices={[
          { value: "all", label: "Every outcome" },
          ...outcomeNames.map((value) => ({ value, label: outcomes[value].word })),
          { value: "warned", label: "With a warning" },
        ]}
        onChoose={(chosen) => change({ outcome: chosen })}
      />
      <SmallSelect
        label="Source"
        value={source}
        choices={[
          { value: "all", label: "Every source" },
          ...senders.map((value) => ({ value, label: sourceName(value) })),
        ]}
        onChoose={(chosen) => change({ source: chosen })}
      />
      <SearchInput
        label="Event"
        placeholder="Event's name"
        value={event}
        onSearch={(text) => change({ event: text }, true)}
        className="sm:w-44"
      />
      <SearchInput
        label="User"
        placeholder="User's id"
        value={user}
        onSearch={(text) => change({ user: text }, true)}
        className="sm:w-44"
      />
    </div>
  );
}

function Rows({
  shown,
  held,
  isLive,
  labelOf,
  onOpen,
}: {
  shown: readonly LiveEntry[];
  held: number;
  isLive: boolean;
  labelOf: (event: string) => string;
  onOpen: (item: Item) => void;
}): ReactElement {
  const list = useRef<HTMLOListElement>(null);
  if (shown.length === 0) {
    return (
      <Empty
        title={held > 0 ? "No matching items" : isLive ? "Waiting for the first request" : "Nothing yet"}
      >
        {held > 0
          ? `${numbers.count(held)} items do not match the filters.`
          : "Send an identify or a track with a project token of this organization. Requests with a wrong or revoked token are rejected (401) and not shown."}
      </Empty>
    );
  }
  // Arrow keys move between rows: 500 rows are too many for the Tab key.
  const onKeyDown = (key: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[key.key];
    const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
    const at = buttons.findIndex((button) => button.matches(":focus"));
    if (step === undefined || at < 0) return;
    key.preventDefault();
    buttons[at + step]?.focus();
  };
  return (
    <div className="max-h-[65dvh] overflow-y-auto border-t border-line">
      <LiveHeader />
      <ol ref={list} aria-label="Items, the newest first" onKeyDown={onKeyDown}>
        {shown.map((entry) =>
          entry.event === "item" ? (
            <LiveRow key={entry.key} item={entry.data} labelOf={labelOf} onOpen={onOpen} />
          ) : (
            <SkippedRow key={entry.key} skipped={entry.data} />
          ),
        )}
      </ol>
    </div>
  );
}

function isWanted(
  entry: LiveEntry,
  { outcome, source, event, user }: Values<typeof filters>,
  labelOf: (event: string) => string,
): boolean {
  if (entry.event === "skipped") {
    return outcome === "all" && source === "all" && event === "" && user === "";
  }
  const { data } = entry;
  const holds = (text: string | null, part: string) =>
    part === "" || (text ?? "").toLowerCase().includes(part.toLowerCase());
  const isOfOutcome =
    outcome === "all" || (outcome === "warned" ? data.warnings.length > 0 : data.outcome === outcome);
  const isOfSource = source === "all" || senderOf(data.endpoint) === source;
  const isOfEvent = holds(data.event, event) || holds(data.event && labelOf(data.event), event);
  return isOfOutcome && isOfSource && isOfEvent && holds(data.userId, user);
}
