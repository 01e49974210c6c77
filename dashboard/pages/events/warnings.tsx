/** Ingestion warnings by day, with the latest example of each. */
import { type ReactElement, useState } from "react";
import { csvAddress, type Reads, useRead } from "../../api/query.ts";
import { Badge } from "../../parts/figure/health.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { SmallSelect } from "../../parts/form/field.tsx";
import { type Column, DataTable } from "../../parts/list/data-table.tsx";
import { choiceFilter, useFilters } from "../../parts/list/filters.ts";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { Instant, RelativeTime } from "../../parts/time.tsx";
import { dayText, nothing, numbers } from "../../text/format.ts";
import { Facts, UserId } from "./facts.tsx";
import { senderText } from "./live-row.tsx";
import { warningKinds, warningWords } from "./warning-words.tsx";

type Warning = Reads["/api/ingestion-warnings"]["answer"]["warnings"][number];

const limit = 1_000;
const filters = { kind: choiceFilter(["all", ...warningKinds], "all") };
const idOf = ({ day, kind, endpoint, detail }: Warning) => JSON.stringify([day, kind, endpoint, detail]);

const columnsOf = (onOpen: (warning: Warning) => void): readonly Column<Warning>[] => [
  {
    id: "what",
    header: "Warning",
    isFixed: true,
    width: 190,
    csv: ["kind"],
    cell: (warning) => (
      <button type="button" onClick={() => onOpen(warning)} className="rounded hover:underline">
        <Badge tone={warningWords[warning.kind].tone}>{warningWords[warning.kind].word}</Badge>
      </button>
    ),
  },
  {
    id: "detail",
    header: "About",
    isFixed: true,
    width: 220,
    csv: ["detail", "message"],
    hint: "The key, the event's name, or the error message",
    cell: ({ detail, message }) => <span title={message ?? detail ?? ""}>{detail ?? nothing}</span>,
  },
  {
    id: "count",
    header: "Requests",
    isNumber: true,
    hint: "On this day. For unknown keys, the number of times the key was sent.",
    cell: ({ count }) => numbers.count(count),
  },
  { id: "endpoint", header: "Endpoint", cell: ({ endpoint }) => <code>{senderText(endpoint)}</code> },
  {
    id: "userId",
    header: "Latest user",
    hint: "The user id in the latest of these requests",
    cell: ({ userId }) => userId ?? nothing,
  },
  {
    id: "day",
    header: "Day (UTC)",
    isNumber: true,
    cell: ({ day }) => dayText(day),
  },
  {
    id: "lastSeen",
    header: "Latest",
    isNumber: true,
    cell: ({ lastSeen }) => <RelativeTime instant={lastSeen} />,
  },
];

export default function Warnings(): ReactElement {
  const [{ kind }, change] = useFilters(filters);
  const [open, setOpen] = useState<Warning>();
  const ofKind = kind === "all" ? {} : { kind };
  const asked = useRead("/api/ingestion-warnings", {
    query: { limit, ...ofKind },
    everyMs: 15_000,
    keepsPrevious: true,
  });
  return (
    <>
      <FigurePanel
        title="Ingestion warnings"
        note={`Problems in received data of the last 30 days, the latest first${
          asked.data?.warnings.length === limit ? `: the latest ${numbers.count(limit)} lines` : ""
        }`}
        actions={
          <SmallSelect
            label="Kind of warning"
            value={kind}
            choices={[
              { value: "all", label: "All kinds" },
              ...warningKinds.map((value) => ({ value, label: warningWords[value].word })),
            ]}
            onChoose={(chosen) => change({ kind: chosen })}
          />
        }
        isFlush
        asked={asked}
        loading={<Loading rows={8} />}
        empty={({ warnings }) =>
          warnings.length === 0 && (
            <Empty title="Nothing to warn of">
              {kind === "all"
                ? "No sender was refused, and nothing unusual came in, within 30 days."
                : "There is no such warning within 30 days. Other kinds may be there."}
            </Empty>
          )
        }
      >
        {({ warnings }) => (
          <DataTable
            label="Every ingestion warning"
            name="warnings"
            rows={warnings}
            columns={columnsOf(setOpen)}
            rowId={idOf}
            csv={csvAddress("/api/ingestion-warnings", ofKind)}
          />
        )}
      </FigurePanel>
      {open !== undefined && <WarningDialog warning={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function WarningDialog({ warning, onClose }: { warning: Warning; onClose: () => void }): ReactElement {
  const { kind, endpoint, detail, count, firstSeen, lastSeen, message, userId } = warning;
  const { word, meaning, advice } = warningWords[kind];
  return (
    <Dialog isOpen onClose={onClose} title={word} description={meaning} isWide>
      <p className="mb-4">{advice}</p>
      <Facts
        facts={[
          ["About", detail],
          ["Endpoint", senderText(endpoint)],
          ["Error message", message],
          ["Requests on this day", numbers.count(count)],
          ["First", <Instant key="first" instant={firstSeen} />],
          ["Latest", <Instant key="latest" instant={lastSeen} />],
          ["Latest user", <UserId key="user" userId={userId} isKnown={kind !== "refused_unknown_user"} />],
        ]}
      />
    </Dialog>
  );
}
