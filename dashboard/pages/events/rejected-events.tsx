/** Rows that the warehouse rejected. Members with the right to manage send them again or delete them. */
import { type ReactElement, useState } from "react";
import { csvAddress, type Reads, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { Button } from "../../parts/form/button.tsx";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";
import { Dialog } from "../../parts/form/dialog.tsx";
import { type Column, DataTable } from "../../parts/list/data-table.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { Instant, RelativeTime } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { counted } from "../../text/format.ts";
import { readable } from "./curl.ts";
import { Facts } from "./facts.tsx";

type Rejected = Reads["/api/rejected-events"]["answer"]["rejectedEvents"][number];

const limit = 1_000;

const columnsOf = (onOpen: (rejected: Rejected) => void): readonly Column<Rejected>[] => [
  {
    id: "id",
    header: "Id",
    isFixed: true,
    width: 90,
    csv: ["id"],
    cell: (rejected) => (
      <button type="button" onClick={() => onOpen(rejected)} className="rounded font-medium hover:underline">
        {rejected.id}
      </button>
    ),
  },
  { id: "table", header: "Table", cell: ({ table }) => table },
  {
    id: "reason",
    header: "Reason",
    isFixed: true,
    width: 240,
    cell: ({ reason }) => <span title={reason}>{reason}</span>,
  },
  {
    id: "row",
    header: "Row",
    width: 240,
    cell: ({ row }) => <code className="text-sm text-soft">{row}</code>,
  },
  { id: "at", header: "Rejected", isNumber: true, cell: ({ at }) => <RelativeTime instant={at} /> },
];

export default function RejectedEvents(): ReactElement {
  const [open, setOpen] = useState<Rejected>();
  const asked = useRead("/api/rejected-events", { query: { limit }, everyMs: 15_000 });
  const total = asked.data?.total ?? 0;
  const acts = useActs(() => setOpen(undefined));
  return (
    <>
      <FigurePanel
        title="Rejected events"
        note="Events and user updates that were accepted, but that the warehouse rejected. They count in no figure until you send them again."
        actions={
          acts.may &&
          total > 0 && (
            <>
              <Button isSmall icon="retry" isBusy={acts.isBusy} onClick={() => acts.retry(undefined, total)}>
                Send all again
              </Button>
              <Button isSmall isBusy={acts.isBusy} onClick={() => acts.drop(undefined, total)}>
                Delete all
              </Button>
            </>
          )
        }
        isFlush
        asked={asked}
        loading={<Loading rows={5} />}
        empty={(answer) =>
          answer.total === 0 && (
            <Empty title="No rejected events">All accepted events have reached the warehouse.</Empty>
          )
        }
      >
        {({ rejectedEvents }) => (
          <DataTable
            label="Every rejected event"
            name="rejected-events"
            rows={rejectedEvents}
            columns={columnsOf(setOpen)}
            rowId={(rejected) => String(rejected.id)}
            page={{ total, offset: 0, size: Math.max(total, limit) }}
            csv={csvAddress("/api/rejected-events", {})}
          />
        )}
      </FigurePanel>
      {open !== undefined && (
        <RejectedDialog rejected={open} acts={acts} onClose={() => setOpen(undefined)} />
      )}
    </>
  );
}

type Acts = ReturnType<typeof useActs>;

/** The actions on rejected events, for one of them or for all. */
function useActs(onDone: () => void) {
  const may = useMayAs("member");
  const tell = useTell();
  const retrying = useConfirmedChange("POST /api/rejected-events/retry");
  const dropping = useConfirmedChange("DELETE /api/rejected-events");
  const selection = (rejected: number | undefined) => ({
    query: rejected === undefined ? { all: true } : { ids: String(rejected) },
  });
  const told = (effect: string) => (answer: { readonly rows: number }) => {
    tell(`${counted(answer.rows, "row")} ${effect}.`);
    onDone();
  };
  const retry = (rejected: number | undefined, count: number) =>
    void retrying.ask(
      {
        title: `Send ${counted(count, "row")} to the warehouse again?`,
        text: "Rows that are rejected again come back here.",
        action: "Send again",
      },
      selection(rejected),
      told("on the way to the warehouse again"),
    );
  const drop = (rejected: number | undefined, count: number) =>
    void dropping.ask(
      {
        title: `Delete ${counted(count, "row")} for good?`,
        text: "There is no other copy, and the senders will not send them again. This cannot be undone.",
        action: `Delete ${counted(count, "row")}`,
        isDangerous: true,
      },
      selection(rejected),
      told("deleted"),
    );
  return { may, retry, drop, isBusy: retrying.isPending || dropping.isPending };
}

function RejectedDialog({
  rejected,
  acts,
  onClose,
}: {
  rejected: Rejected;
  acts: Acts;
  onClose: () => void;
}): ReactElement {
  const { id, at, table, reason, row } = rejected;
  return (
    <Dialog isOpen onClose={onClose} title={`Rejected event ${id}`} isWide>
      <div className="grid gap-4">
        <Facts
          facts={[
            ["Rejected", <Instant key="at" instant={at} />],
            ["Table", table],
            ["Reason", reason],
          ]}
        />
        <Code label="The row as it was sent to the warehouse" text={readable(row)} />
        {acts.may && (
          <div className="flex flex-wrap justify-end gap-2">
            <Button isBusy={acts.isBusy} onClick={() => acts.drop(id, 1)}>
              Delete
            </Button>
            <Button look="primary" icon="retry" isBusy={acts.isBusy} onClick={() => acts.retry(id, 1)}>
              Send again
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  );
}
