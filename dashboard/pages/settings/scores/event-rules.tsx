/** Events: weight, key events, passive events. */
import { type ReactElement, useState } from "react";
import type { Settings } from "../../../../contract/settings.ts";
import { useRead } from "../../../api/query.ts";
import { Button } from "../../../parts/form/button.tsx";
import { Input } from "../../../parts/form/field.tsx";
import type { Draft } from "../../../parts/form/form.tsx";
import { Scrollable } from "../../../parts/list/scrollable.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { Empty } from "../../../parts/states.tsx";
import { numbers } from "../../../text/format.ts";

/** The settings of the page, as the API names them. */
export const scoreFields = [
  "churnHorizonDays",
  "healthWeights",
  "healthTraits",
  "eventWeights",
  "passiveEvents",
  "keyEvents",
  "churnTargets.user",
  "churnTargets.account",
  "riskBands.user",
  "riskBands.account",
  "weekStart",
] as const;

/** The data that a section of the page reads and changes. */
export interface SectionProps {
  readonly draft: Pick<Draft<Settings>, "values" | "set">;
  readonly errorOf: (name: (typeof scoreFields)[number]) => string | undefined;
}

/** The number of rows that are shown. A search by name finds the others. */
const maxShown = 40;

interface EventRow {
  readonly event: string;
  /** The name as it was sent, where that is another. */
  readonly label?: string | null;
  /** Undefined: it never came. */
  readonly count?: number;
  readonly users?: number;
}

function nameOf({ event, label }: EventRow): string {
  return label ?? event;
}

export function EventRules({ draft, errorOf }: SectionProps): ReactElement {
  const { data } = useRead("/api/events", { query: { limit: 1_000 } });
  const [search, setSearch] = useState("");
  const { values, set } = draft;
  const named = new Set([
    ...values.keyEvents,
    ...values.passiveEvents,
    ...Object.keys(values.eventWeights),
    ...values.ordinaryEvents,
  ]);
  const seen: readonly EventRow[] = data?.events ?? [];
  const known = new Set(seen.map(({ event }) => event));
  const rows: readonly EventRow[] = [
    ...[...named].filter((event) => !known.has(event)).map((event) => ({ event })),
    ...seen,
  ];
  const wanted = search.trim().toLowerCase();
  const found = rows.filter((row) => `${row.event} ${nameOf(row)}`.toLowerCase().includes(wanted));
  const refused = (["eventWeights", "passiveEvents", "keyEvents"] as const).map(errorOf).find(Boolean);
  const isNew =
    wanted !== "" && !/\s/.test(search.trim()) && !rows.some(({ event }) => event === search.trim());
  const addNew = () => set({ eventWeights: { ...values.eventWeights, [search.trim()]: 1 } });
  return (
    <Panel
      title="Events"
      note="Key events make up adoption. Passive events (e.g. an e-mail was sent) don’t count as activity. They stay in event counts, timelines and exports. The weight is the value of one event in the volume of engagement."
      isFlush
    >
      <div className="flex flex-wrap items-end gap-3 px-4 pb-3">
        <div className="w-full max-w-xs">
          <Input
            label="Find an event"
            type="search"
            value={search}
            onChange={({ target }) => setSearch(target.value)}
            maxLength={256}
          />
        </div>
        {isNew && (
          <Button icon="plus" onClick={addNew}>
            Add “{search.trim()}”
          </Button>
        )}
      </div>
      {refused !== undefined && (
        <p role="alert" className="px-4 pb-3 text-sm text-at-risk">
          {refused}
        </p>
      )}
      {found.length === 0 ? (
        <NoEvents isKnown={data !== undefined} isSearched={wanted !== ""} />
      ) : (
        <EventTable rows={found.slice(0, maxShown)} draft={draft} />
      )}
      {found.length > maxShown && (
        <p className="border-t border-line px-4 py-2 text-sm text-soft">
          {numbers.count(found.length - maxShown)} more: search by name.
        </p>
      )}
    </Panel>
  );
}

function NoEvents({ isKnown, isSearched }: { isKnown: boolean; isSearched: boolean }): ReactElement {
  if (!isKnown) return <Empty title="Loading events …" />;
  return (
    <Empty title={isSearched ? "No such event" : "No events yet"}>
      Events appear here when the first one arrives, or when you add them.
    </Empty>
  );
}

function EventTable({
  rows,
  draft,
}: {
  rows: readonly EventRow[];
  draft: SectionProps["draft"];
}): ReactElement {
  return (
    <Scrollable label="Events and what they count for" className="overflow-x-auto border-t border-line">
      <table aria-label="Events and what they count for" className="w-full">
        <thead>
          <tr className="text-sm text-soft">
            {["Event", "Times", "Users", "Weight", "Key event", "Passive"].map((header, at) => (
              <th
                key={header}
                scope="col"
                className={`px-3 py-2 font-medium whitespace-nowrap first:pl-4 ${at === 1 || at === 2 ? "text-right" : "text-left"}`}
              >
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.event} row={row} draft={draft} />
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}

const cell = "border-t border-line px-3 py-1";

function Row({ row, draft }: { row: EventRow; draft: SectionProps["draft"] }): ReactElement {
  const { event, count, users } = row;
  const name = nameOf(row);
  const { eventWeights, keyEvents, passiveEvents } = draft.values;
  const isPassive = passiveEvents.includes(event);
  const isKey = keyEvents.includes(event);
  const toggled = (names: readonly string[], is: boolean) =>
    is ? [...names, event] : names.filter((name) => name !== event);
  const weigh = (text: string) => {
    const { [event]: _, ...others } = eventWeights;
    draft.set({ eventWeights: text === "" ? others : { ...others, [event]: Number(text) } });
  };
  return (
    <tr className="hover:bg-sunk">
      <th scope="row" className={`${cell} max-w-72 truncate pl-4 text-left font-normal`} title={event}>
        {name}
      </th>
      <td className={`${cell} text-right`}>{count === undefined ? "never" : numbers.count(count)}</td>
      <td className={`${cell} text-right`}>{numbers.count(users)}</td>
      <td className={cell}>
        <input
          type="number"
          aria-label={`Weight of ${name}`}
          min={0}
          max={1_000}
          step="any"
          placeholder="1"
          disabled={isPassive}
          value={isPassive ? "" : (eventWeights[event] ?? "")}
          onChange={({ target }) => weigh(target.value)}
          className="h-7 w-20 rounded border border-edge bg-raised px-2 disabled:opacity-40"
        />
      </td>
      <td className={cell}>
        <Tick
          label={`${name} is a key event`}
          isTicked={isKey}
          onTick={(is) =>
            draft.set({
              keyEvents: toggled(keyEvents, is),
              // An event is key or passive, not both: the last tick counts.
              ...(is && isPassive && { passiveEvents: toggled(passiveEvents, false) }),
            })
          }
        />
      </td>
      <td className={cell}>
        <Tick
          label={`${name} is passive`}
          isTicked={isPassive}
          onTick={(is) =>
            draft.set({
              passiveEvents: toggled(passiveEvents, is),
              ...(is && isKey && { keyEvents: toggled(keyEvents, false) }),
            })
          }
        />
      </td>
    </tr>
  );
}

function Tick({
  label,
  isTicked,
  onTick,
}: {
  label: string;
  isTicked: boolean;
  onTick: (is: boolean) => void;
}): ReactElement {
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={isTicked}
      onChange={({ target }) => onTick(target.checked)}
      className="block size-4 accent-ember"
    />
  );
}
