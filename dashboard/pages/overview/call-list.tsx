/** Whom to call: the first ten of the call list, and what can be done about each. */
import { type FormEvent, type ReactElement, type ReactNode, useState } from "react";
import { callListLimits } from "../../../contract/call-list.ts";
import { csvAddress, type Reads, useChange, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Button, IconButton } from "../../parts/form/button.tsx";
import { DayInput } from "../../parts/form/day-input.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { SmallSelect } from "../../parts/form/field.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { type Column, DataTable, figureColumn } from "../../parts/list/data-table.tsx";
import { Menu, MenuItem } from "../../parts/menu.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { useToday } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { counted, dayPlus, dayText, nothing } from "../../text/format.ts";
import { type Money, moneyIn } from "../../text/money.ts";
import { type Handling, OutcomeDialog } from "../alerts/outcome-dialog.tsx";
import { ContactForm } from "../tasks/contact-form.tsx";
import { useMemberChoices } from "../tasks/members.ts";
import { TaskDialog } from "../tasks/task-form.tsx";
import { useSegment } from "./of-segment.tsx";
import { useWeek } from "./week.tsx";

type Row = Reads["/api/call-list"]["answer"]["rows"][number];
type Alert = Reads["/api/alerts"]["answer"]["alerts"][number];

/** Open alerts among which those of the rows are looked for. */
const readAlerts = 1_000;
const snoozeDays = 7;
const countWords = ["", "this one", "these two", "these three", "these four", "these five"];
const moreWords = ["these six", "these seven", "these eight", "these nine", "these ten"];

/** Of the segment that is chosen, or of all. */
export function CallList(): ReactElement {
  const ofSegment = useSegment();
  const query = { limit: callListLimits.top, ...ofSegment };
  const asked = useRead("/api/call-list", { query, keepsPrevious: true });
  const { data } = asked;
  const shown = data?.rows.length ?? callListLimits.top;
  const [undo, setUndo] = useState<Undo>();
  return (
    <FigurePanel
      isFlush
      title={`Call ${[...countWords, ...moreWords][shown] || "these ten"}`}
      note={data?.note ?? undefined}
      actions={<CsvLink address={csvAddress("/api/call-list", ofSegment)} />}
      asked={asked}
      loading={<Loading rows={callListLimits.top} />}
      empty={({ rows }) => rows.length === 0 && undo === undefined && <NobodyToCall />}
    >
      {({ rows, currency }) => (
        <>
          {undo !== undefined && <UndoLine undo={undo} onDone={() => setUndo(undefined)} />}
          {rows.length > 0 && <CallTable rows={rows} money={moneyIn(currency)} onChanged={setUndo} />}
        </>
      )}
    </FigurePanel>
  );
}

/** A young company has no risks yet: then the week says who has not come, which is no good news. */
function NobodyToCall(): ReactElement {
  const said = useWeek().data?.sentences.find(({ about }) => about === "call");
  if (said?.tone === "neutral") return <Empty title={said.text.replace(/\.$/, "")} />;
  return (
    <Empty title="Nobody is to be called">
      No end is scheduled, no payment is overdue, no churn risk is high, and no use fell by half.
    </Empty>
  );
}

interface TableProps {
  readonly rows: readonly Row[];
  readonly money: Money;
  readonly onChanged: (undo: Undo) => void;
}

function CallTable({ rows, money, onChanged }: TableProps): ReactElement {
  const mayChange = useMayAs("member");
  const query = { limit: readAlerts, state: "open" } as const;
  const alerts = useRead("/api/alerts", { query, enabled: mayChange }).data?.alerts ?? [];
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const choose = (row: Row) => (
    <input
      type="checkbox"
      aria-label={`Choose ${row.name}`}
      checked={chosen.has(keyOf(row))}
      onChange={() => setChosen(chosen.symmetricDifference(new Set([keyOf(row)])))}
    />
  );
  const columns = columnsOf(
    money,
    rows.some(({ mrr, renewsOn }) => mrr !== null || renewsOn !== null),
    mayChange ? choose : undefined,
  );
  const chosenRows = rows.filter((row) => chosen.has(keyOf(row)));
  const actions: Column<Row> = {
    id: "actions",
    header: "Actions",
    isFixed: true,
    csv: [],
    cell: (row) => <Actions row={row} alerts={alertsOf(alerts, row)} onChanged={onChanged} />,
  };
  return (
    <>
      {chosenRows.length > 0 && <AssignLine rows={chosenRows} onDone={() => setChosen(new Set())} />}
      <DataTable
        label="Whom to call first"
        name="call-list"
        isPlain
        rows={rows}
        columns={mayChange ? [...columns, actions] : columns}
        rowId={keyOf}
      />
    </>
  );
}

/** Makes a team member the owner of all chosen rows. */
function AssignLine({ rows, onDone }: { rows: readonly Row[]; onDone: () => void }): ReactElement {
  const members = useMemberChoices();
  const [chosen, setChosen] = useState("");
  const tell = useTell();
  const ofUser = useChange("PATCH /api/users/:userId/owner");
  const ofAccount = useChange("PATCH /api/accounts/:accountId/owner");
  const value = chosen === "" ? (members[0]?.value ?? "") : chosen;
  const assign = () => {
    const body = { owner: Number(value) };
    for (const row of rows) {
      if (row.kind === "user") ofUser.mutate({ path: { userId: idOf(row) }, body }, { onError: tell.failed });
      else ofAccount.mutate({ path: { accountId: idOf(row) }, body }, { onError: tell.failed });
    }
    tell(`${counted(rows.length, "row")} assigned. The list shows it within seconds.`);
    onDone();
  };
  return (
    <div className="flex flex-wrap items-center gap-2 px-4 pb-2">
      <span className="text-sm">{counted(rows.length, "row")} chosen</span>
      <SmallSelect label="Owner" value={value} choices={members} onChoose={setChosen} />
      <Button isSmall disabled={value === ""} onClick={assign}>
        Assign
      </Button>
    </div>
  );
}

const keyOf = ({ kind, ...row }: Row) => `${kind} ${idOf(row)}`;

const idOf = ({ accountId, userId }: Pick<Row, "accountId" | "userId">) => accountId ?? userId ?? "";

function alertsOf(alerts: readonly Alert[], row: Row): readonly Alert[] {
  return alerts.filter(({ entityKind, entityId }) => entityKind === row.kind && entityId === idOf(row));
}

/** @param hasRevenue whether money is known of any of them @param choose a box to choose a row, of whoever
 * may change something */
function columnsOf(
  money: Money,
  hasRevenue: boolean,
  choose: ((row: Row) => ReactNode) | undefined,
): readonly Column<Row>[] {
  const ofRevenue: readonly Column<Row>[] = [
    figureColumn("mrr", "MRR", "Monthly recurring revenue now", ({ mrr }) => money.exact(mrr)),
    { id: "plan", header: "Plan", cell: ({ plan }) => plan ?? nothing },
    {
      id: "renewsOn",
      header: "Ends or renews",
      csv: ["endsOn", "renewsOn"],
      cell: ({ endsOn, renewsOn }) => {
        if (endsOn !== null) return <span className="text-at-risk">Ends {dayText(endsOn, "short")}</span>;
        return renewsOn === null ? nothing : dayText(renewsOn, "short");
      },
    },
  ];
  return [
    {
      id: "name",
      header: "Name",
      isFixed: true,
      width: 150,
      csv: ["accountId", "userId", "name"],
      cell: (row) => (
        <span className="flex items-center gap-2">
          {choose?.(row)}
          <span className="min-w-0">
            <EntityLink kind={row.kind} id={idOf(row)} label={row.name} title={row.name} />
            {/* A narrow screen has no room for the column. */}
            {row.mrr !== null && (
              <span className="block text-sm text-soft sm:hidden">{money.exact(row.mrr)}</span>
            )}
          </span>
        </span>
      ),
    },
    {
      id: "reason",
      header: "Why",
      isFixed: true,
      width: 180,
      cell: ({ reason }) => <span className="whitespace-normal">{reason}</span>,
    },
    ...(hasRevenue ? ofRevenue : []),
    { id: "owner", header: "Owner", cell: ({ owner }) => owner ?? nothing },
    figureColumn(
      "lastContactDays",
      "Last contact",
      "Days since somebody was contacted",
      ({ lastContactDays }) =>
        lastContactDays === null ? nothing : `${counted(lastContactDays, "day")} ago`,
    ),
    {
      id: "openTask",
      header: "Open task",
      width: 120,
      cell: ({ openTask }) => (
        <span title={openTask ?? undefined} className="block max-w-30 truncate">
          {openTask ?? nothing}
        </span>
      ),
    },
  ];
}

interface ActionsProps {
  readonly row: Row;
  /** The open ones about the row's user or account. */
  readonly alerts: readonly Alert[];
  readonly onChanged: (undo: Undo) => void;
}

function Actions({ row, alerts, onChanged }: ActionsProps): ReactElement {
  const { kind, name } = row;
  const entity = { kind, id: idOf(row) };
  const [dialog, setDialog] = useState<"task" | "contact" | "snooze" | "handled">();
  const change = useCallChange();
  const setAside = (body: CallBody, back: CallBody, text: string) => {
    change(entity, alerts, body);
    onChanged({ text, entity, alerts, body: back });
  };
  const close = () => setDialog(undefined);
  return (
    <>
      <Menu trigger={<IconButton label={`Actions for ${name}`} icon="more" />}>
        <MenuItem onSelect={() => setDialog("task")}>Add task</MenuItem>
        <MenuItem onSelect={() => setDialog("contact")}>Log contact</MenuItem>
        <MenuItem onSelect={() => setDialog("handled")}>Handled</MenuItem>
        <MenuItem onSelect={() => setDialog("snooze")}>Snooze</MenuItem>
        <MenuItem
          onSelect={() =>
            setAside({ verdict: "notUseful" }, { verdict: null }, `${name} is marked as not useful.`)
          }
        >
          Not useful
        </MenuItem>
      </Menu>
      <TaskDialog task={undefined} entity={entity} isOpen={dialog === "task"} onClose={close} />
      <Dialog isOpen={dialog === "contact"} onClose={close} title={`Log contact: ${name}`}>
        <ContactForm entity={entity} onDone={close} />
      </Dialog>
      <OutcomeDialog
        name={name}
        note={alerts.length === 1 ? (alerts[0]?.note ?? null) : null}
        isOpen={dialog === "handled"}
        onClose={close}
        onHandled={(handling) => setAside(handling, { verdict: null }, `${name} is handled.`)}
      />
      <Dialog isOpen={dialog === "snooze"} onClose={close} title={`Snooze ${name}`}>
        <SnoozeForm
          onSnooze={(snoozedUntil) => {
            close();
            setAside(
              { snoozedUntil },
              { snoozedUntil: null },
              `${name} is off the list until ${dayText(snoozedUntil)}.`,
            );
          }}
        />
      </Dialog>
    </>
  );
}

type CallBody = Handling | { readonly verdict: Alert["verdict"] } | { readonly snoozedUntil: string | null };
type Entity = { readonly kind: Row["kind"]; readonly id: string };

/** What was done last on the card, and how it is taken back. */
interface Undo {
  readonly text: string;
  readonly entity: Entity;
  readonly alerts: readonly Alert[];
  readonly body: CallBody;
}

/** Changes all open alerts of a row, or else the row: while one of them is snoozed or judged, the row is off
 * the list. */
function useCallChange() {
  const ofAlert = useChange("PATCH /api/alerts/:id");
  const ofUser = useChange("PATCH /api/users/:userId/call");
  const ofAccount = useChange("PATCH /api/accounts/:accountId/call");
  const { failed: onError } = useTell();
  return ({ kind, id }: Entity, alerts: readonly Alert[], body: CallBody) => {
    const isUndo = "verdict" in body && body.verdict === null;
    for (const { id: alert, note } of alerts) {
      // Undo brings back the note that "Handled" replaced.
      ofAlert.mutate({ path: { id: alert }, body: isUndo ? { verdict: null, note } : body }, { onError });
    }
    if (alerts.length > 0) return;
    if (kind === "user") ofUser.mutate({ path: { userId: id }, body }, { onError });
    else ofAccount.mutate({ path: { accountId: id }, body }, { onError });
  };
}

function UndoLine({
  undo: { text, entity, alerts, body },
  onDone,
}: {
  undo: Undo;
  onDone: () => void;
}): ReactElement {
  const change = useCallChange();
  const takeBack = () => {
    change(entity, alerts, body);
    onDone();
  };
  return (
    <p role="status" className="flex flex-wrap items-center gap-2 px-4 pb-2 text-sm">
      {text}
      <Button isSmall onClick={takeBack}>
        Undo
      </Button>
    </p>
  );
}

function SnoozeForm({ onSnooze }: { onSnooze: (day: string) => void }): ReactElement {
  const today = useToday();
  const [day, setDay] = useState(dayPlus(today, snoozeDays));
  const save = (event: FormEvent) => {
    event.preventDefault();
    onSnooze(day);
  };
  return (
    <form onSubmit={save} className="grid gap-4">
      <DayInput
        label="Until"
        min={dayPlus(today, 1)}
        value={day}
        onDay={(chosen) => setDay(chosen ?? dayPlus(today, snoozeDays))}
      />
      <div>
        <Button type="submit" look="primary">
          Snooze
        </Button>
      </div>
    </form>
  );
}
