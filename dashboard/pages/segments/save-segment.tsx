/** Saves the filters of a list as a segment: a new one, or one whose filter is changed in the list. */
import { type ReactElement, useState } from "react";
import { useChange, useRead } from "../../api/query.ts";
import { PageLink, usePageNavigate } from "../../app/page-link.ts";
import { useMayAs } from "../../app/session.ts";
import { Button, buttonClass } from "../../parts/form/button.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { NameDialog } from "../../parts/form/name-dialog.tsx";
import { useToday } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { counted } from "../../text/format.ts";
import { useFilterWords } from "./filter-words.ts";
import { filterOfQuery, type ListQuery, reasonsAgainst } from "./saved-filter.ts";
import { type Segment, type SegmentFilter, type SegmentKind, useSegments } from "./segments.ts";

/** The address's text for a segment that is not there yet. */
export const newSegment = "new";

interface SaveProps {
  readonly kind: SegmentKind;
  /** The parameters of the list. */
  readonly query: ListQuery;
  /** Of the address: the id of a segment whose filter is changed, `new`, or empty. */
  readonly saves: string;
  /** The day of the newest scores. Null before the first, undefined before the list is there. */
  readonly scored: string | null | undefined;
}

/** What a segment of the list's filters would be. */
interface Content {
  readonly filter: SegmentFilter;
  /** Why it would mean something else than the list. It is not saved then. */
  readonly reasons: readonly string[];
}

function useContent({ query, scored }: Pick<SaveProps, "query" | "scored">): Content | undefined {
  const days = { scored, today: useToday() };
  const filter = filterOfQuery(query, days);
  return filter && { filter, reasons: reasonsAgainst(query, days) };
}

/** The button of a list with filters. It is absent while a segment is changed, and for viewers. */
export function SaveSegment({ kind, saves, ...list }: SaveProps): ReactElement | null {
  const mayChange = useMayAs("member");
  const content = useContent(list);
  if (!mayChange || saves !== "" || content === undefined) return null;
  return <SaveButton kind={kind} content={content} />;
}

/** Says that the filters of the list become those of a segment, and saves them. @param children shown
 * otherwise */
export function SegmentBar({
  kind,
  saves,
  children,
  ...list
}: SaveProps & { children: ReactElement }): ReactElement {
  const content = useContent(list);
  const mayChange = useMayAs("member");
  const segment = useSegments().find(({ id }) => String(id) === saves);
  if (!mayChange || (segment === undefined && saves !== newSegment)) return children;
  return (
    <section
      aria-label="Filter of a segment"
      className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2 rounded border border-ember bg-raised px-4 py-2.5"
    >
      <p className="min-w-0 grow [overflow-wrap:anywhere]">
        {segment === undefined
          ? `New segment of ${kind}: set its filters below, then save it.`
          : `Filter of the segment “${segment.name}”: change it below, then save it.`}
        {content === undefined && " It needs at least one filter."}
      </p>
      <div className="flex flex-wrap gap-2">
        {segment === undefined ? (
          <SaveButton isPrimary kind={kind} content={content} />
        ) : (
          <ChangeButton segment={segment} content={content} />
        )}
        <PageLink to="/o/$organization/segments" className={buttonClass("plain", true)}>
          Cancel
        </PageLink>
      </div>
    </section>
  );
}

function ChangeButton({
  segment: { id, name, kind },
  content,
}: {
  segment: Segment;
  content: Content | undefined;
}): ReactElement {
  const [isRefused, setRefused] = useState(false);
  const change = useChange("PATCH /api/segments/:id");
  const navigate = usePageNavigate();
  const tell = useTell();
  const save = () => {
    if (content === undefined) return;
    if (content.reasons.length > 0) {
      setRefused(true);
      return;
    }
    change.mutate(
      { path: { id }, body: { filter: content.filter } },
      {
        onSuccess: () => {
          tell(`The filter of “${name}” was changed.`);
          void navigate({ to: "/o/$organization/segments" });
        },
        onError: tell.failed,
      },
    );
  };
  return (
    <>
      <Button
        isSmall
        look="primary"
        disabled={content === undefined}
        isBusy={change.isPending}
        onClick={save}
      >
        Save filter
      </Button>
      {isRefused && content !== undefined && (
        <RefusalDialog kind={kind} content={content} onClose={() => setRefused(false)} />
      )}
    </>
  );
}

interface ButtonProps {
  readonly kind: SegmentKind;
  readonly content: Content | undefined;
  /** In the bar of a new segment: after saving, the page of segments is shown. */
  readonly isPrimary?: boolean;
}

function SaveButton({ kind, content, isPrimary = false }: ButtonProps): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const navigate = usePageNavigate();
  return (
    <>
      <Button
        isSmall
        {...(isPrimary ? { look: "primary" } : { icon: "segments" })}
        disabled={content === undefined}
        onClick={() => setOpen(true)}
      >
        Save as segment
      </Button>
      {isOpen && content !== undefined && content.reasons.length > 0 && (
        <RefusalDialog kind={kind} content={content} onClose={() => setOpen(false)} />
      )}
      {isOpen && content?.reasons.length === 0 && (
        <SaveDialog
          kind={kind}
          filter={content.filter}
          onClose={() => setOpen(false)}
          onSaved={() => isPrimary && void navigate({ to: "/o/$organization/segments" })}
        />
      )}
    </>
  );
}

/** How many a filter has now, as words; nothing before they are counted. */
function useCountNow(kind: SegmentKind, filter: SegmentFilter): string {
  const query = { ...filter, limit: 1 };
  const users = useRead("/api/users", { query, enabled: kind === "users" }).data?.total;
  const accounts = useRead("/api/accounts", { query, enabled: kind === "accounts" }).data?.total;
  const count = kind === "users" ? users : accounts;
  return count === undefined ? "" : `${counted(count, kind.slice(0, -1))} today.`;
}

/** Says why a segment would mean something else than the list, and whom it would have. */
function RefusalDialog({
  kind,
  content: { filter, reasons },
  onClose,
}: {
  kind: SegmentKind;
  content: Content;
  onClose: () => void;
}): ReactElement {
  const words = useFilterWords([filter])(kind, filter);
  const now = useCountNow(kind, filter);
  return (
    <Dialog isOpen onClose={onClose} title="This list cannot be a segment" description={reasons.join(" ")}>
      <p className="mb-4">
        A segment of the other filters ({words.join("; ")}) would have {now === "" ? "other members" : now} To
        save it, take those filters away first.
      </p>
      <div className="flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function SaveDialog({
  kind,
  filter,
  onClose,
  onSaved,
}: {
  kind: SegmentKind;
  filter: SegmentFilter;
  onClose: () => void;
  onSaved: () => void;
}): ReactElement {
  const create = useChange("POST /api/segments");
  const words = useFilterWords([filter])(kind, filter);
  const tell = useTell();
  const save = (name: string) =>
    create.mutate(
      { body: { kind, name, filter } },
      {
        onSuccess: () => {
          tell(`The segment “${name}” was saved.`);
          onClose();
          onSaved();
        },
      },
    );
  const now = useCountNow(kind, filter);
  return (
    <NameDialog
      title="Save as segment"
      about={`All ${kind} that match now and later: ${words.join("; ")}. ${now}`.trim()}
      action="Save segment"
      name=""
      change={create}
      onName={save}
      onClose={onClose}
    />
  );
}
