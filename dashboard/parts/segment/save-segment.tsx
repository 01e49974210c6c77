/** Saves the filters of a list as a segment: a new one, or one whose filter is changed in the list. */
import { type ReactElement, useState } from "react";
import { useChange } from "../../api/query.ts";
import { PageLink, usePageNavigate } from "../../app/page-link.ts";
import { useMayAs } from "../../app/session.ts";
import { Button, buttonClass } from "../form/button.tsx";
import { NameDialog } from "../form/name-dialog.tsx";
import { useTell } from "../toast.tsx";
import { filterOfQuery, type ListQuery, leftOutOf } from "./filter-address.ts";
import { useFilterWords } from "./filter-words.ts";
import { type Segment, type SegmentFilter, type SegmentKind, useSegments } from "./segments.ts";

/** The address's text for a segment that is not there yet. */
export const newSegment = "new";

interface SaveProps {
  readonly kind: SegmentKind;
  /** The parameters of the list. */
  readonly query: ListQuery;
  /** Of the address: the id of a segment whose filter is changed, `new`, or empty. */
  readonly saves: string;
}

/** The button of a list with filters. It is absent while a segment is changed, and for viewers. */
export function SaveSegment({ kind, query, saves }: SaveProps): ReactElement | null {
  const mayChange = useMayAs("member");
  const filter = filterOfQuery(query);
  if (!mayChange || saves !== "" || filter === undefined) return null;
  return <SaveButton kind={kind} filter={filter} leftOut={leftOutOf(query)} />;
}

/** Says that the filters of the list become those of a segment, and saves them. @param children shown otherwise */
export function SegmentBar({
  kind,
  query,
  saves,
  children,
}: SaveProps & { children: ReactElement }): ReactElement {
  const mayChange = useMayAs("member");
  const segment = useSegments().find(({ id }) => String(id) === saves);
  if (!mayChange || (segment === undefined && saves !== newSegment)) return children;
  const filter = filterOfQuery(query);
  return (
    <section
      aria-label="Filter of a segment"
      className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2 rounded border border-ember bg-raised px-4 py-2.5"
    >
      <p className="min-w-0 grow [overflow-wrap:anywhere]">
        {segment === undefined
          ? `New segment of ${kind}: set its filters below, then save it.`
          : `Filter of the segment “${segment.name}”: change it below, then save it.`}
        {filter === undefined && " It needs at least one filter."}
      </p>
      <div className="flex flex-wrap gap-2">
        {segment === undefined ? (
          <SaveButton isPrimary kind={kind} filter={filter} leftOut={leftOutOf(query)} />
        ) : (
          <ChangeButton segment={segment} filter={filter} />
        )}
        <PageLink to="/o/$organization/segments" className={buttonClass("plain", true)}>
          Cancel
        </PageLink>
      </div>
    </section>
  );
}

function ChangeButton({
  segment: { id, name },
  filter,
}: {
  segment: Segment;
  filter: SegmentFilter | undefined;
}): ReactElement {
  const change = useChange("PATCH /api/segments/:id");
  const navigate = usePageNavigate();
  const tell = useTell();
  const save = () =>
    filter !== undefined &&
    change.mutate(
      { path: { id }, body: { filter } },
      {
        onSuccess: () => {
          tell(`The filter of “${name}” was changed.`);
          void navigate({ to: "/o/$organization/segments" });
        },
        onError: tell.failed,
      },
    );
  return (
    <Button isSmall look="primary" disabled={filter === undefined} isBusy={change.isPending} onClick={save}>
      Save filter
    </Button>
  );
}

interface ButtonProps {
  readonly kind: SegmentKind;
  readonly filter: SegmentFilter | undefined;
  /** Words for filters that are no part of the segment. */
  readonly leftOut: readonly string[];
  /** In the bar of a new segment: after saving, the page of segments is shown. */
  readonly isPrimary?: boolean;
}

function SaveButton({ kind, filter, leftOut, isPrimary = false }: ButtonProps): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const navigate = usePageNavigate();
  return (
    <>
      <Button
        isSmall
        {...(isPrimary ? { look: "primary" } : { icon: "segments" })}
        disabled={filter === undefined}
        onClick={() => setOpen(true)}
      >
        Save as segment
      </Button>
      {isOpen && filter !== undefined && (
        <SaveDialog
          kind={kind}
          filter={filter}
          leftOut={leftOut}
          onClose={() => setOpen(false)}
          onSaved={() => isPrimary && void navigate({ to: "/o/$organization/segments" })}
        />
      )}
    </>
  );
}

function SaveDialog({
  kind,
  filter,
  leftOut,
  onClose,
  onSaved,
}: {
  kind: SegmentKind;
  filter: SegmentFilter;
  leftOut: readonly string[];
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
  const notSaved = leftOut.length === 0 ? "" : ` Not saved: ${leftOut.join(", ")}.`;
  return (
    <NameDialog
      title="Save as segment"
      about={`All ${kind} that match now and later: ${words.join("; ")}.${notSaved}`}
      action="Save segment"
      name=""
      change={create}
      onName={save}
      onClose={onClose}
    />
  );
}
