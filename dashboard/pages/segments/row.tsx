/** One segment: its size, its filter in words, and what members do with it. */
import { type ReactElement, useState } from "react";
import { useChange } from "../../api/query.ts";
import { PageLink, usePageNavigate } from "../../app/page-link.ts";
import { useMayAs } from "../../app/session.ts";
import { Button, IconButton } from "../../parts/form/button.tsx";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";
import { NameDialog } from "../../parts/form/name-dialog.tsx";
import { listAddresses } from "../../parts/list/view-address.ts";
import { Menu, MenuItem, MenuLine } from "../../parts/menu.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { counted, nothing } from "../../text/format.ts";
import { addressOfFilter, fitsList } from "./filter-address.ts";
import { FixedDialog } from "./fixed-dialog.tsx";
import { HistoryDialog } from "./history-dialog.tsx";
import type { Segment } from "./segments.ts";

interface RowProps {
  readonly segment: Segment;
  /** Its filter in words. */
  readonly words: readonly string[];
  /** Null until they are counted. */
  readonly members: number | null;
  readonly isCounting: boolean;
}

export function SegmentRow({ segment, words, members, isCounting }: RowProps): ReactElement {
  const { id, kind, name, fixed, usedBy, createdBy, updatedAt } = segment;
  const mayChange = useMayAs("member");
  const [isHistory, setHistory] = useState(false);
  const one = kind === "users" ? "user" : "account";
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-x-4 gap-y-1 border-t border-line px-4 py-3 first:border-0">
      <div className="grid min-w-0 gap-1.5 [overflow-wrap:anywhere]">
        <div className="flex flex-wrap items-baseline gap-x-3">
          <h2 className="min-w-0 text-base">
            <PageLink to={listAddresses[kind]} search={{ segment: String(id) }} className="font-medium">
              {name}
            </PageLink>
          </h2>
          {members === null && isCounting ? (
            <span className="skeleton inline-block h-4 w-20 self-center" />
          ) : (
            <span>{members === null ? `${nothing} ${kind}` : counted(members, one)}</span>
          )}
        </div>
        {fixed === null ? (
          <ul aria-label={`Filter of ${name}`} className="flex flex-wrap gap-1.5">
            {words.map((text) => (
              <li key={text} className="rounded border border-line bg-sunk px-2 py-0.5 text-sm">
                {text}
              </li>
            ))}
          </ul>
        ) : (
          <p className="text-sm text-soft">Fixed list of {counted(fixed, one)}</p>
        )}
        <p className="text-sm text-soft">
          {createdBy === null ? "Changed" : `Made by ${createdBy}, changed`}{" "}
          <RelativeTime instant={updatedAt} />
          {usedBy.length > 0 && ` · in the filter of ${usedBy.map((user) => user.name).join(", ")}`}
        </p>
      </div>
      <div className="flex items-center gap-1">
        <Button isSmall look="quiet" aria-label={`History of ${name}`} onClick={() => setHistory(true)}>
          History
        </Button>
        {mayChange && <Actions segment={segment} />}
      </div>
      {isHistory && <HistoryDialog segment={segment} onClose={() => setHistory(false)} />}
    </li>
  );
}

function Actions({ segment }: { segment: Segment }): ReactElement {
  const { id, kind, name, filter } = segment;
  const [isOpen, setOpen] = useState<"name" | "ids">();
  const navigate = usePageNavigate();
  const deletion = useConfirmedChange("DELETE /api/segments/:id");
  const remove = () =>
    deletion.ask(
      {
        title: `Delete the segment “${name}”?`,
        text: `Its ${kind} stay as they are. Links to lists and figures of this segment stop working.`,
        action: "Delete the segment",
        isDangerous: true,
      },
      { path: { id } },
      `The segment “${name}” was deleted.`,
    );
  const changeFilter = () =>
    filter !== null &&
    void navigate({ to: listAddresses[kind], search: { ...addressOfFilter(filter), saves: String(id) } });
  return (
    <>
      <Menu trigger={<IconButton isSmall icon="more" label={`Change ${name}`} />}>
        <MenuItem onSelect={() => setOpen("name")}>Rename …</MenuItem>
        {filter === null && <MenuItem onSelect={() => setOpen("ids")}>Replace ids …</MenuItem>}
        {filter !== null && fitsList(filter) && <MenuItem onSelect={changeFilter}>Change filter</MenuItem>}
        <MenuLine />
        <MenuItem isDangerous onSelect={() => void remove()}>
          Delete …
        </MenuItem>
      </Menu>
      {isOpen === "name" && <Renamed segment={segment} onClose={() => setOpen(undefined)} />}
      {isOpen === "ids" && <FixedDialog segment={segment} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function Renamed({ segment, onClose }: { segment: Segment; onClose: () => void }): ReactElement {
  const change = useChange("PATCH /api/segments/:id");
  const tell = useTell();
  const save = (name: string) =>
    change.mutate(
      { path: { id: segment.id }, body: { name } },
      {
        onSuccess: () => {
          tell("The segment was renamed.");
          onClose();
        },
      },
    );
  return (
    <NameDialog
      title={`Rename “${segment.name}”`}
      about="Its members stay."
      action="Rename"
      name={segment.name}
      change={change}
      onName={save}
      onClose={onClose}
    />
  );
}
