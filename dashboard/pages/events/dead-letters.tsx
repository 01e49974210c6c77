/** Rows that the warehouse would not take: looked at, sent again, or deleted by those who may. */
import { type ReactElement, useState } from "react";
import type { Reads } from "../../api/paths.ts";
import { csvAddress, useChange, useRead } from "../../api/query.ts";
import { useMayAs, useOrganization } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { Button } from "../../parts/form/button.tsx";
import { useConfirm } from "../../parts/form/confirm.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { type Column, DataTable } from "../../parts/list/data-table.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { Ago, Instant } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { numbers } from "../../text/format.ts";
import { readable } from "./curl.ts";
import { Facts } from "./facts.tsx";

type Letter = Reads["/api/dead-letters"]["answer"]["deadLetters"][number];

const limit = 1_000;

const columnsOf = (onOpen: (letter: Letter) => void): readonly Column<Letter>[] => [
  {
    ...{ id: "id", header: "Row", isFixed: true, width: 90 },
    csv: ["id"],
    cell: (letter) => (
      <button type="button" onClick={() => onOpen(letter)} className="rounded font-medium hover:underline">
        {letter.id}
      </button>
    ),
  },
  { id: "table", header: "Table", cell: ({ table }) => table },
  {
    ...{ id: "reason", header: "Why it was refused", isFixed: true, width: 240 },
    cell: ({ reason }) => <span title={reason}>{reason}</span>,
  },
  {
    ...{ id: "row", header: "What it says", width: 240 },
    cell: ({ row }) => <code className="text-sm text-soft">{row}</code>,
  },
  { id: "at", header: "Refused", isNumber: true, cell: ({ at }) => <Ago instant={at} /> },
];

export function DeadLetters(): ReactElement {
  const { id } = useOrganization();
  const [open, setOpen] = useState<Letter>();
  const asked = useRead("/api/dead-letters", { query: { limit }, everyMs: 15_000 });
  const total = asked.data?.total ?? 0;
  const acts = useActs(() => setOpen(undefined));
  return (
    <Panel
      title="Dead letters"
      note="Rows that were acknowledged, but that the warehouse would not take. They count in no figure until they are sent again."
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
    >
      <Figures
        of={asked}
        loading={
          <div className="p-4">
            <Loading rows={5} />
          </div>
        }
        empty={{
          when: (answer) => answer.total === 0,
          show: (
            <Empty title="No dead letters">Every row that was acknowledged has reached the warehouse.</Empty>
          ),
        }}
      >
        {({ deadLetters }) => (
          <DataTable
            label="Every dead letter"
            name="dead-letters"
            rows={deadLetters}
            columns={columnsOf(setOpen)}
            rowId={(letter) => String(letter.id)}
            page={{ total, offset: 0, size: Math.max(total, limit) }}
            csv={csvAddress(id, "/api/dead-letters", {})}
          />
        )}
      </Figures>
      {open !== undefined && <LetterDialog letter={open} acts={acts} onClose={() => setOpen(undefined)} />}
    </Panel>
  );
}

type Acts = ReturnType<typeof useActs>;

/** What can be done with dead letters: with one, or with all. */
function useActs(onDone: () => void) {
  const may = useMayAs("member");
  const confirm = useConfirm();
  const tell = useTell();
  const retrying = useChange("POST /api/dead-letters/retry");
  const dropping = useChange("DELETE /api/dead-letters");
  const selection = (letter: number | undefined) =>
    letter === undefined ? { all: true } : { ids: String(letter) };
  const rows = (count: number) => (count === 1 ? "1 row" : `${numbers.count(count)} rows`);
  const retry = async (letter: number | undefined, count: number) => {
    const isSure = await confirm({
      title: `Send ${rows(count)} to the warehouse again?`,
      text: "What is refused again comes back here.",
      action: "Send again",
    });
    if (!isSure) return;
    retrying.mutate(
      { query: selection(letter) },
      {
        onSuccess: (answer) => {
          tell(`${rows(answer.rows)} on the way to the warehouse again.`);
          onDone();
        },
        onError: tell.failed,
      },
    );
  };
  const drop = async (letter: number | undefined, count: number) => {
    const isSure = await confirm({
      title: `Delete ${rows(count)} for good?`,
      text: "They were acknowledged to their senders and are kept nowhere else. This cannot be undone.",
      action: `Delete ${rows(count)}`,
      isDangerous: true,
    });
    if (!isSure) return;
    dropping.mutate(
      { query: selection(letter) },
      {
        onSuccess: (answer) => {
          tell(`${rows(answer.rows)} deleted.`);
          onDone();
        },
        onError: tell.failed,
      },
    );
  };
  return { may, retry, drop, isBusy: retrying.isPending || dropping.isPending };
}

function LetterDialog({
  letter,
  acts,
  onClose,
}: {
  letter: Letter;
  acts: Acts;
  onClose: () => void;
}): ReactElement {
  const { id, at, table, reason, row } = letter;
  return (
    <Dialog isOpen onClose={onClose} title={`Dead letter ${id}`} isWide>
      <div className="grid gap-4">
        <Facts
          facts={[
            ["Refused", <Instant key="at" instant={at} />],
            ["Table", table],
            ["Why", reason],
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
