/** Above a table: what the page puts there, how many rows there are, the same as CSV, and the choice of
 * columns. */
import { Fragment, type ReactElement, type ReactNode } from "react";
import type { CsvAddress } from "../../api/query.ts";
import { numbers } from "../../text/format.ts";
import { Button } from "../form/button.tsx";
import { Menu, MenuLabel, MenuTick } from "../menu.tsx";
import { CsvLink } from "./csv-link.tsx";
import type { Column, useTableModel } from "./table-model.ts";

interface ToolbarProps<Row extends object> {
  readonly tools?: ReactNode;
  readonly csv?: CsvAddress;
  readonly words?: readonly [one: string, several: string];
  /** Of rows, here or not. */
  readonly total: number;
  readonly columns: readonly Column<Row>[];
  readonly table: ReturnType<typeof useTableModel<Row>>["table"];
}

export function TableToolbar<Row extends object>(props: ToolbarProps<Row>): ReactElement {
  const { tools, csv, total, words = ["row", "rows"] } = props;
  return (
    <div className="flex flex-wrap items-end justify-between gap-x-4 gap-y-2 px-4 pb-3">
      <div className="flex min-w-0 flex-wrap items-end gap-2">{tools}</div>
      <div className="flex items-center gap-1.5">
        <p role="status" className="mr-1 text-sm text-soft">
          {numbers.count(total)} {total === 1 ? words[0] : words[1]}
        </p>
        {csv !== undefined && <CsvLink address={withColumns(csv, props)} />}
        <ColumnsMenu {...props} />
      </div>
    </div>
  );
}

/** The address of a CSV with the shown columns. It has all columns where none of them has names for a CSV.
 * The server names the file. */
function withColumns<Row extends object>(
  address: CsvAddress,
  { columns, table }: Pick<ToolbarProps<Row>, "columns" | "table">,
): CsvAddress {
  if (columns.every(({ csv }) => csv === undefined)) return address;
  const shown = new Set(table.getVisibleLeafColumns().map(({ id }) => id));
  const names = columns.filter(({ id }) => shown.has(id)).flatMap(({ id, csv }) => csv ?? [id]);
  const text = [...new Set(names)].map(encodeURIComponent).join(",");
  return (organization) => `${address(organization)}&columns=${encodeURIComponent(text)}`;
}

function ColumnsMenu<Row extends object>({
  columns,
  table,
}: Pick<ToolbarProps<Row>, "columns" | "table">): ReactElement | null {
  const groupOf = new Map(columns.map(({ id, group }) => [id, group]));
  const choosable = table.getAllLeafColumns().filter((column) => column.getCanHide());
  if (choosable.length === 0) return null;
  return (
    <Menu
      trigger={
        <Button isSmall icon="columns">
          Columns
        </Button>
      }
    >
      {choosable.map((column, index) => {
        const group = groupOf.get(column.id);
        const isFirst = group !== undefined && group !== groupOf.get(choosable[index - 1]?.id ?? "");
        return (
          <Fragment key={column.id}>
            {isFirst && <MenuLabel>{group}</MenuLabel>}
            <MenuTick isTicked={column.getIsVisible()} onTick={(is) => column.toggleVisibility(is)}>
              {String(column.columnDef.header)}
            </MenuTick>
          </Fragment>
        );
      })}
    </Menu>
  );
}
