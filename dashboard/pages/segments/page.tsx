/** The segments of the organization: named filters over users or accounts, and fixed lists of ids. */
import { type ReactElement, useState } from "react";
import { type Reads, useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { listAddresses } from "../../parts/list/view-address.ts";
import { Menu, MenuItem } from "../../parts/menu.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { useFilterWords } from "./filter-words.ts";
import { FixedDialog } from "./fixed-dialog.tsx";
import { SegmentRow } from "./row.tsx";
import { newSegment } from "./save-segment.tsx";
import type { Segment } from "./segments.ts";

export default function SegmentsPage(): ReactElement {
  const asked = useRead("/api/segments");
  const mayChange = useMayAs("member");
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <PageHeader title="Segments" actions={mayChange && <AddMenu onFixed={() => setAdding(true)} />}>
        Saved filters over users or accounts, for lists and figures.
        {!mayChange && " Members and owners can change them."}
      </PageHeader>
      <Panel isFlush>
        <Figures
          asked={asked}
          loading={
            <div className="px-4 pb-4">
              <Loading rows={6} />
            </div>
          }
          empty={({ segments }) => segments.length === 0 && <NoSegment mayChange={mayChange} />}
        >
          {({ segments }) => <Segments segments={segments} />}
        </Figures>
      </Panel>
      {isAdding && <FixedDialog segment={undefined} onClose={() => setAdding(false)} />}
    </>
  );
}

function AddMenu({ onFixed }: { onFixed: () => void }): ReactElement {
  return (
    <Menu trigger={<Button icon="plus">Add segment</Button>}>
      {(["users", "accounts"] as const).map((kind) => (
        <MenuItem key={kind} isLink>
          <PageLink to={listAddresses[kind]} search={{ saves: newSegment }}>
            Filter {kind}
          </PageLink>
        </MenuItem>
      ))}
      <MenuItem onSelect={onFixed}>From a CSV of ids …</MenuItem>
    </Menu>
  );
}

function NoSegment({ mayChange }: { mayChange: boolean }): ReactElement {
  return (
    <Empty title="No segments yet">
      A segment is a named filter over users or accounts, e.g. paying users who have not exported for 28 days.
      Lists and figures can show its members alone.
      {mayChange && " Add one here, or save the filters of a list."}
    </Empty>
  );
}

const isCounting = (sizes: Reads["/api/segment-sizes"]["answer"] | undefined) =>
  sizes?.segments.some(({ members }) => members === null) ?? false;

function Segments({ segments }: { segments: readonly Segment[] }): ReactElement {
  const sizes = useRead("/api/segment-sizes", { everyMs: (answer) => (isCounting(answer) ? 2_000 : 60_000) });
  const wordsOf = useFilterWords(segments.map(({ filter }) => filter));
  const sizeOf = new Map(sizes.data?.segments.map(({ id, members }) => [id, members]));
  return (
    <ul aria-label="Segments">
      {segments.map((segment) => (
        <SegmentRow
          key={segment.id}
          segment={segment}
          words={segment.filter === null ? [] : wordsOf(segment.kind, segment.filter)}
          members={sizeOf.get(segment.id) ?? null}
          isCounting={sizes.isLoading || isCounting(sizes.data)}
        />
      ))}
    </ul>
  );
}
