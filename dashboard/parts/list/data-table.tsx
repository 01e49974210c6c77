/**
 * Rows as a table. The server sorts and pages. The reader chooses the columns, and the header stays in sight.
 * Of many rows only those in sight are drawn. Screen readers still see a table: the rows out of sight are
 * counted.
 */
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { Fragment, type ReactElement, type ReactNode, useEffect, useRef } from "react";
import type { CsvAddress } from "../../api/query.ts";
import { classes } from "../../text/classes.ts";
import { numbers } from "../../text/format.ts";
import { Button, IconButton } from "../form/button.tsx";
import { Icon } from "../icons.tsx";
import { Scrollable } from "./scrollable.tsx";
import { rowIndexOf, useKeptRow, useRowKeys } from "./table-keys.ts";
import { type Column, type ColumnChoice, useTableModel } from "./table-model.ts";
import { inNarrowOrder, useIsNarrow } from "./table-narrow.ts";
import { TableToolbar } from "./table-toolbar.tsx";

export { type Column, figureColumn } from "./table-model.ts";

/** By which column rows are sorted, by the server's name for it. */
export interface Sort<By extends string = string> {
  readonly by: By;
  readonly order: "ascending" | "descending";
}

interface DataTableProps<Row extends object> {
  /** The table's name for screen readers, and the text of its toolbar. */
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
  /** Instead of pages: rows are added while the reader scrolls. */
  readonly more?: RowsToCome | undefined;
  /** The shown columns. Without it, the table remembers them by itself. */
  readonly choice?: ColumnChoice;
  /** The words for one row and for several rows. */
  readonly words?: readonly [one: string, several: string];
  /** The address of the whole table as CSV. */
  readonly csv?: CsvAddress;
  /** Beside the count, e.g. filters. */
  readonly tools?: ReactNode;
  /** Without count, columns and CSV: for a few rows that are all there. */
  readonly isPlain?: boolean;
}

/** Of `total` rows those that are here are only the first. */
export interface RowsToCome {
  readonly total: number;
  readonly hasMore: boolean;
  readonly isComing: boolean;
  readonly onMore: () => void;
}

/** So many rows before the last one, more are asked for. */
const rowsAhead = 60;

/** More rows than this are drawn only where they are in sight. */
const maxDrawnRows = 60;
const rowHeightPx = 37;

export function DataTable<Row extends object>(props: DataTableProps<Row>): ReactElement {
  const { label, name, rows, columns, rowId, sort, onSort, page, more } = props;
  const { table, columnOf } = useTableModel(name, rows, columns, rowId, props.choice);
  const scroller = useRef<HTMLElement>(null);
  const drawn = table.getRowModel().rows;
  const isVirtual = drawn.length > maxDrawnRows;
  const [kept, setKept] = useKeptRow(name);
  const virtual = useVirtualizer({
    count: drawn.length,
    enabled: isVirtual,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeightPx,
    overscan: 12,
    rangeExtractor: (range) => {
      const inSight = defaultRangeExtractor(range);
      if (kept === undefined || kept >= range.count || inSight.includes(kept)) return inSight;
      return [...inSight, kept].sort((a, b) => a - b);
    },
    scrollPaddingStart: rowHeightPx,
    scrollPaddingEnd: rowHeightPx,
  });
  const items = isVirtual
    ? virtual.getVirtualItems()
    : drawn.map((_, index) => ({ index, start: 0, end: 0 }));
  const after = isVirtual ? virtual.getTotalSize() - (items.at(-1)?.end ?? 0) : 0;
  const isNarrow = useIsNarrow();
  const besideFirst = isNarrow
    ? columns.find((column) => column.sort !== undefined && column.sort === sort?.by)?.id
    : undefined;
  const visible = inNarrowOrder(table.getVisibleLeafColumns(), ({ id }) => id, besideFirst);
  const showRow = (index: number) => {
    setKept(index);
    if (isVirtual) virtual.scrollToIndex(index);
  };
  const onKeyDown = useRowKeys(scroller, drawn.length, showRow, isVirtual);
  useMore(more, drawn.length, isVirtual ? (virtual.range?.endIndex ?? 0) : drawn.length);
  return (
    <div>
      {!props.isPlain && <TableToolbar {...props} total={totalOf(props)} table={table} />}
      <Scrollable
        ref={scroller}
        label={label}
        onKeyDown={onKeyDown}
        onFocus={({ target }) => setKept(rowIndexOf(target))}
        className={classes(
          "scroll-pt-10 overflow-auto border-t border-line focus-visible:-outline-offset-2",
          isVirtual && "max-h-[70dvh]",
        )}
      >
        <table
          aria-label={label}
          aria-rowcount={totalOf(props) + 1}
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
            {items.map(({ index, start }, nth) => {
              const row = drawn[index];
              if (row === undefined) return null;
              return (
                <Fragment key={row.id}>
                  <Space height={start - (items[nth - 1]?.end ?? 0)} columns={visible.length} />
                  <tr data-index={index} aria-rowindex={(page?.offset ?? 0) + index + 2} className="group">
                    {inNarrowOrder(row.getVisibleCells(), ({ column }) => column.id, besideFirst).map(
                      (cell, at) => (
                        <td key={cell.id} className={cellClass(columnOf(cell.column.id), at === 0)}>
                          {columnOf(cell.column.id)?.cell(row.original)}
                        </td>
                      ),
                    )}
                  </tr>
                </Fragment>
              );
            })}
            <Space height={after} columns={visible.length} />
          </tbody>
        </table>
      </Scrollable>
      <Pager {...props} />
      <Remaining {...props} />
    </div>
  );
}

/** A few rows that are all there, each known by its id: without count, columns and CSV. */
export function PlainTable<Row extends { readonly id: number }>(
  props: Pick<DataTableProps<Row>, "label" | "rows" | "columns">,
): ReactElement {
  return <DataTable {...props} isPlain name={props.label} rowId={({ id }) => String(id)} />;
}

/** Asks for more rows when the last ones come into sight. */
function useMore(more: RowsToCome | undefined, rows: number, lastDrawn: number): void {
  const isNear = more?.hasMore === true && lastDrawn >= rows - rowsAhead;
  const onMore = isNear && !more.isComing ? more.onMore : undefined;
  useEffect(() => onMore?.(), [onMore]);
}

/** How many rows there are, here or not. */
function totalOf<Row extends object>({ page, more, rows }: DataTableProps<Row>): number {
  return page?.total ?? more?.total ?? rows.length;
}

/** The number of rows to come, with a button in place of scrolling. */
function Remaining<Row extends object>({ more, rows }: DataTableProps<Row>): ReactElement | null {
  if (more === undefined || !more.hasMore) return null;
  return (
    <div className="flex items-center justify-end gap-3 border-t border-line px-4 py-2 text-sm text-soft">
      <span>
        The first {numbers.count(rows.length)} of {numbers.count(more.total)}; more come as you scroll.
      </span>
      <Button isSmall isBusy={more.isComing} onClick={more.onMore}>
        Load more
      </Button>
    </div>
  );
}

function cellClass<Row>(column: Column<Row> | undefined, isFirst: boolean): string {
  return classes(
    "h-9 border-b border-line px-3 py-1 group-focus-within:bg-sunk group-hover:bg-sunk",
    isFirst && "sticky left-0 z-[1] bg-surface pl-4",
    column?.isNumber ? "text-right whitespace-nowrap" : "truncate",
    // No name covers the other columns.
    isFirst ? "max-w-[50vw] sm:max-w-96" : !column?.isNumber && "max-w-80",
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
  // The first sort puts the largest number first, and texts that begin with A.
  const isDescending = order === undefined ? isNumber : order === "ascending";
  const next = isDescending ? "descending" : "ascending";
  return (
    <th
      scope="col"
      {...(order !== undefined && { "aria-sort": order })}
      title={hint}
      // On a phone no column takes the place of the second, which is the one that rows are sorted by.
      style={width === undefined ? undefined : { minWidth: `min(${width}px, 50vw)` }}
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
            "group/sort inline-flex items-center gap-1 align-middle font-medium hover:text-ink",
            order && "text-ink",
          )}
        >
          {!isNumber && header}
          <Icon
            name={order === "ascending" ? "up" : "down"}
            size={13}
            className={
              order === undefined
                ? "opacity-0 group-hover/sort:opacity-60 group-focus-visible/sort:opacity-60"
                : ""
            }
          />
          {/* Numbers end at the right, and so does what is above them. */}
          {isNumber && header}
        </button>
      )}
    </th>
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
