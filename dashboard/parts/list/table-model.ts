/** The properties of a table, and its columns in the form of TanStack Table. */
import { columnVisibilityFeature, tableFeatures, useTable } from "@tanstack/react-table";
import { type ReactNode, useMemo, useState } from "react";
import { recall, remember } from "../../app/memory.ts";

/** A column: what it is called and what it shows of a row. */
export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Set right, in figures of one width. */
  readonly isNumber?: boolean;
  /** The server's name for sorting by this column. A column without one cannot be sorted. */
  readonly sort?: string;
  /** Shown only when the reader asks for it. */
  readonly isHidden?: boolean;
  /** The reader cannot hide it. */
  readonly isFixed?: boolean;
  /** The least width, in pixels. */
  readonly width?: number;
  /** The hint of the header, also for screen readers. */
  readonly hint?: string;
  /** Under which heading the reader chooses it. */
  readonly group?: string;
  /** The API's names of the fields that the column shows, for its columns in a CSV. Default: its own id. */
  readonly csv?: readonly string[];
}

/** A column of figures, with a hint of what they are. @param more e.g. the server's name for sorting by it */
export function figureColumn<Row>(
  id: string,
  header: string,
  hint: string,
  cell: (row: Row) => ReactNode,
  more: Partial<Column<Row>> = {},
): Column<Row> {
  return { id, header, hint, cell, isNumber: true, ...more };
}

/** The shown columns, if the page keeps them itself, e.g. in its address. */
export interface ColumnChoice {
  /** Ids. Columns that cannot be hidden may be left out. */
  readonly shown: readonly string[];
  readonly onChoose: (shown: readonly string[]) => void;
}

const features = tableFeatures({ columnVisibilityFeature });

const storageName = (name: string) => `rekindle.columns.${name}`;

/** The table's rows and visible columns. Which columns are shown is remembered under the table's name, unless
 * a choice is given. */
export function useTableModel<Row extends object>(
  name: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  rowId: (row: Row) => string,
  choice: ColumnChoice | undefined,
) {
  const [own, setOwn] = useState<Record<string, boolean>>(() => ({
    ...Object.fromEntries(columns.map(({ id, isHidden }) => [id, !isHidden])),
    ...recalled(name),
  }));
  const visibility =
    choice === undefined
      ? own
      : Object.fromEntries(columns.map(({ id, isFixed }) => [id, isFixed || choice.shown.includes(id)]));
  const definitions = useMemo(
    () => columns.map(({ id, header, isFixed }) => ({ id, header, enableHiding: !isFixed })),
    [columns],
  );
  const data = useMemo(() => [...rows], [rows]);
  const table = useTable({
    features,
    columns: definitions,
    data,
    getRowId: rowId,
    state: { columnVisibility: visibility },
    onColumnVisibilityChange: (change) => {
      const after = typeof change === "function" ? change(visibility) : change;
      if (choice !== undefined) {
        choice.onChoose(columns.map(({ id }) => id).filter((id) => after[id]));
        return;
      }
      remember(storageName(name), JSON.stringify(after));
      setOwn(after);
    },
  });
  const byId = new Map(columns.map((column) => [column.id, column]));
  return { table, columnOf: (id: string) => byId.get(id) };
}

function recalled(name: string): Record<string, boolean> {
  try {
    const kept: unknown = JSON.parse(recall(storageName(name)) ?? "{}");
    if (typeof kept !== "object" || kept === null) return {};
    return Object.fromEntries(
      Object.entries(kept).filter((pair): pair is [string, boolean] => typeof pair[1] === "boolean"),
    );
  } catch {
    return {};
  }
}
