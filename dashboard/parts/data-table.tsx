/**
 * Rows as a table: sorted and paged by the server, columns chosen by the reader, a header that stays, and only the
 * rows in sight drawn when there are many. It stays a table for screen readers: the rows out of sight are counted.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactElement, type ReactNode, useRef } from "react";
import { classes } from "../text/classes.ts";
import { numbers } from "../text/format.ts";
import { Button, buttonClass, IconButton } from "./button.tsx";
import { Icon } from "./icons.tsx";
import { Menu, MenuTick } from "./menu.tsx";
import { type Column, useTableModel } from "./table-model.ts";

export type { Column } from "./table-model.ts";

import { Scrollable } from "./scrollable.tsx";

/** By which column rows are sorted, by the server's name for it. */
export interface Sort<By extends string = string> {
  readonly by: By;
  readonly order: "ascending" | "descending";
}

interface DataTableProps<Row extends object> {
  /** What screen readers call the table, and its toolbar says. */
  readonly label: string;
  /** Under this name the reader's choice of columns is remembered. */
  readonly name: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly rowId: (row: Row) => string;
  readonly sort?: Sort | undefined;
  readonly onSort?: (sort: Sort) => void;
  /** Pages of the server: `total` rows, of which those from `offset` on are here. */
  readonly page?: { readonly total: number; readonly offset: number; readonly size: number } | undefined;
  readonly onPage?: (offset: number) => void;
  /** The address of the whole table as CSV. */
  readonly csv?: string;
  /** Beside the count: filters, say. */
  readonly tools?: ReactNode;
  /** Without count, columns and CSV: for a few rows that are all there. */
  readonly isPlain?: boolean;
}

/** More rows than this are drawn only where they are in sight. */
const maxDrawnRows = 60;
const rowHeightPx = 37;

export function DataTable<Row extends object>(props: DataTableProps<Row>): ReactElement {
  const { label, name, rows, columns, rowId, sort, onSort, page } = props;
  const { table, columnOf } = useTableModel(name, rows, columns, rowId);
  const scroller = useRef<HTMLElement>(null);
  const drawn = table.getRowModel().rows;
  const isVirtual = drawn.length > maxDrawnRows;
  const virtual = useVirtualizer({
    count: drawn.length,
    enabled: isVirtual,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeightPx,
    overscan: 12,
  });
  const items = isVirtual
    ? virtual.getVirtualItems()
    : drawn.map((_, index) => ({ index, start: 0, end: 0 }));
  const before = isVirtual ? (items[0]?.start ?? 0) : 0;
  const after = isVirtual ? virtual.getTotalSize() - (items.at(-1)?.end ?? 0) : 0;
  const visible = table.getVisibleLeafColumns();
  return (
    <div>
      {!props.isPlain && <Toolbar {...props} table={table} />}
      <Scrollable
        ref={scroller}
        label={label}
        className={classes(
          "overflow-auto border-t border-line focus-visible:-outline-offset-2",
          isVirtual && "max-h-[70dvh]",
        )}
      >
        <table
          aria-label={label}
          aria-rowcount={(page?.total ?? rows.length) + 1}
          className="w-full border-separate border-spacing-0"
        >
          <thead>
            <tr aria-rowindex={1}>
              {visible.map(({ id }) => {
                const column = columnOf(id);
                return column && <Header key={id} column={column} sort={sort} onSort={onSort} />;
              })}
            </tr>
          </thead>
          <tbody>
            <Space height={before} columns={visible.length} />
            {items.map(({ index }) => {
              const row = drawn[index];
              if (row === undefined) return null;
              return (
                <tr key={row.id} aria-rowindex={(page?.offset ?? 0) + index + 2} className="group">
                  {row.getVisibleCells().map((cell, at) => (
                    <td key={cell.id} className={cellClass(columnOf(cell.column.id), at === 0)}>
                      <table.FlexRender cell={cell} />
                    </td>
                  ))}
                </tr>
              );
            })}
            <Space height={after} columns={visible.length} />
          </tbody>
        </table>
      </Scrollable>
      <Pager {...props} />
    </div>
  );
}

function cellClass<Row>(column: Column<Row> | undefined, isFirst: boolean): string {
  return classes(
    "h-9 border-b border-line px-3 py-1 group-hover:bg-sunk",
    isFirst && "sticky left-0 z-[1] max-w-[60vw] bg-surface pl-4 sm:max-w-none",
    column?.isNumber ? "text-right whitespace-nowrap" : "max-w-80 truncate",
  );
}

function Space({ height, columns }: { height: number; columns: number }): ReactElement | null {
  if (height <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: an empty row has nothing to focus
    <tr aria-hidden="true">
      <td colSpan={columns} style={{ height, padding: 0 }} />
    </tr>
  );
}

function Header<Row>({
  column,
  sort,
  onSort,
}: {
  column: Column<Row>;
  sort: Sort | undefined;
  onSort: ((sort: Sort) => void) | undefined;
}): ReactElement {
  const { header, isNumber, sort: by, width, hint } = column;
  const order = by !== undefined && sort?.by === by ? sort.order : undefined;
  const next = order === "descending" ? "ascending" : "descending";
  return (
    <th
      scope="col"
      {...(order !== undefined && { "aria-sort": order })}
      title={hint}
      style={width === undefined ? undefined : { minWidth: width }}
      className={classes(
        "sticky top-0 z-[2] border-b border-line bg-surface px-3 py-2 text-sm font-medium whitespace-nowrap text-soft first:left-0 first:z-[3] first:pl-4",
        isNumber ? "text-right" : "text-left",
      )}
    >
      {by === undefined || onSort === undefined ? (
        header
      ) : (
        <button
          type="button"
          onClick={() => onSort({ by, order: next })}
          className={classes(
            "group/sort inline-flex items-center gap-1 font-medium hover:text-ink",
            order && "text-ink",
          )}
        >
          {header}
          <Icon
            name={order === "ascending" ? "up" : "down"}
            size={13}
            className={
              order === undefined
                ? "opacity-0 group-hover/sort:opacity-60 group-focus-visible/sort:opacity-60"
                : ""
            }
          />
        </button>
      )}
    </th>
  );
}

type Table<Row extends object> = ReturnType<typeof useTableModel<Row>>["table"];

function Toolbar<Row extends object>({
  tools,
  csv,
  rows,
  page,
  table,
}: DataTableProps<Row> & { table: Table<Row> }): ReactElement {
  const choosable = table.getAllLeafColumns().filter((column) => column.getCanHide());
  return (
    <div className="flex flex-wrap items-end justify-between gap-2 px-4 pb-3">
      <div className="flex min-w-0 flex-wrap items-end gap-2">{tools}</div>
      <div className="flex items-center gap-1.5">
        <p role="status" className="mr-1 text-sm text-soft">
          {numbers.count(page?.total ?? rows.length)} {(page?.total ?? rows.length) === 1 ? "row" : "rows"}
        </p>
        {csv !== undefined && (
          <a href={csv} download className={buttonClass("plain", true)}>
            <Icon name="download" />
            CSV
          </a>
        )}
        {choosable.length > 0 && (
          <Menu
            trigger={
              <Button isSmall icon="columns">
                Columns
              </Button>
            }
          >
            {choosable.map((column) => (
              <MenuTick
                key={column.id}
                isTicked={column.getIsVisible()}
                onTick={(is) => column.toggleVisibility(is)}
              >
                {String(column.columnDef.header)}
              </MenuTick>
            ))}
          </Menu>
        )}
      </div>
    </div>
  );
}

function Pager<Row extends object>({ page, onPage, label }: DataTableProps<Row>): ReactElement | null {
  if (page === undefined || onPage === undefined || page.total <= page.size) return null;
  const { offset, size, total } = page;
  const last = Math.min(total, offset + size);
  return (
    <nav
      aria-label={`Pages of ${label}`}
      className="flex items-center justify-end gap-1 px-3 py-2 text-sm text-soft"
    >
      <span className="mr-2">
        {numbers.count(offset + 1)}–{numbers.count(last)} of {numbers.count(total)}
      </span>
      <IconButton
        label="Previous page"
        icon="left"
        isSmall
        disabled={offset === 0}
        onClick={() => onPage(Math.max(0, offset - size))}
      />
      <IconButton
        label="Next page"
        icon="right"
        isSmall
        disabled={last >= total}
        onClick={() => onPage(offset + size)}
      />
    </nav>
  );
}
